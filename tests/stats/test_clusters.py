from __future__ import annotations

import math
import random

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats.inputs import tau_trials
from steelyard.errors import InputError
from steelyard.stats import (
    cluster_summary,
    clustered_mean_interval,
    clustered_standard_error,
    design_effect,
    effective_sample_size,
    intraclass_correlation,
    naive,
    partition,
)

observations = st.lists(
    st.tuples(st.sampled_from([0, 1, 0.25, 7.5]), st.sampled_from(["07", "7", "a", "b"])),
    min_size=2,
    max_size=30,
)


@given(observations)
def test_the_standard_error_equals_the_literal_double_sum(rows: list[tuple[float, str]]) -> None:
    values, clusters = [r[0] for r in rows], [r[1] for r in rows]
    found = clustered_standard_error(values, clusters)
    assert found.n_clusters == len(set(clusters))
    if found.n_clusters == 1:
        assert math.isnan(found.standard_error)
        assert found.reason == "1 cluster"
    else:
        expected = naive.clustered_standard_error(values, clusters)
        assert found.standard_error == pytest.approx(expected, abs=1e-7)


@given(observations, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_cannot_show(rows, shuffler: random.Random) -> None:
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    first = cluster_summary(*zip(*rows, strict=True))
    second = cluster_summary(*zip(*shuffled, strict=True))
    assert repr(first) == repr(second)


def test_tau_bench_airline() -> None:
    summary = cluster_summary(*tau_trials())
    assert summary.estimate == 0.42
    assert summary.standard_error == pytest.approx(0.05222, abs=5e-6)
    assert summary.naive_standard_error == pytest.approx(0.03490, abs=5e-6)
    assert summary.icc == pytest.approx(0.405, abs=5e-4)
    assert summary.design_effect == pytest.approx(2.24, abs=5e-3)
    assert summary.effective_n == pytest.approx(89, abs=0.5)
    assert (summary.n, summary.n_clusters) == (200, 50)
    assert (summary.smallest_cluster, summary.largest_cluster) == (4, 4)
    assert design_effect(*tau_trials()) == summary.design_effect
    assert effective_sample_size(*tau_trials()) == summary.effective_n


def test_singletons_give_the_ordinary_standard_error_of_a_mean() -> None:
    values = [0.1, 0.7, 0.4, 0.9]
    found = clustered_standard_error(values, list("abcd"))
    assert found.standard_error == pytest.approx(np.std(values, ddof=1) / 2)
    assert math.isnan(intraclass_correlation(values, list("abcd")))


def test_icc_of_unequal_sizes_by_hand() -> None:
    # sizes 1, 2, 3; n0 = (6 - 14/6)/2 = 11/6
    values, clusters = [1, 0, 1, 1, 1, 0], ["a", "b", "b", "c", "c", "c"]
    means = {"a": 1.0, "b": 0.5, "c": 2 / 3}
    grand = 4 / 6
    sizes = (("a", 1), ("b", 2), ("c", 3))
    between = sum(n * (means[c] - grand) ** 2 for c, n in sizes) / 2
    within = sum((v - means[c]) ** 2 for v, c in zip(values, clusters, strict=True)) / 3
    expected = (between - within) / (between + (11 / 6 - 1) * within)
    assert intraclass_correlation(values, clusters) == pytest.approx(expected)


def test_what_is_not_identified_is_nan_with_a_reason() -> None:
    one = cluster_summary([1, 0, 1], ["t", "t", "t"])
    assert (one.reason, one.estimate) == ("1 cluster", pytest.approx(2 / 3))
    assert math.isnan(one.standard_error)
    assert math.isnan(one.icc)
    assert math.isnan(one.design_effect)
    constant = cluster_summary([1, 1, 1, 1], list("aabb"))
    assert constant.standard_error == 0.0
    assert constant.reason == "all values are equal"
    assert math.isnan(constant.design_effect)
    assert math.isnan(constant.icc)
    nothing = cluster_summary([], [])
    assert (nothing.n, nothing.reason, nothing.largest_cluster) == (0, "no values", 0)
    assert math.isnan(nothing.estimate)


def test_a_design_effect_below_one_is_reported_but_adds_no_trials() -> None:
    summary = cluster_summary([1, 0, 1, 0, 1, 0], list("aabbcc"))
    assert summary.design_effect == 0.0
    assert summary.effective_n == 6


def test_ids_are_text_and_integers_their_digits() -> None:
    assert partition([1, 2, 3], ["7", "07", "7"]).ids == ("07", "7")
    assert partition([1, 2], [np.int64(10), 9]).ids == ("10", "9")
    assert partition([1, 2], pd.Series(["a", "b"])).ids == ("a", "b")
    assert partition([1, 2], np.array(["a", "b"])).ids == ("a", "b")
    grouped = partition([1.0, 2.0, 4.0], ["b", "a", "b"])
    assert grouped.means.tolist() == [2.0, 2.5]
    assert [m.tolist() for m in grouped.members()] == [[2.0], [1.0, 4.0]]
    assert partition([], []).members() == []


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (["a", None], r"clusters\[1\] is None"),
        (["a", math.nan], r"clusters\[1\] is nan"),
        (["a", ""], r"clusters\[1\] is ''"),
        (["a", True], r"clusters\[1\] is True"),
        ([1, 1.5], r"clusters\[1\] is 1\.5"),
        ([7, "7"], r"clusters\[0\] is 7 but clusters\[1\] is '7'"),
        (["a"], "values has 2 entries but clusters has 1"),
        ([["a"], ["b"]], "2 dimensions"),
    ],
)
def test_bad_ids_are_refused(clusters, message: str) -> None:
    with pytest.raises(InputError, match=message):
        partition([0, 1], clusters)


