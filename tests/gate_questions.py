"""Questions that the gate answers differently under another compatibility, and contexts for them.

Each question is a function of a `Compatibility`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from gate_contexts import TOOLS, action, evidence, permission, refund, rule, with_action
from steelyard import SteelyardError
from steelyard.evaluators.gate import (
    Compatibility,
    Decision,
    Gate,
    GateSettings,
    context_from_documents,
    evaluate_proposal,
    read_context,
)


def decide(
    data: dict[str, Any], compatibility: Compatibility, tools: list[str] | None = TOOLS
) -> Decision:
    """Decide a context under a compatibility."""
    context = read_context(data, compatibility=compatibility)
    return Gate(GateSettings(), compatibility).decide(context, tools)


def directive(data: dict[str, Any], tools: list[str] | None = TOOLS) -> Callable[..., str]:
    """Return a function of a compatibility: the directive of a context."""
    return lambda compatibility: decide(data, compatibility, tools).directive.value


def vote(data: dict[str, Any], name: str) -> Callable[..., Any]:
    """Return a function of a compatibility: verdict and confidence of one evaluator."""

    def ask(compatibility: Compatibility) -> Any:
        result = Gate(GateSettings(), compatibility).votes(
            read_context(data, compatibility=compatibility)
        )[name]
        return result.verdict.value, round(result.confidence, 3)

    return ask


def accepted(data: dict[str, Any]) -> Callable[..., bool]:
    """Return a function of a compatibility: whether a context is accepted at all."""

    def read(compatibility: Compatibility) -> bool:
        try:
            read_context(data, compatibility=compatibility)
        except SteelyardError:
            return False
        return True

    return read


def proposed_query(compatibility: Compatibility) -> str:
    """Return the query that is judged when a proposal states arithmetic."""
    decision = evaluate_proposal(
        Gate(GateSettings(), compatibility),
        {"statement": "1", "action": action()},
        trusted_context=read_context(refund(query="Is it due?")),
        allowed_action_names=["refund"],
        allowed_tools=TOOLS,
    )
    return decision.graph.context.query


def old_evidence(compatibility: Compatibility) -> int:
    """Return how many conflicts an item from 2001 is in, beside one without a date."""
    items = [evidence("e1", retrieved_at="2001-01-01T00:00:00Z"), evidence("e2")]
    return len(decide(refund(evidence=items), compatibility).graph.evidence_conflicts)


def documented(trust: Any, score: float | None = 0.75) -> Callable[..., list[tuple[str, float]]]:
    """Return a function of a compatibility: what a host's item and a document become."""

    def ask(compatibility: Compatibility) -> list[tuple[str, float]]:
        document = {"id": "d", "text": "t", "score": score, "metadata": {"trust": trust}}
        host = {"evidence": [evidence("host")]}
        # The metadata may hold NaN: only what becomes of the number is asked here.
        loose = replace(compatibility, nonfinite_facts=True)
        found = context_from_documents([document], "q", host=host, compatibility=loose)
        return [(item.id, item.trust) for item in found.evidence]

    return ask


def first_resolving(data: dict[str, Any]) -> Callable[..., Any]:
    """Return a function of a compatibility: the probe that is said to resolve."""

    def ask(compatibility: Compatibility) -> Any:
        found = decide(data, compatibility).graph.counterfactuals
        return next((c.probed for c in found if c.resolving), None)

    return ask


def gathered(compatibility: Compatibility) -> tuple[str, ...]:
    """Return what is to be found out when a constraint names one known and one missing fact."""
    constraint = {"id": "c", "predicate": "fact.amount > 0 and fact.receipt == true"}
    return decide(refund(constraints=[constraint]), compatibility).envelope.gather_fact_keys


def distance(compatibility: Compatibility) -> float:
    """Return the distance between evaluators that all approve."""
    constraint = {"id": "c", "predicate": "fact.amount > 0"}
    return round(
        decide(refund(constraints=[constraint]), compatibility).graph.contradiction_score, 3
    )


def regime(query: str) -> Callable[..., str]:
    """Return a function of a compatibility: the regime of a query."""
    return lambda compatibility: (
        decide({"query": query, "domain": "legal"}, compatibility).graph.classifier.regime.value
    )


CAPPED = refund(
    hypothesis=with_action(payload={"amount": 70}),
    facts={"amount": 70},
    specs={
        "amount": {
            "fact_type": "int",
            "minimum": 0,
            "maximum": 100,
            "step": 10,
            "mutable": True,
        }
    },
    policy_rules=[
        permission("fact.amount <= 30"),
        rule("cap", "fact.amount > 50", severity="hard_veto"),
    ],
)
MIXED = {
    "query": "Compare the measured values",
    "hypothesis": with_action(payload={"rate": 1.0}),
    "evidence": [
        evidence(f"e{i}", numeric_claims={"rate": 1.0, "latency": 900.0 + i}) for i in range(3)
    ],
}
MIXED_TYPES = refund(
    facts={"amount": "70"},
    hypothesis=with_action(payload={}),
    policy_rules=[
        permission("fact.amount == '70'"),
        rule("never", "fact.amount != '1'", severity="hard_veto"),
    ],
)
NEGATED = refund(
    policy_rules=[permission(), rule("cap", "fact.amount > 10")],
    evidence=[evidence("e1", metadata={"negates_id": "e2"}), evidence("e2")],
)
