"""Trials read from the tables, and the choice of those that are scored."""

from __future__ import annotations

import pytest

from analysis.trajectory_trials import trial
from steelyard.analysis.trajectories import (
    check_one_study,
    most_frequent,
    population,
    read_trials,
    trial_path,
)
from steelyard.errors import DataError, InputError, UnknownNameError
from steelyard.trials.model import Step, UnreadableArguments

STEPS = [
    {"name": "check", "arguments": {"id": "007"}, "output": {"ok": True}},
    {"name": "pay", "arguments": None, "error": "503"},
    {"name": "pay", "arguments": {}},
    {"kind": "message", "name": "say"},
]


def test_steps_states_and_errors_are_read(small_study):
    tables = small_study([{"steps": STEPS, "state": {"paid": True}, "status": "failed"}])
    (read,) = read_trials(tables)
    assert read.steps[0] == Step("tool_call", "check", {"id": "007"}, {"ok": True})
    assert [s.arguments for s in read.steps[1:3]] == [None, {}]
    assert read.steps[1].failed
    assert read.state == {"paid": True}
    assert (read.status, read.study, read.label) == ("failed", "small", "a/t/baseline/0/0")
    assert trial_path(read, "effect", "exclude") == (("tool_call", "check"), ("tool_call", "pay"))


def test_arguments_that_are_no_object_are_kept_and_marked(small_study):
    rows = [
        {"name": "a", "arguments": [1, 2]},
        {"name": "b", "arguments": '{"city": "Paris"}'},
        {"name": "c", "arguments": 3},
    ]
    (read,) = read_trials(small_study([{"steps": rows}]))
    assert isinstance(read.steps[0].arguments, UnreadableArguments)
    assert read.steps[1].arguments == {"city": "Paris"}  # encoded twice
    assert isinstance(read.steps[2].arguments, UnreadableArguments)


def test_trials_come_in_the_order_of_the_design(small_study):
    rows = [
        {"arm": arm, "task": task, "perturbation": p, "steps": [{"name": "x"}]}
        for arm in ("z", "b")
        for task in ("t2", "t1")
        for p in ("zero", "baseline")
    ]
    tables = small_study(rows, design={"perturbations": ["baseline", "zero"], "arms": ["z", "b"]})
    read = [(t.key.arm, t.key.task, t.key.perturbation) for t in read_trials(tables)]
    assert read[:4] == [
        ("z", "t1", "baseline"),
        ("z", "t1", "zero"),
        ("z", "t2", "baseline"),
        ("z", "t2", "zero"),
    ]
    assert {t.key.task for t in read_trials(tables, arm="b", task=["t1"])} == {"t1"}


def test_a_trial_without_steps_in_a_study_with_steps_did_nothing(small_study):
    read = read_trials(small_study([{"steps": STEPS}, {"task": "u"}]))
    assert [len(t.steps) for t in read] == [4, 0]
    assert read[1].state is None


def test_a_study_without_steps_is_refused(small_study):
    with pytest.raises(InputError, match="study small holds no steps"):
        read_trials(small_study([{"ok": 1}]))


def test_unknown_names_are_refused(small_study):
    with pytest.raises(UnknownNameError, match="unknown task 'u'"):
        read_trials(small_study([{"steps": STEPS}]), task="u")


def test_a_control_step_without_a_name_names_its_place(small_study):
    tables = small_study([{"steps": [{"name": "ok"}, {"name": " "}]}])
    with pytest.raises(DataError, match=r"small, trial a/t/baseline/0/0, step 1: .* has no name"):
        read_trials(tables)


def test_a_state_that_is_no_object_names_its_trial(small_study):
    tables = small_study([{"steps": STEPS, "state": [1]}])
    with pytest.raises(DataError, match=r"trial a/t/baseline/0/0: the terminal state is \[1\]"):
        read_trials(tables)


def test_populations():
    trials = [
        trial("a"),
        trial("b", repeat=1, status="failed"),
        trial("", repeat=2, status="missing"),
    ]
    assert (population(trials).intended, population(trials).excluded) == (3, 2)
    assert len(population(trials, "recorded").scored) == 2
    with pytest.raises(InputError, match="missing policy is 'bounds'"):
        population(trials, "bounds")


def test_trials_of_two_studies_or_given_twice():
    check_one_study([trial("a", study="s"), trial("a", study="s", repeat=1)])
    with pytest.raises(InputError, match=r"2 studies \(a/T/baseline/0/0 of \(no study\)"):
        check_one_study([trial("a"), trial("a", study="s")])
    with pytest.raises(InputError, match="a/T/baseline/0/0 was given twice"):
        check_one_study([trial("a"), trial("b")])


def test_the_most_frequent_value():
    trials = [trial("b", repeat=1), trial("a"), trial("b", repeat=2), trial("a", repeat=3)]
    chosen = most_frequent(trials, lambda t: t.full_path, ties="key")
    assert chosen.key.repeat == 0
    assert most_frequent(trials, lambda t: t.full_path, ties="order") is trials[0]
