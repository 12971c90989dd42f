"""Two standard errors of one mean: over repeats (seeds) and over tasks.

Published tables often give the mean over a few seeds with the standard error of those few seed
means. That number answers "what would another run over these same tasks give?" It says nothing
about other tasks, and where an agent is nearly deterministic it is close to 0. Both are given
here, side by side and by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray, check_scores
from steelyard.stats.partitions import check_distinct, partition
from steelyard.stats.results import Result

ROUNDING = 1e-12
"""Relative size of what rounding can do to a mean or a difference of means."""


@dataclass(frozen=True)
class RepeatSummary(Result):
    """A mean with its spread over repeats and its spread over tasks.

    Attributes
    ----------
    mean_over_repeats : float
        The mean of the per-repeat means (each repeat weighs the same).
    standard_error_over_repeats : float
        The standard deviation of the per-repeat means over sqrt(repeats), the "SEM over seeds";
        NaN with one repeat.
    mean_over_tasks : float
        The mean of the per-task means (each task weighs the same); equal to the other where
        every task has every repeat.
    standard_error_over_tasks : float
        The standard deviation of the per-task means over sqrt(tasks); NaN with one task.
    n, n_repeats, n_tasks : int
        Trials, repeats and tasks.
    balanced : bool
        True when every task has every repeat.
    reason : str
        Why a standard error is NaN; empty where none is.
    """

    mean_over_repeats: float
    standard_error_over_repeats: float
    mean_over_tasks: float
    standard_error_over_tasks: float
    n: int
    n_repeats: int
    n_tasks: int
    balanced: bool
    reason: str


def mean_and_sem_over_repeats(values: Any, tasks: Any, repeats: Any) -> RepeatSummary:
    """Return the mean with its standard error over repeats and, beside it, over tasks.

    Parameters
    ----------
    values : array-like of float, shape (n,)
        Outcomes or scores of single trials.
    tasks : array-like of str or int, shape (n,)
        The task of each trial.
    repeats : array-like of str or int, shape (n,)
        The repeat (seed) of each trial.

    Returns
    -------
    RepeatSummary

    Raises
    ------
    InputError
        As :func:`steelyard.stats.partition`; also when one task has the same repeat twice.

    Examples
    --------
    >>> found = mean_and_sem_over_repeats(
    ...     [1, 1, 0, 0, 1, 1], ["a", "a", "b", "b", "c", "c"], [0, 1, 0, 1, 0, 1]
    ... )
    >>> found.standard_error_over_repeats, round(found.standard_error_over_tasks, 4)
    (0.0, 0.3333)
    """
    by_task = partition(values, tasks, names="tasks")
    by_repeat = partition(values, repeats, names="repeats")
    keys = [
        (by_task.ids[t], by_repeat.ids[r])
        for t, r in zip(by_task.codes, by_repeat.codes, strict=True)
    ]
    check_distinct(keys, "(task, repeat)")
    scale = float(np.max(np.abs(by_task.values), initial=0.0))
    mean_r, error_r = mean_and_standard_error(by_repeat.means, scale)
    mean_t, error_t = mean_and_standard_error(by_task.means, scale)
    reasons = [
        f"1 {what}" if count == 1 else f"no {what}s"
        for what, count in (("repeat", by_repeat.n_clusters), ("task", by_task.n_clusters))
        if count < 2
    ]
    return RepeatSummary(
        mean_over_repeats=mean_r,
        standard_error_over_repeats=error_r,
        mean_over_tasks=mean_t,
        standard_error_over_tasks=error_t,
        n=by_task.n,
        n_repeats=by_repeat.n_clusters,
        n_tasks=by_task.n_clusters,
        balanced=by_task.n == by_task.n_clusters * by_repeat.n_clusters,
        reason="; ".join(reasons),
    )


def mean_and_standard_error(values: FloatArray, scale: float) -> tuple[float, float]:
    """Return the mean and its standard error (n - 1 in the variance); NaN where undefined.

    Values are equal when they differ by no more than rounding does at ``scale``, the size of the
    numbers they were computed from: 2/3 - 1/3 and 1/3 have no spread.
    """
    count = len(values)
    if count == 0:
        return math.nan, math.nan
    mean = math.fsum(values) / count
    if count == 1:
        return mean, math.nan
    if np.ptp(values) <= ROUNDING * scale:
        return mean, 0.0
    return mean, math.sqrt(math.fsum((values - mean) ** 2) / (count - 1) / count)


@dataclass(frozen=True)
class CombinedMean(Result):
    """The mean of several group means, with the standard error of that same mean.

    Attributes
    ----------
    estimate, standard_error : float
        Both under the one set of weights that ``weights`` names.
    weights : str
        ``"equal"`` (every group counts the same) or ``"size"`` (every trial does).
    n_groups, n : int
        Groups, and trials in them.
    """

    estimate: float
    standard_error: float
    weights: str
    n_groups: int
    n: int


def combine_groups(
    estimates: Any, standard_errors: Any, sizes: Sequence[int], weights: str
) -> CombinedMean:
    """Return the mean over groups (suites, splits) and its standard error under the same weights.

    Parameters
    ----------
    estimates, standard_errors : array-like of float, shape (groups,)
        Of independent groups.
    sizes : sequence of int
        Trials of each group.
    weights : {"equal", "size"}
        What each group counts for. There is no default: the two are different estimands.

    Returns
    -------
    CombinedMean

    Raises
    ------
    InputError
        For lengths that differ, no groups, a size of 0, a negative standard error, or another
        weight name.

    Notes
    -----
    With weights w that sum to 1: sum w m, and sqrt(sum w^2 s^2).

    Examples
    --------
    >>> round(combine_groups([0.5, 0.7], [0.05, 0.01], [100, 900], "equal").standard_error, 6)
    0.025495
    """
    means, errors = (
        check_scores("estimates", estimates),
        check_scores("standard_errors", standard_errors),
    )
    counts = check_scores("sizes", sizes)
    if not len(means) == len(errors) == len(counts) > 0:
        raise InputError(
            f"estimates, standard_errors and sizes have {len(means)}, {len(errors)} and "
            f"{len(counts)} entries; they need the same number, at least 1"
        )
    if (errors < 0).any() or (counts < 1).any():
        raise InputError("a standard error must be 0 or more and a size 1 or more")
    if weights not in ("equal", "size"):
        raise InputError(f'weights is {weights!r}; it must be "equal" or "size"')
    raw = np.ones(len(means)) if weights == "equal" else counts
    share = raw / math.fsum(raw)
    return CombinedMean(
        math.fsum(share * means),
        math.sqrt(math.fsum((share * errors) ** 2)),
        weights,
        len(means),
        int(counts.sum()),
    )
