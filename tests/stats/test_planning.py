from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from steelyard.errors import InputError
from steelyard.stats import (
    clustered_wilson_interval,
    exact_permutation,
    power_exact_permutation,
    sample_size_for_bound,
    tasks_for_bound,
    trials_for_power,
    wilson_interval,
)


@given(st.floats(0.01, 0.9999), st.sampled_from([0.8, 0.95, 0.9999999]))
def test_the_sample_size_is_the_least(bound: float, confidence: float) -> None:
    n = sample_size_for_bound(bound, confidence)
    assert wilson_interval(n, n, confidence).low >= bound - 1e-15
    assert n == 1 or wilson_interval(n - 1, n - 1, confidence).low < bound + 1e-15


def test_sample_sizes_at_the_ends() -> None:
    assert sample_size_for_bound(0) == 1
    assert sample_size_for_bound(1 - 1e-12) == pytest.approx(3.8414588e12, rel=1e-3)


@pytest.mark.parametrize("bound", [0.5, 0.7, 0.85, 0.95])
def test_tasks_for_a_clustered_bound(bound: float) -> None:
    tasks = tasks_for_bound(bound)
    assert tasks > sample_size_for_bound(bound)

    def low(count: int) -> float:
        clusters = [str(i) for i in range(count) for _ in range(3)]
        return clustered_wilson_interval([1] * len(clusters), clusters).low

    assert low(tasks) >= bound > low(tasks - 1)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(1, 12),
    st.integers(1, 12),
    st.floats(0, 1),
    st.floats(0, 1),
    st.sampled_from([0.01, 0.05, 0.1]),
)
def test_the_power_is_the_sum_over_rejected_tables(
    n_a: int, n_b: int, rate_a: float, rate_b: float, alpha: float
) -> None:
    expected = sum(
        binom.pmf(x, n_a, rate_a) * binom.pmf(y, n_b, rate_b)
        for x in range(n_a + 1)
        for y in range(n_b + 1)
        if exact_permutation(x, n_a, y, n_b).p_value <= alpha * (1 + 1e-9)
    )
    found = power_exact_permutation(rate_a, rate_b, n_a, n_b, alpha)
    assert found.power == pytest.approx(expected, abs=1e-12)


@given(st.integers(1, 40), st.integers(1, 40), st.floats(0, 1))
def test_the_test_keeps_its_level(n_a: int, n_b: int, rate: float) -> None:
    assert power_exact_permutation(rate, rate, n_a, n_b, 0.05).power <= 0.05 + 1e-12


def test_a_p_value_equal_to_alpha_rejects() -> None:
    # 3/3 against 0/3 has p = 2/20
    assert power_exact_permutation(1, 0, 3, 3, alpha=0.1).power == 1.0


def test_the_first_number_of_trials_that_reaches_the_power() -> None:
    found = trials_for_power(0.5, 0.9, power=0.8)
    assert found.power >= 0.8
    before = [power_exact_permutation(0.5, 0.9, n, n).power for n in range(1, found.n_a)]
    assert max(before) < 0.8
    assert found.n_a == found.n_b
    assert found.to_row()["alpha"] == 0.05


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sample_size_for_bound(1), r"bound is 1\.0; it must be 0 or more and below 1"),
        (lambda: sample_size_for_bound(-0.1), r"bound is -0\.1"),
        (lambda: sample_size_for_bound(math.nan), "bound is nan"),
        (lambda: sample_size_for_bound(0.9, 1), "confidence is 1"),
        (lambda: tasks_for_bound(1.5), r"bound is 1\.5"),
        (lambda: power_exact_permutation(1.2, 0.5, 3, 3), r"rate_a is 1\.2"),
        (lambda: power_exact_permutation(0.2, 0.5, 0, 3), "n_a is 0"),
        (lambda: power_exact_permutation(0.2, 0.5, 3000, 3000), "n_a [+] n_b is 6000"),
        (lambda: power_exact_permutation(0.2, 0.5, 3, 3, 0), "alpha is 0"),
        (lambda: trials_for_power(0.5, 0.5), "rate_a and rate_b are both 0.5"),
        (lambda: trials_for_power(0.5, 0.9, max_trials=5000), "max_trials is 5000"),
        (lambda: trials_for_power(0.5, 0.9, max_trials=5), "within max_trials = 5; raise it"),
        (lambda: trials_for_power(0.5, 0.9, power=1.0), r"power is 1\.0"),
    ],
)
def test_bad_plans_are_refused(call, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
