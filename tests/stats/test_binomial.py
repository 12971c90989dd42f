"""Binomial probabilities against exact integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from steelyard.stats.binomial import binomial_log_probability


@pytest.mark.parametrize("n", [1, 5, 16, 17, 400, 3000])
@pytest.mark.parametrize("p", [0.5, 0.25, 0.9375])
def test_every_probability_is_that_of_integers(n: int, p: float) -> None:
    x = sorted({0, 1, n // 3, n // 2, n - 1, n})
    found = np.exp(binomial_log_probability(np.array(x, dtype=np.float64), float(n), p))
    rate = Fraction(p)
    exact = [float(math.comb(n, k) * rate**k * (1 - rate) ** (n - k)) for k in x]
    assert found == pytest.approx(exact, rel=1e-12, abs=1e-290)


def test_what_is_certain_and_what_cannot_be() -> None:
    ends = np.array([0.0, 3.0])
    assert np.exp(binomial_log_probability(ends, 3.0, 0.0)).tolist() == [1.0, 0.0]
    assert np.exp(binomial_log_probability(ends, 3.0, 1.0)).tolist() == [0.0, 1.0]
    assert binomial_log_probability(np.zeros(1), 0.0, 1.0).tolist() == [0.0]
