from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc
from statsmodels.stats.proportion import proportion_confint

from steelyard.errors import InputError
from steelyard.stats import (
    Interval,
    IntervalArray,
    clopper_pearson_interval,
    jeffreys_interval,
    naive,
    wilson_interval,
)

ALL = [wilson_interval, clopper_pearson_interval, jeffreys_interval]
counts = st.integers(0, 10**6).flatmap(
    lambda total: st.tuples(st.integers(0, total), st.just(total))
)
levels = st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.9999999])


@given(pair=counts, z=st.floats(0.01, 6))
def test_wilson_equals_the_textbook_formula(pair: tuple[int, int], z: float) -> None:
    found = wilson_interval(*pair, z=z)
    # the textbook form subtracts nearly equal numbers; ours does not
    assert (found.low, found.high) == pytest.approx(naive.wilson(*pair, z), abs=1e-11)


@given(pair=counts, level=levels)
@pytest.mark.parametrize("interval", ALL)
def test_limits_enclose_the_estimate_and_stay_in_the_unit_interval(
    interval, pair: tuple[int, int], level: float
) -> None:
    found = interval(*pair, level)
    successes, total = pair
    assert 0.0 <= found.low <= found.high <= 1.0
    assert found.n == total
    if total == 0:
        assert math.isnan(found.estimate)
        assert (found.low, found.high) == (0.0, 1.0)
    else:
        assert found.low <= found.estimate <= found.high
    assert (found.low == 0.0) or successes > 0
    assert (found.high == 1.0) or successes < total


@given(pair=counts, level=levels)
@pytest.mark.parametrize("interval", ALL)
def test_failures_mirror_successes(interval, pair: tuple[int, int], level: float) -> None:
    found = interval(*pair, level)
    mirrored = interval(pair[1] - pair[0], pair[1], level)
    assert found.low == pytest.approx(1 - mirrored.high, abs=1e-12)
    assert found.high == pytest.approx(1 - mirrored.low, abs=1e-12)


@pytest.mark.parametrize("interval", ALL)
def test_limits_rise_with_the_successes(interval) -> None:
    found = interval(np.arange(41), 40)
    assert (np.diff(found.low) > 0).sum() >= 39
    assert (np.diff(found.low) >= 0).all()
    assert (np.diff(found.high) >= 0).all()


