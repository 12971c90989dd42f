"""Repeats of a trial at the gates, and tasks that tell no arm apart."""

from __future__ import annotations

import math

import pytest

from analysis.gate_trials import gates, row, study
from steelyard.analysis.gates_repeats import gate_repeats
from steelyard.analysis.gates_tasks import task_verdicts
from steelyard.errors import InputError

TRIALS = {
    "steady": {
        "front": [gates(lock=1, bell=1)] * 2,
        "cellar": [gates(lock=1, bell=None)] * 2,
        "roof": [gates(lock=0, bell=1)] * 2,
    },
    "fickle": {
        "front": [gates(lock=1, bell=1), gates(did=1, lock=0, bell=None)],
        "cellar": [gates(did=1, lock=1, bell=1), None],
        "roof": [gates(did=1, lock=0, bell=1)] * 2,
    },
}


@pytest.fixture
def tables():
    return study(TRIALS, harmful=["did"])


def test_a_cell_differs_when_its_repeats_have_not_one_verdict(tables):
    by_gate = gate_repeats(tables)
    assert list(by_gate["gate"]) == ["passed", "bell", "lock"]
    lock = row(by_gate, gate="lock")
    # fickle's cellar ran once and is no cell
    assert (lock["cells"], lock["trials"], lock["differing"]) == (5, 10, 1)
    assert (lock["all_pass"], lock["any_pass"]) == (2, 3)
    assert (lock["all_rate"], lock["any_rate"]) == (0.4, 0.6)
    bell = row(by_gate, gate="bell")
    assert (bell["differing"], bell["all_pass"], bell["any_pass"]) == (1, 3, 4)


def test_never_evaluated_is_the_same_verdict_twice(tables):
    steady = row(gate_repeats(tables, ["bell"], by="arm"), arm="steady")
    assert (steady["cells"], steady["differing"], steady["all_pass"]) == (3, 0, 2)


def test_all_cells_together_and_none_at_all(tables):
    (found,) = gate_repeats(tables, by="all").to_dict("records")
    assert (found["cells"], found["differing"]) == (15, 3)
    once = study({"a": {"front": [gates(lock=1)]}})
    (found,) = gate_repeats(once, by="all").to_dict("records")
    assert found["cells"] == 0
    assert math.isnan(found["all_rate"])
    with pytest.raises(InputError, match="accepted: gate, arm, all"):
        gate_repeats(tables, by="task")


def test_a_task_that_everybody_passes_or_nobody_does_is_flagged(tables):
    tasks = task_verdicts(tables, committed="did")
    assert list(tasks["task"]) == ["cellar", "front", "roof"]
    assert list(tasks["flag"]) == ["all pass", "tells apart", "all fail"]
    front = row(tasks, task="front")
    assert (front["arms"], front["passing"], front["mixed"], front["failing"]) == (2, 1, 1, 0)
    assert (front["share"], front["committing"]) == (0.5, 1)
    assert "committing" not in task_verdicts(tables)
