"""Ratios of sums over clusters: precision, recall, F1, a rate among some.

The denominator of such a ratio is itself random, and it may be zero in some clusters. A resample
draws clusters; its ratio is the sum of their numerators over the sum of their denominators.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import (
    FloatArray,
    IntArray,
    check_count,
    check_open_unit,
    check_positive_count,
    check_values,
)
from steelyard.stats.results import Result


@dataclass(frozen=True)
class RatioInterval(Result):
    """A ratio of sums, or the difference of two, with its percentile bootstrap interval.

    Attributes
    ----------
    estimate : float
        NaN where a denominator is zero.
    low, high : float
        The limits; NaN where resampling can say nothing.
    level : float
        The nominal confidence.
    method : str
        What was resampled.
    n_clusters : int
        The units that were resampled.
    n_resamples, seed : int
        Draws and the seed they started from.
    n_undefined : int
        Resamples without a denominator; the limits are quantiles of the others.
    reason : str
        Why the limits are NaN; empty where they are not.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n_clusters: int
    n_resamples: int
    seed: int
    n_undefined: int
    reason: str


LARGEST_TABLE = 200_000_000
"""Cells of the largest table that is held at once: 1.6 GB of doubles."""


def check_table(rows: int, columns: int, what: str) -> None:
    """Refuse a table of more than `LARGEST_TABLE` cells; ``what`` names its sides."""
    if rows * columns > LARGEST_TABLE:
        raise InputError(
            f"{what}: {rows} x {columns} cells; accepted: at most {LARGEST_TABLE:,} in total"
        )


def cluster_draws(n_clusters: int, n_resamples: int = 10_000, seed: int = 0) -> IntArray:
    """Return how often each cluster is drawn in each resample.

    Parameters
    ----------
    n_clusters : int
        At least 1.
    n_resamples : int, default 10,000
    seed : int, default 0
        Of :func:`numpy.random.default_rng`, whose ``multinomial`` draws with equal probabilities.

    Returns
    -------
    numpy.ndarray of int64, shape (n_resamples, n_clusters)
        Each row sums to ``n_clusters``.

    Raises
    ------
    InputError
        For counts out of range, and for a result of more than `LARGEST_TABLE` cells.
    """
    clusters = check_positive_count("n_clusters", n_clusters)
    draws = check_positive_count("n_resamples", n_resamples)
    check_table(draws, clusters, "n_resamples and clusters")
    generator = np.random.default_rng(check_count("seed", seed))
    return generator.multinomial(clusters, np.full(clusters, 1.0 / clusters), size=draws)


