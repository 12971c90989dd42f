"""The gate as a whole: what it executes, and what must not change that."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate_contexts import TOOLS, context, decide, evidence, permission, refund, rule, with_action
from steelyard.evaluators.gate import (
    PUBLISHED,
    Gate,
    GateInputError,
    GateSettings,
    ReasoningContext,
)
from steelyard.evaluators.gate.enums import CheckStatus


def statuses(fields: dict[str, Any]) -> dict[str, CheckStatus]:
    """Return the status of every check of a context."""
    return {check.id: check.status for check in decide(fields).graph.eligibility.checks}


def test_a_permitted_refund_within_the_rules_is_executed() -> None:
    decision = decide()
    assert decision.directive == "execute"
    assert decision.envelope.allowed_tools == ("refund",)
    assert decision.graph.authorising_rule_ids == ("small",)


@pytest.mark.parametrize(
    ("changes", "directive"),
    [
        ({"policy_rules": [permission(), rule("cap", "fact.amount > 10")]}, "refuse"),
        (
            {"policy_rules": [permission(), rule("c", "fact.amount > 10", severity="caution")]},
            "escalate",
        ),
        ({"policy_rules": [permission("fact.amount <= 5")]}, "escalate"),
        ({"policy_rules": [permission(), rule("r", "fact.receipt == false")]}, "gather"),
        ({"policy_rules": [permission(), rule("r", "fact.amount >")]}, "escalate"),
        (
            {"policy_rules": [permission(), rule("o", "fact.amount > 5", modality="obligation")]},
            "execute",
        ),
        (
            {"policy_rules": [permission(), rule("o", "fact.amount < 5", modality="obligation")]},
            "refuse",
        ),
        (
            {"policy_rules": [permission(), rule("x", "fact.amount > 5", action_name="other")]},
            "execute",
        ),
        (
            {
                "policy_rules": [
                    permission(),
                    rule("x", "fact.amount > 5", applies_when="fact.amount > 50"),
                ]
            },
            "execute",
        ),
        (
            {"policy_rules": [permission(), rule("x", "fact.amount > 5", authority="unknown")]},
            "escalate",
        ),
        ({"facts": {}, "hypothesis": with_action(payload={})}, "gather"),
        ({"facts": {"amount": 200}, "hypothesis": with_action(payload={})}, "refuse"),
        ({"facts": {"amount": "20"}, "hypothesis": with_action(payload={})}, "escalate"),
        ({"facts": {"amount": True}, "hypothesis": with_action(payload={})}, "escalate"),
        ({"hypothesis": with_action(kind="assertion")}, "answer"),
        ({"hypothesis": {"id": "h", "statement": "s"}}, "gather"),
        ({"constraints": [{"id": "c", "predicate": "fact.amount < 10"}]}, "refuse"),
        ({"force_evaluators": ["oracle"]}, "gather"),
    ],
)
def test_one_change_of_a_refund(changes: dict[str, Any], directive: str) -> None:
    assert decide(refund(**changes)).directive == directive


def test_an_assertion_needs_no_permission_and_never_runs_a_tool() -> None:
    decision = decide({"query": "2 * (3 + 4)"})
    assert decision.directive == "answer"
    assert decision.envelope.allowed_tools == ()
    assert decision.graph.classifier.fast_path is not None
    assert decision.graph.classifier.fast_path.value == 14


def test_a_language_model_closes_the_gate() -> None:
    decision = decide(llm={"enabled": True})
    assert decision.directive == "gather"
    assert decision.graph.uncertainty_score == 1.0


FACTS = {"amount": 20, "tier": "gold", "receipt": True}
RULES = [
    permission(),
    rule("cap", "fact.amount > 50 and fact.tier != gold"),
    rule("receipt", "fact.receipt == true", modality="obligation"),
    rule("caution", "fact.amount > 10", severity="caution"),
]


def test_neither_the_order_of_facts_nor_of_rules_changes_a_directive() -> None:
    found = set()
    for facts, rules in itertools.product(
        itertools.permutations(FACTS.items()), itertools.permutations(RULES)
    ):
        found.add(decide(refund(facts=dict(facts), policy_rules=list(rules))).directive)
    assert found == {"escalate"}


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.text("xyz", min_size=3, max_size=6),
        st.one_of(st.integers(-9, 9), st.booleans(), st.text(max_size=5), st.none()),
        max_size=6,
    )
)
def test_irrelevant_facts_change_no_directive(more: dict[str, Any]) -> None:
    assert decide(refund(facts={"amount": 20, **more})).directive == "execute"


def test_irrelevant_or_untrusted_evidence_changes_no_directive() -> None:
    contradicting = [
        evidence("e1", numeric_claims={"weather": 1}),
        evidence("e2", numeric_claims={"weather": 9}),
        evidence("e3", trust=0.2, metadata={"negates_id": "e1"}),
    ]
    assert decide(refund(evidence=contradicting)).directive == "execute"
    about_the_amount = [
        evidence("e1", numeric_claims={"amount": 20}),
        evidence("e2", numeric_claims={"amount": 90}),
    ]
    assert decide(refund(evidence=about_the_amount)).directive == "escalate"


def test_a_block_that_rests_on_a_disputed_fact_is_for_a_person_to_decide() -> None:
    fields = refund(
        policy_rules=[permission(), rule("cap", "fact.amount > 10")],
        evidence=[
            evidence("e1", numeric_claims={"amount": 20}),
            evidence("e2", numeric_claims={"amount": 5}),
        ],
    )
    assert statuses(fields)["cap"] is CheckStatus.REVIEW
    hard = refund(
        **{
            **fields,
            "policy_rules": [permission(), rule("cap", "fact.amount > 10", severity="hard_veto")],
        }
    )
    assert statuses(hard)["cap"] is CheckStatus.BLOCK


def test_the_same_context_gives_the_same_graph() -> None:
    first, second = (decide(refund()).graph.to_dict() for _ in range(2))
    assert first == second


def test_a_stricter_threshold_never_executes_more() -> None:
    fields = refund(
        query="Is the p99 within budget",
        objective={
            "id": "o",
            "terms": [{"fact_key": "amount", "weight": 1, "direction": "minimize", "target": 18}],
        },
        force_evaluators=["formal", "policy", "empirical", "utility"],
    )
    executed = [
        decide(fields, tau_base=tau, dynamic_tau=False).directive == "execute"
        for tau in (0.0, 0.1, 0.2, 0.3, 0.6)
    ]
    assert executed == sorted(executed)
    assert set(executed) == {False, True}


@pytest.mark.parametrize("thing", [None, "text", {"query": "q"}, 7, object()])
def test_what_is_no_context_is_refused(thing: Any) -> None:
    with pytest.raises(GateInputError, match="ReasoningContext"):
        Gate().decide(thing)


def test_votes_are_those_of_all_evaluators_on_the_eligible_rules() -> None:
    fields = refund(policy_rules=[permission(), rule("no", "fact.amount > 1", authority="unknown")])
    votes = Gate().votes(context(fields))
    assert list(votes) == ["formal", "policy", "empirical", "causal", "utility"]
    assert votes["policy"].verdict == "approve"
    assert votes["causal"].verdict == "undetermined"


def test_as_published_the_same_gate_lets_a_context_without_rules_execute() -> None:
    fields = refund(policy_rules=[], facts={"amount": 20})
    assert decide(fields, compatibility=PUBLISHED).directive == "execute"
    assert decide(fields).directive != "execute"


def test_settings_are_checked() -> None:
    for wrong in ({"tau_base": 7}, {"head_timeout_ms": -5}, {"contradiction": {"premise": 0.5}}):
        with pytest.raises(ValueError, match=r"accepted|sum"):
            GateSettings(**wrong)
    assert isinstance(context(), ReasoningContext)
    assert GateSettings().sha256 != GateSettings(tau_base=0.3).sha256
    assert TOOLS == ["refund"]
