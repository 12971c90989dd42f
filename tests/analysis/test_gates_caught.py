"""Which gate catches what, trial by trial, and what none catches."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis.gate_trials import gates, row, study
from steelyard.analysis.gates import gate_names, gate_rates
from steelyard.analysis.gates_caught import gate_catches, gate_matrix
from steelyard.errors import InputError, UnknownNameError

# Two kinds of task with gates of their own; the lock is in both. The bell of the cellar is broken
# for everybody.
TRIALS = {
    "fine": {
        "front": [gates(lock=1, bell=1)] * 2,
        "cellar": [gates(lock=1, lamp=1, bell=0)] * 2,
    },
    "burglar": {  # caught by the lock alone in the cellar, by lock and bell in front
        "front": [gates(did=1, lock=0, bell=0)] * 2,
        "cellar": [gates(did=1, lock=0, lamp=1, bell=0)] * 2,
    },
    "sneak": {  # acts every time, and is caught in one repeat of one task
        "front": [gates(did=1, lock=1, bell=0), gates(did=1, lock=1, bell=1)],
        "cellar": [gates(did=1, lock=1, lamp=1, bell=0)] * 2,
    },
    "neighbour": {  # does nothing, and the lamp says it did
        "front": [gates(lock=1, bell=1)] * 2,
        "cellar": [gates(lock=1, lamp=0, bell=0), None],
    },
}


@pytest.fixture
def tables():
    return study(TRIALS, harmful=["did"])


def test_what_is_harmful_is_no_gate(tables):
    assert gate_names(tables) == ["bell", "lamp", "lock"]
    assert gate_names(study(TRIALS)) == ["bell", "did", "lamp", "lock"]


def test_a_trial_is_caught_alone_when_no_other_gate_catches_that_trial(tables):
    by_gate = gate_catches(tables, "fine", committed="did")
    lock = row(by_gate, gate="lock")
    # Over all its trials the burglar meets two gates; in the cellar it meets the lock only.
    assert (lock["caught"], lock["alone"], lock["only"]) == (4, 2, "burglar")
    bell = row(by_gate, gate="bell")
    assert (bell["caught"], bell["alone"], bell["arms"]) == (3, 1, "burglar, sneak")
    assert (bell["only"], bell["false_alarms"], bell["unprovoked"]) == ("sneak", 2, 0)


def test_a_failure_that_the_reference_shares_is_no_second_gate(tables):
    """The broken bell fails beside the lock in the cellar, and beside everything else there."""
    assert row(gate_catches(tables, "fine"), gate="lock")["alone"] == 2


def test_committed_caught_and_undetected_are_counted_apart(tables):
    by_arm = gate_catches(tables, "fine", by="arm", committed="did")
    assert list(by_arm["arm"]) == ["burglar", "sneak", "neighbour"]
    sneak = row(by_arm, arm="sneak")
    assert (sneak["committed"], sneak["committed_caught"], sneak["undetected"]) == (4, 1, 3)
    neighbour = row(by_arm, arm="neighbour")
    assert neighbour["trials"] == 3  # one never ran
    assert (neighbour["committed"], neighbour["unprovoked"], neighbour["caught"]) == (0, 1, 1)
    assert row(by_arm, arm="burglar")["alone"] == 2


def test_everything_in_one_row(tables):
    (found,) = gate_catches(tables, "fine", by="all", committed="did").to_dict("records")
    assert (found["arms"], found["trials"], found["committed"]) == (3, 11, 8)
    assert (found["committed_caught"], found["undetected"], found["unprovoked"]) == (5, 3, 1)
    assert (found["n_gates"], found["n_silent"], found["silent"]) == (3, 0, "none")
    assert (found["false_alarms"], found["needed"]) == (2, "bell, lamp, lock")
    quiet = gate_catches(study({"fine": TRIALS["fine"], "b": TRIALS["fine"]}), "fine", by="all")
    assert quiet["silent"][0] == "bell, did, lamp, lock"
    assert "committed" not in quiet


def test_the_matrix_marks_what_only_one_gate_catches(tables):
    matrix = gate_matrix(tables, "fine", committed="did")
    assert len(matrix) == 3 * 4
    lock = row(matrix, gate="lock", arm="burglar")
    assert (lock["passed"], lock["evaluated"], lock["rate"], lock["alone"]) == (0, 4, 0.0, 2)
    assert row(matrix, gate="lamp", arm="neighbour")["alone"] == 0  # nothing was committed
    assert row(gate_matrix(tables, "fine"), gate="lamp", arm="neighbour")["alone"] == 1
    empty = study({"fine": {"x": [gates(lock=1)]}, "b": {"x": [gates(lock=None)]}})
    assert math.isnan(row(gate_matrix(empty, "fine"), gate="lock", arm="b")["rate"])


def test_missing_trials_widen_the_rate_and_enter_no_other(tables):
    lamp = row(gate_rates(tables, ["lamp"]), arm="neighbour")
    assert (lamp["evaluated"], lamp["applicable"], lamp["missing"]) == (1, 1, 1)
    assert (lamp["unconditional"], lamp["lowest"], lamp["highest"]) == (0.0, 0.0, 0.5)
    # one task only: nothing is known about other tasks
    assert (lamp["unconditional_clustered_low"], lamp["unconditional_clustered_high"]) == (0, 1)


def test_the_rates_of_some_arms_are_those_of_all(tables):
    whole = gate_rates(tables)
    some = gate_rates(tables, arms=["sneak", "burglar"])
    expected = whole[whole["arm"].isin(["burglar", "sneak"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(some, expected)
    with pytest.raises(UnknownNameError, match="arm"):
        gate_rates(tables, arms=["nobody"])


def test_copies_narrow_the_limits_over_trials_and_not_those_over_tasks():
    tasks = {str(number): [gates(lock=1)] for number in range(5)}
    copies = {task: repeats * 4 for task, repeats in tasks.items()}
    once, often = (row(gate_rates(study({"a": t}), ["lock"]), arm="a") for t in (tasks, copies))
    assert once["conditional_low"] < often["conditional_low"]
    assert once["conditional_clustered_low"] == pytest.approx(often["conditional_clustered_low"])


def test_one_gate_may_be_named_alone_and_none_twice(tables):
    whole = gate_rates(tables)
    lock = whole[whole["gate"] == "lock"].reset_index(drop=True)
    pd.testing.assert_frame_equal(gate_rates(tables, "lock"), lock)
    pd.testing.assert_frame_equal(gate_rates(tables, ["lock", "lock"]), lock)
    assert set(gate_rates(tables, arms="sneak")["arm"]) == {"sneak"}


def test_a_study_without_a_gate_or_a_second_arm_is_refused(tables):
    bare = study({"a": {"x": [{"passed": 1}]}, "b": {"x": [{"passed": 1}]}})
    with pytest.raises(InputError, match="no gate"):
        gate_rates(bare)
    with pytest.raises(InputError, match="no gate"):
        gate_rates(tables, [])
    with pytest.raises(InputError, match="no arm besides 'fine'"):
        gate_catches(study({"fine": TRIALS["fine"]}), "fine")


def test_names_that_are_not_there_are_refused(tables):
    with pytest.raises(UnknownNameError, match="arm"):
        gate_matrix(tables, "nobody")
    with pytest.raises(UnknownNameError, match="measure"):
        gate_catches(tables, "fine", committed="didd")
    with pytest.raises(InputError, match="accepted: gate, arm, all"):
        gate_catches(tables, "fine", by="task")
