"""Clustered observations: the clustered standard error, ICC, design effect.

Repeats inside a task share the task, so they are not independent draws. The estimand throughout
is the mean over trials of the population the tasks were drawn from; the unit that is sampled is
the cluster (the task), and C clusters give C - 1 degrees of freedom however many repeats there
are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.stats.checks import FloatArray
from steelyard.stats.partitions import Partition, partition
from steelyard.stats.results import Result


@dataclass(frozen=True)
class ClusteredMean(Result):
    """A mean with its standard error over clusters and, labelled, the naive one.

    Attributes
    ----------
    estimate : float
        The mean over all values.
    standard_error : float
        Clustered, with the C/(C - 1) correction; NaN with fewer than two clusters.
    naive_standard_error : float
        As if all values were independent: sqrt(mean of squared deviations / n).
    n, n_clusters : int
        Values and clusters.
    reason : str
        Why ``standard_error`` is NaN; empty where it is not.
    """

    estimate: float
    standard_error: float
    naive_standard_error: float
    n: int
    n_clusters: int
    reason: str


def clustered_standard_error(values: Any, clusters: Any) -> ClusteredMean:
    """Return the mean of the values and its standard error clustered by id.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Outcomes (0/1) or scores.
    clusters : array-like of str or int, shape (n,)
        The cluster (task) of each value.

    Returns
    -------
    ClusteredMean
        With one cluster the standard error is NaN and ``reason`` is ``"1 cluster"``: the spread
        between tasks cannot be seen in one task.

    Raises
    ------
    InputError
        As :func:`partition`.

    Notes
    -----
    With S_c the sum and n_c the size of cluster c, n the number of values and m their mean,

        variance = C/(C - 1) * sum over c of (S_c - n_c m)^2 / n^2,

    the linearisation variance of a ratio mean; cluster sizes may differ.

    References
    ----------
    Liang and Zeger (1986), Biometrika 73:13-22. Miller (2024), arXiv:2411.00640, brings it to
    language-model evaluations.

    Examples
    --------
    >>> found = clustered_standard_error([1, 1, 0, 0, 1, 0], ["A", "A", "B", "B", "C", "C"])
    >>> found.estimate, round(found.standard_error, 6), round(found.naive_standard_error, 6)
    (0.5, 0.288675, 0.204124)
    """
    return clustered_mean(partition(values, clusters))


def clustered_mean(part: Partition) -> ClusteredMean:
    """Return :func:`clustered_standard_error` of values that are already partitioned."""
    if part.n == 0:
        return ClusteredMean(math.nan, math.nan, math.nan, 0, 0, "no values")
    mean = part.mean
    naive = math.sqrt(math.fsum(_without_rounding(part.values, mean) ** 2)) / part.n
    if part.n_clusters == 1:
        return ClusteredMean(mean, math.nan, naive, part.n, 1, "1 cluster")
    residuals = _without_rounding(part.sums, part.sizes * mean)
    correction = part.n_clusters / (part.n_clusters - 1)
    error = math.sqrt(correction * math.fsum(residuals**2)) / part.n
    return ClusteredMean(mean, error, naive, part.n, part.n_clusters, "")


def _without_rounding(observed: FloatArray, expected: Any) -> FloatArray:
    """Return observed - expected, and 0 where no more than rounding separates the two.

    Six times 0.1 has a mean of 0.10000000000000002: taken at its word, equal values would have a
    standard error of 1e-17, and an interval of no width would pass for certainty.
    """
    difference = observed - expected
    rounding = 4 * np.finfo(np.float64).eps * (np.abs(observed) + np.abs(expected))
    return np.where(np.abs(difference) <= rounding, 0.0, difference)


def intraclass_correlation(values: Any, clusters: Any) -> float:
    """Return the one-way analysis-of-variance estimate of the intraclass correlation, ICC(1).

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Outcomes or scores.
    clusters : array-like of str or int, shape (n,)
        The cluster (task) of each value.

    Returns
    -------
    float
        At most 1, possibly negative; NaN where it is not identified: fewer than two clusters, no
        cluster with two values, or values that are all equal.

    Raises
    ------
    InputError
        As :func:`partition`.

    Notes
    -----
    (MSB - MSW)/(MSB + (n0 - 1) MSW), with n0 = (n - sum n_c^2 / n)/(C - 1) for unequal sizes.

    References
    ----------
    Donner (1986), International Statistical Review 54:67-82.

    Examples
    --------
    >>> intraclass_correlation([1, 1, 0, 0], ["A", "A", "B", "B"])
    1.0
    """
    return _intraclass_correlation(partition(values, clusters))


def _intraclass_correlation(part: Partition) -> float:
    clusters, n = part.n_clusters, part.n
    if clusters < 2 or n == clusters:
        return math.nan
    apart = _without_rounding(part.means, part.mean)
    between = math.fsum(part.sizes * apart**2) / (clusters - 1)
    inside = _without_rounding(part.values, part.means[part.codes])
    within = math.fsum(inside**2) / (n - clusters)
    common_size = (n - float((part.sizes**2).sum()) / n) / (clusters - 1)
    total = between + (common_size - 1) * within
    return (between - within) / total if total > 0 else math.nan


@dataclass(frozen=True)
class ClusterSummary(Result):
    """Everything that clustering changes about a mean.

    Attributes
    ----------
    estimate, standard_error, naive_standard_error, n, n_clusters, reason
        As in :class:`ClusteredMean`.
    smallest_cluster, largest_cluster : int
        Cluster sizes; 0 without values.
    icc : float
        ICC(1), see :func:`intraclass_correlation`.
    design_effect : float
        Clustered variance over naive variance; NaN where either is not identified.
    effective_n : float
        n over the design effect, never above n; NaN with the design effect.
    """

    estimate: float
    standard_error: float
    naive_standard_error: float
    n: int
    n_clusters: int
    smallest_cluster: int
    largest_cluster: int
    icc: float
    design_effect: float
    effective_n: float
    reason: str


def cluster_summary(values: Any, clusters: Any) -> ClusterSummary:
    """Return mean, standard errors, ICC, design effect and effective sample size in one go.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Outcomes or scores.
    clusters : array-like of str or int, shape (n,)
        The cluster (task) of each value.

    Returns
    -------
    ClusterSummary

    Raises
    ------
    InputError
        As :func:`partition`.

    Notes
    -----
    The design effect is the ratio of the two variances of :class:`ClusteredMean` (Kish 1965,
    Survey Sampling). Below 1 it says that the clusters agree more than chance would let them,
    which a few clusters do by accident; it is reported as it is, but ``effective_n`` never
    exceeds n.

    Examples
    --------
    >>> found = cluster_summary([1, 1, 0, 0, 1, 0], ["A", "A", "B", "B", "C", "C"])
    >>> round(found.design_effect, 6), round(found.icc, 6), round(found.effective_n, 6)
    (2.0, 0.5, 3.0)
    """
    return summarise(partition(values, clusters))


def summarise(part: Partition) -> ClusterSummary:
    """Return :func:`cluster_summary` of values that are already partitioned."""
    mean = clustered_mean(part)
    effect = effective = math.nan
    reason = mean.reason
    if not reason and mean.naive_standard_error == 0:
        reason = "all values are equal"
    elif not reason:
        effect = (mean.standard_error / mean.naive_standard_error) ** 2
        effective = part.n / max(effect, 1.0)
    return ClusterSummary(
        estimate=mean.estimate,
        standard_error=mean.standard_error,
        naive_standard_error=mean.naive_standard_error,
        n=part.n,
        n_clusters=part.n_clusters,
        smallest_cluster=int(part.sizes.min()) if part.n else 0,
        largest_cluster=int(part.sizes.max()) if part.n else 0,
        icc=_intraclass_correlation(part),
        design_effect=effect,
        effective_n=effective,
        reason=reason,
    )


def design_effect(values: Any, clusters: Any) -> float:
    """Return the clustered variance of the mean over its naive variance.

    See :func:`cluster_summary`; NaN where it is not identified.

    Examples
    --------
    >>> round(design_effect([1, 1, 0, 0, 1, 0], ["A", "A", "B", "B", "C", "C"]), 6)
    2.0
    """
    return cluster_summary(values, clusters).design_effect


def effective_sample_size(values: Any, clusters: Any) -> float:
    """Return n over the design effect, never above n; NaN where that is not identified.

    See :func:`cluster_summary`.

    Examples
    --------
    >>> round(effective_sample_size([1, 1, 0, 0, 1, 0], ["A", "A", "B", "B", "C", "C"]), 6)
    3.0
    """
    return cluster_summary(values, clusters).effective_n
