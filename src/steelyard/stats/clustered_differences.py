"""The difference of two arms over the tasks they share: the task is the unit that is sampled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray, check_open_unit
from steelyard.stats.intervals import wilson_limits
from steelyard.stats.partitions import partition
from steelyard.stats.quantiles import student_t_quantile
from steelyard.stats.repeats import mean_and_standard_error
from steelyard.stats.results import Result


@dataclass(frozen=True, eq=False)
class TaskDifferences:
    """Per-task differences of the mean of b and the mean of a.

    Attributes
    ----------
    tasks : tuple of str
        The tasks that both sides have, sorted.
    differences : numpy.ndarray of float64, shape (tasks,)
        Mean of b minus mean of a, per shared task.
    only_a, only_b : tuple of str
        Tasks that one side lacks; they cannot be compared.
    bounded : bool
        True when every value lies in [0, 1], so that every difference lies in [-1, 1].
    scale : float
        The largest absolute value, against which rounding is judged.
    """

    tasks: tuple[str, ...]
    differences: FloatArray
    only_a: tuple[str, ...]
    only_b: tuple[str, ...]
    bounded: bool
    scale: float


def task_differences(values_a: Any, tasks_a: Any, values_b: Any, tasks_b: Any) -> TaskDifferences:
    """Pair two arms by task and return the difference of their means on every shared task.

    Parameters
    ----------
    values_a, values_b : array-like of float
        Outcomes or scores of single trials.
    tasks_a, tasks_b : array-like of str or int
        Their tasks. The two sides must use the same kind of id.

    Returns
    -------
    TaskDifferences

    Raises
    ------
    InputError
        As :func:`steelyard.stats.partition`, naming the side; also when one side has integer ids
        and the other text, because 7 and ``"7"`` would then be taken for the same task.

    Examples
    --------
    >>> found = task_differences([1, 0, 1], ["x", "x", "y"], [1, 1], ["x", "z"])
    >>> found.tasks, found.differences.tolist(), found.only_a, found.only_b
    (('x',), [0.5], ('y',), ('z',))
    """
    a = partition(values_a, tasks_a, names="tasks_a")
    b = partition(values_b, tasks_b, names="tasks_b")
    if a.kind and b.kind and a.kind != b.kind:
        raise InputError(
            f"tasks_a holds {a.kind} ids and tasks_b {b.kind} ids; both must be of one kind"
        )
    of_a = dict(zip(a.ids, a.means, strict=True))
    of_b = dict(zip(b.ids, b.means, strict=True))
    shared = tuple(task for task in a.ids if task in of_b)
    everything = np.concatenate([a.values, b.values])
    return TaskDifferences(
        tasks=shared,
        differences=np.array([of_b[t] - of_a[t] for t in shared], dtype=np.float64),
        only_a=tuple(task for task in a.ids if task not in of_b),
        only_b=tuple(task for task in b.ids if task not in of_a),
        bounded=bool(np.all((everything >= 0) & (everything <= 1))),
        scale=float(np.max(np.abs(everything), initial=0.0)),
    )


@dataclass(frozen=True)
class ClusteredDifference(Result):
    """A difference of two arms over shared tasks.

    Attributes
    ----------
    estimate : float
        The mean over shared tasks of (mean of b - mean of a): every task weighs the same.
    low, high : float
        The limits; NaN where they are not defined (see ``reason``).
    level : float
        The nominal confidence.
    method : str
        The name of the formula.
    standard_error : float
        Over tasks; NaN with fewer than two.
    n_clusters : int
        The shared tasks.
    n_a, n_b : int
        Trials of the two sides, those of unshared tasks included.
    only_a, only_b : int
        Tasks without a partner, left out.
    reason : str
        What the interval could not rest on; empty in the ordinary case.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    standard_error: float
    n_clusters: int
    n_a: int
    n_b: int
    only_a: int
    only_b: int
    reason: str


def clustered_difference(
    values_a: Any, tasks_a: Any, values_b: Any, tasks_b: Any, confidence: float = 0.95
) -> ClusteredDifference:
    """Return the mean over shared tasks of the per-task differences, with a t interval.

    Parameters
    ----------
    values_a, values_b : array-like of float
        Outcomes or scores of single trials.
    tasks_a, tasks_b : array-like of str or int
        Their tasks.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    ClusteredDifference

    Raises
    ------
    InputError
        As :func:`steelyard.stats.partition`.

    Notes
    -----
    The paired t interval with C - 1 degrees of freedom, C the number of shared tasks; for values
    in [0, 1] its limits are cut to [-1, 1].

    When all C differences are equal their spread is 0, which does not make the mean certain. For
    values in [0, 1] the interval then rests on "0 of C tasks deviate": with u the upper Wilson
    limit of that share (t quantile), the mean lies within d ± u times the room that d leaves to
    1 and to -1. For unbounded values the limits are NaN.

    References
    ----------
    Miller (2024), arXiv:2411.00640, on question-level paired differences.

    Examples
    --------
    >>> a, b = [1, 0, 0, 0, 1, 1], [1, 1, 1, 0, 1, 1]
    >>> found = clustered_difference(a, list("AABBCC"), b, list("AABBCC"))
    >>> round(found.estimate, 4), round(found.low, 4), found.n_clusters
    (0.3333, -0.3838, 3)
    """
    level = check_open_unit("confidence", confidence)
    pairs = task_differences(values_a, tasks_a, values_b, tasks_b)
    spread = mean_and_standard_error(pairs.differences, pairs.scale)
    low, high, method, reason = _limits(pairs, spread, level)
    return ClusteredDifference(
        estimate=spread[0],
        low=low,
        high=high,
        level=level,
        method=method,
        standard_error=spread[1],
        n_clusters=len(pairs.tasks),
        n_a=len(np.asarray(values_a)),
        n_b=len(np.asarray(values_b)),
        only_a=len(pairs.only_a),
        only_b=len(pairs.only_b),
        reason=reason,
    )


def _limits(
    pairs: TaskDifferences, spread: tuple[float, float], level: float
) -> tuple[float, float, str, str]:
    """Return low, high, method and reason."""
    mean, error = spread
    count = len(pairs.tasks)
    method = "paired t over tasks"
    if count < 2:
        return math.nan, math.nan, method, "1 shared task" if count else "no shared task"
    quantile = student_t_quantile(level, count - 1)
    if error == 0:
        reason = "all tasks have the same difference"
        if not pairs.bounded:
            return math.nan, math.nan, method, reason
        share = float(wilson_limits(np.array(0.0), np.array(float(count)), quantile)[1])
        low, high = mean - share * (1 + mean), mean + share * (1 - mean)
        return max(low, -1.0), min(high, 1.0), f"Wilson on 0 of {count} tasks deviating", reason
    low, high = mean - quantile * error, mean + quantile * error
    if pairs.bounded:
        low, high = max(low, -1.0), min(high, 1.0)
    return low, high, method, ""
