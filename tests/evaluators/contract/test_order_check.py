"""The exhaustive check beyond the vectors: endpoints, budgets and evaluators that fail."""

from __future__ import annotations

import sys

import pytest

from contract_policies import flip, numbered, passing, policy, rule, when
from steelyard.errors import InputError
from steelyard.evaluators.contract import (
    EvaluatorFailure,
    OrderCheckError,
    OrderCheckTooLargeError,
    ResponseError,
    check_order,
    evaluate,
)
from vectors.declared_evaluators import DeclaredEvaluator

R3 = ["r0", "r1", "r2"]


def seen_only_in(*orders, change):
    """Return an evaluator that reports r0 in these orders only, and changed in the last of them."""
    return DeclaredEvaluator(
        {
            "steps": [
                {"when": {"not": {"order_in": [list(o) for o in orders]}}, "do": [{"drop": "r0"}]},
                {"when": {"order_in": [list(orders[-1])]}, "do": [change]},
            ]
        }
    )


@pytest.mark.parametrize(
    ("change", "dimension", "reason", "left", "right"),
    [
        (
            flip("r0"),
            "outcome",
            "shared_rule_pass",
            {"passed": True, "rule_id": "r0"},
            {"passed": False, "rule_id": "r0"},
        ),
        (
            {"set_reason": {"row": "r0", "value": "LATE"}},
            "reason_evidence",
            "shared_rule_evidence",
            {"kind": "false", "path": "r0", "reason_code": "RULE_SATISFIED", "rule_id": "r0"},
            {"kind": "false", "path": "r0", "reason_code": "LATE", "rule_id": "r0"},
        ),
    ],
)
def test_orders_far_apart_are_joined_by_a_path(change, dimension, reason, left, right):
    # r0 is reported in the declared and in the reversed order only, which no swap joins.
    report = check_order(numbered(3), passing(3), seen_only_in(R3, R3[::-1], change=change))
    assert report["status"] == "COMPOUND_ORDER_DRIFT"
    found = next(w for w in report["witnesses"] if w["dimension"] == dimension)
    assert found == {
        "comparison": "endpoint_path",
        "dimension": dimension,
        "reason": reason,
        "left_order": R3,
        "left_projection": left,
        "right_order": R3[::-1],
        "right_projection": right,
        "adjacent_swap_path": [
            ["r0", "r1", "r2"],
            ["r0", "r2", "r1"],
            ["r2", "r0", "r1"],
            ["r2", "r1", "r0"],
        ],
    }


@pytest.mark.parametrize("rules", [2, 3, 4])
def test_the_built_in_evaluator_conforms_whatever_the_response(rules):
    for response in (passing(rules), {}, {"r0": 1}):
        report = check_order(numbered(rules), response)
        assert report["status"] == "PRESENTATION_ONLY_DRIFT"
        assert report["conforms_within_coverage"] is True
        assert report == check_order(numbered(rules), response, evaluate)


class TestEvaluatorsThatFail:
    def test_raising_is_an_error_or_a_report(self):
        def evaluator(_policy, _response):
            raise KeyError("s3cret")

        with pytest.raises(EvaluatorFailure, match="it raised KeyError") as caught:
            check_order(numbered(2), passing(2), evaluator)
        assert caught.value.code == "ORDER_CHECK_INVALID"
        report = check_order(numbered(2), passing(2), evaluator, on_failure="report")
        assert report["status"] == "INCONCLUSIVE_EVALUATOR_FAILURE"
        assert report["failure"] == {
            "kind": "exception",
            "reason": "it raised KeyError",
            "order": ["r0", "r1"],
            "repeat": 1,
        }
        assert report["conforms_within_coverage"] is report["variance"] is None
        assert "s3cret" not in str(report)

    def test_the_place_of_the_failure_is_given(self):
        calls = []

        def evaluator(document, response):
            calls.append([r["rule_id"] for r in document["rules"]])
            return evaluate(document, response) if len(calls) < 5 else []

        report = check_order(numbered(2), passing(2), evaluator, on_failure="report")
        assert report["failure"]["kind"] == "contract"
        assert (report["failure"]["order"], report["failure"]["repeat"]) == (["r1", "r0"], 2)
        coverage = report["coverage"]
        assert (coverage["orders_attempted"], coverage["orders_completed"]) == (2, 1)
        assert (coverage["evaluations_performed"], coverage["mode"]) == (5, "incomplete")

    def test_controlled_errors_come_through(self):
        def evaluator(_policy, _response):
            raise ResponseError("no")

        for on_failure in ("raise", "report"):
            with pytest.raises(ResponseError):
                check_order(numbered(2), passing(2), evaluator, on_failure=on_failure)

    def test_an_evaluator_cannot_end_the_program(self):
        with pytest.raises(EvaluatorFailure, match="it raised SystemExit"):
            check_order(numbered(2), passing(2), lambda *_: sys.exit(0))

    def test_an_interrupt_is_no_failure_of_the_evaluator(self):
        def evaluator(_policy, _response):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            check_order(numbered(2), passing(2), evaluator, on_failure="report")

    def test_another_choice_is_refused(self):
        with pytest.raises(InputError, match="'raise' and 'report'"):
            check_order(numbered(2), passing(2), on_failure="ignore")


def test_an_evaluator_cannot_spoil_the_next_call():
    def evaluator(document, response):
        result = evaluate(document, response)
        document["rules"].clear()
        response.clear()
        return result

    assert check_order(numbered(3), passing(3), evaluator)["conforms_within_coverage"]


class TestBudgets:
    def test_planned_work_is_refused_before_the_first_call(self):
        def evaluator(_policy, _response):
            raise AssertionError("called")

        large = {**passing(5), "filling": "x" * 280_000}
        with pytest.raises(OrderCheckTooLargeError, match="at most 3"):
            check_order(numbered(5), large, evaluator)

    def test_results_are_charged_as_they_come(self):
        long = "x" * 225_000  # 65 MB of input, and as much again of results that name the paths
        document = policy(*(rule(f"r{i}", path=f"{long}{i}") for i in range(4)))
        with pytest.raises(OrderCheckTooLargeError, match="was spent after"):
            check_order(document, {})

    def test_one_result_may_be_too_large(self):
        long = "x" * 499_850
        longest = {"set_reason": {"row": "@all", "value": "R" * 128}}
        document = policy(rule("r0", path=long + "a"), rule("r1", path=long + "b"))
        assert check_order(document, {}, evaluate)["coverage"]
        with pytest.raises(OrderCheckTooLargeError, match="a result has more than"):
            check_order(document, {}, when({"first": "r0"}, longest))

    def test_a_report_may_be_too_large(self):
        # A witness of a path between orders lists every order on it.
        names = ["r" * 120 + str(i) for i in range(3)]
        document = policy(*(rule(name, path=f"{'x' * 250_000}{i}") for i, name in enumerate(names)))
        change = {"set_reason": {"row": "@all", "value": "AFTER_{last}"}}
        with pytest.raises(OrderCheckTooLargeError, match="report has more than"):
            check_order(document, {}, DeclaredEvaluator({"steps": [{"do": [change]}]}))


def test_the_cause_of_an_invalid_policy_is_kept():
    with pytest.raises(OrderCheckError, match="rule_id of an earlier rule") as caught:
        check_order(policy("a", "a"), {})
    assert caught.value.__cause__.rule_index == 1
    assert caught.value.rule_index is None
