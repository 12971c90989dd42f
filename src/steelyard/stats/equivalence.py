"""Equivalence: two one-sided tests of a difference against a margin.

A difference that is not significant has not been shown to be small. To say that two arms are the
same one states a margin, the largest difference that would not matter, and tests that the
difference lies inside it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InputError
from steelyard.stats.checks import check_margin, check_number
from steelyard.stats.clustered_differences import ClusteredDifference, clustered_difference
from steelyard.stats.differences import DifferenceInterval, miettinen_nurminen_interval
from steelyard.stats.quantiles import normal_tail, student_t_tail
from steelyard.stats.results import SMALLEST_P, Result
from steelyard.stats.score import check_table, score
from steelyard.stats.verdicts import has_limits, smallest_margin


@dataclass(frozen=True)
class EquivalenceTest(Result):
    """Two one-sided tests of a difference of two rates against a margin.

    Attributes
    ----------
    estimate : float
        Rate of b minus rate of a.
    low, high : float
        The interval at level 1 - 2 alpha, which lies inside the margin exactly when both tests
        reject.
    level : float
        1 - 2 alpha.
    margin, alpha : float
        As given.
    p_lower : float
        Against the hypothesis that the difference is -margin or less.
    p_upper : float
        Against the hypothesis that the difference is +margin or more.
    p_value : float
        The larger of the two.
    equivalent : bool
        True when the interval lies strictly inside (-margin, margin).
    smallest_margin : float
        The least margin that this evidence could have supported at this alpha.
    method : str
        The name of the test.
    n_a, n_b : int
        Trials of the two sides.
    n_clusters : int or None
        Shared tasks of the clustered form; None for independent trials.
    reason : str
        What the test could not rest on; empty in the ordinary case.
    """

    estimate: float
    low: float
    high: float
    level: float
    margin: float
    alpha: float
    p_lower: float
    p_upper: float
    p_value: float
    equivalent: bool
    smallest_margin: float
    method: str
    n_a: int
    n_b: int
    n_clusters: int | None
    reason: str


def two_one_sided_tests(
    a_successes: int,
    a_total: int,
    b_successes: int,
    b_total: int,
    *,
    margin: float,
    alpha: float = 0.05,
) -> EquivalenceTest:
    """Return the equivalence test of two rates, for independent trials.

    Parameters
    ----------
    a_successes, a_total, b_successes, b_total : int
        Counts of the two sides.
    margin : float
        The largest difference of rates that would not matter, in (0, 1): 0.05 is five points.
    alpha : float, default 0.05
        The level of each one-sided test, in (0, 0.5).

    Returns
    -------
    EquivalenceTest
        Never equivalent when a side has no trials.

    Raises
    ------
    InputError
        For counts that no group can have, or a margin or alpha out of range.

    Notes
    -----
    Each one-sided test is Miettinen and Nurminen's score test at the margin (Farrington and
    Manning's with the factor N/(N - 1)); the interval is theirs at level 1 - 2 alpha.

    References
    ----------
    Schuirmann (1987), Journal of Pharmacokinetics and Biopharmaceutics 15:657-680. Farrington
    and Manning (1990), Statistics in Medicine 9:1447-1454.

    Examples
    --------
    >>> found = two_one_sided_tests(64, 64, 56, 57, margin=0.05)
    >>> found.equivalent, round(found.smallest_margin, 4), round(found.p_lower, 4)
    (False, 0.0753, 0.1314)
    """
    table = check_table(a_successes, a_total, b_successes, b_total)
    limit, level = check_margin(margin), _two_sided_level(alpha)
    interval = miettinen_nurminen_interval(*table, level)
    p_lower, p_upper, reason = math.nan, math.nan, ""
    if interval.n_a and interval.n_b:
        p_lower, p_upper = normal_tail(score(table, -limit)), normal_tail(-score(table, limit))
    else:
        reason = f"{'b' if interval.n_a else 'a'} has no trials"
    return _result(
        interval,
        margin=limit,
        alpha=alpha,
        p_values=(p_lower, p_upper),
        method="two one-sided score tests",
        n_clusters=None,
        reason=reason,
    )


def clustered_two_one_sided_tests(
    values_a: Any,
    tasks_a: Any,
    values_b: Any,
    tasks_b: Any,
    *,
    margin: float,
    alpha: float = 0.05,
) -> EquivalenceTest:
    """Return the equivalence test of two arms over their shared tasks.

    Parameters
    ----------
    values_a, values_b : array-like of float
        Outcomes or scores in [0, 1] of single trials.
    tasks_a, tasks_b : array-like of str or int
        Their tasks.
    margin : float
        In (0, 1), on the scale of the values.
    alpha : float, default 0.05
        The level of each one-sided test, in (0, 0.5).

    Returns
    -------
    EquivalenceTest
        Never equivalent with fewer than two shared tasks. Where all tasks have the same
        difference there is no t test: the p-values are NaN and the interval of
        :func:`steelyard.stats.clustered_difference` decides.

    Raises
    ------
    InputError
        As :func:`steelyard.stats.clustered_difference`, or a margin or alpha out of range.

    Examples
    --------
    >>> tasks = [task for task in "ABCDEFGH" for _ in range(8)]
    >>> found = clustered_two_one_sided_tests([1] * 64, tasks, [1] * 64, tasks, margin=0.05)
    >>> found.equivalent, round(found.smallest_margin, 3), found.reason
    (False, 0.31, 'all tasks have the same difference')
    """
    limit, level = check_margin(margin), _two_sided_level(alpha)
    interval = clustered_difference(values_a, tasks_a, values_b, tasks_b, level)
    p_lower = p_upper = math.nan
    error = interval.standard_error
    if error > 0:
        freedom = interval.n_clusters - 1
        p_lower = student_t_tail((interval.estimate + limit) / error, freedom)
        p_upper = student_t_tail((limit - interval.estimate) / error, freedom)
    return _result(
        interval,
        margin=limit,
        alpha=alpha,
        p_values=(p_lower, p_upper),
        method="two one-sided paired t tests over tasks",
        n_clusters=interval.n_clusters,
        reason=interval.reason,
    )


def _result(
    interval: DifferenceInterval | ClusteredDifference,
    *,
    margin: float,
    alpha: float,
    p_values: tuple[float, float],
    method: str,
    n_clusters: int | None,
    reason: str,
) -> EquivalenceTest:
    """Put the interval at 1 - 2 alpha and the two p-values together."""
    p_lower, p_upper = (p if math.isnan(p) else max(p, SMALLEST_P) for p in p_values)
    known = not math.isnan(interval.estimate) and has_limits(interval)
    return EquivalenceTest(
        estimate=interval.estimate,
        low=interval.low,
        high=interval.high,
        level=interval.level,
        margin=margin,
        alpha=float(alpha),
        p_lower=p_lower,
        p_upper=p_upper,
        p_value=math.nan if math.isnan(p_lower) else max(p_lower, p_upper),
        equivalent=known and -margin < interval.low and interval.high < margin,
        smallest_margin=smallest_margin(interval) if known else math.nan,
        method=method,
        n_a=interval.n_a,
        n_b=interval.n_b,
        n_clusters=n_clusters,
        reason=reason,
    )


def _two_sided_level(alpha: float) -> float:
    """Return 1 - 2 alpha, or refuse the alpha."""
    checked = check_number("alpha", alpha)
    if not 0 < checked < 0.5:
        raise InputError(f"alpha is {checked}; it must lie strictly between 0 and 0.5")
    return 1.0 - 2.0 * checked
