"""The exact permutation test of two arms within strata (tasks)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import check_successes
from steelyard.stats.hypergeometric import check_term_count, integer_weights, probabilities, support
from steelyard.stats.permutation import LARGEST_INTEGER_TABLE, integer_tails, tails
from steelyard.stats.results import Result

Group: TypeAlias = tuple[int, int]
Stratum: TypeAlias = tuple[Group, Group]

LARGEST_INTEGER_WORK = 2_000_000
"""Coefficient products up to which the convolution runs in integers (well below a second)."""

LARGEST_DOUBLE_WORK = 2_000_000_000
"""Products of one step up to which it runs in doubles (some seconds)."""


@dataclass(frozen=True)
class StratifiedTest(Result):
    """A permutation test of two arms within strata.

    Attributes
    ----------
    p_value : float
        Two-sided, above 0 and at most 1.
    statistic : float
        |sum over strata of (successes of a - their expectation)|.
    excess : float
        The same with its sign: positive when a succeeds more often than its share.
    null_sd : float
        The standard deviation of ``excess`` under the null.
    strata_used, strata_total : int
        Strata in which both arms have trials, and all strata.
    method : str
        What was computed.
    exact : bool
        Always True.
    n_a, n_b : int
        Trials of the two arms in the strata used.
    reason : str
        Why no test was possible (p is then 1); empty otherwise.
    """

    p_value: float
    statistic: float
    excess: float
    null_sd: float
    strata_used: int
    strata_total: int
    method: str
    exact: bool
    n_a: int
    n_b: int
    reason: str


def stratified_permutation(strata: Iterable[Stratum]) -> StratifiedTest:
    """Return the exact two-sided permutation test of two arms within strata (tasks).

    Labels are permuted inside each stratum only, so a task that is hard for both arms carries no
    evidence against either, and repeats of a task are compared with repeats of the same task.

    Parameters
    ----------
    strata : iterable of ((a_successes, a_total), (b_successes, b_total))
        One entry per stratum, in any order. A stratum with an empty side is not used.

    Returns
    -------
    StratifiedTest
        p = 1 with a reason when no stratum can be used.

    Raises
    ------
    InputError
        For counts that no group can have, naming the stratum by its position.

    Notes
    -----
    The statistic is |X - m|, where X is the number of successes of a over all strata and m its
    expectation, a rational number. X is a sum of independent hypergeometrics; its distribution
    is their convolution. Which totals are extreme is decided with fractions, and the convolution
    runs in integers where that takes below a second; else in doubles, which keep their relative
    precision because every term of a direct (not Fourier) convolution is positive.

    This is the exact form of the Mantel-Haenszel test, with the sum over both tails at the
    observed distance from the mean.

    References
    ----------
    Mantel and Haenszel (1959), Journal of the National Cancer Institute 22:719-748. Agresti
    (1992), Statistical Science 7:131-153, on exact inference over strata.

    Examples
    --------
    >>> task = ((4, 8), (8, 8))
    >>> round(stratified_permutation([task, task, task]).p_value, 6)
    0.000114
    """
    if not isinstance(strata, Iterable):
        raise InputError(f"strata is {strata!r}; it must be a sequence, one entry per stratum")
    checked = [_check_stratum(i, stratum) for i, stratum in enumerate(strata)]
    used = sorted(s for s in checked if s[0][1] and s[1][1])
    method = "exact permutation within strata"
    if not used:
        return StratifiedTest(
            1.0,
            0.0,
            0.0,
            0.0,
            0,
            len(checked),
            method,
            True,
            0,
            0,
            "no stratum has trials of both arms",
        )
    observed = sum(a[0] for a, _ in used)
    mean = sum((_expectation(s) for s in used), Fraction(0))
    variance = sum((_variance(s) for s in used), Fraction(0))
    excess = observed - mean
    return StratifiedTest(
        p_value=_stratified_p(used, mean, abs(excess)),
        statistic=float(abs(excess)),
        excess=float(excess),
        null_sd=math.sqrt(variance),
        strata_used=len(used),
        strata_total=len(checked),
        method=method,
        exact=True,
        n_a=sum(a[1] for a, _ in used),
        n_b=sum(b[1] for _, b in used),
        reason="",
    )


def _check_stratum(index: int, stratum: Stratum) -> Stratum:
    try:
        (s_a, n_a), (s_b, n_b) = stratum
    except (TypeError, ValueError) as error:
        raise InputError(
            f"strata[{index}] is {stratum!r}; it must be "
            "((a_successes, a_total), (b_successes, b_total))"
        ) from error
    names = f"strata[{index}]"
    return (
        check_successes(s_a, n_a, (f"{names} a_successes", f"{names} a_total")),
        check_successes(s_b, n_b, (f"{names} b_successes", f"{names} b_total")),
    )


def _margins(stratum: Stratum) -> tuple[int, int, int]:
    """Return successes of both arms, trials of a, trials of both."""
    (s_a, n_a), (s_b, n_b) = stratum
    return s_a + s_b, n_a, n_a + n_b


def _expectation(stratum: Stratum) -> Fraction:
    marked, draws, total = _margins(stratum)
    return Fraction(marked * draws, total)


def _variance(stratum: Stratum) -> Fraction:
    """Return the hypergeometric variance of the successes of a."""
    marked, draws, total = _margins(stratum)
    return Fraction(
        marked * draws * (total - marked) * (total - draws), total * total * (total - 1)
    )


def _stratified_p(strata: Sequence[Stratum], mean: Fraction, distance: Fraction) -> float:
    """Return P(|X - mean| >= distance) for X the sum over the strata."""
    at_most, at_least = math.floor(mean - distance), math.ceil(mean + distance)
    if at_most + 1 >= at_least:
        return 1.0
    margins = [_margins(s) for s in strata]
    largest = max(total for _, _, total in margins)
    if _work(margins) <= LARGEST_INTEGER_WORK and largest <= LARGEST_INTEGER_TABLE:
        first = sum(support(*m)[0] for m in margins)
        weights = [1]
        for m in margins:
            weights = _convolve_integers(weights, integer_weights(*m))
        return integer_tails(first, weights, at_most, at_least)
    first, chances = 0, np.ones(1)
    for m in margins:
        offset, added = probabilities(*m)
        check_term_count(len(chances) * len(added), LARGEST_DOUBLE_WORK)
        first, chances = first + offset, np.convolve(chances, added)
    return tails(first, chances, at_most, at_least)


def _work(margins: Sequence[tuple[int, int, int]]) -> int:
    """Return the number of products that convolving these distributions in turn takes."""
    work, reached = 0, 1
    for m in margins:
        low, high = support(*m)
        work += reached * (high - low + 1)
        reached += high - low
    return work


def _convolve_integers(a: list[int], b: list[int]) -> list[int]:
    """Return the coefficients of the product of two polynomials."""
    result = [0] * (len(a) + len(b) - 1)
    for i, weight in enumerate(a):
        for j, other in enumerate(b):
            result[i + j] += weight * other
    return result
