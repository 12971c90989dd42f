"""Did the perturbation happen?"""

from __future__ import annotations

import math

import pytest

from steelyard.analysis import manipulation
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import wilson_interval


@pytest.fixture
def tables(small_study):
    fault = {"perturbation": "fault"}
    return small_study(
        [
            {"success": 1},
            {**fault, "repeat": 0, "success": 0, "perturbation_applied": True},
            {**fault, "repeat": 1, "success": 1, "perturbation_applied": False},
            {**fault, "repeat": 2, "success": 1},
            {**fault, "repeat": 3, "status": "missing"},
            {"arm": "b", **fault, "success": 1, "perturbation_applied": False},
            {"arm": "b", "perturbation": "decoy", "success": 1},
        ],
        design={"perturbations": ["baseline", "fault", "decoy"]},
    )


def test_counts(tables):
    frame = manipulation(tables)
    columns = ["assigned", "recorded", "applied", "not_applied", "unknown", "never_ran"]
    found = {
        (row["arm"], row["perturbation"]): [int(row[c]) for c in columns]
        for _, row in frame.iterrows()
    }
    assert found == {
        ("a", "baseline"): [1, 0, 0, 0, 1, 0],
        ("a", "fault"): [4, 2, 1, 1, 2, 1],
        ("b", "fault"): [1, 1, 0, 1, 0, 0],
        ("b", "decoy"): [1, 0, 0, 0, 1, 0],
    }


def test_rate_is_over_the_recorded_trials(tables):
    row = manipulation(tables, arm="a", perturbation="fault").iloc[0]
    expected = wilson_interval(1, 2)
    assert (row["rate"], row["low"], row["high"]) == (0.5, expected.low, expected.high)
    assert row["reason"] == ""


def test_nothing_recorded_gives_no_rate_and_a_reason(tables):
    frame = manipulation(tables).set_index(["arm", "perturbation"])
    assert frame.loc[("a", "baseline"), "reason"] == "baseline: nothing to apply"
    assert frame.loc[("b", "decoy"), "reason"] == "not recorded"
    for key in (("a", "baseline"), ("b", "decoy")):
        assert math.isnan(frame.loc[key, "rate"])
        assert list(frame.loc[key, ["low", "high"]]) == [0.0, 1.0]


def test_by_repeat(tables):
    frame = manipulation(tables, by=("repeat",), arm="a")
    assert list(frame["repeat"]) == [0, 1, 2, 3]
    assert list(frame["applied"]) == [1, 0, 0, 0]
    assert list(frame["reason"]) == ["", "", "not recorded", "not recorded"]


def test_without_the_perturbation_the_baseline_is_left_out(tables):
    frame = manipulation(tables, by=())
    assert list(frame["assigned"]) == [6]
    with pytest.raises(InputError, match="no trial was assigned to a perturbation"):
        manipulation(tables, by=("arm",), perturbation="baseline")


def test_unknown_names(tables):
    with pytest.raises(UnknownNameError, match=r"'faul'.*'fault'"):
        manipulation(tables, perturbation="faul")
    with pytest.raises(InputError, match="cannot group by"):
        manipulation(tables, by="status")
