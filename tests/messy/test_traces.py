"""Traces and arguments as they really arrive.

Public bug reports of this kind: openinference#3143 and phoenix#5402 (arguments encoded twice),
opentelemetry-python-genai#588, semantic-conventions#2772 and phoenix#5874 (arguments absent, or
"{}"), inspect_ai#2316 and #3802 (lone surrogates), inspect_ai#3136 and #1375 (one sample with
40,553 events), langfuse#10524 (10,000 spans).
"""

from __future__ import annotations

import json
import time
import tracemalloc

import pytest

from analysis.trajectory_trials import trial
from steelyard.analysis.conformance import conformance_of_trials
from steelyard.analysis.consistency import consistency_of_trials
from steelyard.analysis.equivalence import equivalence_of_trials
from steelyard.analysis.trajectories import read_trial, read_trials
from steelyard.errors import DataError, InputError, UnknownNameError
from steelyard.evaluators.invariants import (
    ArgumentEquals,
    CallAtMost,
    MustCall,
    Ordering,
    Policy,
)
from steelyard.store.build import open_database
from steelyard.trials.argument_schema import ArgumentSchema, FieldPolicy
from steelyard.trials.arguments import compare_arguments, read_arguments, storable_arguments
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Step, Trial, UnreadableArguments
from steelyard.trials.paths import path_hash
from steelyard.trials.tokens import Vocabulary, unknown_arguments

LONG = 50_000


def call(arguments, name="weather") -> Step:
    return Step("tool_call", name, arguments)


def codes(*recorded):
    steps = [call(read_arguments(value)) for value in recorded]
    return Vocabulary(steps, arguments=True).codes(steps).tolist()


class TestEncodedTwice:
    TWICE = r'"{\"city\": \"Paris\"}"'

    def test_one_token(self):
        assert codes(self.TWICE, '{"city": "Paris"}', '{ "city" : "Paris" }') == [0, 0, 0]

    def test_a_text_that_looks_like_json_inside_an_object_stays_a_text(self):
        assert len(set(codes(r'{"q": "{\"a\": 1}"}', '{"q": {"a": 1}}'))) == 2

    def test_also_through_the_tables(self, small_study):
        rows = [{"name": "weather", "arguments": json.loads(self.TWICE)}]
        (read,) = read_trials(small_study([{"steps": rows}]))
        assert read.steps[0].arguments == {"city": "Paris"}


class TestAbsentArguments:
    STEPS = tuple(call(read_arguments(value)) for value in (None, "null", "{}"))

    def test_unknown_unknown_empty(self):
        assert [step.arguments for step in self.STEPS] == [None, None, {}]
        assert codes(None, "null", "{}") == [0, 0, 1]

    def test_unknown_never_equals_empty(self):
        assert compare_arguments(None, {})[0].policy == "unknown"
        assert compare_arguments({}, None)[0].policy == "unknown"

    def test_the_share_of_unknown_is_at_hand(self):
        assert unknown_arguments(self.STEPS) == (2, 3)

    def test_pairs_with_unknown_arguments_are_counted_apart(self):
        trials = [
            trial("a", arm="old"),
            trial("a?", arm="new"),
            trial("a", arm="new", repeat=1),
        ]
        argument = equivalence_of_trials(trials, "old", "new").argument
        assert (argument.intended, argument.excluded, argument.counts) == (2, 1, (1, 1))

    def test_a_rule_about_them_is_not_assessed(self):
        policy = Policy([ArgumentEquals("pay", "amount", from_context="due")])
        result = conformance_of_trials([trial("pay?", task="T")], policy, {"T": {"due": 5}})
        assert (result.overall.total, result.overall.excluded) == (0, 1)


class TestArgumentsThatAreNone:
    @pytest.mark.parametrize(
        "recorded", ["[1, 2]", '{"a": 1', "3", "true", '"hello"', '{"a": 1, "a": 2}', '{"a": NaN}']
    )
    def test_kept_marked_and_never_dropped(self, small_study, recorded):
        read = read_arguments(recorded)
        assert isinstance(read, UnreadableArguments)
        rows = [{"name": "pay", "arguments": storable_arguments(read)}, {"name": "log"}]
        (stored,) = read_trials(small_study([{"steps": rows}]))
        assert [step.name for step in stored.steps] == ["pay", "log"]
        assert isinstance(stored.steps[0].arguments, UnreadableArguments)
        assert Vocabulary([call(read), call(stored.steps[0].arguments)], arguments=True).tokens
        assert codes(recorded, recorded, "{}", None)[0] not in codes(recorded, "{}", None)[1:]

    def test_null_is_unknown(self):
        assert read_arguments("null") is None

    def test_broken_json_in_a_file_names_its_cell(self, small_project):
        columns = """
[files."trials.csv"]
[files."trials.csv".key]
arm = "arm"
task = "task"
perturbation = "perturbation"
variant = "variant"
repeat = "repeat"
[[files."trials.csv".into]]
table = "trials"
[[files."trials.csv".into]]
table = "steps"
columns = { step_index = "step_index", kind = "kind", name = "name", arguments = "arguments" }
"""
        rows = (
            "arm,task,perturbation,variant,repeat,step_index,kind,name,arguments\n"
            'a,t1,baseline,0,0,0,tool_call,pay,"{""amount"": 5"\n'
        )
        with pytest.raises(DataError, match=r"trials\.csv:2"):
            open_database(small_project(trials=rows, columns=columns))


