"""How well a score tells two classes apart: area under the ROC curve and average precision."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.checks import (
    FloatArray,
    check_count,
    check_open_unit,
    check_outcomes,
    check_positive_count,
    check_values,
)
from steelyard.stats.partitions import partition
from steelyard.stats.ratios import check_table, cluster_draws
from steelyard.stats.results import Result

CHUNK = 256
"""Resamples whose weights are held at a time."""


@dataclass(frozen=True)
class Discrimination(Result):
    """A score's discrimination between positives and negatives.

    Attributes
    ----------
    auroc : float
        Probability that a positive has the higher score, ties counted half; NaN where a class is
        empty.
    auroc_low, auroc_high : float
        Percentile limits over resampled clusters; NaN where resampling can say nothing.
    average_precision : float
        Sum over thresholds of (recall gained) x precision; NaN without positives.
    positives, n : int
        Cases of the positive class, and all cases.
    n_clusters : int
        Units that were resampled.
    level : float
        Nominal confidence.
    n_resamples, seed : int
        Draws and their seed.
    n_undefined : int
        Resamples in which a class was empty; the limits are quantiles of the others.
    """

    auroc: float
    auroc_low: float
    auroc_high: float
    average_precision: float
    positives: int
    n: int
    n_clusters: int
    level: float
    n_resamples: int
    seed: int
    n_undefined: int


def discrimination(
    scores: Any,
    labels: Any,
    clusters: Any,
    *,
    confidence: float = 0.95,
    n_resamples: int = 2_000,
    seed: int = 0,
) -> Discrimination:
    """Return AUROC with its clustered bootstrap interval, and average precision.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
        Finite; higher means "more likely positive".
    labels : array-like of 0 and 1, shape (n,)
    clusters : array-like of str or int, shape (n,)
        The unit of resampling of each case.
    confidence : float, default 0.95
    n_resamples : int, default 2,000
    seed : int, default 0

    Returns
    -------
    Discrimination

    Raises
    ------
    InputError
        For arrays of different length, scores that are not finite, other labels, and for more
        draws of clusters, or pairs of a positive and a negative, than
        `steelyard.stats.ratios.LARGEST_TABLE`.

    References
    ----------
    AUROC as the Mann-Whitney statistic: Hanley and McNeil (1982), Radiology 143:29-36. Average
    precision is the step-wise sum, without interpolation.

    Examples
    --------
    >>> found = discrimination([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1], ["a", "b", "c", "d"])
    >>> found.auroc, round(found.average_precision, 4)
    (0.75, 0.8333)
    """
    values, truth = _cases(scores, labels)
    check_count("seed", seed)
    part = partition(truth, clusters)
    positive = truth == 1
    wins = _wins(values[positive], values[~positive])
    codes = (part.codes[positive], part.codes[~positive])
    level = check_open_unit("confidence", confidence)
    draws = check_positive_count("n_resamples", n_resamples)
    low, high, undefined = _limits(
        wins, codes, n_clusters=part.n_clusters, level=level, n_resamples=draws, seed=seed
    )
    return Discrimination(
        float(wins.mean()) if wins.size else math.nan, low, high, average_precision(values, truth),
        int(positive.sum()), len(values), part.n_clusters, level, draws,
        check_count("seed", seed), undefined,
    )  # fmt: skip


def average_precision(scores: Any, labels: Any) -> float:
    """Return the average precision; cases with equal scores enter together.

    Parameters
    ----------
    scores : array-like of float, shape (n,)
        Finite; higher means "more likely positive".
    labels : array-like of 0 and 1, shape (n,)

    Returns
    -------
    float
        NaN without a positive.

    Raises
    ------
    InputError
        For arrays of different length, scores that are not finite, or other labels.
    """
    values, truth = _cases(scores, labels)
    if not truth.sum():
        return math.nan
    order = np.argsort(-values, kind="stable")
    ranked = values[order]
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))
    found = np.cumsum(truth[order])[last]
    gained = np.diff(found, prepend=0.0) / truth.sum()
    return math.fsum(gained * found / (last + 1))


def _cases(scores: Any, labels: Any) -> tuple[FloatArray, FloatArray]:
    values, truth = check_values("scores", scores), check_outcomes("labels", labels)
    if len(values) != len(truth):
        raise InputError(f"scores has {len(values)} values and labels {len(truth)}")
    return values, truth


def _wins(positives: FloatArray, negatives: FloatArray) -> FloatArray:
    """Return 1, 1/2 or 0 for each pair of a positive and a negative, shape (P, N)."""
    check_table(len(positives), len(negatives), "positives and negatives")
    # Compared and not subtracted: a difference of large scores is no double.
    high, low = positives[:, None], negatives[None, :]
    return np.where(high > low, 1.0, np.where(high == low, 0.5, 0.0))


def _limits(
    wins: FloatArray,
    codes: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    *,
    n_clusters: int,
    level: float,
    n_resamples: int,
    seed: int,
) -> tuple[float, float, int]:
    """Return the percentile limits of the AUROC, and the number of resamples without one."""
    if n_clusters < 2 or not wins.size or np.ptp(wins) == 0:
        return math.nan, math.nan, 0
    weights = cluster_draws(n_clusters, n_resamples, seed).astype(np.float64)
    drawn = np.empty(n_resamples)
    for start in range(0, n_resamples, CHUNK):
        rows = weights[start : start + CHUNK]
        positive, negative = rows[:, codes[0]], rows[:, codes[1]]
        above = np.einsum("dn,dn->d", positive @ wins, negative)
        below = positive.sum(axis=1) * negative.sum(axis=1)
        drawn[start : start + CHUNK] = np.divide(
            above, below, out=np.full(len(rows), math.nan), where=below > 0
        )
    tail = (1.0 - level) / 2.0
    low, high = (float(q) for q in np.nanquantile(drawn, [tail, 1.0 - tail]))
    return low, high, int(np.isnan(drawn).sum())
