from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats import (
    exact_permutation,
    monte_carlo_permutation,
    plumbline_bootstrap_interval,
    plumbline_wilson,
)

outcomes = st.lists(st.integers(0, 1), max_size=9)


def by_the_library_shuffle(a: list[int], b: list[int], draws: int, seed: int) -> float:
    """The published procedure with Python's own shuffle."""
    pool, generator = [*a, *b], random.Random(seed)  # noqa: S311
    observed = abs(sum(b) / len(b) - sum(a) / len(a))
    extreme = 0
    for _ in range(draws):
        generator.shuffle(pool)
        rate_a, rate_b = sum(pool[: len(a)]) / len(a), sum(pool[len(a) :]) / len(b)
        extreme += abs(rate_b - rate_a) >= observed - 1e-12
    return (extreme + 1) / (draws + 1)


@settings(deadline=None, max_examples=40)
@given(outcomes, outcomes, st.integers(0, 99))
def test_the_draws_are_those_of_random_shuffle(a: list[int], b: list[int], seed: int) -> None:
    found = monte_carlo_permutation(a, b, draws=50, seed=seed)
    if a and b:
        assert found.p_value == by_the_library_shuffle(a, b, 50, seed)
    else:
        assert found.p_value == 1.0
        assert "has no trials" in found.reason


def test_it_estimates_the_exact_p() -> None:
    found = monte_carlo_permutation([1] * 5 + [0] * 5, [1] * 9 + [0])
    assert found.p_value == pytest.approx(exact_permutation(5, 10, 9, 10).p_value, abs=0.01)
    assert (found.exact, found.n_resamples, found.seed) == (False, 20_000, 11)


def test_without_a_difference_no_shuffle_is_needed() -> None:
    found = monte_carlo_permutation([1] * 40_000, [1] * 40_000)
    assert (found.p_value, found.difference) == (1.0, 0.0)


def test_plumbline_wilson_says_certainty_where_there_is_none() -> None:
    found = plumbline_wilson(0, 0)
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)
    assert plumbline_wilson(8, 10, z=1.6448536269514722).level == pytest.approx(0.9)


def test_plumbline_bootstrap_ends() -> None:
    assert plumbline_bootstrap_interval([]) == (0.0, 0.0)
    assert plumbline_bootstrap_interval([10.0]) == (10.0, 10.0)
    assert plumbline_bootstrap_interval([0, 1], n=1) in {(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)}


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"b\[0\] is 2\.0; an outcome is 0 or 1"):
        monte_carlo_permutation([1], [2])
    with pytest.raises(InputError, match="draws is 0"):
        monte_carlo_permutation([1], [0], draws=0)
    with pytest.raises(InputError, match="successes is 3 but total is 2"):
        plumbline_wilson(3, 2)
    with pytest.raises(InputError, match="z is nan"):
        plumbline_wilson(1, 2, z=math.nan)
    with pytest.raises(InputError, match=r"alpha is 0\.0"):
        plumbline_bootstrap_interval([1], alpha=0.0)


@pytest.mark.parametrize("z", [-1.96, 1e308])
def test_a_quantile_that_is_none_is_refused(z: float) -> None:
    with pytest.raises(InputError, match=r"z is .*; it must lie between 0 and 1e150"):
        plumbline_wilson(1, 2, z)
