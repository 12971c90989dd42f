"""Decisions: rates among some cases with families resampled, detectors, scores, paired arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from steelyard.analysis.detection import RATIOS, detection
from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.event_bounds import event_bounds
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.paired_arms import paired
from steelyard.analysis.score_discrimination import discriminate
from steelyard.errors import InputError
from steelyard.stats.ratios import RatioInterval, cluster_ratio_difference, cluster_ratio_interval


@estimand
def resampled_rate(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    arm: str,
    covariates: Mapping[str, str] | None = None,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Computed:
    """Return a rate with the percentile interval over resampled tasks, as a proportion.

    ``covariates`` restricts the trials to those with these values, not the tasks that are drawn.
    Every task of the arm is drawn, also one without a trial that the measure applies to. Where
    all tasks have the same rate, the limits are that rate, as the procedure has it.
    """
    table = _sums(evidence, measure, missing, arm, covariates)
    above, below = table["sum"].to_numpy(), table["count"].to_numpy()
    found = cluster_ratio_interval(above, below, n_resamples=n_resamples, seed=seed)
    low, high = _limits(found)
    return Computed(
        successes=int(above.sum()), total=int(below.sum()), value=found.estimate, low=low, high=high
    )


@estimand
def resampled_difference(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    reference: str,
    candidate: str,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Computed:
    """Return candidate rate minus reference rate, both over the same resampled tasks."""
    sides = {arm: _sums(evidence, measure, missing, arm, None) for arm in (reference, candidate)}
    if list(sides[reference].index) != list(sides[candidate].index):
        raise InputError(f"{reference!r} and {candidate!r} were not tried on the same tasks")
    pairs = [
        (sides[arm]["sum"].to_numpy(), sides[arm]["count"].to_numpy())
        for arm in (reference, candidate)
    ]
    found = cluster_ratio_difference(pairs[0], pairs[1], n_resamples=n_resamples, seed=seed)
    low, high = _limits(found)
    return Computed(value=found.estimate, low=low, high=high)


@estimand
def rate_at_most(evidence: Evidence, *, measure: str, arm: str) -> Computed:
    """Return the rate if every trial without a result counts as one with the event."""
    table = evidence.rates(measure, "bounds", ("arm",))
    row = table[table["arm"].eq(arm)].sort_values("estimate").iloc[-1]
    return Computed(
        successes=int(row["successes"]), total=int(row["total"]), value=float(row["estimate"])
    )


@estimand
def printed_ratio(evidence: Evidence, *, claim: str) -> Computed:
    """Return a printed count over its printed total: arithmetic, for numbers without their cases.

    Whatever resampling draws from outcomes that are all equal has their rate, which then is both
    limits; there are none otherwise.
    """
    claims = evidence.frame("claims")
    rows = claims[claims["claim"].eq(claim)].dropna(subset=["successes", "total"])
    if rows.empty or not rows["total"].iloc[0]:
        raise InputError(f"study {evidence.study}: claim {claim!r} prints no count over a total")
    successes, total = int(rows["successes"].iloc[0]), int(rows["total"].iloc[0])
    value = successes / total
    limit = value if value in (0.0, 1.0) else None
    return Computed(successes=successes, total=total, value=value, low=limit, high=limit)


@estimand
def detector(
    evidence: Evidence,
    *,
    predicted: str,
    actual: str,
    missing: str,
    arm: str,
    ratio: Literal["precision", "recall", "f1"],
) -> Computed:
    """Return precision, recall or F1 (2 TP over 2 TP + FP + FN) of one measure for another."""
    if ratio not in RATIOS:
        raise InputError(f"ratio is {ratio!r}; accepted: {', '.join(RATIOS)}")
    table = evidence.once(
        ("detection", predicted, actual, missing),
        lambda: detection(evidence.tables, predicted, actual, missing=missing),
    )
    row = _of_arm(table, arm)
    terms = RATIOS[ratio]
    successes = terms[0][1] * int(row["true_positives"])
    total = successes + sum(int(row[cell]) for cell, _ in terms[1:])
    return Computed(successes=successes, total=total, value=float(row[ratio]))


@estimand
def score_discrimination(
    evidence: Evidence,
    *,
    statistic: Literal["auroc", "average_precision"],
    score: str,
    label: str,
    arm: str,
    label_arm: str,
    complete_arm: str,
) -> Computed:
    """Return AUROC or average precision of an arm's score; successes are the positives."""
    asked = (score, label, arm, label_arm, complete_arm)
    row = evidence.once(
        ("discrimination", *asked),
        lambda: discriminate(
            evidence.tables,
            score,
            label,
            arm=arm,
            label_arm=label_arm,
            complete_arm=complete_arm,
        ).iloc[0],
    )
    if statistic not in ("auroc", "average_precision"):
        raise InputError(f"statistic is {statistic!r}; accepted: auroc, average_precision")
    return Computed(
        successes=int(row["positives"]), total=int(row["n"]), value=float(row[statistic])
    )


