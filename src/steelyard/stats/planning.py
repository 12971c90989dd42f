"""Planning: how many trials a claim needs before they are run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import scipy

from steelyard.errors import InputError
from steelyard.stats.checks import (
    FloatArray,
    check_number,
    check_open_unit,
    check_positive_count,
    check_probability,
)
from steelyard.stats.quantiles import normal_quantile, student_t_quantile
from steelyard.stats.results import Result


def sample_size_for_bound(bound: float, confidence: float = 0.95) -> int:
    """Return the least number of trials, all successes, whose Wilson lower limit is the bound.

    Fewer trials cannot certify the bound even if none of them fails.

    Parameters
    ----------
    bound : float
        The rate to be shown, in [0, 1).
    confidence : float, default 0.95
        Of the two-sided interval, strictly between 0 and 1.

    Returns
    -------
    int
        The least n >= 1 with n/(n + z^2) >= bound.

    Raises
    ------
    InputError
        For a bound or a confidence out of range.

    Examples
    --------
    >>> sample_size_for_bound(0.95)
    73
    """
    target = _check_bound(bound)
    return _least(target, normal_quantile(confidence) ** 2)


def tasks_for_bound(bound: float, confidence: float = 0.95) -> int:
    """Return the least number of tasks, all successes, for the task-clustered lower limit.

    The counterpart of :func:`sample_size_for_bound` for
    :func:`steelyard.stats.clustered_wilson_interval` at its default boundary, where a task counts
    once however often it is repeated: the least C >= 2 with C/(C + t^2) >= bound, t on C - 1
    degrees of freedom.

    Parameters
    ----------
    bound : float
        The rate to be shown, in [0, 1).
    confidence : float, default 0.95
        Of the two-sided interval, strictly between 0 and 1.

    Returns
    -------
    int

    Raises
    ------
    InputError
        For a bound or a confidence out of range.

    Examples
    --------
    >>> tasks_for_bound(0.95)
    76
    """
    target = _check_bound(bound)
    # t exceeds z, so the tasks are at least the trials; t falls with C, so the search is upward
    tasks = max(2, _least(target, normal_quantile(confidence) ** 2))
    while tasks / (tasks + student_t_quantile(confidence, tasks - 1) ** 2) < target:
        tasks += 1
    return tasks


def _check_bound(bound: float) -> float:
    target = check_number("bound", bound)
    if not 0 <= target < 1:
        raise InputError(f"bound is {target}; it must be 0 or more and below 1")
    return target


def _least(bound: float, square: float) -> int:
    """Return the least n >= 1 with n/(n + square) >= bound."""
    # in fractions: near 1 the steps of n/(n + square) are finer than doubles
    exact = Fraction(bound)
    return max(1, math.ceil(exact * Fraction(square) / (1 - exact)))


@dataclass(frozen=True)
class Power(Result):
    """The power of the exact permutation test at two assumed rates.

    Attributes
    ----------
    power : float
        The probability that p <= alpha.
    rate_a, rate_b : float
        The assumed rates.
    n_a, n_b : int
        Trials of the two sides.
    alpha : float
        The level of the test.
    method : str
        The test, and that its power is a sum over all outcomes.
    """

    power: float
    rate_a: float
    rate_b: float
    n_a: int
    n_b: int
    alpha: float
    method: str


def power_exact_permutation(
    rate_a: float, rate_b: float, n_a: int, n_b: int, alpha: float = 0.05
) -> Power:
    """Return the power of :func:`steelyard.stats.exact_permutation`, by summing all outcomes.

    Parameters
    ----------
    rate_a, rate_b : float
        The assumed success rates, in [0, 1]. Equal rates give the size of the test.
    n_a, n_b : int
        Independent trials of the two sides, at least 1 and together at most 4,000.
    alpha : float, default 0.05
        The level: the test rejects when p <= alpha.

    Returns
    -------
    Power

    Raises
    ------
    InputError
        For rates, counts or a level out of range.

    Notes
    -----
    The sum over (x_a, x_b) of the two binomial probabilities where the test rejects. Trials that
    share tasks are not independent; divide their number by the design effect first.

    Examples
    --------
    >>> round(power_exact_permutation(0.8, 0.95, 64, 64).power, 3)
    0.668
    """
    first, second = check_probability("rate_a", rate_a), check_probability("rate_b", rate_b)
    trials_a, trials_b = check_positive_count("n_a", n_a), check_positive_count("n_b", n_b)
    level = check_open_unit("alpha", alpha)
    if trials_a + trials_b > 4000:
        raise InputError(f"n_a + n_b is {trials_a + trials_b}; the sum is made up to 4,000 trials")
    return _power(first, second, trials_a, trials_b, level)


def trials_for_power(
    rate_a: float,
    rate_b: float,
    power: float = 0.8,
    alpha: float = 0.05,
    max_trials: int = 500,
) -> Power:
    """Return the least number of trials per side that gives the exact test this power.

    Parameters
    ----------
    rate_a, rate_b : float
        The assumed success rates, in [0, 1], not equal.
    power : float, default 0.8
        The probability of p <= alpha to be reached.
    alpha : float, default 0.05
        The level of the test.
    max_trials : int, default 500
        Where the search ends, at most 2,000.

    Returns
    -------
    Power
        At the number found, in ``n_a`` and ``n_b``.

    Raises
    ------
    InputError
        For arguments out of range, equal rates, or a power not reached by ``max_trials``.

    Notes
    -----
    The power of an exact test rises in teeth: some larger numbers may fall just short again. The
    first number that reaches the power is returned.

    Examples
    --------
    >>> found = trials_for_power(0.5, 0.9)
    >>> found.n_a, round(found.power, 3)
    (23, 0.811)
    """
    first, second = check_probability("rate_a", rate_a), check_probability("rate_b", rate_b)
    target, level = check_open_unit("power", power), check_open_unit("alpha", alpha)
    last = check_positive_count("max_trials", max_trials)
    if first == second:
        raise InputError(
            f"rate_a and rate_b are both {first}; no number of trials tells them apart"
        )
    if last > 2000:
        raise InputError(f"max_trials is {last}; the search ends at 2,000")
    reached = 0.0
    for trials in range(1, last + 1):
        found = _power(first, second, trials, trials, level)
        if found.power >= target:
            return found
        reached = max(reached, found.power)
    raise InputError(
        f"the power reaches {reached:.3f} of {target} within max_trials = {last}; raise it"
    )


def _power(rate_a: float, rate_b: float, n_a: int, n_b: int, alpha: float) -> Power:
    """Sum the probability of the rejected tables."""
    rejected = _p_value_table(n_a, n_b) <= alpha * (1 + 1e-9)
    chance = np.outer(_binomial(n_a, rate_a), _binomial(n_b, rate_b))
    return Power(
        min(math.fsum(chance[rejected]), 1.0),
        rate_a,
        rate_b,
        n_a,
        n_b,
        alpha,
        "exact permutation, sum over all outcomes",
    )


def _binomial(n: int, rate: float) -> FloatArray:
    """Return the Binomial(n, rate) probabilities of 0..n."""
    x = np.arange(n + 1)
    log_choose = _log_factorials(n)[n] - _log_factorials(n)[x] - _log_factorials(n)[n - x]
    log_chance = scipy.special.xlogy(x, rate) + scipy.special.xlog1py(n - x, -rate)
    return np.asarray(np.exp(log_choose + log_chance), dtype=np.float64)


def _log_factorials(n: int) -> FloatArray:
    return np.asarray(scipy.special.gammaln(np.arange(1.0, n + 2.0)), dtype=np.float64)


def _p_value_table(n_a: int, n_b: int) -> FloatArray:
    """Return the exact two-sided p-value of every table, shape (n_a + 1, n_b + 1).

    Row K holds the tables with K successes in all, from the most to the least extreme by the
    integer difference of rates, so that the running sum is the p-value; a table that ties with
    the next one (there are at most two at a distance) takes the next one's.
    """
    total = n_a + n_b
    marked = np.arange(total + 1)[:, None]
    first = np.maximum(0, marked - n_b)
    x = first + np.arange(min(n_a, n_b) + 1)[None, :]
    possible = x <= np.minimum(marked, n_a)
    x = np.where(possible, x, first)
    y = marked - x
    logs = _log_factorials(total)
    log_weight = (
        (logs[n_a] - logs[x] - logs[n_a - x])
        + (logs[n_b] - logs[y] - logs[n_b - y])
        - (logs[total] - logs[marked] - logs[total - marked])
    )
    weight = np.where(possible, np.exp(log_weight), 0.0)
    distance = np.where(possible, np.abs(y * n_a - x * n_b), -1)
    order = np.argsort(-distance, axis=1, kind="stable")
    distance = np.take_along_axis(distance, order, axis=1)
    running = np.cumsum(np.take_along_axis(weight, order, axis=1), axis=1)
    ties = distance[:, :-1] == distance[:, 1:]
    p_values = running.copy()
    p_values[:, :-1][ties] = running[:, 1:][ties]
    table = np.empty((n_a + 1, n_b + 1))
    rows = np.broadcast_to(marked, x.shape)
    x = np.take_along_axis(x, order, axis=1)
    kept = distance >= 0
    table[x[kept], (rows - x)[kept]] = p_values[kept]
    return table
