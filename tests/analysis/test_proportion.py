"""A share of trials with its two intervals."""

from __future__ import annotations

import math

import pytest

from steelyard.analysis.proportion import lowest, prefixed, proportion, proportions_by
from steelyard.stats import clustered_wilson_interval, wilson_interval

OUTCOMES = [(True, "t1"), (True, "t1"), (False, "t2"), (None, "t2"), (True, "t3")]


def test_counts_and_both_intervals():
    result = proportion(OUTCOMES)
    assert (result.intended, result.excluded, result.counts) == (5, 1, (3, 4))
    plain = wilson_interval(3, 4)
    clustered = clustered_wilson_interval([1, 1, 0, 1], ["t1", "t1", "t2", "t3"])
    assert (result.estimate, result.low, result.high) == (plain.estimate, plain.low, plain.high)
    assert (result.clustered_low, result.clustered_high) == (clustered.low, clustered.high)
    assert result.n_clusters == 3


def test_nothing_scored():
    ours, published = proportion([]), proportion([(None, "t")], compatibility="plumbline")
    assert math.isnan(ours.estimate)
    assert (ours.low, ours.high) == (0.0, 1.0)
    assert (published.estimate, published.low, published.high) == (0.0, 0.0, 0.0)
    assert published.intended == 1


def test_groups_keep_their_order():
    labelled = [("b", (True, "t")), ("a", (False, "t")), ("c", (True, "t"))]
    assert list(proportions_by("g", labelled)["g"]) == ["b", "a", "c"]
    assert list(proportions_by("g", labelled, order=["c", "z", "a"])["g"]) == ["c", "a", "b"]
    empty = proportions_by("g", [])
    assert empty.empty
    assert list(empty.columns)[:3] == ["g", "intended", "excluded"]


def test_the_lowest_group():
    table = proportions_by(
        "g", [("many", (True, "t"))] * 20 + [("many", (False, "t"))] + [("few", (True, "t"))] * 2
    )
    assert lowest(table, "g", "low")[1] == "few"
    assert lowest(table, "g", "estimate")[1] == "many"
    assert lowest(table, "g", "clustered_low")[0] == table["clustered_low"].min()
    assert lowest(proportions_by("g", [("a", (None, "t"))]), "g", "low") == (0.0, None)


def test_columns_of_one_row():
    row = prefixed({"path": proportion(OUTCOMES)})
    assert row["path_successes"] == 3
    assert row["path_estimate"] == pytest.approx(0.75)
