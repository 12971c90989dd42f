"""Where a trial left its reference, one by one and in groups."""

from __future__ import annotations

import pytest

from analysis.trajectory_trials import steps, trial
from steelyard.analysis.divergence import (
    GROUP_COLUMNS,
    Divergence,
    Found,
    argument_divergences,
    by_perturbation,
    find_group,
    group_divergences,
    path_divergences,
    state_text,
    states_equal,
)
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy
from steelyard.trials.model import Step, UnreadableArguments


def path(text: str):
    return trial(text).effect_path


def test_paths_are_aligned_step_by_step():
    found = path_divergences(path("fetch check pay"), path("log fetch pay pay"))
    assert found == (
        Divergence("extra", -1, "(nothing)", "tool_call:log", "medium"),
        Divergence("substitute", 1, "tool_call:check", "tool_call:pay", "high"),
    )
    assert path_divergences(path("a b c"), path("a c")) == (
        Divergence("skipped", 1, "tool_call:b", "(not called)", "high"),
    )
    assert path_divergences(path("a b"), path("a x b")) == (
        Divergence("extra", 0, "(nothing)", "tool_call:x", "medium"),
    )


def test_equal_and_empty_paths():
    assert path_divergences(path("a b"), path("a b")) == ()
    assert path_divergences((), ()) == ()
    assert [d.kind for d in path_divergences((), path("a a"))] == ["extra", "extra"]
    assert [d.kind for d in path_divergences(path("a a"), ())] == ["skipped", "skipped"]


class TestArguments:
    REFERENCE = tuple(s.arguments for s in steps("pay log", pay={"amount": 5, "to": "V"}))

    def compare(self, candidate, schemas=None, **options):
        return argument_divergences(self.REFERENCE, candidate, schemas or {}, **options)

    def test_each_differing_argument_is_localised(self):
        compared = self.compare(steps("pay log", pay={"amount": 50, "to": "V"}, log={"x": 1}))
        assert compared.agree is False
        assert compared.divergences == (
            Divergence("arg", 0, "pay.amount=5", "50", "high"),
            Divergence("arg", 1, "log.x=None", "1", "high"),
        )

    def test_differences_of_low_severity_are_none(self):
        schemas = {"log": ArgumentSchema({"x": FieldPolicy("text", severity="low")})}
        compared = self.compare(
            steps("pay log", pay={"amount": 5, "to": "V"}, log={"x": "free text"}), schemas
        )
        assert compared.agree is True
        assert compared.divergences == ()

    def test_unknown_arguments_neither_agree_nor_differ(self):
        compared = self.compare(steps("pay log?", pay={"amount": 5, "to": "V"}))
        assert compared.agree is None
        assert compared.divergences == ()
        assert self.compare(steps("pay log?", pay={"amount": 6, "to": "V"})).agree is False

    def test_values_print_alike_whatever_their_order(self):
        texts = set()
        for value in ({"b": [1], "a": "é"}, {"a": "é", "b": [1]}):
            compared = self.compare(steps("pay log", pay={"amount": value, "to": "V"}))
            texts |= {d.got for d in compared.divergences}
        assert texts == {'{"a": "é", "b": [1]}'}


def test_states_are_equal_when_both_were_read_and_hold_the_same():
    assert states_equal({"a": 1, "b": 2}, {"b": 2.0, "a": 1})
    assert not states_equal({"a": True}, {"a": 1})
    assert states_equal({"a": True}, {"a": 1}, "plumbline")
    assert not states_equal(None, None)
    assert not states_equal({}, None)
    assert state_text({"b": 1, "a": True}) == '{"a": true, "b": 1}'
    assert state_text({"b": 1, "a": True}, "plumbline") == "{'b': 1, 'a': True}"
    assert state_text(None) == state_text(None, "plumbline") == "None"


def test_plumbline_prints_values_as_python_does():
    expected, got = {"tags": ["a", True], "": None}, {"tags": {"b": 1}, "": "x"}
    taken = steps("pay", pay=got)
    published = argument_divergences([expected], taken, {}, "plumbline").divergences
    assert [(d.expected, d.got) for d in published] == [
        ("pay.=None", "'x'"),
        ("pay.tags=['a', True]", "{'b': 1}"),
    ]
    ours = argument_divergences([expected], taken, {}).divergences
    assert ours[1].expected == 'pay.tags=["a", true]'


class TestGroups:
    SKIP = Divergence("skipped", 1, "tool_call:check", "(not called)", "high")
    EXTRA = Divergence("extra", -1, "(nothing)", "tool_call:log", "medium")

    def found(self):
        return [
            Found(trial("", task="B", perturbation="fault"), self.EXTRA),
            Found(trial("", task="B", perturbation="fault"), self.SKIP),
            Found(trial("", task="A"), self.SKIP),
            Found(trial("", task="A"), self.SKIP),
        ]

    def test_like_divergences_are_counted(self):
        groups = group_divergences(self.found(), ["baseline", "fault"])
        assert list(groups["kind"]) == ["skipped", "extra"]
        row = groups.iloc[0]
        assert row["count"] == 3
        assert row["perturbations"] == {"baseline": 2, "fault": 1}
        assert list(row["perturbations"]) == ["baseline", "fault"]
        assert row["tasks"] == ("A", "B")
        assert row["trials"] == ("a/B/fault/0/0", "a/A/baseline/0/0")

    def test_the_order_of_equals_does_not_depend_on_the_order_of_trials(self):
        other = Divergence("skipped", 0, "tool_call:fetch", "(not called)", "high")
        two = [Found(trial(""), self.SKIP), Found(trial(""), other)]
        assert group_divergences(two, []).equals(group_divergences(two[::-1], []))
        as_found = group_divergences(two, [], ties="order")
        assert list(as_found["step_index"]) == [1, 0]

    def test_no_divergences_give_an_empty_frame(self):
        assert tuple(group_divergences([], []).columns) == GROUP_COLUMNS
        assert by_perturbation(group_divergences([], [])).empty

    def test_the_long_form(self):
        long = by_perturbation(group_divergences(self.found(), ["baseline", "fault"]))
        assert list(long["perturbation"]) == ["baseline", "fault", "fault"]
        assert list(long["count"]) == [2, 1, 1]

    def test_a_published_group_is_found_by_value(self):
        states = ('{"amount": 0, "paid": false}', '{"amount": 5, "paid": true}')
        outcome = Divergence("outcome", -1, *states, "critical")
        groups = group_divergences([Found(trial(""), outcome)], [])
        printed = ("{'paid': False, 'amount': 0}", "{'paid': True, 'amount': 5.0}")
        assert find_group(groups, "outcome", -1, *printed)["count"] == 1
        assert find_group(groups, "outcome", -1, printed[0], "None") is None
        assert find_group(groups, "outcome", -1, printed[0], "not a state") is None
        assert find_group(groups, "skipped", 1, "tool_call:check", "(not called)") is None


def test_unreadable_arguments_are_one_difference():
    candidate = steps("pay log")
    broken = Step("tool_call", "pay", UnreadableArguments("[5]", "a list"))
    compared = argument_divergences([{}, {}], [broken, candidate[1]], {})
    assert [d.expected for d in compared.divergences] == ["pay={}"]


@pytest.mark.parametrize("length", [0, 1, 3])
def test_as_many_steps_as_the_path_has(length):
    with pytest.raises(ValueError, match="argument 2"):
        argument_divergences([{}, {}], steps("pay " * length), {})
