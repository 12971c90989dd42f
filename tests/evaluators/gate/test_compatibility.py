"""Each difference from the published gate: what it did, what ours does, and that a flag says which.

A row gives a context, and what comes out of it as published and by default. Only the one flag
differs between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

import pytest

from gate_contexts import TOOLS, evidence, permission, refund, rule, with_action
from gate_questions import (
    CAPPED,
    MIXED,
    MIXED_TYPES,
    NEGATED,
    accepted,
    decide,
    directive,
    distance,
    documented,
    first_resolving,
    gathered,
    old_evidence,
    proposed_query,
    regime,
    vote,
)
from steelyard.evaluators.gate import (
    DEFAULT,
    PUBLISHED,
    Compatibility,
    Gate,
    read_context,
)
from steelyard.evaluators.gate import compatibility as table

ROWS: list[tuple[str, Callable[[Compatibility], Any], Any, Any]] = [
    (
        "arithmetic_executes",
        directive(
            refund(
                query="1",
                policy_rules=[permission(), rule("r", "fact.amount == 1")],
                facts={"amount": 20},
                specs={},
            )
        ),
        "execute",
        "gather",
    ),
    ("statement_becomes_query", proposed_query, "1", "Is it due?"),
    (
        "vacuous_approval",
        vote({"query": "Do it now"}, "formal"),
        ("approve", 1.0),
        ("undetermined", 0.0),
    ),
    (
        "vacuous_approval",
        vote(
            {"query": "Do it now", "facts": {"amount": 20}, "hypothesis": with_action()},
            "empirical",
        ),
        ("approve", 0.55),
        ("undetermined", 0.0),
    ),
    (
        "default_allow",
        directive(refund(policy_rules=[rule("cap", "fact.amount > 50")])),
        "execute",
        "escalate",
    ),
    (
        "payload_unchecked",
        directive(refund(hypothesis=with_action(payload={"amount": 21}))),
        "execute",
        "escalate",
    ),
    ("nonfinite_facts", accepted(refund(facts={"amount": float("nan")})), True, False),
    (
        "units_ignored",
        directive(refund(specs={"amount": {"fact_type": "int", "unit": "EUR"}})),
        "execute",
        "escalate",
    ),
    ("any_conflict_counts", directive(NEGATED), "escalate", "refuse"),
    (
        "any_conflict_counts",
        directive(
            refund(
                evidence=[
                    evidence("e1", trust=0.1, numeric_claims={"amount": 20}),
                    evidence("e2", trust=0.1, numeric_claims={"amount": 90}),
                ],
                specs={"amount": {"fact_type": "int"}, "x": {"fact_type": "int"}},
            )
        ),
        "escalate",
        "execute",
    ),
    (
        "order_dependent_unknowns",
        directive(refund(policy_rules=[permission("fact.receipt == true or fact.amount <= 50")])),
        "gather",
        "execute",
    ),
    (
        "literals_only",
        directive(refund(policy_rules=[permission("action.payload.amount <= fact.amount")])),
        "escalate",
        "execute",
    ),
    ("wall_clock", old_evidence, 1, 0),
    ("unbound_tools", directive(refund(), ["lookup"]), "execute", "refuse"),
    ("unbound_tools", directive(refund(), None), "execute", "escalate"),
    (
        "lenient_schemas",
        accepted(refund(policy_rules=[{**permission(), "aplies_when": "fact.x == 1"}])),
        True,
        False,
    ),
    ("lenient_schemas", accepted(refund(policy_rules=[permission(), permission()])), True, False),
    (
        "lenient_schemas",
        accepted(refund(specs={"amount": {"fact_type": "int", "minimum": 2, "maximum": 1}})),
        True,
        False,
    ),
    ("lenient_schemas", accepted(refund(objective={"id": "o", "terms": []})), True, False),
    (
        "lenient_schemas",
        accepted({"query": "q", "structured_facts": {"a": {"key": "b", "value": 1}}}),
        True,
        False,
    ),
    (
        "lenient_schemas",
        accepted(
            {
                "query": "q",
                "causal_graph": {
                    "nodes": [],
                    "edges": [{"source": "a", "target": "b", "edge_id": "e"}],
                },
            }
        ),
        True,
        False,
    ),
    (
        "lenient_schemas",
        directive(
            refund(policy_rules=[{k: v for k, v in permission().items() if k != "authority"}])
        ),
        "execute",
        "escalate",
    ),
    ("unproven_recovery", first_resolving(CAPPED), 50, 30),
    ("type_error_hides_veto", directive(MIXED_TYPES), "escalate", "refuse"),
    ("keys_from_text", gathered, ("amount", "receipt"), ("receipt",)),
    ("distance_of_agreement", distance, 0.1, 0.0),
    ("pooled_variation", vote(MIXED, "empirical"), ("approve", 0.002), ("approve", 0.999)),
    (
        "substring_lexemes",
        regime("The disallowed example of this text"),
        "policy_normative",
        "open_dialectic",
    ),
    ("substring_lexemes", regime("refund"), "closed_formal", "open_dialectic"),
    ("lossy_documents", documented(0.25), [("d", 0.25)], [("host", 0.5), ("d", 0.25)]),
    ("lossy_documents", documented(float("nan")), [("d", 1.0)], [("host", 0.5), ("d", 0.75)]),
    ("lossy_documents", documented(True), [("d", 1.0)], [("host", 0.5), ("d", 0.75)]),
    ("lossy_documents", documented("none", None), [("d", 0.0)], [("host", 0.5), ("d", 0.5)]),
]


@pytest.mark.parametrize(
    ("flag", "ask", "published", "ours"), ROWS, ids=[f"{i}-{row[0]}" for i, row in enumerate(ROWS)]
)
def test_a_flag_restores_what_was_published(
    flag: str, ask: Callable[[Compatibility], Any], published: Any, ours: Any
) -> None:
    assert ask(DEFAULT) == ours
    assert ask(Compatibility(**{flag: True})) == published


def test_arithmetic_answers_with_finite_numbers_only() -> None:
    for query in ("1e400", "(-1)**0.5", "1e400-1e400"):
        for compatibility, expected in ((PUBLISHED, "answer"), (DEFAULT, "gather")):
            assert decide({"query": query}, compatibility).directive == expected


def test_every_flag_has_a_row_here_and_in_the_table() -> None:
    names = {entry.name for entry in fields(Compatibility)}
    assert {row[0] for row in ROWS} == names
    for name in names:
        assert f"\n{name} " in (table.__doc__ or "")
    assert all(getattr(PUBLISHED, name) for name in names)
    assert not any(getattr(DEFAULT, name) for name in names)


def test_the_clock_is_read_by_nobody_unless_it_is_asked_for() -> None:
    items = [evidence("e1", retrieved_at="2026-11-01T00:00:00Z"), evidence("e2")]
    context = read_context(refund(evidence=items))
    gate = Gate()
    assert gate.decide(context, TOOLS).graph.evidence_conflicts == ()
    later = gate.decide(context, TOOLS, now=datetime(2026, 12, 1, tzinfo=UTC))
    assert [c.kind.value for c in later.graph.evidence_conflicts] == ["stale"]
