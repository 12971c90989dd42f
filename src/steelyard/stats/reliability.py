"""Reliability over repeats: pass^k (all of k trials succeed) and pass@k (at least one does)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.binomial import binomial_log_probability
from steelyard.stats.checks import FloatArray, check_count_arrays, check_positive_count
from steelyard.stats.results import Result

LARGEST_PRODUCT = 1_000
"""Factors that are multiplied out; beyond, a saddle-point form with an error near 1e-13."""


@dataclass(frozen=True)
class Reliability(Result):
    """pass^k or pass@k over tasks.

    Attributes
    ----------
    estimate : float
        The mean over the tasks used; NaN when there is none.
    k : int
        The number of trials of one draw.
    tasks_used, tasks_total : int
        Tasks with at least k trials, and all tasks. Where the two differ the estimate speaks of
        the tasks used only, so they must be shown with it.
    method : str
        ``"pass^k"`` or ``"pass@k"``.
    reason : str
        Why the estimate is NaN; empty where it is not.
    """

    estimate: float
    k: int
    tasks_used: int
    tasks_total: int
    method: str
    reason: str


def pass_hat_k(successes: Any, trials: Any, k: int) -> Reliability:
    """Return pass^k: the probability that k trials of one task all succeed, averaged over tasks.

    Parameters
    ----------
    successes, trials : array-like of int, shape (tasks,)
        Per task, the successes and the trials that were scored.
    k : int
        At least 1. A task with fewer than k trials cannot estimate it and is left out, and
        counted as left out.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        For counts that no task can have, or k below 1.

    Notes
    -----
    Per task C(c, k)/C(n, k), the unbiased estimator from c successes in n trials: the share of
    the k-subsets of the trials that hold successes only.

    References
    ----------
    Yao et al. (2024), tau-bench, arXiv:2406.12045.

    Examples
    --------
    >>> found = pass_hat_k([4, 3], [4, 3], k=4)
    >>> found.estimate, found.tasks_used, found.tasks_total
    (1.0, 1, 2)
    """
    return _over_tasks(pass_hat_k_per_task, "pass^k", successes, trials, k)


def pass_at_k(successes: Any, trials: Any, k: int) -> Reliability:
    """Return pass@k: the probability that k trials of one task hold a success, over tasks.

    Parameters
    ----------
    successes, trials : array-like of int, shape (tasks,)
        As :func:`pass_hat_k`.
    k : int
        At least 1.

    Returns
    -------
    Reliability

    Raises
    ------
    InputError
        As :func:`pass_hat_k`.

    Notes
    -----
    Per task 1 - C(n - c, k)/C(n, k), unbiased.

    References
    ----------
    Chen et al. (2021), arXiv:2107.03374, equation 1.

    Examples
    --------
    >>> pass_at_k([3, 0], [4, 4], k=2).estimate
    0.5
    """
    return _over_tasks(pass_at_k_per_task, "pass@k", successes, trials, k)


def pass_hat_k_per_task(successes: Any, trials: Any, k: int) -> FloatArray:
    """Return C(c, k)/C(n, k) for every task; NaN where a task has fewer than k trials.

    See :func:`pass_hat_k`.

    Examples
    --------
    >>> [float(p) for p in pass_hat_k_per_task([3, 3], [4, 3], k=2)]
    [0.5, 1.0]
    """
    s, n, size = _checked(successes, trials, k)
    return _subset_share(s, n, size)


def pass_at_k_per_task(successes: Any, trials: Any, k: int) -> FloatArray:
    """Return 1 - C(n - c, k)/C(n, k) for every task; NaN where a task has fewer than k trials.

    See :func:`pass_at_k`.

    Examples
    --------
    >>> [float(p) for p in pass_at_k_per_task([1, 0], [4, 4], k=2)]
    [0.5, 0.0]
    """
    s, n, size = _checked(successes, trials, k)
    return 1.0 - _subset_share(n - s, n, size)


def _checked(successes: Any, trials: Any, k: int) -> tuple[FloatArray, FloatArray, int]:
    size = check_positive_count("k", k)
    s, n = check_count_arrays(successes, trials, names=("successes", "trials"))
    if s.ndim != 1:
        raise InputError(f"successes has {s.ndim} dimensions; it must have one, a count per task")
    return s, n, size


def _subset_share(chosen: FloatArray, n: FloatArray, k: int) -> FloatArray:
    """Return C(chosen, k)/C(n, k), by k factors (chosen - i)/(n - i) unless k is large."""
    share = np.where(n >= k, 1.0, np.nan)
    if k <= LARGEST_PRODUCT:
        for i in range(k):
            share *= np.maximum(chosen - i, 0.0) / np.maximum(n - i, 1.0)
        return share
    for task in np.flatnonzero(n >= k):
        share[task] = _share_of_many(float(chosen[task]), float(n[task]), k)
    return share


def _share_of_many(chosen: float, n: float, k: int) -> float:
    """Return C(chosen, k)/C(n, k): the probability that k draws without return are all chosen."""
    if chosen < k or chosen == n:
        return float(chosen >= k)
    draws, none = np.array([float(k)]), np.zeros(1)
    rate = k / n
    log_share = (
        binomial_log_probability(draws, chosen, rate)
        + binomial_log_probability(none, n - chosen, rate)
        - binomial_log_probability(draws, n, rate)
    )
    return float(np.exp(log_share[0]))


def _over_tasks(
    per_task: Callable[[Any, Any, int], FloatArray],
    method: str,
    successes: Any,
    trials: Any,
    k: int,
) -> Reliability:
    """Average over the tasks that have enough trials."""
    shares = per_task(successes, trials, k)
    used = shares[~np.isnan(shares)]
    reason = "" if used.size else f"no task has {k} trials"
    estimate = math.fsum(used) / used.size if used.size else math.nan
    return Reliability(estimate, int(k), int(used.size), int(shares.size), method, reason)