@pytest.mark.parametrize(
    ("interval", "method"),
    [
        (wilson_interval, "wilson"),
        (clopper_pearson_interval, "beta"),
        (jeffreys_interval, "jeffreys"),
    ],
)
@pytest.mark.parametrize(("successes", "total"), [(1, 5), (14, 307), (206, 345), (999, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_statsmodels_agrees_inside(
    interval, method: str, successes: int, total: int, level: float
) -> None:
    expected = proportion_confint(successes, total, alpha=1 - level, method=method)
    found = interval(successes, total, level)
    assert (found.low, found.high) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize("total", [10, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("level", [0.95, 0.9999999, 1 - 1e-12])
def test_clopper_pearson_has_its_tails_also_for_huge_totals(total: int, level: float) -> None:
    successes = total // 3
    found = clopper_pearson_interval(successes, total, level)
    tail = (1 - level) / 2
    assert betainc(successes, total - successes + 1, found.low) == pytest.approx(tail, rel=1e-5)
    above = 1 - found.high
    assert betainc(total - successes, successes + 1, above) == pytest.approx(tail, rel=1e-5)


def test_wilson_keeps_relative_precision_in_a_tiny_limit() -> None:
    # one success in 10**15: the lower limit is 1/(n (1 + ...)), far below the rounding of p
    n, z = 10**15, 1.959963984540054
    low = wilson_interval(1, n).low
    exact = 1 / (n * (1 + z * z / 2 + z * math.sqrt(1 + z * z / 4)))
    assert low == pytest.approx(exact, rel=1e-12)


def test_z_in_place_of_the_confidence() -> None:
    by_z = wilson_interval(52, 64, z=1.959963984540054)
    by_level = wilson_interval(52, 64)
    assert (by_z.low, by_z.high) == pytest.approx((by_level.low, by_level.high), abs=1e-15)
    assert by_z.level == pytest.approx(0.95)
    bare = wilson_interval(3, 7, z=0)
    assert bare.low == bare.high == 3 / 7
    assert wilson_interval(0, 7, z=0).high == 0.0
    assert wilson_interval(0, 0, z=0).high == 1.0
    with pytest.raises(InputError, match=r"z is -1\.0"):
        wilson_interval(3, 7, z=-1.0)


def test_arrays_broadcast_and_equal_the_scalars() -> None:
    found = wilson_interval([[0], [3]], [5, 7, 0 + 3])
    assert isinstance(found, IntervalArray)
    assert found.low.shape == (2, 3)
    for (row, column), low in np.ndenumerate(found.low):
        single = wilson_interval([0, 3][row], [5, 7, 3][column])
        assert isinstance(single, Interval)
        assert (low, found.high[row, column]) == (single.low, single.high)
    empty = clopper_pearson_interval([], [])
    assert empty.low.size == 0
    some = jeffreys_interval(np.array([0, 1]), np.array([0, 1]))
    assert np.isnan(some.estimate[0])
    assert (some.low[0], some.high[0], some.high[1]) == (0, 1, 1)


def test_a_row_holds_the_fields_in_their_order() -> None:
    row = wilson_interval(1, 4).to_row()
    assert list(row) == ["estimate", "low", "high", "level", "method", "n"]
    assert row["n"] == 4
    assert wilson_interval(np.int64(1), np.int32(4)).to_row() == row
    assert wilson_interval(1.0, 4.0).to_row() == row


REFUSED = [
    ((True, 3), "successes is True"),
    ((1.5, 3), r"successes is 1\.5"),
    ((math.nan, 3), "successes is nan"),
    ((1, math.inf), "total is inf"),
    ((-1, 3), "successes is -1"),
    ((1, -3), "total is -3"),
    ((4, 3), "successes is 4 but total is 3"),
    (("1", 3), "successes is '1'"),
    ((None, 3), "successes is None"),
    ((1, 2**53 + 2), "between 0 and"),
    (([1, np.nan], [3, 3]), r"successes\[1\] is .*nan"),
    ((np.array([True, False]), [1, 1]), r"successes\[0\] is .*True"),
    (([1, None], 3), r"successes\[1\] is None"),
    ((["1"], [3]), r"successes\[0\]"),
    (([1, 5], [3, 4]), r"successes\[1\] is 5 but total\[1\] is 4"),
    (([1, 2], [3, 4, 5]), "must broadcast"),
    (([0.5, 1.0], [3, 3]), r"successes\[0\] is .*0\.5"),
]


@pytest.mark.parametrize(("pair", "message"), REFUSED)
@pytest.mark.parametrize("interval", ALL)
def test_bad_counts_are_refused_by_name_and_value(interval, pair, message: str) -> None:
    with pytest.raises(InputError, match=message):
        interval(*pair)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95, math.nan, True, "0.95", None])
@pytest.mark.parametrize("interval", ALL)
def test_bad_confidence_is_refused(interval, level) -> None:
    with pytest.raises(InputError, match="confidence is"):
        interval(1, 3, level)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (([[1], [1, 2]], 5), {}, "successes must be an array of counts"),
        ((1, 2, 10**400), {}, "confidence is inf"),
        ((1, 2), {"z": 1e308}, r"z is 1e.308; it must lie between 0 and 1e150"),
        ((1, 2), {"z": -1.0}, r"z is -1\.0"),
    ],
)
def test_numbers_beyond_all_measure_are_refused(arguments, options, message: str) -> None:
    with pytest.raises(InputError, match=message):
        wilson_interval(*arguments, **options)
    widest = wilson_interval(1, 2, z=1e150)
    assert (widest.low, widest.high) == (pytest.approx(0.0, abs=1e-290), 1.0)
