from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact as scipy_fisher
from scipy.stats import hypergeom

from steelyard.errors import InputError
from steelyard.stats import exact_permutation, fisher_exact, naive, permutation
from steelyard.stats.hypergeometric import integer_weights, probabilities, support

small = st.lists(st.integers(0, 1), min_size=1, max_size=7)
margins = st.integers(2, 400).flatmap(
    lambda total: st.tuples(st.integers(0, total), st.integers(1, total - 1), st.just(total))
)


def table(a: list[int], b: list[int]) -> tuple[int, int, int, int]:
    return sum(a), len(a), sum(b), len(b)


@given(small, small)
def test_it_equals_the_visit_of_every_assignment(a: list[int], b: list[int]) -> None:
    assert exact_permutation(*table(a, b)).p_value == pytest.approx(
        naive.exact_permutation(a, b), abs=1e-15
    )


@given(st.data())
def test_integers_and_doubles_agree(data: st.DataObject) -> None:
    n_a, n_b = data.draw(st.integers(1, 300)), data.draw(st.integers(1, 300))
    counts = data.draw(st.integers(0, n_a)), n_a, data.draw(st.integers(0, n_b)), n_b
    exact = exact_permutation(*counts).p_value, fisher_exact(*counts).p_value
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permutation, "LARGEST_INTEGER_TABLE", 0)
        doubles = exact_permutation(*counts).p_value, fisher_exact(*counts).p_value
    assert doubles == pytest.approx(exact, rel=1e-11)


@given(margins)
def test_the_distribution_equals_scipy_and_sums_to_one(given_margins) -> None:
    marked, draws, total = given_margins
    low, high = support(*given_margins)
    weights = integer_weights(*given_margins)
    assert sum(weights) == math.comb(total, draws)
    assert len(weights) == high - low + 1
    first, chances = probabilities(*given_margins)
    assert math.fsum(chances) == pytest.approx(1, abs=1e-12)
    expected = hypergeom.pmf(range(first, first + len(chances)), total, marked, draws)
    assert chances == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_a_window_keeps_large_tables_fast() -> None:
    start = time.perf_counter()
    found = exact_permutation(50_000_000, 100_000_000, 50_010_000, 100_000_000)
    assert time.perf_counter() - start < 5
    # the normal approximation with continuity correction is good to many digits here
    assert found.p_value == pytest.approx(0.157341, abs=2e-6)


def test_thousands_of_trials_and_tiny_p() -> None:
    # 2 of the C(4000, 2000) assignments: far below the least double, and still not 0
    assert exact_permutation(0, 2000, 2000, 2000).p_value == math.ulp(0.0)
    found = exact_permutation(0, 500, 500, 500).p_value
    assert found == pytest.approx(2 / math.comb(1000, 500), rel=1e-15)
    assert exact_permutation(384, 384, 332, 384).p_value == pytest.approx(
        6.966978710738289e-17, rel=1e-12
    )


def test_an_empty_tail_is_empty() -> None:
    # 11/12 against 0/3: only tables with 11 or more successes in a are as far apart
    expected = sum(math.comb(12, x) * math.comb(3, 11 - x) for x in (11,)) / math.comb(15, 11)
    assert exact_permutation(11, 12, 0, 3).p_value == pytest.approx(expected)


def test_the_direction_and_the_sides_do_not_matter() -> None:
    one, other = exact_permutation(52, 64, 56, 57), exact_permutation(56, 57, 52, 64)
    assert one.p_value == other.p_value
    assert one.difference == -other.difference > 0
    inverted = exact_permutation(12, 64, 1, 57)
    assert inverted.p_value == one.p_value


@given(small, small)
def test_p_is_a_probability_and_1_without_a_difference(a: list[int], b: list[int]) -> None:
    assert 0 < exact_permutation(*table(a, b)).p_value <= 1
    assert exact_permutation(*table(a, a)).p_value == 1.0


@pytest.mark.parametrize("test", [exact_permutation, fisher_exact])
@pytest.mark.parametrize(
    ("counts", "reason"),
    [((0, 0, 3, 5), "a has no trials"), ((3, 5, 0, 0), "b has no trials"), ((0, 0, 0, 0), "a has")],
)
def test_an_empty_side_shows_nothing(test, counts, reason: str) -> None:
    found = test(*counts)
    assert found.p_value == 1.0
    assert math.isnan(found.difference)
    assert found.reason.startswith(reason)


def test_the_result_says_what_it_is() -> None:
    row = exact_permutation(52, 64, 64, 64).to_row()
    assert row["exact"] is True
    assert row["n_resamples"] is None
    assert row["seed"] is None
    assert (row["n_a"], row["n_b"], row["reason"]) == (64, 64, "")


@given(st.data())
def test_fisher_equals_scipy(data: st.DataObject) -> None:
    n_a, n_b = data.draw(st.integers(1, 40)), data.draw(st.integers(1, 40))
    s_a, s_b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b))
    expected = scipy_fisher([[s_a, n_a - s_a], [s_b, n_b - s_b]]).pvalue
    assert fisher_exact(s_a, n_a, s_b, n_b).p_value == pytest.approx(expected, rel=1e-9)


def test_fisher_of_a_large_table_outside_the_window_is_not_0() -> None:
    assert fisher_exact(30_000, 30_000, 0, 30_000).p_value == math.ulp(0.0)


@pytest.mark.parametrize("test", [exact_permutation, fisher_exact])
def test_bad_counts_are_refused(test) -> None:
    with pytest.raises(InputError, match="b_successes is 5 but b_total is 4"):
        test(1, 2, 5, 4)
    with pytest.raises(InputError, match="a_successes is nan"):
        test(math.nan, 2, 3, 4)
    with pytest.raises(InputError, match="a_total is -1"):
        test(0, -1, 3, 4)


@pytest.mark.parametrize("test", [exact_permutation, fisher_exact])
def test_sums_beyond_time_and_memory_are_refused(test) -> None:
    n = 10**15
    with pytest.raises(InputError, match=r"a sum of [\d,]+ terms; accepted .* up to 4,000,000"):
        test(n // 2, n, n // 2 + 10**6, n)
    assert test(3, n, 9, n).p_value == pytest.approx(0.14599609375, rel=1e-9)
