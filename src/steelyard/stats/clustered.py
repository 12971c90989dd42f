"""Intervals for a rate or a mean whose observations are clustered by task."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import check_open_unit, check_outcomes
from steelyard.stats.clusters import ClusterSummary, clustered_mean, summarise
from steelyard.stats.intervals import wilson_limits
from steelyard.stats.partitions import Partition, partition
from steelyard.stats.quantiles import student_t_quantile
from steelyard.stats.results import Result

Boundary = Literal["clusters", "trials"]


@dataclass(frozen=True)
class ClusteredInterval(Result):
    """A rate with its task-clustered interval.

    Attributes
    ----------
    estimate, low, high : float
        The rate over all trials, and the limits.
    level : float
        The nominal confidence.
    method : str
        The name of the formula.
    n, n_clusters : int
        Trials and clusters.
    standard_error : float
        Clustered; NaN with one cluster.
    icc, design_effect : float
        NaN where they are not identified (see :mod:`steelyard.stats.clusters`).
    effective_n : float
        The sample size that entered the Wilson formula.
    reason : str
        What the interval could not rest on; empty in the ordinary case.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int
    n_clusters: int
    standard_error: float
    icc: float
    design_effect: float
    effective_n: float
    reason: str


def clustered_wilson_interval(
    values: Any, clusters: Any, confidence: float = 0.95, boundary: Boundary = "clusters"
) -> ClusteredInterval:
    """Return the Wilson interval of a rate at its effective sample size, with a t quantile.

    Parameters
    ----------
    values : array-like of {0, 1}, shape (n,)
        Outcomes of single trials.
    clusters : array-like of str or int, shape (n,)
        The task of each trial.
    confidence : float, default 0.95
        Strictly between 0 and 1.
    boundary : {"clusters", "trials"}, default "clusters"
        The effective sample size at rate 0 and rate 1, where no variance can be estimated:
        ``"clusters"`` takes the worst case, trials of one task that always agree (ICC = 1);
        ``"trials"`` takes the best case, independent trials (ICC = 0).

    Returns
    -------
    ClusteredInterval
        No trials: NaN and [0, 1]. One cluster: the estimate and [0, 1], reason ``"1 cluster"``.

    Raises
    ------
    InputError
        For a value other than 0 and 1, ids that cannot be read, or an unknown ``boundary``.

    Notes
    -----
    1. The effective sample size is n over the design effect, the clustered variance over p(1 -
       p)/n; a design effect below 1 counts as 1.
    2. It replaces n in the Wilson formula, with Student's t quantile on C - 1 degrees of freedom
       in place of z. The Wilson limits depend on n and the quantile only through
       quantile^2 / n, so this is the same as the other customary form, z with the effective
       sample size shrunk by (z/t)^2.
    3. At rate 0 or 1 the design effect is 0/0. Under ICC = 1 it is sum n_c^2 / n, which leaves
       n^2 / sum n_c^2 trials: C for clusters of equal size. The interval is wide there by
       choice.
    4. No lower limit lies above that of the same trials without a failure, C/(C + t^2) for
       clusters of equal size, and no upper limit below that of the same trials without a success.
       A single failure gives a design effect near 1, which would count every repeat as a trial of
       its own: a record with one failure would then support more than a perfect one, and where
       one task in twenty always fails, the lower limit of 8 tasks with 24 repeats would exceed
       the rate in 36% of samples instead of 2.5%.

    The design effect is estimated from C clusters only, and with few of them it is uncertain.
    Franco et al. find by simulation that all intervals of this family cover less than their
    level when a simple variance estimate is used under clustering; the t quantile, the design
    effect of at least 1, the worst case at the boundary and the limits that do not reach beyond
    it are what is set against that here.
    ``tests/stats/test_clustered.py`` simulates the coverage that results.

    References
    ----------
    Korn and Graubard (1998), Survey Methodology 24:193-201: effective sample size with a
    degrees-of-freedom adjustment, in the Clopper-Pearson formula. Dean and Pagano (2015), Journal
    of Survey Statistics and Methodology 3:484-503: evaluates such intervals for clustered
    surveys. Franco, Little, Louis and Slud (2019), same journal 7:334-364: compares seven of
    them and recommends the Wilson form. Kish (1965), Survey Sampling: the design effect.

    Examples
    --------
    >>> found = clustered_wilson_interval([1, 1, 1, 0, 0, 0, 1, 1], list("AABBCCDD"))
    >>> found.estimate, round(found.low, 4), round(found.high, 4), round(found.effective_n, 2)
    (0.625, 0.1178, 0.9541, 4.09)
    """
    level = check_open_unit("confidence", confidence)
    if boundary not in ("clusters", "trials"):
        raise InputError(f'boundary is {boundary!r}; it must be "clusters" or "trials"')
    part = partition(check_outcomes("values", values), clusters)
    summary = summarise(part)
    effective, low, high, reason = math.nan, 0.0, 1.0, summary.reason
    if part.n_clusters >= 2:
        effective, reason = _effective_size(part, summary, boundary)
        quantile = student_t_quantile(level, part.n_clusters - 1)
        limits = wilson_limits(
            np.array(summary.estimate * effective), np.array(effective), quantile
        )
        furthest = _furthest_limit(part, boundary, quantile)
        low, high = float(limits[0]), float(limits[1])
        if low > furthest:
            low, reason = furthest, "lower limit of the same trials without a failure"
        if high < 1.0 - furthest:
            high, reason = 1.0 - furthest, "upper limit of the same trials without a success"
    return ClusteredInterval(
        estimate=summary.estimate,
        low=low,
        high=high,
        level=level,
        method="Wilson score, effective sample size, t quantile",
        n=part.n,
        n_clusters=part.n_clusters,
        standard_error=summary.standard_error,
        icc=summary.icc,
        design_effect=summary.design_effect,
        effective_n=effective,
        reason=reason,
    )


