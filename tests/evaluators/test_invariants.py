"""Rules over trajectories: what breaks them, where, and what cannot be said."""

from __future__ import annotations

import math

import pytest

from steelyard.errors import InputError, UnknownNameError
from steelyard.evaluators.invariants import (
    PLUMBLINE,
    ArgumentEquals,
    ArgumentSatisfies,
    CallAtMost,
    Case,
    ContextFlag,
    MustCall,
    MustNotCall,
    Ordering,
    Policy,
    rules_from_data,
)
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Step, Trial, UnreadableArguments

KEY = TrialKey("react", "INV-1", "baseline", "0", 0)


def call(name: str, arguments=None, *, failed=False, kind="tool_call") -> Step:
    return Step(kind, name, arguments, error="503" if failed else None)


def case(*steps: Step, context=None, **options) -> Case:
    return Case(Trial(KEY, steps=steps), context or {}, **options)


def broken(rule, *steps: Step, context=None, **options):
    return rule.check(case(*steps, context=context, **options))


class TestMustCall:
    def test_a_successful_call_upholds_it(self):
        assert broken(MustCall("check"), call("check")) is None

    def test_a_failed_call_never_counts(self):
        violation = broken(MustCall("check"), call("check", failed=True))
        assert (violation.rule, violation.severity) == ("must_call:check", "critical")
        assert violation.step_index is None
        assert violation.step_name == "check"
        assert violation.detail == "check was never called successfully (1 failed)"
        retried = [call("check", failed=True), call("check")]
        assert broken(MustCall("check"), *retried) is None

    def test_a_decision_is_no_call(self):
        decision = call("check", kind="decision")
        assert broken(MustCall("check"), decision) is not None
        assert broken(MustCall("check"), decision, reading=PLUMBLINE) is None

    def test_a_message_is_no_call(self):
        assert broken(MustCall("check"), call("check", kind="message"), reading=PLUMBLINE)


class TestMustNotCall:
    def test_the_first_successful_call_is_named(self):
        steps = [
            Step("message", ""),
            call("pay", failed=True),
            call("log"),
            call("pay"),
            call("pay"),
        ]
        violation = broken(MustNotCall("pay"), *steps)
        assert (violation.step_index, violation.control_index) == (3, 2)
        assert broken(MustNotCall("pay"), *steps[:3]) is None

    def test_without_calls_it_holds(self):
        assert MustNotCall("pay").assessable(case())
        assert broken(MustNotCall("pay"), call("log")) is None


class TestOrdering:
    RULE = Ordering("check", "pay")

    def test_order(self):
        assert broken(self.RULE, call("check"), call("pay")) is None
        assert broken(self.RULE, call("check")) is None
        assert broken(self.RULE, call("pay"), call("check")).step_index == 0
        assert broken(self.RULE, call("check", failed=True), call("pay")).step_index == 1
        assert broken(self.RULE, call("pay", failed=True), call("check"), call("pay")) is None

    def test_a_tool_before_itself_is_no_rule(self):
        assert broken(Ordering("pay", "pay"), call("pay")) is None

    def test_an_argument_can_tie_the_two_together(self):
        tied = Ordering("check", "pay", same="invoice")
        assert tied.id == "ordering:check-before-pay (invoice)"
        check_a, pay_a = call("check", {"invoice": "A"}), call("pay", {"invoice": "A"})
        pay_b = call("pay", {"invoice": "B"})
        assert broken(tied, check_a, pay_a) is None
        violation = broken(tied, check_a, pay_a, pay_b)
        assert violation.step_index == 2
        assert "invoice='B'" in violation.detail
        assert broken(self.RULE, check_a, pay_b) is None  # a check on A licenses the payment of B
        assert broken(tied, call("check", {}), call("pay", {})).step_index == 1
        assert not tied.assessable(case(call("pay")))
        assert self.RULE.assessable(case(call("pay")))


class TestCallAtMost:
    def test_the_call_beyond_the_limit_is_named(self):
        steps = [call("pay"), call("pay", failed=True), call("log"), call("pay"), call("pay")]
        assert broken(CallAtMost("pay"), *steps).step_index == 3
        assert broken(CallAtMost("pay", 3), *steps) is None
        assert broken(CallAtMost("pay", 0), *steps).step_index == 0

    @pytest.mark.parametrize("limit", [-1, 1.5, True, None])
    def test_a_limit_is_a_count(self, limit):
        with pytest.raises(InputError, match="limit is"):
            CallAtMost("pay", limit)


