"""Ratios of sums with whole clusters resampled, and the discrimination of a score."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats import cluster_bootstrap_interval
from steelyard.stats.discrimination import average_precision, discrimination
from steelyard.stats.ratios import cluster_draws, cluster_ratio_difference, cluster_ratio_interval


def test_each_draw_has_as_many_clusters_as_there_are() -> None:
    draws = cluster_draws(7, 100, seed=3)
    assert draws.shape == (100, 7)
    assert (draws.sum(axis=1) == 7).all()


def test_equal_sizes_agree_with_the_bootstrap_of_a_mean() -> None:
    sums = [3, 0, 1, 2, 2, 3, 1, 0, 2, 1]
    found = cluster_ratio_interval(sums, [3] * 10, n_resamples=20_000)
    values = [value for total in sums for value in [1] * total + [0] * (3 - total)]
    tasks = [f"t{index}" for index in range(10) for _ in range(3)]
    other = cluster_bootstrap_interval(values, tasks, n_resamples=20_000)
    assert found.estimate == other.estimate
    assert (found.low, found.high) == pytest.approx((other.low, other.high), abs=0.035)


def test_a_cluster_without_a_denominator_only_widens() -> None:
    found = cluster_ratio_interval([1, 0], [1, 0], seed=1)
    assert found.reason == "degenerate: all clusters are equal"
    found = cluster_ratio_interval([1, 0, 0], [1, 2, 0], seed=1)
    assert found.estimate == 1 / 3
    assert 0 < found.n_undefined < found.n_resamples


@pytest.mark.parametrize(
    ("sums", "reason"),
    [
        (([], []), "0 clusters to resample"),
        (([1], [2]), "1 clusters to resample"),
        (([0, 0], [0, 0]), "no denominator"),
        (([1, 2], [2, 4]), "degenerate: all clusters are equal"),
    ],
)
def test_where_resampling_says_nothing(sums: tuple[list[int], list[int]], reason: str) -> None:
    found = cluster_ratio_interval(*sums)
    assert found.reason == reason
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_a_difference_is_paired() -> None:
    side = ([1, 3, 0, 2], [4, 4, 4, 4])
    found = cluster_ratio_difference(side, side, seed=2)
    assert (found.estimate, found.low, found.high) == (0.0, 0.0, 0.0)


def test_bad_sums_are_refused() -> None:
    with pytest.raises(InputError, match="numerators has 2 values and denominators 1"):
        cluster_ratio_interval([1, 2], [3])
    with pytest.raises(InputError, match="denominators holds -1"):
        cluster_ratio_interval([1, 2], [3, -1])
    with pytest.raises(InputError, match="the same clusters on both sides"):
        cluster_ratio_difference(([1], [1]), ([1, 1], [1, 1]))
    with pytest.raises(InputError, match="nan"):
        cluster_ratio_interval([1, math.nan], [3, 3])


scored = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=2, max_size=30)


@given(scored)
def test_auroc_is_the_share_of_pairs_in_the_right_order(cases: list[tuple[int, bool]]) -> None:
    positive = [score for score, label in cases if label]
    negative = [score for score, label in cases if not label]
    found = discrimination(
        [score for score, _ in cases],
        [int(label) for _, label in cases],
        [str(index) for index in range(len(cases))],
        n_resamples=5,
    )
    if not positive or not negative:
        assert math.isnan(found.auroc)
        return
    wins = sum((a > b) + (a == b) / 2 for a in positive for b in negative)
    assert found.auroc == pytest.approx(wins / len(positive) / len(negative))


@given(scored)
def test_average_precision_by_definition(cases: list[tuple[int, bool]]) -> None:
    scores = np.array([float(score) for score, _ in cases])
    labels = np.array([float(label) for _, label in cases])
    found = average_precision(scores, labels)
    if not labels.any():
        assert math.isnan(found)
        return
    by_hand, before = 0.0, 0.0
    for threshold in sorted(set(scores), reverse=True):
        chosen = scores >= threshold
        recall = labels[chosen].sum() / labels.sum()
        by_hand += (recall - before) * labels[chosen].mean()
        before = recall
    assert found == pytest.approx(by_hand)


def test_the_interval_of_a_score_resamples_clusters() -> None:
    scores = [0.1, 0.9, 0.4, 0.8, 0.3, 0.7, 0.2, 0.6]
    labels = [0, 1, 1, 1, 0, 0, 0, 1]
    found = discrimination(scores, labels, list("aabbccdd"), seed=4)
    assert found.auroc_low <= found.auroc <= found.auroc_high
    assert (found.n_clusters, found.positives, found.n) == (4, 4, 8)
    assert discrimination(scores, labels, list("aabbccdd"), seed=4) == found


def test_bad_scores_are_refused() -> None:
    with pytest.raises(InputError, match="scores has 2 values and labels 1"):
        discrimination([1, 2], [1], ["a"])
    with pytest.raises(InputError, match=r"labels\[1\]"):
        discrimination([1, 2], [1, 2], ["a", "b"])
