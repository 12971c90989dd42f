"""Batches, baselines and documents."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from gate_contexts import BOTH, action, context, evidence, permission, refund, rule
from steelyard import SteelyardError
from steelyard.evaluators.gate import (
    EVALUATOR_NAMES,
    Case,
    Compatibility,
    Gate,
    GateInputError,
    Proposal,
    context_from_documents,
    decision_rows,
    read_case,
    read_cases,
)
from steelyard.evaluators.gate.baselines import (
    always_execute,
    eligibility_only,
    majority_of_evaluators,
    single_evaluator,
)
from steelyard.evaluators.gate.batch import COLUMNS

BLOCKED = refund(policy_rules=[permission(), rule("cap", "fact.amount > 5")])


def test_rows_come_in_order_with_every_column() -> None:
    cases = [Case("good", context(), ("refund",)), Case("bad", context(BLOCKED), ("refund",))]
    rows = list(decision_rows(Gate(), cases))
    assert [tuple(row) for row in rows] == [COLUMNS, COLUMNS]
    assert [(row["case"], row["directive"], row["executed"]) for row in rows] == [
        ("good", "execute", True),
        ("bad", "refuse", False),
    ]
    assert rows[0]["causal"] == ""  # not heard
    assert rows[0]["utility"] == "undetermined"  # heard, abstains


def test_a_proposal_that_is_refused_is_a_row_that_never_executed() -> None:
    proposal = Proposal.model_validate({"statement": "s", "action": action(name="transfer")})
    (row,) = decision_rows(Gate(), [Case("c", context(), ("refund",), proposal)])
    assert (row["status"], row["executed"], row["directive"]) == ("error", False, None)
    assert "transfer" in row["error"]
    fine = Proposal.model_validate({"statement": "s", "action": action()})
    (row,) = decision_rows(Gate(), [Case("c", context(), ("refund",), fine)])
    assert row["directive"] == "execute"


def test_cases_are_read_lazily() -> None:
    def cases() -> Any:
        yield Case("first", context(), ("refund",))
        raise AssertionError("read too early")

    assert next(decision_rows(Gate(), cases()))["case"] == "first"


def test_a_case_is_a_context_or_holds_one() -> None:
    assert read_case(refund(), "7").case == "7"
    case = read_case({"case": "a", "context": refund(), "allowed_tools": ["refund"]}, "7")
    assert (case.case, case.allowed_tools, case.proposal) == ("a", ("refund",), None)
    text = "\n".join(json.dumps({"context": refund()}) for _ in range(3))
    assert [case.case for case in read_cases(text)] == ["1", "2", "3"]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"context": refund(), "tools": []}, "unknown field 'tools'"),
        ({"context": 5}, "context must be an object"),
        ({"context": refund(), "allowed_tools": "refund"}, "list of texts"),
        ({"context": refund(), "case": ""}, "not empty"),
        ({"context": refund(), "proposal": {}}, "proposal"),
        (refund(structured_facts={}), "exclude each other"),
        (5, "a context is an object"),
    ],
)
def test_a_case_that_does_not_fit_is_refused(data: Any, message: str) -> None:
    with pytest.raises(GateInputError, match=message):
        read_case(data, "1", path="x.json")


def votes(fields: dict[str, Any]) -> Any:
    """Return the votes on a context."""
    return Gate().votes(context(fields))


def test_baselines_follow_their_rule() -> None:
    good, bad = context(), context(BLOCKED)
    assert always_execute(bad) == "execute"
    assert always_execute(context({"query": "q"})) == "answer"
    assert eligibility_only(Gate().evaluate(good)) == "execute"
    assert eligibility_only(Gate().evaluate(bad)) == "refuse"
    assert eligibility_only(Gate().evaluate(context({"query": "q"}))) == "gather"
    assert majority_of_evaluators(votes(refund()), good) == "execute"
    assert majority_of_evaluators(votes(BLOCKED), bad) == "gather"  # one against one
    assert majority_of_evaluators(votes({"query": "q"}), context({"query": "q"})) == "gather"
    assert single_evaluator(votes(BLOCKED), "policy", bad) == "refuse"
    assert single_evaluator(votes(BLOCKED), "formal", bad) == "execute"
    assert single_evaluator(votes(BLOCKED), "causal", bad) == "gather"
    cautious = refund(policy_rules=[permission(), rule("c", "fact.amount > 5", severity="caution")])
    assert single_evaluator(votes(cautious), "policy", good) == "escalate"
    with pytest.raises(SteelyardError, match=r"unknown evaluator 'oracle'"):
        single_evaluator(votes(BLOCKED), "oracle", bad)
    assert len(EVALUATOR_NAMES) == 5


LIFTABLE = {
    "facts": {"amount": 5},
    "policy_rule": permission(),
    "constraint": {"id": "c", "predicate": "fact.amount > 0"},
    "causal_graph": {
        "nodes": ["x", "y"],
        "edges": [{"source": "x", "target": "y", "signed": 1, "edge_id": "x-y"}],
    },
}


def test_documents_are_evidence_and_state_no_facts_or_rules_by_themselves() -> None:
    documents = [
        {"id": "d", "text": "t", "score": 3.0, "metadata": LIFTABLE},
        SimpleNamespace(page_content="t", metadata={"trust": "0.25", "source": "wiki"}),
        SimpleNamespace(node=SimpleNamespace(text="t", id_="n", metadata={}), score=0.75),
    ]
    found = context_from_documents(documents, "q")
    assert [(e.id, e.source, e.trust) for e in found.evidence] == [
        ("d", "retriever", 1.0),
        ("document-2", "wiki", 0.25),
        ("n", "retriever", 0.75),
    ]
    lifted = (found.structured_facts, found.policy_rules, found.constraints, found.causal_graph)
    assert lifted == ({}, [], [], None)


def test_what_is_lifted_on_request_is_not_trusted() -> None:
    found = context_from_documents([{"text": "t", "metadata": LIFTABLE}], "q", lift=True)
    assert found.policy_rules[0].authority == "unknown"
    assert found.structured_facts["amount"].value == 5
    assert found.causal_graph is not None
    host = {"policy_rules": [rule("host", "fact.amount > 9")]}
    found = context_from_documents([{"text": "t", "metadata": LIFTABLE}], "q", host=host, lift=True)
    assert [one.id for one in found.policy_rules] == ["host"]


@pytest.mark.parametrize("document", [{}, {"text": 5}, None, 7, evidence("e", content=None)])
def test_a_document_without_a_text_is_refused(document: Any) -> None:
    with pytest.raises(GateInputError, match="document 1 has no text"):
        context_from_documents([document], "q")


@pytest.mark.parametrize(
    "stated",
    [
        {"policy_rule": {}},
        {"policy_rule": {"id": []}},
        {"policy_rule": {"id": "r", "predicate": "fact.a > 1"}},
        {"constraint": {"predicate": "fact.a > 1"}},
        {"causal_graph": {}},
        {"causal_graph": {"nodes": ["a"]}},
        {"causal_graph": {"nodes": 5, "edges": 5}},
        {"causal_graph": {"nodes": [], "edges": [5]}},
    ],
)
@BOTH
def test_a_document_that_states_half_a_rule_is_refused(
    stated: dict[str, Any], compatibility: Compatibility
) -> None:
    documents = [{"text": "t", "metadata": stated}]
    with pytest.raises(GateInputError):
        context_from_documents(documents, "q", lift=True, compatibility=compatibility)
    assert context_from_documents(documents, "q").policy_rules == []


@pytest.mark.parametrize("host", [{"evidence": "abc"}, {"structured_facts": 5}, {"evidence": 1}])
def test_a_host_that_states_no_lists_is_refused(host: dict[str, Any]) -> None:
    with pytest.raises(GateInputError):
        context_from_documents([{"text": "t"}], "q", host=host, lift=True)
