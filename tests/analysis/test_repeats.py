"""Repeats that are copies, and the two standard errors of a mean over seeds."""

from __future__ import annotations

import math

import pytest

from steelyard.analysis import repeat_agreement, seeds
from steelyard.errors import InputError
from steelyard.stats import intraclass_correlation


def steps(*names):
    return [{"name": name} for name in names]


def test_copies_are_counted_once(small_study):
    same = {"success": 1, "state": {"paid": True}, "steps": steps("check", "pay")}
    tables = small_study([{"task": task, **same} for task in ("t1", "t1", "t1", "t2", "t2")])
    row = repeat_agreement(tables).iloc[0]
    assert (row["cells"], row["trials"], row["identical"], row["distinct_results"]) == (2, 5, 2, 2)
    for facet in ("outcome", "state", "steps"):
        assert (row[f"{facet}_known"], row[f"{facet}_identical"]) == (2, 2)
    assert math.isnan(row["icc"])


@pytest.mark.parametrize(
    ("change", "facet"),
    [
        ({"success": 0}, "outcome"),
        ({"state": {"paid": False}}, "state"),
        ({"steps": steps("pay", "check")}, "steps"),
        ({"steps": [{"name": "check"}, {"name": "pay", "error": "timeout"}]}, "steps"),
        ({"steps": [{"name": "check"}, {"name": "pay", "arguments": "{}"}]}, "steps"),
    ],
)
def test_one_difference_is_enough(small_study, change, facet):
    one = {"success": 1, "state": {"paid": True}, "steps": steps("check", "pay")}
    row = repeat_agreement(small_study([one, {**one, **change}])).iloc[0]
    assert (row["cells"], row["identical"], row["distinct_results"]) == (1, 0, 2)
    others = {"outcome", "state", "steps"} - {facet}
    assert row[f"{facet}_identical"] == 0
    assert [row[f"{other}_identical"] for other in others] == [1, 1]


def test_what_is_not_recorded_is_not_compared(small_study):
    tables = small_study(
        [
            {"task": "t1", "success": 1, "steps": steps("a")},
            {"task": "t1", "success": 1},
            {"task": "t2", "success": None},
            {"task": "t2", "success": 1},
            {"task": "t3", "success": 1, "status": "failed"},
            {"task": "t3", "success": 1},
        ]
    )
    row = repeat_agreement(tables).iloc[0]
    # t1 agrees as far as it is known, t2 is not known at all, t3 completed only once.
    assert (row["cells"], row["trials"]) == (2, 4)
    assert (row["outcome_known"], row["outcome_identical"], row["steps_known"]) == (1, 1, 0)
    assert row["identical"] == 1


def test_units(small_study):
    tables = small_study(
        [{"variant": v, "success": 1} for v in ("0", "1")] + [{"variant": "0", "success": 1}]
    )
    assert list(repeat_agreement(tables)[["cells", "trials"]].iloc[0]) == [1, 2]
    assert list(repeat_agreement(tables, unit="task")[["cells", "trials"]].iloc[0]) == [1, 3]
    with pytest.raises(InputError, match="accepted: variant, task"):
        repeat_agreement(tables, unit="arm")


def test_nothing_measured_has_no_correlation(small_study):
    row = repeat_agreement(small_study([{"success": None}, {"success": None}])).iloc[0]
    assert (row["cells"], row["outcome_known"], row["identical"]) == (1, 0, 0)
    assert math.isnan(row["icc"])


def test_no_repeats(small_study):
    row = repeat_agreement(small_study([{"task": "t1", "success": 1}])).iloc[0]
    assert (row["cells"], row["trials"], row["identical"]) == (0, 0, 0)
    assert row["reason"] == "no cell was repeated"
    assert math.isnan(row["icc"])


def test_groups_and_filters(small_study):
    rows = [
        {"arm": arm, "task": task, "repeat": r, "success": int(arm == "b" and r == 0)}
        for arm in "ba"
        for task in ("t1", "t2")
        for r in (0, 1)
    ]
    tables = small_study(rows)
    frame = repeat_agreement(tables, by="arm")
    assert list(frame["arm"]) == ["b", "a"]
    assert list(frame["outcome_identical"]) == [0, 2]
    assert list(repeat_agreement(tables, by=(), arm="a")["cells"]) == [2]
    # Grouped by repeat, no cell holds two trials.
    assert list(repeat_agreement(tables, by="repeat")["cells"]) == [0, 0]
    assert frame["icc"].iloc[0] == intraclass_correlation([1, 0, 1, 0], ["0", "0", "1", "1"])


def test_no_completed_trial(small_study):
    with pytest.raises(InputError, match="no completed trial"):
        repeat_agreement(small_study([{"success": 1, "status": "failed"}]))


def test_agreement_over_repeats_says_nothing_about_tasks(small_study):
    # Three seeds agree on every task: no spread over seeds, a large one over tasks.
    rows = [
        {"task": task, "repeat": r, "success": v}
        for task, v in (("A", 1), ("B", 0), ("C", 1), ("D", 0))
        for r in range(3)
    ]
    row = seeds(small_study(rows)).iloc[0]
    assert (row["mean_over_repeats"], row["standard_error_over_repeats"]) == (0.5, 0.0)
    assert row["standard_error_over_tasks"] == pytest.approx(math.sqrt(1 / 3) / 2)
    assert (row["n_repeats"], row["n_tasks"], row["tasks_agreeing"]) == (3, 4, 4)
    assert row["balanced"]


def test_variants_of_a_task_belong_to_one_repeat_of_it(small_study):
    rows = [
        {"task": task, "variant": v, "repeat": r, "success": int(v == "0")}
        for task in "AB"
        for v in ("0", "1")
        for r in (0, 1)
    ]
    row = seeds(small_study(rows)).iloc[0]
    assert (row["mean_over_tasks"], row["standard_error_over_tasks"]) == (0.5, 0.0)
    assert (row["scored"], row["tasks_agreeing"]) == (8, 0)


def test_unbalanced_single_and_missing(small_study):
    tables = small_study(
        [
            {"task": "A", "repeat": 0, "success": 1},
            {"task": "A", "repeat": 1, "success": None},
            {"task": "B", "repeat": 0, "success": 0},
        ]
    )
    row = seeds(tables).iloc[0]
    assert math.isnan(row["standard_error_over_repeats"])
    assert (row["reason"], row["n_repeats"]) == ("1 repeat", 1)
    assert list(seeds(tables, missing="bounds")["case"]) == ["worst", "best"]
    assert not seeds(tables, missing="fail")["balanced"].iloc[0]
    empty = seeds(small_study([{"success": None}])).iloc[0]
    assert math.isnan(empty["mean_over_tasks"])
    assert "no repeats" in empty["reason"]


def test_graded_measures_are_averaged(small_study):
    row = seeds(small_study([{"task": t, "score": s} for t, s in (("A", 2.5), ("B", 3.5))])).iloc[0]
    assert row["mean_over_tasks"] == 3.0


def test_repeat_is_no_group_of_seeds(small_study):
    with pytest.raises(InputError, match="spread over repeats is the question"):
        seeds(small_study([{"success": 1}]), by=("arm", "repeat"))
