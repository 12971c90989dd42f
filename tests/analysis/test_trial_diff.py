"""Two trials side by side."""

from __future__ import annotations

import pytest

from steelyard.analysis.trial_diff import align_trials
from steelyard.errors import InputError
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Step, Trial


def trial(*steps: Step, arm: str = "a") -> Trial:
    return Trial(key=TrialKey(arm, "t", "baseline", "0", 0), steps=steps)


def call(name: str, arguments=None, **more) -> Step:
    return Step("tool_call", name, arguments, **more)


def test_operations_and_positions():
    reference = trial(call("look"), call("check"), call("pay"))
    frame = align_trials(reference, trial(call("check"), call("pay"), call("log")))
    assert frame["operation"].tolist() == ["skipped", "match", "match", "extra"]
    assert frame["reference_index"].fillna(-1).tolist() == [0, 1, 2, -1]
    assert frame["candidate_index"].fillna(-1).tolist() == [-1, 0, 1, 2]
    assert frame["reference_name"].fillna("").tolist() == ["look", "check", "pay", ""]


def test_arguments_of_a_match_are_compared():
    expected, got = call("pay", {"amount": 49, "to": "x"}), call("pay", {"amount": 490, "by": "y"})
    frame = align_trials(trial(expected), trial(got))
    assert frame["differences"].tolist() == [
        "amount: 49, 490; by: (absent), 'y'; to: 'x', (absent)"
    ]


def test_declared_comparison_holds():
    schemas = {"pay": ArgumentSchema({"memo": FieldPolicy("ignore")})}
    sides = trial(call("pay", {"memo": "a"})), trial(call("pay", {"memo": "b"}))
    assert align_trials(*sides, schemas)["differences"].tolist() == [""]
    assert align_trials(*sides)["differences"].tolist() == ["memo: 'a', 'b'"]


def test_unknown_arguments_are_not_empty_ones():
    known, unknown = trial(call("pay", {})), trial(call("pay"))
    assert align_trials(unknown, unknown)["differences"].tolist() == ["arguments not recorded"]
    assert align_trials(known, known)["differences"].tolist() == [""]
    assert align_trials(known, unknown)["differences"].tolist() != [""]


def test_messages_are_no_part_of_a_path():
    frame = align_trials(trial(Step("message", "", None), call("a")), trial(call("a")))
    assert frame["operation"].tolist() == ["match"]


def test_failed_calls_stand_in_the_script_with_their_error():
    frame = align_trials(trial(call("a", error="")), trial(call("a")))
    assert frame["operation"].tolist() == ["match"]
    assert frame["reference_error"].tolist() == [""]
    assert frame["candidate_error"].isna().all()


def test_two_empty_trials():
    frame = align_trials(trial(), trial())
    assert frame.empty
    assert "differences" in frame


def test_trials_too_long_are_named(monkeypatch):
    def refuse(*_):
        raise InputError("too long")

    monkeypatch.setattr("steelyard.analysis.trial_diff.align", refuse)
    with pytest.raises(InputError, match=r"a/t/baseline/0/0 \(1 steps\).*too long"):
        align_trials(trial(call("a")), trial(call("b")))
