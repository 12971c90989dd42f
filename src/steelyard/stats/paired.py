"""McNemar's test: paired binary outcomes, by their discordant pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy

from steelyard.stats.binomial import binomial_log_probability
from steelyard.stats.checks import check_count
from steelyard.stats.results import SMALLEST_P, Result

LARGEST_INTEGER_PAIRS = 20_000
"""Discordant pairs up to which the tail is summed in integers."""

LARGEST_SUMMED_PAIRS = 10_000_000_000
"""Discordant pairs up to which it is summed in doubles (half a million terms, 0.2 s)."""


@dataclass(frozen=True)
class McNemarTest(Result):
    """McNemar's test from the discordant pairs.

    Attributes
    ----------
    exact : float
        The two-sided exact p-value.
    mid_p : float
        The two-sided mid-p value: half the probability of the observed table in each tail.
    b, c : int
        Pairs in which only the first, and only the second, succeeded.
    method : str
        The name of the test.
    reason : str
        ``"no discordant pairs"`` when b = c = 0, where both p-values are 1; empty otherwise.
    """

    exact: float
    mid_p: float
    b: int
    c: int
    method: str
    reason: str


def mcnemar(b: int, c: int) -> McNemarTest:
    """Return McNemar's exact and mid-p tests.

    Pairs that agree say nothing about which side is better; given that b + c pairs disagree, b
    is Binomial(b + c, 1/2) when neither is.

    Parameters
    ----------
    b, c : int
        The discordant counts: pairs in which only the first, and only the second, succeeded.

    Returns
    -------
    McNemarTest

    Raises
    ------
    InputError
        For counts that are negative, fractional or boolean.

    Notes
    -----
    exact = min(1, 2 P(X <= min(b, c))) and mid-p = exact - P(X = b). The exact test never
    exceeds its level; mid-p is closer to it and rarely exceeds it.

    References
    ----------
    Fagerland, Lydersen and Laake (2013), BMC Medical Research Methodology 13:91.

    Examples
    --------
    >>> found = mcnemar(1, 6)
    >>> found.exact, found.mid_p
    (0.125, 0.0703125)
    >>> mcnemar(0, 0).reason
    'no discordant pairs'
    """
    checked_b, checked_c = check_count("b", b), check_count("c", c)
    method = "McNemar, exact and mid-p"
    if checked_b + checked_c == 0:
        return McNemarTest(1.0, 1.0, 0, 0, method, "no discordant pairs")
    tail, point = _binomial_half(min(checked_b, checked_c), checked_b + checked_c)
    exact = min(1.0, 2.0 * tail)
    return McNemarTest(
        max(exact, SMALLEST_P), max(exact - point, SMALLEST_P), checked_b, checked_c, method, ""
    )


def _binomial_half(k: int, n: int) -> tuple[float, float]:
    """Return P(X <= k) and P(X = k) for X ~ Binomial(n, 1/2) and k <= n/2."""
    if n <= LARGEST_INTEGER_PAIRS:
        weight, total = 1, 1
        for i in range(k):
            weight = weight * (n - i) // (i + 1)
            total += weight
        return total / 2**n, weight / 2**n
    if n <= LARGEST_SUMMED_PAIRS:
        # beyond the reach a term is below 1e-17 of that at k: (1 + 2d/n)^-d of it, d steps below
        reach = math.isqrt(20 * n) + 50
        x = np.arange(max(0, k - reach), k + 1, dtype=np.float64)
        chances = np.exp(binomial_log_probability(x, float(n), 0.5))
        return math.fsum(chances), float(chances[-1])
    # P(X <= k) as an incomplete beta function; the binomial one of scipy is off by 1e-7 at 1e9
    point = float(np.exp(binomial_log_probability(np.array([float(k)]), float(n), 0.5))[0])
    return float(scipy.special.betainc(float(n - k), float(k + 1), 0.5)), point
