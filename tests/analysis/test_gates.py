"""Measures as gates: both denominators, who is caught, and where answers differ."""

from __future__ import annotations

import math

import pytest

from analysis.gate_trials import row, study
from steelyard.analysis.gates import gate_rates
from steelyard.analysis.gates_answers import answer_differences
from steelyard.analysis.gates_caught import gate_catches
from steelyard.errors import InputError, UnknownNameError

TASKS = ("front", "back", "cellar")
# arm -> task -> gate -> value; None is "not evaluated", a gate that is absent does not apply
VALUES = {
    "fine": {
        "front": {"lock": 1, "bell": 1},
        "back": {"lock": 1, "bell": 0},
        "cellar": {"lock": 1},
    },
    "loud": {
        "front": {"lock": 1, "bell": 0},
        "back": {"lock": 1, "bell": 0},
        "cellar": {"lock": 1},
    },
    "open": {
        "front": {"lock": 0, "bell": None},
        "back": {"lock": 0, "bell": None},
        "cellar": {"lock": 0},
    },
    "sly": {"front": {"lock": 1, "bell": 1}, "back": {"lock": 1, "bell": 0}, "cellar": {"lock": 1}},
}
ANSWERS = {
    "fine": {"says": "shut", "count": 1},
    "loud": {"says": "shut", "count": 1.0},
    "open": None,
    "sly": {"says": "Shut", "count": 1},
}


@pytest.fixture
def tables():
    return doors()


def doors(values=VALUES, answers=None, **changed):
    """Return the study, with other values of some measures, or the answers of each arm by task."""
    trials = {
        arm: {task: [gates and {"passed": 1, **gates, **changed}] for task, gates in tasks.items()}
        for arm, tasks in values.items()
    }
    given = {arm: dict.fromkeys(TASKS, answer) for arm, answer in ANSWERS.items()}
    return study(trials, answers=given if answers is None else answers)


def test_a_gate_has_two_rates(tables):
    rates = gate_rates(tables)
    assert len(rates) == 2 * 4
    reached = row(rates, gate="lock", arm="open")
    assert (reached["passed"], reached["evaluated"], reached["applicable"]) == (0, 3, 3)
    unreached = row(rates, gate="bell", arm="open")
    assert (unreached["evaluated"], unreached["applicable"]) == (0, 2)
    assert math.isnan(unreached["conditional"])
    assert (unreached["conditional_low"], unreached["conditional_high"]) == (0.0, 1.0)
    assert unreached["unconditional"] == 0.0
    # Wilson at 95% for 3 of 3: centre and half-width from the score equation
    fine = row(rates, gate="lock", arm="fine")
    assert fine["conditional_low"] == pytest.approx(0.43850, abs=5e-6)
    assert fine["conditional_high"] == 1.0


def test_a_gate_does_not_apply_where_nobody_has_a_value(tables):
    assert set(gate_rates(tables, ["bell"])["applicable"]) == {2}


def test_an_empty_row_can_say_that_a_gate_applies():
    """Tables of hand-run trials: no row is "does not apply", an empty one "not reached"."""
    tables = study(
        {
            "early": {"hall": [{"lock": 1}], "shed": [{"lock": None}], "yard": [None]},
            "late": {"hall": [{"lock": 1, "bell": 0}], "shed": [None], "yard": [None]},
            "never": {"yard": [None]},
        }
    )
    rates = gate_rates(tables, ["lock", "bell"], rows_apply=True)
    counts = ["passed", "evaluated", "applicable", "missing"]
    found = {
        (one["gate"], one["arm"]): [one[name] for name in counts]
        for one in rates.to_dict("records")
    }
    assert found == {
        ("lock", "early"): [1, 1, 2, 1],  # the shed's was not reached; of the yard nobody knows
        ("lock", "late"): [1, 1, 1, 2],  # the shed has a lock, says early
        ("bell", "late"): [0, 1, 1, 1],  # early knew no bell, so that nothing counts against it
    }
    assert row(gate_rates(tables, ["lock"]), arm="early")["applicable"] == 1


def test_a_missing_trial_is_not_applicable():
    tables = doors(VALUES | {"fine": VALUES["fine"] | {"front": None}})
    assert row(gate_rates(tables), gate="lock", arm="fine")["applicable"] == 2


def test_a_gate_catches_what_the_reference_passes(tables):
    by_arm = gate_catches(tables, "fine", by="arm")
    assert list(by_arm["arm"]) == ["loud", "open", "sly"]
    assert row(by_arm, arm="loud")["caught"] == 1  # the back bell fails for everybody
    assert row(by_arm, arm="open")["gates"] == "lock"
    assert (row(by_arm, arm="sly")["n_gates"], row(by_arm, arm="sly")["gates"]) == (0, "none")
    by_gate = gate_catches(tables, "fine")
    bell = row(by_gate, gate="bell")
    assert (bell["false_alarms"], bell["caught"], bell["only"]) == (1, 1, "loud")
    assert row(by_gate, gate="lock")["arms"] == "open"


def test_answers_differ_in_value_and_type(tables):
    differences = answer_differences(tables, "fine", member="answer")
    assert len(differences) == 3 * 2
    assert row(differences, arm="loud", field="count")["differing"] == 3
    assert row(differences, arm="loud", field="says")["differing"] == 0
    silent = row(differences, arm="open", field="says")
    assert (silent["pairs"], silent["unanswered"]) == (0, 3)
    assert math.isnan(silent["share"])
    shown = answer_differences(tables, "fine", member="answer", only_differing=True)
    assert set(zip(shown["arm"], shown["field"], strict=True)) == {
        ("loud", "count"),
        ("sly", "says"),
    }


def test_a_field_that_neither_answer_has_is_no_pair():
    answers = {"fine": {"front": {"says": "shut"}, "back": {"count": 1}, "cellar": {"count": 1}}}
    answers["sly"] = {"front": {"says": "shut"}, "back": {"count": 2}, "cellar": {"says": "?"}}
    differences = answer_differences(doors(answers=answers), "fine", member="answer")
    count = row(differences, arm="sly", field="count")
    assert (count["pairs"], count["differing"], count["unanswered"]) == (2, 2, 0)
    says = row(differences, arm="sly", field="says")
    assert (says["pairs"], says["differing"]) == (2, 1)
    silent = row(differences, arm="open", field="says")
    assert (silent["pairs"], silent["unanswered"]) == (0, 1)


def test_what_is_no_gate_or_no_arm_is_refused(tables):
    with pytest.raises(InputError, match="a gate is 0 or 1"):
        gate_rates(doors(lock=0.5))
    with pytest.raises(UnknownNameError, match="measure"):
        gate_rates(tables, ["hinge"])
    with pytest.raises(UnknownNameError, match="arm"):
        gate_catches(tables, "nobody")
    with pytest.raises(UnknownNameError, match="arm"):
        answer_differences(tables, "nobody", member="answer")
    with pytest.raises(InputError, match="no terminal state has a member 'answr'"):
        answer_differences(tables, "fine", member="answr", only_differing=True)
    with pytest.raises(InputError, match="accepted: gate, arm"):
        gate_catches(tables, "fine", by="task")
