"""Evaluators that fail, lie or hang, and the three places where they may run."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import pytest

from gate_contexts import TOOLS, context, permission, refund, rule
from steelyard.evaluators.gate import Decision, Evaluator, Gate, GateSettings
from steelyard.evaluators.gate.registry import EVALUATORS
from steelyard.evaluators.gate.results import EvaluatorResult
from steelyard.evaluators.gate.situation import Situation

PATIENT = {"head_timeout_ms": 60_000, "pool_budget_ms": 60_000, "counterfactual_timeout_ms": 60_000}
VETOED = refund(policy_rules=[permission(), rule("cap", "fact.amount > 10", severity="hard_veto")])


def judged_by(judge: Any, *, name: str = "formal", fields: Any = None, **options: Any) -> Decision:
    """Decide with one evaluator replaced by a function."""
    evaluator = replace(EVALUATORS[name], judge=judge, built_in=False)
    gate = Gate(GateSettings(**options), evaluators={name: evaluator})
    return gate.decide(context(fields), TOOLS)


def broken(_: Situation) -> EvaluatorResult:
    """Fail."""
    raise RuntimeError("disk\n  full " + "x" * 2_000)


def test_an_evaluator_that_fails_abstains_and_is_named() -> None:
    decision = judged_by(broken)
    assert decision.graph.evaluators["formal"].verdict == "undetermined"
    assert decision.graph.evaluators["formal"].reason_codes == ["REASON_CRASH"]
    (error,) = decision.graph.errors
    assert (error.evaluator, error.error_type) == ("formal", "crash")
    assert error.message.startswith("RuntimeError: disk full x")
    assert len(error.message) == 512


@pytest.mark.parametrize(
    "returned",
    [
        None,
        "approve",
        EvaluatorResult("formal", "maybe", 0.5, "rules"),  # type: ignore[arg-type]
        EvaluatorResult("formal", "approve", 1.5, "rules"),  # type: ignore[arg-type]
        EvaluatorResult("formal", "approve", float("nan"), "rules"),  # type: ignore[arg-type]
        EvaluatorResult("policy", "approve", 1.0, "rules"),  # type: ignore[arg-type]
    ],
)
def test_an_evaluator_that_returns_something_else_abstains(returned: Any) -> None:
    decision = judged_by(lambda _: returned)
    assert decision.graph.errors[0].error_type == "invalid_output"
    assert decision.graph.evaluators["formal"].verdict == "undetermined"
    assert decision.directive != "execute"


def test_only_the_policy_evaluator_may_veto() -> None:
    def vetoing(_: Situation) -> EvaluatorResult:
        return EvaluatorResult("formal", "reject", 1.0, "rules", hard_veto=True)  # type: ignore[arg-type]

    decision = judged_by(vetoing)
    assert decision.graph.disposition == "conflict"
    assert "REASON_UNAUTHORIZED_VETO" in decision.graph.review_reasons
    assert decision.graph.errors[0].error_type == "unauthorized_veto"


def test_an_evaluator_that_hangs_is_not_waited_for() -> None:
    forever = threading.Event()

    def hanging(_: Situation) -> EvaluatorResult:
        forever.wait(30)
        raise RuntimeError("too late")

    decision = judged_by(hanging, isolation="threads", head_timeout_ms=50, pool_budget_ms=60_000)
    forever.set()
    assert decision.graph.errors[0].error_type == "timeout"
    assert decision.graph.evaluators["formal"].reason_codes == ["REASON_TIMEOUT"]
    assert decision.directive != "execute"


def test_a_budget_that_is_used_up_asks_for_a_person_and_skips_probes() -> None:
    gate = Gate(GateSettings(isolation="threads", pool_budget_ms=1))

    def slow(situation: Situation) -> EvaluatorResult:
        threading.Event().wait(0.02)
        return EVALUATORS["utility"].judge(situation)

    slow_one = replace(EVALUATORS["utility"], judge=slow, built_in=False)
    gate = Gate(gate.settings, evaluators={"utility": slow_one})
    decision = gate.decide(context(), TOOLS)
    assert "REASON_COUNTERFACTUAL_BUDGET" in decision.graph.review_reasons
    assert decision.graph.counterfactuals == ()
    assert decision.directive != "execute"


@pytest.mark.parametrize("fields", [refund(), VETOED], ids=["executed", "vetoed"])
@pytest.mark.parametrize("isolation", ["threads", "processes"])
def test_where_evaluators_run_changes_no_decision(isolation: Any, fields: dict[str, Any]) -> None:
    here = Gate(GateSettings(**PATIENT)).evaluate(context(fields))
    there = Gate(GateSettings(isolation=isolation, **PATIENT)).evaluate(context(fields))
    assert there.errors == ()
    assert {**there.to_dict(), "settings_sha256": ""} == {**here.to_dict(), "settings_sha256": ""}


def test_two_evaluators_of_one_class_are_not_heard_together() -> None:
    twin = Evaluator("twin", EVALUATORS["formal"].judge, "formal_symbolic", "solver")
    gate = Gate(evaluators={"twin": twin})
    graph = gate.evaluate(context(refund(force_evaluators=["twin"])))
    assert graph.review_reasons[0] == "REASON_SELECTOR_INDEPENDENCE"
    assert graph.disposition == "insufficient_evidence"
    models = {
        name: Evaluator(name, EVALUATORS["formal"].judge, name, "llm") for name in ("m1", "m2")
    }
    graph = Gate(evaluators=models).evaluate(context(refund(force_evaluators=["m1", "m2"])))
    assert graph.disposition == "insufficient_evidence"
