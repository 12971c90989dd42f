"""Intervals for the difference of two rates, rate of b minus rate of a, for independent trials.

Where trials share tasks, see :mod:`steelyard.stats.clustered_differences`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.stats.checks import check_open_unit
from steelyard.stats.intervals import wilson_interval
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.results import Result
from steelyard.stats.score import check_table, falling_root, score


@dataclass(frozen=True)
class DifferenceInterval(Result):
    """A difference of two rates with its interval, for independent trials.

    Attributes
    ----------
    estimate : float
        Rate of b minus rate of a; NaN when a side has no trials.
    low, high : float
        The limits, in [-1, 1].
    level : float
        The nominal confidence.
    method : str
        The name of the formula.
    n_a, n_b : int
        Trials of the two sides.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n_a: int
    n_b: int


def newcombe_interval(
    a_successes: int, a_total: int, b_successes: int, b_total: int, confidence: float = 0.95
) -> DifferenceInterval:
    """Return Newcombe's hybrid score interval of rate b minus rate a.

    Parameters
    ----------
    a_successes, a_total, b_successes, b_total : int
        Counts of the two sides.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    DifferenceInterval
        NaN and [-1, 1] when a side has no trials.

    Raises
    ------
    InputError
        For counts that no group can have, or a confidence outside (0, 1).

    Notes
    -----
    With the Wilson limits (l, u) of each rate, d - sqrt((pb - lb)^2 + (ua - pa)^2) and
    d + sqrt((ub - pb)^2 + (pa - la)^2).

    References
    ----------
    Newcombe (1998), Statistics in Medicine 17:873-890, method 10.

    Examples
    --------
    >>> found = newcombe_interval(52, 64, 64, 64)
    >>> found.estimate, round(found.low, 4), round(found.high, 4)
    (0.1875, 0.092, 0.2997)
    """
    s_a, n_a, s_b, n_b = check_table(a_successes, a_total, b_successes, b_total)
    level = check_open_unit("confidence", confidence)
    method = "Newcombe hybrid score"
    if n_a == 0 or n_b == 0:
        return DifferenceInterval(math.nan, -1.0, 1.0, level, method, n_a, n_b)
    a = wilson_interval(s_a, n_a, level)
    b = wilson_interval(s_b, n_b, level)
    difference = b.estimate - a.estimate
    low = difference - math.hypot(b.estimate - b.low, a.high - a.estimate)
    high = difference + math.hypot(b.high - b.estimate, a.estimate - a.low)
    return DifferenceInterval(difference, max(low, -1.0), min(high, 1.0), level, method, n_a, n_b)


def miettinen_nurminen_interval(
    a_successes: int, a_total: int, b_successes: int, b_total: int, confidence: float = 0.95
) -> DifferenceInterval:
    """Return the Miettinen-Nurminen score interval of rate b minus rate a.

    The differences that the score test does not reject, with its factor N/(N - 1). Defined for
    every table with trials on both sides, 0/n and n/n included.

    Parameters
    ----------
    a_successes, a_total, b_successes, b_total : int
        Counts of the two sides.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    DifferenceInterval
        NaN and [-1, 1] when a side has no trials.

    Raises
    ------
    InputError
        For counts that no group can have, or a confidence outside (0, 1).

    References
    ----------
    Miettinen and Nurminen (1985), Statistics in Medicine 4:213-226.

    Examples
    --------
    >>> found = miettinen_nurminen_interval(8, 8, 5, 5)
    >>> found.estimate, round(found.low, 4), round(found.high, 4)
    (0.0, -0.4542, 0.3422)
    """
    table = check_table(a_successes, a_total, b_successes, b_total)
    s_a, n_a, s_b, n_b = table
    z = normal_quantile(confidence)
    method = "Miettinen-Nurminen score"
    if n_a == 0 or n_b == 0:
        return DifferenceInterval(math.nan, -1.0, 1.0, confidence, method, n_a, n_b)
    difference = s_b / n_b - s_a / n_a
    low = falling_root(lambda delta: score(table, delta) - z, -1.0, difference)
    high = falling_root(lambda delta: score(table, delta) + z, difference, 1.0)
    return DifferenceInterval(difference, low, high, float(confidence), method, n_a, n_b)
