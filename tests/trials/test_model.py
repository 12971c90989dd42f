"""Steps and trials: what they hold, and what they refuse."""

from __future__ import annotations

import pytest

from steelyard.errors import InputError
from steelyard.trials import paths
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Step, Trial, UnreadableArguments

KEY = TrialKey("react", "INV-7002", "baseline", "0", 0)


def trial(*steps: Step, **options) -> Trial:
    return Trial(KEY, steps=steps, **options)


def test_a_step_says_what_was_not_recorded():
    step = Step("tool_call", "pay")
    assert step.arguments is None
    assert not step.failed
    assert Step("tool_call", "pay", {}).arguments == {}


def test_an_empty_error_text_is_a_failure():
    assert Step("tool_call", "pay", error="").failed


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kind": "tool_call", "name": ""}, "has no name"),
        ({"kind": "decision", "name": "  "}, "has no name"),
        ({"kind": "tool_call", "name": None}, "step name is None"),
        ({"kind": 3, "name": "a"}, "step kind is 3"),
        ({"kind": "", "name": "a"}, "step kind is empty"),
        ({"kind": "tool_call", "name": "a\ud83d"}, "lone surrogate"),
        ({"kind": "tool_call", "name": "a", "error": 3}, "error is 3"),
        ({"kind": "tool_call", "name": "a", "arguments": [1]}, "arguments are a list"),
        ({"kind": "tool_call", "name": "a", "arguments": "{}"}, "arguments are a str"),
        ({"kind": "tool_call", "name": "a", "arguments": {1: 2}}, "argument name 1 is not text"),
    ],
)
def test_a_step_that_cannot_be_read_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        Step(**arguments)


def test_a_message_needs_no_name():
    assert Step("message", "").name == ""


def test_unknown_kinds_are_carried_and_inert():
    t = trial(Step("custom_kind", "weird"), Step("tool_call", "a"))
    assert len(t.steps) == 2
    assert t.full_path == (("tool_call", "a"),)
    assert not t.called("weird")


def test_unreadable_arguments_are_kept():
    arguments = UnreadableArguments("[1", "broken")
    assert Step("tool_call", "a", arguments).arguments is arguments


def test_a_trial_refuses_what_is_not_a_step_or_a_status():
    with pytest.raises(InputError, match="step 0 is a dict"):
        trial({"kind": "tool_call"})
    with pytest.raises(InputError, match="status is 'done'"):
        trial(status="done")


def test_steps_of_any_sequence_become_a_tuple():
    assert trial(*[Step("tool_call", "a")]).steps == (Step("tool_call", "a"),)
    assert Trial(KEY, steps=[Step("tool_call", "a")]).steps == (Step("tool_call", "a"),)


def test_the_label_is_the_sources_own_id_where_there_is_one():
    assert trial().label == "react/INV-7002/baseline/0/0"
    assert trial(source_id="trace-1").label == "trace-1"


RETRY = trial(
    Step("decision", "plan"),
    Step("tool_call", "a", error="503"),
    Step("message", ""),
    Step("tool_call", "a"),
    Step("tool_call", "b"),
    Step("final", "respond"),
)


def test_paths_of_a_retry():
    assert RETRY.full_path == (
        ("decision", "plan"),
        ("tool_call", "a"),
        ("tool_call", "a"),
        ("tool_call", "b"),
    )
    assert RETRY.effect_path == RETRY.full_path[1:]
    kept = paths.effect_steps(RETRY.steps, "exclude")
    assert paths.path_of(kept) == (("tool_call", "a"), ("tool_call", "b"))


def test_calls_are_successful_control_steps():
    assert len(RETRY.calls("a")) == 1
    assert len(RETRY.calls("a", include_failed=True)) == 2
    assert RETRY.called("plan")
    assert not RETRY.called("respond")
    assert RETRY.first_index_of("a") == 2
    assert RETRY.first_index_of("a", include_failed=True) == 1
    assert RETRY.first_index_of("c") is None


def test_path_text_and_hash():
    assert paths.path_text(()) == "(no control steps)"
    # sha256 of the text, first 12 digits; vectors/plumbline/trajectory.json traj-00 and traj-02
    assert paths.path_hash(()) == "fa6e6856038c"
    two = (("tool_call", "a"), ("tool_call", "b"))
    assert paths.path_text(two) == "tool_call:a -> tool_call:b"
    assert paths.path_hash(two) == "e0430f36e785"


def test_an_unknown_treatment_of_failed_calls_is_refused():
    with pytest.raises(InputError, match="failed_calls is 'drop'"):
        paths.control_steps(RETRY.steps, "drop")