def _effective_size(
    part: Partition, summary: ClusterSummary, boundary: Boundary
) -> tuple[float, str]:
    """Return the effective sample size and, at rate 0 or 1, how it was chosen."""
    if 0 < summary.estimate < 1:
        return summary.effective_n, ""
    where = f"rate {summary.estimate:.0f}: design effect not identified"
    assumed = "trials taken as independent" if boundary == "trials" else "ICC taken as 1"
    return _boundary_size(part, boundary), f"{where}, {assumed}"


def _boundary_size(part: Partition, boundary: Boundary) -> float:
    """Return the effective sample size at rate 0 and 1."""
    return float(part.n) if boundary == "trials" else part.n**2 / float((part.sizes**2).sum())


def _furthest_limit(part: Partition, boundary: Boundary, quantile: float) -> float:
    """Return the lower limit of the same trials without a failure: no record supports more."""
    size = _boundary_size(part, boundary)
    return float(wilson_limits(np.array(size), np.array(size), quantile)[0])


@dataclass(frozen=True)
class MeanInterval(Result):
    """A mean with its interval over clusters.

    Attributes
    ----------
    estimate, low, high : float
        The mean and its limits; the limits are NaN with fewer than two clusters or without
        variation between clusters.
    level, method
        The nominal confidence and the name of the formula.
    standard_error : float
        Clustered.
    n, n_clusters : int
        Values and clusters.
    reason : str
        Why the limits are NaN; empty where they are not.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    standard_error: float
    n: int
    n_clusters: int
    reason: str


def clustered_mean_interval(values: Any, clusters: Any, confidence: float = 0.95) -> MeanInterval:
    """Return the mean of any scores with a t interval over clusters.

    For 0/1 outcomes near 0 or 1 prefer :func:`clustered_wilson_interval`; this one is for scores
    without a natural range, and for quantities that are one number per task.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Finite scores.
    clusters : array-like of str or int, shape (n,)
        The cluster (task) of each value.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    MeanInterval
        Mean ± t(C - 1) times the clustered standard error.

    Raises
    ------
    InputError
        As :func:`steelyard.stats.partition`.

    Examples
    --------
    >>> found = clustered_mean_interval([0.5, 0.25, 1, 0, 0.75], ["A", "A", "B", "B", "B"])
    >>> found.estimate, round(found.standard_error, 6), round(found.low, 4)
    (0.5, 0.1, -0.7706)
    """
    level = check_open_unit("confidence", confidence)
    mean = clustered_mean(partition(values, clusters))
    reason = mean.reason
    if not reason and mean.standard_error == 0:
        reason = "no variation between clusters"
    half = math.nan
    if not reason:
        half = student_t_quantile(level, mean.n_clusters - 1) * mean.standard_error
    return MeanInterval(
        mean.estimate,
        mean.estimate - half,
        mean.estimate + half,
        level,
        "t over clusters",
        mean.standard_error,
        mean.n,
        mean.n_clusters,
        reason,
    )
