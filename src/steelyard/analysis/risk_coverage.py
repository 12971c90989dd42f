"""Risk against coverage: what acting more often costs, over the thresholds of a score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.names import TrialFilters, resolve_arm
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import wilson_interval
from steelyard.stats.checks import check_count, check_open_unit, check_positive_count
from steelyard.stats.ratios import cluster_draws

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

ACT_WHEN: Final = ("at_most", "at_least")


def risk_coverage(
    tables: StudyTables,
    score: str,
    harm: str,
    *,
    arm: str,
    act_when: Literal["at_most", "at_least"] = "at_most",
    allowed: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
    **filters: Unpack[TrialFilters],
) -> pd.DataFrame:
    """Return the risk-coverage curve of an arm that acts where a score passes a threshold.

    Parameters
    ----------
    tables : StudyTables
        The study.
    score, harm : str
        Measures: the score, and 1 where acting would do harm.
    arm : str
        Whose score it is.
    act_when : {"at_most", "at_least"}, default "at_most"
        ``at_most`` for scores of doubt, ``at_least`` for scores of confidence.
    allowed : str, optional
        A measure of 0 and 1; where it is 0, the arm acts at no threshold.
    confidence : float, default 0.95
        Of the pointwise band.
    n_resamples, seed : int
        Of the bootstrap over tasks.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per threshold, from the most careful on, the first of which acts never:
        ``threshold`` (NaN for the first), ``acted`` cases of ``cases``, ``coverage``,
        ``harmful`` acts of ``harmful_cases``; ``risk`` (harmful acts of all acts), NaN where
        nothing was acted on, with ``risk_low`` and ``risk_high`` (Wilson) and
        ``risk_clustered_low``, ``risk_clustered_high``; ``harm_rate`` (of the harmful cases, the
        share acted on) with ``harm_rate_clustered_low`` and ``harm_rate_clustered_high``;
        ``coverage_clustered_low``, ``coverage_clustered_high``; ``n_clusters``, ``level``,
        ``n_resamples``, ``seed``. Clustered limits are percentiles over resampled tasks, NaN
        where all resamples agree or none has a denominator.

    Raises
    ------
    InputError
        Where no case has both measures, ``act_when`` is something else, or the arm is no text.
    UnknownNameError
        For a name that the study does not hold.

    References
    ----------
    El-Yaniv and Wiener (2010), Journal of Machine Learning Research 11:1605-1641.
    """
    check_positive_count("n_resamples", n_resamples)
    check_count("seed", seed)
    check_open_unit("confidence", confidence)
    if act_when not in ACT_WHEN:
        raise InputError(f"act_when is {act_when!r}; accepted: {', '.join(ACT_WHEN)}")
    cases = _cases(tables, (score, harm, allowed), resolve_arm(tables, arm), filters)
    sign = 1.0 if act_when == "at_most" else -1.0
    doubt = sign * cases["score"].to_numpy()
    doubt = np.where(cases["allowed"].eq(1), doubt, np.inf)
    steps = np.unique(doubt[np.isfinite(doubt)])
    harmful = cases["harm"].to_numpy() == 1
    tasks, names = pd.factorize(cases["task"], sort=True)
    draws = cluster_draws(len(names), n_resamples, seed) if len(names) > 1 else None
    rows = []
    for step in [-np.inf, *steps]:
        acted = doubt <= step
        row: dict[str, Any] = {"threshold": sign * step if np.isfinite(step) else math.nan}
        row |= _at(acted, harmful, confidence)
        row |= _bands(
            acted, harmful, tasks=tasks, clusters=len(names), draws=draws, confidence=confidence
        )
        rows.append(row)
    extent = {"n_clusters": len(names), "level": confidence, "n_resamples": n_resamples}
    return pd.DataFrame(rows).assign(**extent, seed=seed)


def _cases(
    tables: StudyTables, names: tuple[str, str, str | None], arm: str, filters: TrialFilters
) -> pd.DataFrame:
    """Return the cases with all of score, harm and, where one is named, allowed."""
    score, harm, allowed = names
    scores = select(tables, score, "recorded", binary=False, arm=arm, **filters)
    cases = scores[["trial_id", "task", "value"]].rename(columns={"value": "score"})
    for column, measure in (("harm", harm), ("allowed", allowed)):
        if measure is None:
            cases[column] = 1.0
            continue
        found = select(tables, measure, "recorded", arm=arm, **filters)[["trial_id", "value"]]
        cases = cases.merge(found.rename(columns={"value": column}), on="trial_id", how="left")
    complete = cases.dropna()
    infinite = complete[~np.isfinite(complete["score"])]
    if len(infinite):
        row = infinite.iloc[0]
        raise InputError(
            f"score {score!r} of trial {row['trial_id']!r} is {row['score']}; accepted: finite"
        )
    if complete.empty:
        raise InputError(f"study {tables.study}: no case has both {score!r} and {harm!r}")
    return complete


def _at(
    acted: npt.NDArray[np.bool_], harmful: npt.NDArray[np.bool_], confidence: float
) -> dict[str, Any]:
    acts, bad = int(acted.sum()), int((acted & harmful).sum())
    at_stake = int(harmful.sum())
    interval = wilson_interval(bad, acts, confidence)
    return {
        "acted": acts,
        "cases": len(acted),
        "coverage": acts / len(acted),
        "harmful": bad,
        "harmful_cases": at_stake,
        "risk": interval.estimate,
        "risk_low": interval.low,
        "risk_high": interval.high,
        "harm_rate": bad / at_stake if at_stake else math.nan,
    }


def _bands(
    acted: npt.NDArray[np.bool_],
    harmful: npt.NDArray[np.bool_],
    *,
    tasks: npt.NDArray[np.int64],
    clusters: int,
    draws: npt.NDArray[np.int64] | None,
    confidence: float,
) -> dict[str, float]:
    """Return percentile limits of risk, coverage and harm rate from the same drawn tasks."""

    def per_task(which: npt.NDArray[np.bool_]) -> npt.NDArray[np.float64]:
        return np.bincount(tasks, weights=which, minlength=clusters).astype(np.float64)

    parts = {
        "risk": (per_task(acted & harmful), per_task(acted)),
        "coverage": (per_task(acted), per_task(np.ones_like(acted))),
        "harm_rate": (per_task(acted & harmful), per_task(harmful)),
    }
    tail = (1.0 - confidence) / 2.0
    row: dict[str, float] = {}
    for name, (above, below) in parts.items():
        low = high = math.nan
        if draws is not None:
            total = draws @ below
            drawn = (draws @ above)[total > 0] / total[total > 0]
            if drawn.size and np.ptp(drawn) > 0:
                low, high = (float(q) for q in np.quantile(drawn, [tail, 1.0 - tail]))
        row |= {f"{name}_clustered_low": low, f"{name}_clustered_high": high}
    return row
