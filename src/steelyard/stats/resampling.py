"""Bootstrap intervals of a mean, over values and over whole clusters, seeded."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.stats.checks import (
    FloatArray,
    check_count,
    check_open_unit,
    check_positive_count,
    check_scores,
)
from steelyard.stats.partitions import partition
from steelyard.stats.results import Result

CHUNK = 2_000_000
"""Resampled values held in memory at a time."""


@dataclass(frozen=True)
class BootstrapInterval(Result):
    """A mean with its percentile bootstrap interval.

    Attributes
    ----------
    estimate, low, high : float
        The mean and its limits; limits are NaN where resampling can say nothing.
    level : float
        The nominal confidence.
    method : str
        What was resampled.
    standard_error : float
        The standard deviation of the resampled means; NaN with the limits.
    n, n_clusters : int
        Values, and the units that were resampled.
    n_resamples, seed : int
        Draws and the seed they started from.
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
    n_resamples: int
    seed: int
    reason: str


def bootstrap_interval(
    values: Any, confidence: float = 0.95, n_resamples: int = 10_000, seed: int = 0
) -> BootstrapInterval:
    """Return the percentile bootstrap interval of a mean of independent values.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Finite numbers, one per independent unit.
    confidence : float, default 0.95
        Strictly between 0 and 1.
    n_resamples : int, default 10,000
        Resamples of n values drawn with replacement.
    seed : int, default 0
        Of :func:`numpy.random.default_rng`.

    Returns
    -------
    BootstrapInterval
        Without limits, and with a reason, for fewer than two values and for values that are all
        equal: the resamples would then be equal too, and an interval without width is a lie.

    Raises
    ------
    InputError
        For values that are not finite numbers, or a parameter out of range.

    References
    ----------
    Efron (1979), Annals of Statistics 7:1-26.

    Examples
    --------
    >>> found = bootstrap_interval([1] * 84 + [0] * 116, seed=1)
    >>> round(found.standard_error, 3), found.low, found.high
    (0.035, 0.35, 0.49)
    """
    checked = check_scores("values", values)
    return _percentile(
        checked,
        np.ones(len(checked)),
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
        method="bootstrap over values",
    )


def cluster_bootstrap_interval(
    values: Any,
    clusters: Any,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> BootstrapInterval:
    """Return the percentile bootstrap interval of a mean, resampling whole clusters.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Finite numbers.
    clusters : array-like of str or int, shape (n,)
        The cluster (task) of each value; the unit of resampling.
    confidence, n_resamples, seed
        As :func:`bootstrap_interval`.

    Returns
    -------
    BootstrapInterval
        Each resample draws as many clusters as there are, with replacement, and takes the mean
        over all their values.

    Raises
    ------
    InputError
        As :func:`bootstrap_interval` and :func:`steelyard.stats.partition`.

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, section 3.8.

    Examples
    --------
    >>> found = cluster_bootstrap_interval([1, 1, 0, 0, 1, 0], list("AABBCC"), seed=1)
    >>> found.estimate, found.n_clusters, found.low, found.high
    (0.5, 3, 0.0, 1.0)
    """
    part = partition(values, clusters)
    return _percentile(
        part.sums,
        part.sizes.astype(np.float64),
        confidence=confidence,
        n_resamples=n_resamples,
        seed=seed,
        method="bootstrap over clusters",
    )


def _percentile(
    sums: FloatArray,
    sizes: FloatArray,
    *,
    confidence: float,
    n_resamples: int,
    seed: int,
    method: str,
) -> BootstrapInterval:
    """Resample the (sum, size) units and read the quantiles of the ratio."""
    level = check_open_unit("confidence", confidence)
    draws = check_positive_count("n_resamples", n_resamples)
    checked_seed = check_count("seed", seed)
    units = len(sums)
    n = int(sizes.sum())
    estimate = math.fsum(sums) / n if n else math.nan
    low = high = error = math.nan
    reason = ""
    if units < 2:
        reason = f"{units} units to resample"
    elif np.ptp(sums / sizes) == 0:
        reason = "degenerate: all units are equal"
    else:
        means = _resampled_means(sums, sizes, draws, checked_seed)
        tail = (1.0 - level) / 2.0
        low, high = (float(q) for q in np.quantile(means, [tail, 1.0 - tail]))
        error = float(np.std(means))
    return BootstrapInterval(
        estimate, low, high, level, method, error, n, units, draws, checked_seed, reason
    )


def _resampled_means(sums: FloatArray, sizes: FloatArray, draws: int, seed: int) -> FloatArray:
    """Return the mean of every resample, drawn in chunks so that memory stays bounded."""
    generator = np.random.default_rng(seed)
    units = len(sums)
    step = max(1, CHUNK // units)
    means = []
    for start in range(0, draws, step):
        chosen = generator.integers(0, units, size=(min(step, draws - start), units))
        means.append(sums[chosen].sum(axis=1) / sizes[chosen].sum(axis=1))
    return np.concatenate(means)
