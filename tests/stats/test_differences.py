from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from statsmodels.stats.proportion import confint_proportions_2indep

from steelyard.errors import InputError
from steelyard.stats import (
    miettinen_nurminen_interval,
    newcombe_interval,
    statsmodels_score_interval,
    wilson_interval,
)
from steelyard.stats.score import restricted_rate, score

Z = 1.959963984540054
side = st.integers(1, 60).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
BOTH = [newcombe_interval, miettinen_nurminen_interval]


def restricted_log_likelihood(table, delta: float, rate: float) -> float:
    s_a, n_a, s_b, n_b = table
    total = 0.0
    for s, n, p in ((s_a, n_a, rate), (s_b, n_b, rate + delta)):
        if (s and p <= 0) or (s < n and p >= 1):
            return -math.inf
        total += s * math.log(p) if s else 0.0
        total += (n - s) * math.log1p(-p) if s < n else 0.0
    return total


@given(side, side, st.floats(-0.98, 0.98))
def test_the_restricted_rate_maximises_the_likelihood(a, b, delta: float) -> None:
    table = (*a, *b)
    rate = restricted_rate(table, delta)
    best = restricted_log_likelihood(table, delta, min(max(rate, 1e-13), 1 - 1e-13))
    for other in np.linspace(max(0, -delta) + 1e-6, min(1, 1 - delta) - 1e-6, 41):
        assert restricted_log_likelihood(table, delta, float(other)) <= best + 1e-6


def test_the_restricted_rate_against_a_generic_optimiser() -> None:
    table, delta = (52, 64, 56, 57), 0.07
    found = minimize_scalar(
        lambda rate: -restricted_log_likelihood(table, delta, rate),
        bounds=(0, 1 - delta),
        method="bounded",
        options={"xatol": 1e-12},
    )
    assert restricted_rate(table, delta) == pytest.approx(found.x, abs=1e-7)


@settings(max_examples=60)
@given(side, side)
def test_the_score_reaches_z_at_the_limits(a, b) -> None:
    table = (*a, *b)
    found = miettinen_nurminen_interval(*table)
    assert -1 <= found.low <= found.estimate <= found.high <= 1
    if found.low > -1:
        assert score(table, found.low) == pytest.approx(Z, abs=1e-5)
    if found.high < 1:
        assert score(table, found.high) == pytest.approx(-Z, abs=1e-5)


@given(side, side)
@pytest.mark.parametrize("interval", BOTH)
def test_swapping_sides_or_outcomes_mirrors_the_interval(interval, a, b) -> None:
    found = interval(*a, *b)
    swapped = interval(*b, *a)
    assert (found.low, found.high) == pytest.approx((-swapped.high, -swapped.low), abs=1e-9)
    inverted = interval(a[1] - a[0], a[1], b[1] - b[0], b[1])
    assert (found.low, found.high) == pytest.approx((-inverted.high, -inverted.low), abs=1e-9)


@given(side, side)
def test_newcombe_equals_statsmodels(a, b) -> None:
    expected = confint_proportions_2indep(*b, *a, method="newcomb", compare="diff")
    found = newcombe_interval(*a, *b)
    assert found.low == pytest.approx(max(expected[0], -1), abs=1e-9)
    assert found.high == pytest.approx(min(expected[1], 1), abs=1e-9)


def test_the_difference_is_b_minus_a() -> None:
    for interval in BOTH:
        found = interval(52, 64, 64, 64)
        assert found.estimate == 0.1875
        assert 0 < found.low < found.high
        assert (found.n_a, found.n_b) == (64, 64)


@pytest.mark.parametrize(
    "table", [(0, 10, 0, 20), (10, 10, 20, 20), (0, 10, 20, 20), (10, 10, 0, 20), (1, 1, 0, 1)]
)
def test_tables_at_the_corners_have_width(table) -> None:
    found = miettinen_nurminen_interval(*table)
    assert found.high - found.low > 0.2
    assert -1 <= found.low <= found.high <= 1
    if abs(found.estimate) == 1:
        assert found.estimate in (found.low, found.high)


@pytest.mark.parametrize("interval", BOTH)
@pytest.mark.parametrize("table", [(0, 0, 3, 5), (3, 5, 0, 0), (0, 0, 0, 0)])
def test_an_empty_side_has_no_estimate(interval, table) -> None:
    found = interval(*table)
    assert math.isnan(found.estimate)
    assert (found.low, found.high) == (-1.0, 1.0)


@pytest.mark.parametrize("interval", BOTH)
def test_bad_input_is_refused(interval) -> None:
    with pytest.raises(InputError, match="b_successes is 9 but b_total is 8"):
        interval(1, 2, 9, 8)
    with pytest.raises(InputError, match="a_total is nan"):
        interval(1, math.nan, 1, 8)
    with pytest.raises(InputError, match="confidence is 1"):
        interval(1, 2, 3, 8, 1.0)


@pytest.mark.parametrize("interval", BOTH)
def test_large_samples_approach_the_wald_interval(interval) -> None:
    found = interval(400_000, 1_000_000, 410_000, 1_000_000)
    half = Z * math.sqrt(0.4 * 0.6 / 1e6 + 0.41 * 0.59 / 1e6)
    assert (found.low, found.high) == pytest.approx((0.01 - half, 0.01 + half), abs=1e-7)


def test_the_statsmodels_slip_is_not_the_definition() -> None:
    """statsmodels issue 10269: the two differ where a is not all successes or all failures."""
    table = (52, 64, 56, 57)
    theirs, ours = statsmodels_score_interval(*table), miettinen_nurminen_interval(*table)
    assert theirs == pytest.approx((0.0674679, 0.2976307), abs=1e-6)
    assert (ours.low, ours.high) == pytest.approx((0.0712421, 0.2856066), abs=1e-6)
    same = (64, 64, 58, 64)
    theirs, ours = statsmodels_score_interval(*same), miettinen_nurminen_interval(*same)
    assert theirs == pytest.approx((ours.low, ours.high), abs=1e-8)


@pytest.mark.parametrize(
    "table", [(0, 8, 0, 5), (5, 5, 5, 5), (0, 0, 1, 2), (0, 5, 5, 5), (24, 35, 0, 1)]
)
def test_statsmodels_has_no_interval_at_the_corners(table) -> None:
    assert statsmodels_score_interval(*table) is None


def test_newcombe_is_built_from_the_wilson_limits() -> None:
    a, b = wilson_interval(3, 7), wilson_interval(9, 13)
    found = newcombe_interval(3, 7, 9, 13)
    assert found.low == pytest.approx(
        found.estimate - math.hypot(b.estimate - b.low, a.high - a.estimate)
    )
