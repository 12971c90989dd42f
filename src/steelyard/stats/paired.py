"""McNemar's test: paired binary outcomes, by their discordant pairs."""

from __future__ import annotations

import math
from dataclasses import dataclass

import scipy

from steelyard.stats.checks import check_count
from steelyard.stats.hypergeometric import SMALLEST_P
from steelyard.stats.results import Result

LARGEST_INTEGER_PAIRS = 20_000


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
    """Return P(X <= k) and P(X = k) for X ~ Binomial(n, 1/2), in integers where n is moderate."""
    if n <= LARGEST_INTEGER_PAIRS:
        weight, total = 1, 1
        for i in range(k):
            weight = weight * (n - i) // (i + 1)
            total += weight
        return total / 2**n, weight / 2**n
    log_point = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) - n * math.log(2)
    return float(scipy.special.bdtr(k, n, 0.5)), math.exp(log_point)