def test_a_bad_id_is_refused_on_one_row_as_on_a_thousand() -> None:
    with pytest.raises(InputError):
        clustered_standard_error([1], [None])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([0, math.nan], r"values\[1\] is nan; leave unmeasured trials out"),
        ([0, math.inf], r"values\[1\] is inf"),
        ([0, "x"], "sequence of numbers"),
        (["0", "1"], "it holds text"),
        (np.array([0, "1"], dtype=object), "it holds text"),
        ([[0], [1, 2]], "sequence of numbers"),
        ([[0], [1]], "2 dimensions"),
    ],
)
def test_bad_values_are_refused(values, message: str) -> None:
    with pytest.raises(InputError, match=message):
        partition(values, ["a", "b"])


@pytest.mark.parametrize("value", [0.1, 0.7, 1 / 3, 0.30000000000000004])
@pytest.mark.parametrize("n", [2, 3, 7, 25])
def test_equal_values_have_no_spread_whatever_their_mean_rounds_to(value: float, n: int) -> None:
    ids = [str(i % 2) for i in range(n)]
    found = cluster_summary([value] * n, ids)
    assert (found.standard_error, found.naive_standard_error) == (0.0, 0.0)
    assert found.reason == "all values are equal"
    assert math.isnan(found.design_effect)
    assert math.isnan(found.icc)
    interval = clustered_mean_interval([value] * n, ids)
    assert (math.isnan(interval.low), interval.reason) == (True, "no variation between clusters")


def test_equal_cluster_means_have_no_spread() -> None:
    values = [0.1, 0.7, 0.4, 0.7, 0.1, 0.4, 0.4, 0.1, 0.7]
    found = cluster_summary(values, list("aaabbbccc"))
    assert found.standard_error == 0.0
    assert found.naive_standard_error > 0


def test_scores_whose_squares_overflow_are_refused() -> None:
    with pytest.raises(InputError, match=r"values\[0\] is 1e\+308; accepted .* ±1e150"):
        cluster_summary([1e308, 1e308], ["a", "b"])
    assert cluster_summary([1e150, -1e150], ["a", "b"]).standard_error == pytest.approx(1e150)