class TestArgumentEquals:
    RULE = ArgumentEquals("pay", "amount", from_context="due")

    def check(self, amount, due, rule=None, **options):
        return broken(
            rule or self.RULE, call("pay", {"amount": amount}), context={"due": due}, **options
        )

    def test_numbers_by_value(self):
        assert self.check(49, 49.0) is None
        assert self.check(490.0, 49.0).detail == "pay.amount is 490.0; expected is 49.0"

    @pytest.mark.parametrize(
        ("amount", "due"), [(math.nan, 49.0), (49.0, math.nan), ("49", 49.0), (True, 1), (7, "007")]
    )
    def test_what_the_published_rule_lets_pass(self, amount, due):
        assert self.check(amount, due) is not None
        assert self.check(amount, due, reading=PLUMBLINE) is None

    def test_tolerance_and_policy(self):
        tolerant = ArgumentEquals("pay", "amount", from_context="due", tolerance=0.01)
        assert self.check(49.01, 49.0, tolerant) is None
        assert self.check(49.02, 49.0, tolerant) is not None
        text = ArgumentEquals("pay", "amount", from_context="due", policy="text")
        assert self.check(" Price ", "PRICE", text) is None
        with pytest.raises(InputError, match="no published counterpart"):
            self.check("a", "a", text, reading=PLUMBLINE)
        with pytest.raises(InputError, match="policy is 'fuzzy'"):
            self.check(1, 1, ArgumentEquals("pay", "amount", from_context="due", policy="fuzzy"))

    def test_an_integer_beyond_a_double(self):
        assert self.check(10**400, 10**400) is None
        with pytest.raises(InputError, match="range of a double"):
            self.check(10**400, 1.0, reading=PLUMBLINE)

    def test_it_applies_where_the_context_has_the_key(self):
        assert not self.RULE.applies({})
        assert self.RULE.applies({"due": None})
        gated = ArgumentEquals("pay", "amount", from_context="due", when=ContextFlag("strict"))
        assert not gated.applies({"due": 1})
        assert gated.applies({"due": 1, "strict": True})

    def test_a_call_without_the_argument(self):
        violation = broken(self.RULE, call("pay", {}), context={"due": 1})
        assert violation.detail == "pay was called without amount"
        assert self.RULE.id == "arg_equals:pay.amount"

    def test_unknown_arguments_cannot_be_assessed(self):
        unknown = case(call("pay"), context={"due": 1})
        assert not self.RULE.assessable(unknown)
        assert self.RULE.assessable(case(call("pay", failed=True), context={"due": 1}))
        assert self.RULE.assessable(case(call("pay"), context={"due": 1}, reading=PLUMBLINE))

    def test_unreadable_arguments_are_an_offence(self):
        unreadable = call("pay", UnreadableArguments("[49]", "a list, not an object"))
        assert self.RULE.assessable(case(unreadable))
        assert broken(self.RULE, unreadable, context={"due": 49}).step_index == 0


class TestArgumentSatisfies:
    RULE = ArgumentSatisfies("approve", lambda a, c: a["amount"] <= c["limit"], id="limit")

    def test_the_first_unacceptable_call_is_named(self):
        steps = [call("approve", {"amount": 1}), call("approve", {"amount": 3})]
        violation = broken(self.RULE, *steps, context={"limit": 2})
        assert (violation.rule, violation.severity, violation.step_index) == ("limit", "high", 1)
        assert broken(self.RULE, steps[0], context={"limit": 2}) is None
        assert ArgumentSatisfies("approve", bool).id == "arg_satisfies"

    def test_a_predicate_that_raises_has_not_accepted_the_call(self):
        violation = broken(self.RULE, call("approve", {}), context={"limit": 2})
        assert violation.detail == "limit could not be decided: KeyError: 'amount'"
        with pytest.raises(InputError, match="the predicate failed on step 0 of trial react/"):
            broken(self.RULE, call("approve", {}), context={"limit": 2}, reading=PLUMBLINE)

    def test_unknown_arguments_cannot_be_assessed(self):
        assert not self.RULE.assessable(case(call("approve")))


def test_a_flag_that_the_context_lacks_is_neither_true_nor_false():
    assert ContextFlag("pay")({"pay": 1})
    assert not ContextFlag("pay")({})
    assert ContextFlag("pay", value=False)({"pay": None})
    assert not ContextFlag("pay", value=False)({})


