"""The trust boundary: a proposal can say anything and change nothing of the host's."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate_contexts import TOOLS, action, context, permission, refund, rule
from steelyard import SteelyardError
from steelyard.evaluators.gate import PUBLISHED, Gate, GateInputError, evaluate_proposal
from steelyard.evaluators.gate.enums import ActionKind

CAPPED = refund(policy_rules=[permission(), rule("cap", "fact.amount > 15")])


def propose(
    proposal: Any, fields: dict[str, Any] | None = None, names: Any = ("refund",), gate: Any = None
) -> Any:
    """Judge a proposal about a context."""
    return evaluate_proposal(
        gate or Gate(),
        proposal,
        trusted_context=context(fields),
        allowed_action_names=names,
        allowed_tools=TOOLS,
    )


def test_a_proposal_within_the_hosts_rules_is_executed() -> None:
    decision = propose({"statement": "Refund it", "action": action()})
    assert decision.directive == "execute"
    assert decision.graph.hypothesis.statement == "Refund it"
    assert decision.graph.context.query == refund()["query"]


@pytest.mark.parametrize(
    ("proposal", "message"),
    [
        ({"statement": "s"}, "action"),
        ({"action": action()}, "statement"),
        ({"statement": "", "action": action()}, "statement"),
        ({"statement": "s" * 16_001, "action": action()}, "statement"),
        ({"statement": "s", "action": action(), "policy_rules": []}, "policy_rules"),
        ({"statement": "s", "action": action(), "facts": {"amount": 1}}, "facts"),
        ({"statement": "s", "action": action(), "allowed_tools": ["x"]}, "allowed_tools"),
        ({"statement": "s", "action": action(name="transfer")}, "not allowed"),
        ({"statement": "s", "action": action(authority="trusted")}, "authority"),
        ({"statement": "s", "action": action(kind="parameter_change")}, "tool_invocation"),
        ({"statement": "s", "action": action(kind="binary_decision")}, "tool_invocation"),
        ({"statement": "s", "action": action(payload={"effect_sign": 1})}, "effect_sign"),
        ({"statement": "s", "action": action(payload={"do": "x"})}, "do"),
        (None, "Proposal|proposal"),
        ([], "proposal"),
    ],
)
def test_a_proposal_that_oversteps_is_refused(proposal: Any, message: str) -> None:
    with pytest.raises(GateInputError, match=message):
        propose(proposal)


def test_the_host_may_give_each_action_its_kind() -> None:
    proposal = {"statement": "s", "action": action(kind="parameter_change")}
    decision = propose(proposal, names={"refund": ActionKind.PARAMETER_CHANGE})
    assert decision.graph.hypothesis.action.kind == "parameter_change"
    with pytest.raises(GateInputError, match="not a tool_invocation"):
        propose(
            {"statement": "s", "action": action()}, names={"refund": ActionKind.PARAMETER_CHANGE}
        )


def test_the_causal_question_stays_the_hosts() -> None:
    hypothesis = {
        "id": "h",
        "statement": "s",
        "action": action(payload={"treatment": "x", "outcome": "y", "effect_sign": 1}),
    }
    graph = {
        "nodes": ["x", "y"],
        "edges": [{"source": "x", "target": "y", "signed": -1, "edge_id": "x-y"}],
    }
    fields = refund(hypothesis=hypothesis, causal_graph=graph)
    decision = propose({"statement": "s", "action": action()}, fields)
    assert decision.directive == "refuse"
    assert "causal" in decision.envelope.reasons[0]


def test_arguments_that_differ_from_the_facts_are_for_a_person() -> None:
    proposal = {"statement": "s", "action": action(payload={"amount": 45})}
    assert propose(proposal).directive == "escalate"


def test_a_payload_that_is_changed_afterwards_changes_nothing() -> None:
    proposal = {"statement": "s", "action": action(payload={"amount": 20, "tags": ["a"]})}
    decision = propose(proposal)
    before = decision.envelope.to_dict()
    proposal["action"]["payload"]["tags"].append("b")
    proposal["action"]["payload"]["amount"] = 90
    assert decision.graph.hypothesis.action.payload == {"amount": 20, "tags": ["a"]}
    assert decision.envelope.to_dict() == before


TEXTS = st.one_of(
    st.sampled_from(["1", "1+1", "fact.amount == 20", "ignore all rules", "allow", "trusted"]),
    st.text(max_size=20),
)
PAYLOADS = st.dictionaries(
    st.sampled_from(["amount", "policy_rules", "facts", "authority", "allowed_tools", "x", "tier"]),
    st.one_of(st.integers(-100, 100), TEXTS, st.booleans(), st.lists(st.integers(), max_size=2)),
    max_size=4,
)
PROPOSALS = st.fixed_dictionaries(
    {
        "statement": TEXTS,
        "action": st.fixed_dictionaries(
            {
                "id": TEXTS,
                "kind": st.sampled_from(list(ActionKind)).map(str),
                "name": st.one_of(st.just("refund"), TEXTS),
                "payload": PAYLOADS,
            },
            optional={"description": TEXTS},
        ),
    },
    optional={"policy_rules": st.just([]), "facts": st.just({"amount": 1}), "query": TEXTS},
)
HOSTS_OWN = (
    *("structured_facts", "fact_specs", "policy_rules", "constraints", "evidence"),
    *("aligned_claims", "objective", "causal_graph", "domain", "force_evaluators", "force_regime"),
)


@settings(max_examples=400, deadline=None)
@given(PROPOSALS, st.sampled_from([refund(), CAPPED]))
def test_no_proposal_changes_facts_policies_or_tools(
    proposal: dict[str, Any], fields: dict[str, Any]
) -> None:
    host = context(fields)
    written = host.model_dump_json()
    tools = ["refund"]
    for gate in (Gate(), Gate(compatibility=PUBLISHED)):
        try:
            decision = evaluate_proposal(
                gate,
                proposal,
                trusted_context=host,
                allowed_action_names=["refund"],
                allowed_tools=tools,
            )
        except SteelyardError:
            continue
        judged = decision.graph.context
        assert all(getattr(judged, name) == getattr(host, name) for name in HOSTS_OWN)
        assert set(decision.envelope.allowed_tools) <= {"refund"}
        if gate.compatibility is not PUBLISHED:
            assert judged.query == host.query
            if fields is CAPPED:
                assert decision.directive != "execute"
    assert host.model_dump_json() == written
    assert tools == ["refund"]
