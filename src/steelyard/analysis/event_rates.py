"""Rates of events of many groups at once, each with its two intervals.

A table of consensus has thousands of rows, and most of them share their counts: 0 of 8, 8 of 8.
An interval depends on the successes and totals of the clusters and not on which cluster is which,
so each pattern of counts is computed once.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.stats import clustered_wilson_interval, wilson_interval

Pattern = tuple[tuple[int, int], ...]

RATE_COLUMNS = (
    "count",
    "total",
    "estimate",
    "low",
    "high",
    "level",
    "method",
    "n_clusters",
    "clustered_low",
    "clustered_high",
    "clustered_reason",
)


def rate_row(
    counts: npt.NDArray[np.int64], totals: npt.NDArray[np.int64], confidence: float
) -> dict[str, Any]:
    """Return count, rate and both intervals.

    Parameters
    ----------
    counts, totals : numpy.ndarray of int64, shape (clusters,)
        Events and opportunities of each cluster; a cluster without an opportunity plays no part.
    confidence : float
        Level of both intervals.

    Returns
    -------
    dict
        The columns :data:`RATE_COLUMNS`. Without an opportunity the estimate is NaN, the
        intervals are [0, 1].
    """
    pairs = zip(counts.tolist(), totals.tolist(), strict=True)
    return dict(_rate(tuple(sorted((s, n) for s, n in pairs if n)), confidence))


@lru_cache(maxsize=65_536)
def _rate(pattern: Pattern, confidence: float) -> dict[str, Any]:
    outcomes: list[int] = []
    clusters: list[int] = []
    for cluster, (successes, total) in enumerate(pattern):
        outcomes += [1] * successes + [0] * (total - successes)
        clusters += [cluster] * total
    plain = wilson_interval(sum(outcomes), len(outcomes), confidence)
    clustered = clustered_wilson_interval(outcomes, clusters, confidence)
    return {
        "count": sum(outcomes),
        "total": len(outcomes),
        "estimate": plain.estimate,
        "low": plain.low,
        "high": plain.high,
        "level": confidence,
        "method": plain.method,
        "n_clusters": clustered.n_clusters,
        "clustered_low": clustered.low,
        "clustered_high": clustered.high,
        "clustered_reason": clustered.reason,
    }
