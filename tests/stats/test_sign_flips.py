from __future__ import annotations

import math
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from steelyard.errors import InputError
from steelyard.stats import naive, sign_flip

eighths = st.integers(-8, 8).map(lambda k: k / 8)
tenths = st.integers(-10, 10).map(lambda k: k / 10)


@settings(deadline=None)
@given(st.one_of(st.lists(eighths, max_size=9), st.lists(tenths, max_size=9)))
def test_it_equals_the_visit_of_every_assignment(differences: list[float]) -> None:
    found = sign_flip(differences)
    assert found.exact
    assert found.p_value == naive.sign_flip(differences)
    assert found.n == len(differences)
    assert found.n_nonzero == sum(d != 0 for d in differences)


@settings(deadline=None)
@given(st.lists(st.one_of(eighths, tenths), min_size=1, max_size=14))
def test_the_convolution_equals_the_enumeration(differences: list[float]) -> None:
    enumerated = sign_flip(differences).p_value
    assert sign_flip(differences, exact_limit=0).p_value == pytest.approx(enumerated, rel=1e-12)


@given(st.lists(st.floats(-3, 3), min_size=1, max_size=8))
def test_any_floats(differences: list[float]) -> None:
    assert sign_flip(differences).p_value == naive.sign_flip(differences)


def test_float_noise_does_not_break_a_tie() -> None:
    # 0.1 + 0.2 - 0.3 is not 0 in doubles; every assignment is at least as extreme as "nothing"
    assert sign_flip([0.1, 0.2, -0.3]).p_value == 1.0
    assert sign_flip([0.1, -0.2, 0.3, 0.3, -0.6]).p_value == 1.0
    assert sign_flip([0.1] * 10).p_value == 2 / 1024


def test_twenty_differences_are_enumerated_in_under_a_second() -> None:
    differences = np.random.default_rng(7).normal(0.2, 1, 20)
    start = time.perf_counter()
    found = sign_flip(differences)
    assert time.perf_counter() - start < 1
    assert found.method == "sign flip, enumerated"
    assert found.p_value * 2**20 == pytest.approx(round(found.p_value * 2**20), abs=1e-6)


def test_rates_of_few_repeats_stay_exact_beyond_the_limit() -> None:
    differences = np.random.default_rng(7).integers(-4, 6, 50) / 8
    found = sign_flip(differences)
    assert (found.method, found.exact, found.n_resamples) == ("sign flip, convolved", True, None)
    z = (abs(differences.sum()) - 1 / 16) / math.sqrt((differences**2).sum())
    assert found.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.05)


def test_anything_else_is_drawn_with_the_observed_counted_in() -> None:
    differences = np.random.default_rng(3).normal(0.3, 1, 41)
    found = sign_flip(differences, n_resamples=20_000, seed=4)
    assert (found.exact, found.n_resamples, found.seed) == (False, 20_000, 4)
    assert found == sign_flip(differences, n_resamples=20_000, seed=4)
    assert found != sign_flip(differences, n_resamples=20_000, seed=5)
    assert found == sign_flip(differences[::-1], n_resamples=20_000, seed=4)
    expected = permutation_test(
        (differences,),
        np.sum,
        permutation_type="samples",
        n_resamples=50_000,
        rng=np.random.default_rng(1),
    ).pvalue
    assert found.p_value == pytest.approx(expected, abs=0.01)
    certain = sign_flip(np.full(60, 1.0) + differences[:1] * 1e-7, n_resamples=999)
    assert certain.p_value == 1 / 1000


def test_zeros_carry_no_evidence() -> None:
    assert sign_flip([1, 1, 1]).p_value == sign_flip([1, 0, 1, 0, 0, 1]).p_value == 0.25
    mixed = sign_flip([1] * 6 + [0] * 44)
    assert (mixed.p_value, mixed.n, mixed.n_nonzero, mixed.mean) == (0.03125, 50, 6, 0.12)
    nothing = sign_flip([0, 0])
    assert (nothing.p_value, nothing.reason) == (1.0, "all differences are 0")
    empty = sign_flip([])
    assert (empty.p_value, empty.reason) == (1.0, "no differences")
    assert math.isnan(empty.mean)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"differences\[1\] is nan"):
        sign_flip([1, math.nan])
    with pytest.raises(InputError, match="n_resamples is 0"):
        sign_flip([1], n_resamples=0)
    with pytest.raises(InputError, match="seed is -1"):
        sign_flip([1], seed=-1)
    with pytest.raises(InputError, match=r"exact_limit is 2\.5"):
        sign_flip([1], exact_limit=2.5)  # type: ignore[arg-type]


def test_every_sign_is_accounted_for_up_to_forty_differences() -> None:
    few = np.random.default_rng(3).normal(0.3, 1, 22)
    found = sign_flip(few)
    assert (found.exact, found.method) == (True, "sign flip, enumerated")
    sums = np.zeros(1)
    for magnitude in np.abs(few):
        sums = np.concatenate([sums + magnitude, sums - magnitude])
    reached = np.count_nonzero(np.abs(sums) >= abs(few.sum()) * (1 - 1e-9))
    assert found.p_value == reached / 2**22
    assert sign_flip(np.sqrt(np.arange(2.0, 42.0)), exact_limit=10**6).p_value == 2 / 2**40


def test_small_differences_are_not_taken_for_zeros() -> None:
    signs = [1.0] * 24 + [-1.0]
    assert sign_flip([1e-13 * s for s in signs]).p_value == 2 * 26 / 2**25
    assert sign_flip([5e-324] * 25).p_value == 2 / 2**25
    assert not sign_flip([1e-13 * s for s in [*signs, *signs]]).exact
