"""The hypergeometric null distribution of a two-group table, exact or to full double precision.

Under the null hypothesis that labels are exchangeable, the successes X in a group of ``draws``
trials out of ``total``, of which ``marked`` succeeded, have

    P(X = x) = C(marked, x) C(total - marked, draws - x) / C(total, draws).
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray

SMALLEST_P = math.ulp(0.0)
"""The least positive double: what a p-value too small for a double is reported as, never 0."""

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

    For tables too large for integers. A ratio of binomial coefficients through log-gamma loses
    digits in proportion to the size of the table; Loader's saddle-point form does not, because
    it writes each binomial probability as a deviance and a Stirling remainder, both small where
    it matters.

    References
    ----------
    Loader (2000), Fast and accurate computation of binomial probabilities. Hoeffding (1963),
    J. Am. Stat. Assoc. 58:13-30, for the window: beyond t of the mean the probability is below
    exp(-2 t^2 / m), m the least margin, which no double holds once 2 t^2 / m exceeds 745.2.
    """
    low, high = support(marked, draws, total)
    mean = marked * draws // total
    least_margin = min(marked, draws, total - marked, total - draws)
    reach = math.isqrt(373 * least_margin) + 2
    first, last = max(low, mean - reach), min(high, mean + reach)
    check_sum(last - first + 1)
    x = np.arange(first, last + 1, dtype=np.float64)
    rate = draws / total
    log_p = (
        log_binomial(x, float(marked), rate)
        + log_binomial(draws - x, float(total - marked), rate)
        - log_binomial(np.array([float(draws)]), float(total), rate)
    )
    return first, np.exp(log_p)


def check_sum(terms: int, largest: int = LARGEST_SUM) -> None:
    """Refuse an exact test whose sum would take minutes, or more memory than there is."""
    if terms > largest:
        raise InputError(
            f"the exact p-value is a sum of {terms:,} terms; accepted are tables that need up to "
            f"{largest:,}. With so many trials ask for an interval of the difference instead"
        )


def log_binomial(x: FloatArray, n: float, p: float) -> FloatArray:
    """Return log of the Binomial(n, p) probability of each x, with 0 <= x <= n."""
    result = np.empty_like(x)
    inner = (x > 0) & (x < n)
    result[x <= 0] = n * math.log1p(-p) if p < 1 else (0.0 if n == 0 else -math.inf)
    full = (x >= n) & (n > 0)
    result[full] = n * math.log(p) if p > 0 else -math.inf
    y = x[inner]
    if y.size:
        remainder = (
            _stirling_remainder(np.array([n])) - _stirling_remainder(y) - _stirling_remainder(n - y)
        )
        deviance = _deviance(y, n * p) + _deviance(n - y, n * (1 - p))
        result[inner] = remainder - deviance + 0.5 * np.log(n / (2 * math.pi * y * (n - y)))
    return result


def _deviance(x: FloatArray, mean: float) -> FloatArray:
    """Return x log(x/mean) + mean - x without cancellation where x is close to the mean.

    With v = (x - mean)/(x + mean), log(x/mean) = 2 artanh(v), so the deviance is
    (x - mean) v + 2 x (v^3/3 + v^5/5 + ...).
    """
    result = x * np.log(x / mean) + mean - x
    near = np.abs(x - mean) < 0.1 * (x + mean)
    v = (x[near] - mean) / (x[near] + mean)
    series = np.zeros_like(v)
    for power in range(21, 1, -2):  # |v| < 0.1: the first term left out is below 1e-20
        series = v * v * (series + 1.0 / power)
    result[near] = (x[near] - mean) * v + 2.0 * x[near] * v * series
    return result


def _stirling_remainder(n: FloatArray) -> FloatArray:
    """Return log(n!) - log(sqrt(2 pi n) (n/e)^n) for n >= 1."""
    exact = np.array(
        [
            math.lgamma(k + 1) - 0.5 * math.log(2 * math.pi * k) - k * math.log(k) + k
            for k in range(1, 17)
        ]
    )
    square = n * n
    series = (
        1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - 1 / 1188 / square) / square) / square) / square
    ) / n
    small = n <= 16
    series[small] = exact[n[small].astype(np.int64) - 1]
    return series
