"""Binomial probabilities to full double precision, however many trials there are.

Binomial coefficients through log-gamma lose digits in proportion to the number of trials. Loader's
saddle-point form does not, because it writes a probability as a deviance and a Stirling remainder,
both small where it matters.
"""

from __future__ import annotations

import math

import numpy as np

from steelyard.stats.checks import FloatArray


def binomial_log_probability(x: FloatArray, n: float, p: float) -> FloatArray:
    """Return log P(X = x) of X ~ Binomial(n, p) for each x, with 0 <= x <= n.

    References
    ----------
    Loader (2000), Fast and accurate computation of binomial probabilities.
    """
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
