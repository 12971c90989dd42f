"""Exact tests of two arms on binary outcomes: the permutation test, and Fisher's beside it.

Permuting the arm labels of 0/1 outcomes gives a hypergeometric number of successes in one arm,
so the whole permutation distribution is a sum and needs no drawing. Ties are decided in
integers: a table counts as extreme when its difference of rates is at least the observed one,
without a tolerance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from steelyard.stats.checks import FloatArray, check_successes
from steelyard.stats.hypergeometric import (
    integer_weights,
    probabilities,
    support,
)
from steelyard.stats.results import SMALLEST_P, Result

LARGEST_INTEGER_TABLE = 20_000
"""Trials up to which the plain test runs in integers (some 50 ms); above, in doubles."""


@dataclass(frozen=True)
class PermutationTest(Result):
    """A permutation test of two groups.

    Attributes
    ----------
    p_value : float
        Two-sided, above 0 and at most 1.
    difference : float
        Rate of b minus rate of a; NaN when a side is empty.
    method : str
        What was computed.
    exact : bool
        True when the p-value is the sum over all permutations.
    n_a, n_b : int
        Trials of the two groups.
    n_resamples, seed : int or None
        Of a Monte-Carlo test; None for an exact one.
    reason : str
        Why no test was possible (p is then 1); empty otherwise.
    """

    p_value: float
    difference: float
    method: str
    exact: bool
    n_a: int
    n_b: int
    n_resamples: int | None
    seed: int | None
    reason: str


def exact_permutation(
    a_successes: int, a_total: int, b_successes: int, b_total: int
) -> PermutationTest:
    """Return the exact two-sided permutation test of two rates.

    Estimand: are the outcomes exchangeable between the arms? The statistic is the absolute
    difference of the rates; the p-value is the share of all assignments of arm labels to trials
    that give at least the observed one.

    Parameters
    ----------
    a_successes, a_total, b_successes, b_total : int
        Counts of the two groups.

    Returns
    -------
    PermutationTest
        p = 1 with a reason when a side has no trials.

    Raises
    ------
    InputError
        For counts that no group can have.

    Notes
    -----
    Given K = successes in both groups and N = trials in both, the successes x in group a are
    hypergeometric. The difference of rates is proportional to the integer K n_a - x N, so ties
    are exact. It differs from Fisher's test, which orders tables by probability, when the group
    sizes differ. Up to 20,000 trials the sum is made in integers and rounded once; above, in
    doubles with an error near 1e-13. A value below the least double is given as that double.

    References
    ----------
    Pesarin and Salmaso (2010), Permutation Tests for Complex Data. Ernst (2004),
    Statistical Science 19:676-685.

    Examples
    --------
    >>> round(exact_permutation(52, 64, 64, 64).p_value, 9)
    0.000276845
    >>> exact_permutation(6, 6, 0, 6).p_value  # 2 of the C(12, 6) = 924 assignments
    0.0021645021645021645
    """
    s_a, n_a = check_successes(a_successes, a_total, ("a_successes", "a_total"))
    s_b, n_b = check_successes(b_successes, b_total, ("b_successes", "b_total"))
    method = "exact permutation, absolute difference of rates"
    if n_a == 0 or n_b == 0:
        return _empty_side(method, n_a, n_b)
    marked, total = s_a + s_b, n_a + n_b
    observed = abs(marked * n_a - s_a * total)
    # extreme: marked * n_a - x * total >= observed, or <= -observed
    at_most = (marked * n_a - observed) // total
    at_least = -((-marked * n_a - observed) // total)
    p_value = _two_tails((marked, n_a, total), at_most, at_least)
    difference = s_b / n_b - s_a / n_a
    return PermutationTest(p_value, difference, method, True, n_a, n_b, None, None, "")


def fisher_exact(a_successes: int, a_total: int, b_successes: int, b_total: int) -> PermutationTest:
    """Return Fisher's exact test, two-sided: tables at most as probable as the observed one.

    Given beside :func:`exact_permutation` because it is what most software prints. The null
    distribution is the same; only the order of the tables differs, by probability and not by
    difference of rates, and then only for groups of unequal size.

    Parameters
    ----------
    a_successes, a_total, b_successes, b_total : int
        Counts of the two groups.

    Returns
    -------
    PermutationTest
        p = 1 with a reason when a side has no trials.

    Raises
    ------
    InputError
        For counts that no group can have.

    Notes
    -----
    Up to 20,000 trials tables are compared as integers; above, tables within 1e-7 of the
    observed probability, relatively, count as equally probable.

    References
    ----------
    Fisher (1935), The Logic of Inductive Inference, J. R. Stat. Soc. 98:39-82.

    Examples
    --------
    >>> fisher_exact(359, 384, 354, 354).p_value < exact_permutation(359, 384, 354, 354).p_value
    True
    """
    s_a, n_a = check_successes(a_successes, a_total, ("a_successes", "a_total"))
    s_b, n_b = check_successes(b_successes, b_total, ("b_successes", "b_total"))
    method = "Fisher exact"
    if n_a == 0 or n_b == 0:
        return _empty_side(method, n_a, n_b)
    margins = s_a + s_b, n_a, n_a + n_b
    if margins[2] <= LARGEST_INTEGER_TABLE:
        weights = integer_weights(*margins)
        observed = weights[s_a - support(*margins)[0]]
        p_value = sum(w for w in weights if w <= observed) / sum(weights)
    else:
        first, chances = probabilities(*margins)
        inside = 0 <= s_a - first < len(chances)
        limit = chances[s_a - first] * (1 + 1e-7) if inside else 0.0
        p_value = math.fsum(chances[chances <= limit])
    p_value = min(max(p_value, SMALLEST_P), 1.0)
    difference = s_b / n_b - s_a / n_a
    return PermutationTest(p_value, difference, method, True, n_a, n_b, None, None, "")


def _empty_side(method: str, n_a: int, n_b: int) -> PermutationTest:
    """Return the result where a side has no trials: nothing was shown."""
    reason = f"{'b' if n_a else 'a'} has no trials"
    return PermutationTest(1.0, math.nan, method, True, n_a, n_b, None, None, reason)


def _two_tails(margins: tuple[int, int, int], at_most: int, at_least: int) -> float:
    """Return P(X <= at_most) + P(X >= at_least) for the hypergeometric with these margins."""
    if at_most + 1 >= at_least:
        return 1.0
    if margins[2] <= LARGEST_INTEGER_TABLE:
        first = support(*margins)[0]
        return integer_tails(first, integer_weights(*margins), at_most, at_least)
    return tails(*probabilities(*margins), at_most, at_least)


def integer_tails(first: int, weights: list[int], at_most: int, at_least: int) -> float:
    """Return the share of the weights, of first, first + 1, ..., in both tails: rounded once."""
    lower = sum(weights[: max(at_most - first + 1, 0)])
    upper = sum(weights[max(at_least - first, 0) :])
    return max((lower + upper) / sum(weights), SMALLEST_P)


def tails(first: int, chances: FloatArray, at_most: int, at_least: int) -> float:
    """Return the same from probabilities in doubles, never above 1."""
    lower = math.fsum(chances[: max(at_most - first + 1, 0)])
    upper = math.fsum(chances[max(at_least - first, 0) :])
    return min(max(lower + upper, SMALLEST_P), 1.0)
