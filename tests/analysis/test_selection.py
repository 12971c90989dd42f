"""Which trials a question concerns, and what becomes of those without a score."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.analysis import select
from steelyard.analysis.names import present_arms, resolve_by, resolve_filters, sort_by_design
from steelyard.errors import InputError, UnknownNameError

NAN = float("nan")


def mixed(small_study, **sections):
    """One trial of every kind: scored 1 and 0, blank, NaN, failed with a value, never ran."""
    return small_study(
        [
            {"task": "t1", "success": 1},
            {"task": "t1", "success": 0},
            {"task": "t1", "success": None},
            {"task": "t1", "success": NAN},
            {"task": "t2", "success": 1, "status": "failed"},
            {"task": "t2", "status": "missing"},
        ],
        **sections,
    )


def values(trials, column="value"):
    return [None if np.isnan(v) else v for v in trials[column]]


def test_every_trial_has_one_standing(small_study):
    trials = select(mixed(small_study))
    assert list(trials["standing"]) == [
        "scored", "scored", "unmeasured", "unmeasured", "failed", "missing",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("policy", "value", "best"),
    [
        ("exclude", [1, 0, None, None, None, None], [1, 0, None, None, None, None]),
        ("fail", [1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0]),
        ("bounds", [1, 0, 0, 0, 0, 0], [1, 0, 1, 1, 1, 1]),
        ("recorded", [1, 0, None, None, 1, None], [1, 0, None, None, 1, None]),
    ],
)
def test_missing_policies(small_study, policy, value, best):
    trials = select(mixed(small_study), missing=policy)
    assert values(trials) == value
    assert values(trials, "best") == best


def test_recorded_takes_the_value_of_a_failed_trial_and_calls_it_scored(small_study):
    trials = select(mixed(small_study), missing="recorded")
    assert list(trials["standing"])[4:] == ["scored", "missing"]


def test_the_declared_policy_holds_when_none_is_given(small_study):
    trials = select(mixed(small_study, missing={"policy": "fail"}))
    assert values(trials) == [1, 0, 0, 0, 0, 0]


def test_unknown_policy_and_population_are_refused(small_study):
    tables = mixed(small_study)
    with pytest.raises(InputError, match="accepted: exclude, fail, bounds, recorded"):
        select(tables, missing="ignore")
    with pytest.raises(InputError, match="accepted: assigned, applied"):
        select(tables, population="all")
    with pytest.raises(InputError, match="accepted: final, first"):
        select(tables, attempt="best")


def test_a_measure_that_does_not_apply_leaves_the_trial_out(small_study):
    tables = small_study(
        [
            {"task": "small invoice", "paid": 1},
            {"task": "large invoice", "paid": 1, "approved": 1},
            {"task": "large invoice", "paid": 1, "status": "failed"},
            {"task": "small invoice", "status": "failed"},
            {"task": "lost invoice", "status": "missing"},
            {"arm": "b", "task": "large invoice", "status": "missing"},
        ]
    )
    trials = select(tables, "approved")
    # The failed small invoice needs no approval; nobody knows about the lost one.
    assert list(zip(trials["arm"], trials["task"], trials["standing"], strict=True)) == [
        ("a", "large invoice", "scored"),
        ("a", "large invoice", "failed"),
        ("a", "lost invoice", "missing"),
        ("b", "large invoice", "missing"),
    ]


def test_applied_population_needs_a_perturbation_that_happened(small_study):
    tables = small_study(
        [
            {"success": 1},
            {"perturbation": "fault", "success": 0, "perturbation_applied": True},
            {"perturbation": "fault", "success": 1, "perturbation_applied": False},
            {"perturbation": "fault", "success": 1},
            {"perturbation": "fault", "status": "failed", "perturbation_applied": True},
        ]
    )
    trials = select(tables, population="applied", missing="fail")
    assert list(trials["standing"]) == [
        "scored", "scored", "not_applied", "applied_unknown", "failed",
    ]  # fmt: skip
    # No missing policy brings back a trial that is outside the population.
    assert values(trials) == [1, 0, None, None, 0]
    assert values(select(tables, population="applied", missing="bounds"), "best") == [
        1, 0, None, None, 1,
    ]  # fmt: skip


def test_a_rate_refuses_other_values_and_names_trial_and_value(small_study):
    tables = small_study([{"task": "t1", "reward": 1.0}, {"task": "t2", "reward": 0.5}])
    with pytest.raises(InputError, match=r"'reward' of trial 'a/t2/baseline/0/0' is 0\.5"):
        select(tables)
    assert values(select(tables, binary=False)) == [1.0, 0.5]
    assert values(select(tables, threshold=0.5)) == [1.0, 1.0]
    assert values(select(tables, threshold=1.0)) == [1.0, 0.0]
    with pytest.raises(InputError, match="threshold is nan"):
        select(tables, threshold=NAN)


@pytest.mark.parametrize("value", [float("inf"), -1.0, 2.0])
def test_a_rate_refuses_infinity_and_counts(small_study, value):
    tables = small_study([{"success": value}])
    with pytest.raises(InputError, match="0 or 1"):
        select(tables)


def test_first_attempt_counts_a_retried_success_as_failure(small_study):
    tables = small_study(
        [
            {"task": "t1", "success": 1, "attempts": 2},
            {"task": "t2", "success": 1, "attempts": 1},
            {"task": "t3", "success": 1},
            {"task": "t4", "status": "failed", "attempts": 3},
        ]
    )
    assert values(select(tables)) == [1, 1, 1, None]
    assert values(select(tables, attempt="first")) == [0, 1, 1, None]


def test_rows_follow_the_design_whatever_the_order_of_insertion(small_study):
    cells = [("b", "p"), ("a", "baseline"), ("b", "baseline"), ("a", "p")]
    trials = [{"arm": a, "perturbation": p, "success": 1} for a, p in cells]
    design = {"arms": ["b", "a"], "perturbations": ["baseline", "p"]}
    expected = [("b", "baseline"), ("b", "p"), ("a", "baseline"), ("a", "p")]
    for order in (trials, trials[::-1]):
        found = select(small_study(order, design=design))
        assert list(zip(found["arm"], found["perturbation"], strict=True)) == expected


def test_filters_take_one_name_or_several(small_study):
    tables = small_study([{"task": f"t{i}", "success": 1} for i in range(4)])
    assert list(select(tables, task="t1")["task"]) == ["t1"]
    assert list(select(tables, task=["t3", "t0"])["task"]) == ["t0", "t3"]
    assert len(select(tables, repeat=0)) == 4
    assert len(select(tables, repeat=[0])) == 4
    assert len(select(tables, task=None)) == 4


def test_unknown_names_come_with_the_nearest(small_study):
    tables = mixed(small_study)
    with pytest.raises(UnknownNameError, match=r"unknown measure 'succes'.*'success'"):
        select(tables, "succes")
    with pytest.raises(UnknownNameError, match="unknown task 't9' in study small"):
        select(tables, task="t9")
    with pytest.raises(UnknownNameError, match="unknown repeat '7'"):
        select(tables, repeat=7)


def test_bad_filters_are_refused(small_study):
    tables = mixed(small_study)
    with pytest.raises(InputError, match="cannot filter by 'colour'"):
        select(tables, colour="red")
    with pytest.raises(InputError, match="filter task is an empty list"):
        select(tables, task=[])


def test_an_empty_selection_is_an_error_unless_asked_for(small_study):
    tables = small_study([{"arm": "a", "task": "t1", "s": 1}, {"arm": "b", "task": "t2", "s": 1}])
    with pytest.raises(InputError, match=r"applies to no trial with arm \['a'\], task \['t2'\]"):
        select(tables, arm="a", task="t2")
    assert select(tables, arm="a", task="t2", empty="return").empty


def test_the_declared_scope_holds_until_its_column_is_filtered(small_study):
    rows = [{"variant": v, "success": 1} for v in ("test", "suite")]
    tables = small_study(rows, scope={"variant": "test"})
    assert list(select(tables)["variant"]) == ["test"]
    assert list(select(tables, variant="suite")["variant"]) == ["suite"]
    assert len(select(tables, variant=["test", "suite"])) == 2


def test_ids_that_look_like_numbers_stay_apart(small_study):
    tables = small_study([{"task": "7", "success": 1}, {"task": "007", "success": 0}])
    assert list(select(tables)["task"]) == ["007", "7"]
    assert values(select(tables, task="7")) == [1]
    assert resolve_filters(tables, {"task": 7}) == {"task": ["7"]}


def test_group_columns_are_checked():
    assert resolve_by("task") == ("task",)
    assert resolve_by(["arm", "task"]) == ("arm", "task")
    with pytest.raises(InputError, match="cannot group by 'model'"):
        resolve_by("model")
    with pytest.raises(InputError, match="twice"):
        resolve_by(["arm", "arm"])


def test_names_that_the_design_does_not_declare_come_last(small_study):
    rows = [{"arm": arm, "success": 1} for arm in ("z", "a", "m")]
    tables = small_study(rows, design={"arms": ["z"]})
    assert present_arms(tables) == ["z", "a", "m"]
    frame = select(tables)
    assert list(sort_by_design(tables, frame, ())["arm"]) == ["z", "a", "m"]