@estimand
def covariate_agreement(
    evidence: Evidence, *, name: str, reference: str, candidate: str
) -> Computed:
    """Return in how many cases two arms have the same covariate, of those where both have one."""
    one, other = (_covariate(evidence, name, arm) for arm in (reference, candidate))
    both = one.merge(other, on=["task", "perturbation", "variant", "repeat"]).dropna()
    same = int(both["value_x"].eq(both["value_y"]).sum())
    if both.empty:
        raise InputError(f"no case has {name!r} for both arms")
    return Computed(successes=same, total=len(both), value=same / len(both))


@estimand
def paired_test(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    reference: str,
    candidate: str,
    test: Literal["mcnemar", "mcnemar_mid", "sign_flip"],
) -> Computed:
    """Return the p-value of two arms on the same cases; successes are those of the candidate only.

    ``total`` is the number of discordant cases, for the sign-flip test that of differing tasks.
    """
    row = evidence.once(
        ("paired", reference, candidate, measure, missing),
        lambda: paired(evidence.tables, reference, candidate, measure, missing=missing).iloc[0],
    )
    if test not in ("mcnemar", "mcnemar_mid", "sign_flip"):
        raise InputError(f"test is {test!r}; accepted: mcnemar, mcnemar_mid, sign_flip")
    p_value = float(row[f"p_{test}"])
    if test == "sign_flip":
        return Computed(total=int(row["tasks_differing"]), p_value=p_value)
    only = (int(row["reference_only"]), int(row["candidate_only"]))
    return Computed(successes=only[1], total=sum(only), p_value=p_value)


@estimand
def upper_bound(evidence: Evidence, *, measure: str, missing: str, arm: str) -> Computed:
    """Return events, trials, and the exact one-sided 95 % upper limit of the event's rate."""
    row = _of_arm(event_bounds(evidence.tables, measure, missing=missing), arm)
    return Computed(
        successes=int(row["events"]),
        total=int(row["total"]),
        value=float(row["estimate"]),
        high=float(row["upper"]),
    )


def _sums(
    evidence: Evidence, measure: str, missing: str, arm: str, covariates: Mapping[str, str] | None
) -> pd.DataFrame:
    """Return the sum and count of the scored values of every task of an arm, sorted by task."""
    every = evidence.frame("trials")
    tasks = sorted(set(every.loc[every["arm"].eq(arm), "task"]))
    trials = evidence.trials(measure, missing)
    chosen = trials[trials["arm"].eq(arm) & trials["value"].notna()]
    for name, value in (covariates or {}).items():
        known = evidence.frame("covariates")
        holding = known.loc[known["name"].eq(name) & known["value"].eq(value), "trial_id"]
        chosen = chosen[chosen["trial_id"].isin(set(holding))]
    table = chosen.groupby("task")["value"].agg(["sum", "count"])
    return table.reindex(tasks, fill_value=0).astype(np.float64)


def _limits(found: RatioInterval) -> tuple[float, float]:
    if found.reason.startswith("degenerate"):
        return found.estimate, found.estimate
    return found.low, found.high


def _of_arm(table: pd.DataFrame, arm: str) -> Any:
    rows = table[table["arm"].eq(arm)]
    if rows.empty:
        raise InputError(f"no trial of arm {arm!r} is concerned")
    return rows.iloc[0]


def _covariate(evidence: Evidence, name: str, arm: str) -> pd.DataFrame:
    found = evidence.frame("covariates")
    trials = evidence.frame("trials")
    wanted = found.loc[found["name"].eq(name), ["trial_id", "value"]]
    return trials[trials["arm"].eq(arm)].merge(wanted, on="trial_id")[
        ["task", "perturbation", "variant", "repeat", "value"]
    ]