def cluster_ratio_interval(
    numerators: Any,
    denominators: Any,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> RatioInterval:
    """Return the percentile bootstrap interval of a ratio of sums, drawing whole clusters.

    Parameters
    ----------
    numerators, denominators : array-like of float, shape (C,)
        The sums of each cluster, in the order of the clusters' ids (the draws depend on it).
    confidence : float, default 0.95
        Strictly between 0 and 1.
    n_resamples : int, default 10,000
    seed : int, default 0

    Returns
    -------
    RatioInterval
        Without limits, and with a reason, for fewer than two clusters and for clusters whose
        ratios are all equal: every resample would then be equal too.

    Raises
    ------
    InputError
        For arrays of different length, values that are not finite, a negative denominator, sums
        or ratios beyond the largest double, and more than `LARGEST_TABLE` draws of a cluster.

    References
    ----------
    Davison and Hinkley (1997), Bootstrap Methods and their Application, sections 2.5 and 3.8.

    Examples
    --------
    >>> found = cluster_ratio_interval([3, 0, 1, 2], [3, 0, 2, 4], seed=1)
    >>> round(found.estimate, 3), round(found.low, 3), found.high, found.n_undefined
    (0.667, 0.5, 1.0, 32)
    """
    return _interval([_side(numerators, denominators)], confidence, n_resamples, seed)


def cluster_ratio_difference(
    reference: tuple[Any, Any],
    candidate: tuple[Any, Any],
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> RatioInterval:
    """Return the interval of candidate ratio minus reference ratio over the same clusters.

    Parameters
    ----------
    reference, candidate : tuple of two array-likes of float, shape (C,)
        Numerators and denominators of each cluster; position c is the same cluster on both sides.
    confidence, n_resamples, seed
        As :func:`cluster_ratio_interval`. Both sides have the same draws: they are paired.

    Returns
    -------
    RatioInterval

    Raises
    ------
    InputError
        As :func:`cluster_ratio_interval`, and when the sides have different numbers of clusters.

    Examples
    --------
    >>> found = cluster_ratio_difference(([1, 1], [2, 2]), ([2, 1], [2, 2]), seed=1)
    >>> found.estimate, found.low, found.high
    (0.25, 0.0, 0.5)
    """
    sides = [_side(*_pair("candidate", candidate)), _side(*_pair("reference", reference))]
    if len(sides[0][0]) != len(sides[1][0]):
        raise InputError(
            f"reference has {len(sides[1][0])} clusters and candidate {len(sides[0][0])}; "
            "a paired difference needs the same clusters on both sides"
        )
    return _interval(sides, confidence, n_resamples, seed)


def _pair(name: str, side: Any) -> tuple[Any, Any]:
    if not isinstance(side, tuple | list | np.ndarray) or len(side) != 2:
        raise InputError(f"{name} must be a pair: the clusters' numerators and denominators")
    return side[0], side[1]


def _side(numerators: Any, denominators: Any) -> tuple[FloatArray, FloatArray]:
    above, below = (
        check_values("numerators", numerators),
        check_values("denominators", denominators),
    )
    if len(above) != len(below):
        raise InputError(f"numerators has {len(above)} values and denominators {len(below)}")
    if (below < 0).any():
        raise InputError(f"denominators holds {below.min():g}; accepted: 0 or more")
    # Sums, their ratio and a difference of two ratios must all be doubles.
    largest = max(np.abs(above).max(initial=0.0), below.max(initial=0.0))
    smallest = below.min(where=below > 0, initial=1.0)
    if largest > sys.float_info.max / (2.0 * max(len(above), 1)) * smallest:
        raise InputError(
            f"numerators and denominators reach {largest:g}, beside a denominator of "
            f"{smallest:g}; their sums or ratios exceed the largest double"
        )
    return above, below


def _interval(
    sides: list[tuple[FloatArray, FloatArray]], confidence: float, n_resamples: int, seed: int
) -> RatioInterval:
    level = check_open_unit("confidence", confidence)
    clusters = len(sides[0][0])
    resamples = check_positive_count("n_resamples", n_resamples)
    estimate = _contrast(
        [_ratio(*(np.array([math.fsum(part)]) for part in side)) for side in sides]
    )
    low = high = math.nan
    undefined = 0
    reason = _no_interval(sides)
    if not reason:
        draws = cluster_draws(clusters, resamples, seed)
        drawn = _contrast([_ratio(draws @ above, draws @ below) for above, below in sides])
        undefined = int(np.isnan(drawn).sum())
        tail = (1.0 - level) / 2.0
        low, high = (float(q) for q in np.nanquantile(drawn, [tail, 1.0 - tail]))
    return RatioInterval(
        float(estimate[0]), low, high, level, "bootstrap over clusters", clusters, resamples,
        check_count("seed", seed), undefined, reason,
    )  # fmt: skip


def _no_interval(sides: list[tuple[FloatArray, FloatArray]]) -> str:
    clusters = len(sides[0][0])
    if clusters < 2:
        return f"{clusters} clusters to resample"
    if any(below.sum() == 0 for _, below in sides):
        return "no denominator"
    if len(sides) == 1:
        present = sides[0][1] > 0
        ratios = sides[0][0][present] / sides[0][1][present]
        if np.ptp(ratios) == 0:
            return "degenerate: all clusters are equal"
    return ""


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    ratio: FloatArray = np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)
    return ratio


def _contrast(ratios: list[FloatArray]) -> FloatArray:
    return ratios[0] if len(ratios) == 1 else ratios[0] - ratios[1]
