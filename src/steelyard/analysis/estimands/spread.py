"""How far a mean may be off: errors over tasks and over repeats, agreement, reliability."""

from __future__ import annotations

import pandas as pd

from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.reliability import reliability
from steelyard.analysis.repeats import seeds
from steelyard.errors import InputError
from steelyard.stats import ClusterSummary, cluster_summary


@estimand
def mean_over_repeats(
    evidence: Evidence, *, measure: str, missing: str, arm: str, variant: str | None = None
) -> Computed:
    """Return the mean of the repeats' means, in the measure's unit."""
    return Computed(
        value=float(_seeds(evidence, measure, missing, arm, variant)["mean_over_repeats"])
    )


@estimand
def standard_error_over_repeats(
    evidence: Evidence, *, measure: str, missing: str, arm: str, variant: str | None = None
) -> Computed:
    """Return the standard deviation of the repeats' means over the root of their number."""
    row = _seeds(evidence, measure, missing, arm, variant)
    return Computed(value=float(row["standard_error_over_repeats"]))


@estimand
def repeats_agree(
    evidence: Evidence, *, measure: str, missing: str, arm: str, variant: str | None = None
) -> Computed:
    """Return the share of the tasks whose trials all have one value."""
    row = _seeds(evidence, measure, missing, arm, variant)
    agreeing, tasks = int(row["tasks_agreeing"]), int(row["n_tasks"])
    return Computed(successes=agreeing, total=tasks, value=agreeing / tasks)


@estimand
def standard_error_over_tasks(
    evidence: Evidence, *, measure: str, missing: str, arm: str, variant: str | None = None
) -> Computed:
    """Return the standard error of the mean clustered by task, with the C / (C - 1) correction."""
    return Computed(value=_clusters(evidence, measure, missing, arm, variant).standard_error)


@estimand
def standard_error_naive(
    evidence: Evidence, *, measure: str, missing: str, arm: str, variant: str | None = None
) -> Computed:
    """Return the standard error of the mean as if all trials were independent."""
    return Computed(value=_clusters(evidence, measure, missing, arm, variant).naive_standard_error)


@estimand
def intraclass_correlation(
    evidence: Evidence, *, measure: str, missing: str, arm: str, variant: str | None = None
) -> Computed:
    """Return the ICC(1) of the trials within tasks."""
    return Computed(value=_clusters(evidence, measure, missing, arm, variant).icc)


@estimand
def pass_hat_k(evidence: Evidence, *, measure: str, missing: str, arm: str, k: int) -> Computed:
    """Return pass^k: the chance that k attempts at a task all succeed, mean over tasks."""
    table = evidence.once(
        ("reliability", measure, missing),
        lambda: reliability(evidence.tables, measure, by=("arm",), missing=missing),
    )
    row = table[table["arm"].eq(arm) & table["k"].eq(k)]
    if row.empty:
        raise InputError(f"arm {arm!r} has no task with {k} trials")
    return Computed(value=float(row["pass_hat_k"].iloc[0]))


def _seeds(
    evidence: Evidence, measure: str, missing: str, arm: str, variant: str | None
) -> pd.Series:
    by = ("arm",) if variant is None else ("arm", "variant")
    table = evidence.once(
        ("seeds", measure, missing, by),
        lambda: seeds(evidence.tables, measure, by=by, missing=missing),
    )
    chosen = table["arm"].eq(arm)
    if variant is not None:
        chosen &= table["variant"].eq(variant)
    if not chosen.any():
        raise InputError(f"study {evidence.study} has no arm {arm!r} with variant {variant!r}")
    return table[chosen].iloc[0]


def _clusters(
    evidence: Evidence, measure: str, missing: str, arm: str, variant: str | None
) -> ClusterSummary:
    trials = evidence.trials(measure, missing)
    chosen = trials[trials["arm"].eq(arm) & trials["value"].notna()]
    if variant is not None:
        chosen = chosen[chosen["variant"].eq(variant)]
    return cluster_summary(chosen["value"].to_numpy(), chosen["task"].to_numpy())