class TestPolicy:
    RULES = (
        MustCall("log", severity="medium"),
        MustCall("check"),
        MustNotCall("pay", when=ContextFlag("should_pay", value=False)),
        ArgumentEquals("pay", "amount", from_context="due", severity="high"),
    )

    def test_applicable_rules_are_assessed_in_order(self):
        policy = Policy(self.RULES)
        context = {"should_pay": True, "due": 5}
        assert [r.id for r in policy.applicable(context)] == [
            "must_call:log",
            "must_call:check",
            "arg_equals:pay.amount",
        ]
        assessed = policy.assess(Trial(KEY, steps=(call("pay"), call("check"))), context)
        assert [a.verdict for a in assessed] == ["violated", "upheld", "not assessable"]

    def test_violations_come_by_severity(self):
        trial = Trial(KEY, steps=(call("pay", {"amount": 6}),))
        violations = Policy(self.RULES).violations(trial, {"should_pay": False, "due": 5})
        assert [v.severity for v in violations] == ["critical", "critical", "high", "medium"]
        assert [v.rule for v in violations][:2] == ["must_call:check", "must_not_call:pay"]

    def test_two_rules_with_one_id_are_refused(self):
        rules = [MustNotCall("pay", when=ContextFlag("a")), MustNotCall("pay")]
        with pytest.raises(InputError, match=r"ids occur more than once \(must_not_call:pay"):
            Policy(rules)
        Policy(rules, compatibility="plumbline")
        Policy([MustNotCall("pay", id="never_pay"), MustNotCall("pay")])

    def test_severities_are_four(self):
        odd = MustCall("a", severity="fatal")
        with pytest.raises(InputError, match="rule must_call:a: severity is 'fatal'"):
            Policy([odd])
        lenient = Policy([odd, MustCall("b", severity="low")], compatibility="plumbline")
        found = lenient.violations(Trial(KEY), {})
        assert [v.severity for v in found] == ["low", "fatal"]

    def test_a_policy_has_rules(self):
        with pytest.raises(InputError, match="at least one rule"):
            Policy([])
        with pytest.raises(InputError, match="compatibility is 'x'"):
            Policy(self.RULES, compatibility="x")


class TestDeclaredRules:
    def test_every_rule_can_be_declared(self):
        declared = rules_from_data(
            [
                {"rule": "must_call", "tool": "check", "severity": "high"},
                {"rule": "must_not_call", "tool": "pay", "when": {"is_false": "should_pay"}},
                {"rule": "ordering", "first": "a", "then": "b", "when": {"is_true": "x"}},
                {"rule": "call_at_most", "tool": "pay", "limit": 2},
                {"rule": "argument_equals", "tool": "pay", "argument": "n", "from_context": "n"},
                {"rule": "argument_satisfies", "tool": "pay", "predicate": "odd", "id": "odd"},
            ],
            {"odd": bool},
        )
        assert declared == (
            MustCall("check", severity="high"),
            MustNotCall("pay", when=ContextFlag("should_pay", value=False)),
            Ordering("a", "b", when=ContextFlag("x")),
            CallAtMost("pay", 2),
            ArgumentEquals("pay", "n", from_context="n"),
            ArgumentSatisfies("pay", bool, id="odd"),
        )

    @pytest.mark.parametrize(
        ("entry", "error", "message"),
        [
            ({"tool": "a"}, InputError, "rule 1 has no 'rule'"),
            ({"rule": "must_cal", "tool": "a"}, UnknownNameError, "did you mean 'must_call'"),
            ({"rule": "must_call", "tol": "a"}, UnknownNameError, "did you mean 'tool'"),
            ({"rule": "ordering", "first": "a"}, InputError, r"rule 1 \(ordering\) lacks then"),
            ({"rule": "must_call", "tool": "a", "when": "x"}, InputError, "when is 'x'"),
            (
                {"rule": "must_call", "tool": "a", "when": {"is_true": "x", "is_false": "y"}},
                InputError,
                "is_true = FLAG",
            ),
            (
                {"rule": "argument_satisfies", "tool": "a", "predicate": "p"},
                UnknownNameError,
                "unknown predicate 'p'",
            ),
        ],
    )
    def test_what_cannot_be_declared_is_refused(self, entry, error, message):
        with pytest.raises(error, match=message):
            rules_from_data([entry])