class TestTexts:
    EMOJI, PAIR = '{"x": "😀"}', r'{"x": "\ud83d\ude00"}'
    LONE, NUL = r'{"x": "\ud83d"}', r'{"x": "\u0000"}'
    COMBINED, COMPOSED = '{"x": "e\u0301"}', '{"x": "\u00e9"}'

    def test_an_escaped_pair_is_its_emoji_and_nothing_else_is_equal(self):
        found = codes(self.EMOJI, self.PAIR, self.LONE, self.NUL, self.COMBINED, self.COMPOSED)
        assert found[0] == found[1]
        assert len(set(found)) == 5

    def test_a_lone_surrogate_is_replaced(self):
        assert read_arguments(self.LONE) == {"x": "\ufffd"}
        with pytest.raises(InputError, match="lone surrogate"):
            Step("tool_call", "pay\ud83d")

    def test_all_of_it_survives_the_tables(self, small_study):
        recorded = [self.EMOJI, self.LONE, self.NUL, self.COMBINED, self.COMPOSED]
        rows = [
            {"name": f"zahlen 💶 e\u0301 {n}", "arguments": read_arguments(text)}
            for n, text in enumerate(recorded)
        ]
        (read,) = read_trials(small_study([{"task": "😀/é", "steps": rows}]))
        assert [step.arguments for step in read.steps] == [row["arguments"] for row in rows]
        assert [step.name for step in read.steps] == [row["name"] for row in rows]
        assert len(path_hash(read.full_path)) == 12

    def test_combining_characters_are_equal_where_declared_as_text(self):
        left, right = read_arguments(self.COMBINED), read_arguments(self.COMPOSED)
        assert compare_arguments(left, right)
        assert not compare_arguments(left, right, ArgumentSchema({"x": FieldPolicy("text")}))


class TestStepsThatAreNone:
    def test_a_control_step_without_a_name(self):
        with pytest.raises(InputError, match="a tool_call step has no name"):
            call({}, name="")

    def test_unknown_kinds_are_inert(self):
        steps = (Step("retriever_span", "lookup"), call({}), Step("💭", "thinks"))
        odd = Trial(TrialKey("a", "t", "baseline", "0", 0), steps=steps)
        assert odd.full_path == (("tool_call", "weather"),)
        policy = Policy([MustCall("lookup")])
        assert policy.violations(odd, {})[0].rule == "must_call:lookup"

    def test_an_empty_trace_did_nothing(self):
        result = consistency_of_trials([trial(""), trial("", repeat=1)])
        assert result.references == {"T": "(no control steps)"}
        assert result.structural.counts == (2, 2)


class TestTrialsThatAreNotThere:
    def test_an_unknown_trial_gets_the_nearest_names(self, small_study):
        tables = small_study([{"steps": [{"name": "x"}]}])
        assert read_trial(tables, "a/t/baseline/0/0").full_path == (("tool_call", "x"),)
        for wrong in ("a/t/baseline/0/1", "a/t/basline/0/0", "no trial at all", ""):
            with pytest.raises(UnknownNameError, match="a/t/baseline/0/0"):
                read_trial(tables, wrong)

    def test_trials_of_two_studies_are_not_compared(self, small_study):
        one = small_study([{"arm": "old", "steps": [{"name": "x"}]}], study="one")
        two = small_study([{"arm": "new", "steps": [{"name": "x"}]}], study="two", beside=one)
        both = [read_trial(one, "old/t/baseline/0/0"), read_trial(two, "new/t/baseline/0/0")]
        with pytest.raises(InputError, match="2 studies"):
            equivalence_of_trials(both, "old", "new")


@pytest.fixture(scope="module")
def long():
    names = ("fetch", "check", "pay", "log")
    made = tuple(call({"n": n}, name=names[n % 4]) for n in range(LONG))
    return {
        "old": Trial(TrialKey("old", "t", "baseline", "0", 0), steps=made),
        "same": Trial(TrialKey("new", "t", "baseline", "0", 0), steps=made),
        "other": Trial(TrialKey("new", "t", "baseline", "0", 1), steps=made[::-1]),
    }


class TestLongTraces:
    def test_paths_tokens_rules_and_comparison_are_linear(self, long):
        started = time.perf_counter()
        vocabulary = Vocabulary(long["old"].steps, arguments=True)
        assert len(vocabulary.codes(long["old"].steps)) == len(vocabulary) == LONG
        policy = Policy(
            [Ordering("check", "pay", same="n"), Ordering("fetch", "pay"), CallAtMost("log", LONG)]
        )
        assert [v.step_index for v in policy.violations(long["old"], {})] == [2]
        result = equivalence_of_trials([long["old"], long["same"]], "old", "new")
        assert (result.path.counts, result.argument.counts) == ((1, 1), (1, 1))
        # about 1 s on an idle machine; quadratic work would take hours
        assert time.perf_counter() - started < 60

    def test_memory_is_that_of_the_steps(self, long):
        tracemalloc.start()
        equivalence_of_trials([long["old"], long["same"]], "old", "new")
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 100e6

    def test_two_that_differ_are_refused_with_their_names(self, long):
        with pytest.raises(InputError, match=r"trial new/t/baseline/0/1: its path of 50,000 steps"):
            equivalence_of_trials([long["old"], long["other"]], "old", "new")

    def test_deeply_nested_arguments(self):
        text = '{"a":' * 90 + "1" + "}" * 90
        assert codes(text, text) == [0, 0]
        deeper = read_arguments('{"a":' * 5000 + "1" + "}" * 5000)
        assert "nested deeper" in deeper.reason
        nested: dict = {}
        for _ in range(300):
            nested = {"a": nested}
        with pytest.raises(InputError, match="nested deeper"):
            compare_arguments({"x": nested}, {"x": nested})
