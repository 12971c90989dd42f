"""The hypergeometric null distribution of a two-group table, exact or to full double precision.

Under the null hypothesis that labels are exchangeable, the successes X in a group of ``draws``
trials out of ``total``, of which ``marked`` succeeded, have

    P(X = x) = C(marked, x) C(total - marked, draws - x) / C(total, draws).
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.binomial import binomial_log_probability
from steelyard.stats.checks import FloatArray

LARGEST_SUM = 4_000_000
"""Probabilities that are summed for one table (some seconds); groups of 1e9 need 1.2 million."""


def support(marked: int, draws: int, total: int) -> tuple[int, int]:
    """Return the least and the greatest possible number of successes in the group."""
    return max(0, draws + marked - total), min(marked, draws)


def integer_weights(marked: int, draws: int, total: int) -> list[int]:
    """Return C(marked, x) C(total - marked, draws - x) for every x of the support, ascending.

    Exact integers; they sum to C(total, draws). Each follows from the one before by the ratio
    (marked - x)(draws - x) / ((x + 1)(total - marked - draws + x + 1)), which divides evenly.
    """
    low, high = support(marked, draws, total)
    weight = math.comb(marked, low) * math.comb(total - marked, draws - low)
    weights = [weight]
    for x in range(low, high):
        weight *= (marked - x) * (draws - x)
        weight //= (x + 1) * (total - marked - draws + x + 1)
        weights.append(weight)
    return weights


def probabilities(marked: int, draws: int, total: int) -> tuple[int, FloatArray]:
    """Return the least x whose probability is a double above 0, and P(X = x) from there up.

    For tables too large for integers: a product of two binomial probabilities over a third.

    References
    ----------
    Hoeffding (1963), J. Am. Stat. Assoc. 58:13-30, for the window: beyond t of the mean the
    probability is below exp(-2 t^2 / m), m the least margin, which no double holds once
    2 t^2 / m exceeds 745.2.
    """
    low, high = support(marked, draws, total)
    mean = marked * draws // total
    least_margin = min(marked, draws, total - marked, total - draws)
    reach = math.isqrt(373 * least_margin) + 2
    first, last = max(low, mean - reach), min(high, mean + reach)
    check_term_count(last - first + 1)
    x = np.arange(first, last + 1, dtype=np.float64)
    rate = draws / total
    log_p = (
        binomial_log_probability(x, float(marked), rate)
        + binomial_log_probability(draws - x, float(total - marked), rate)
        - binomial_log_probability(np.array([float(draws)]), float(total), rate)
    )
    return first, np.exp(log_p)


def check_term_count(terms: int, largest: int = LARGEST_SUM) -> None:
    """Refuse an exact test whose sum would take minutes, or more memory than there is."""
    if terms > largest:
        raise InputError(
            f"the exact p-value is a sum of {terms:,} terms; accepted are tables that need up to "
            f"{largest:,}. With so many trials ask for an interval of the difference instead"
        )
