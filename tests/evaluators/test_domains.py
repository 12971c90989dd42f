"""The two invoice domains of ``experiments/domains`` hold together."""

from __future__ import annotations

import pytest

from steelyard.evaluators.invariants import Policy
from vectors.adapters_trajectories import accounts_payable, procure_to_pay

DOMAINS = [procure_to_pay, accounts_payable]


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.__name__)
def test_every_rule_has_an_id_of_its_own_and_applies_somewhere(domain):
    policy = Policy(domain.RULES)
    applied = {
        rule.id for context in domain.CONTEXTS.values() for rule in policy.applicable(context)
    }
    assert applied == {rule.id for rule in policy.rules}


@pytest.mark.parametrize("domain", DOMAINS, ids=lambda domain: domain.__name__)
def test_every_invoice_is_paid_or_held_or_applied(domain):
    assert domain.EXPECTED_STATES.keys() == domain.CONTEXTS.keys() == domain.INVOICES.keys()
    for expected in domain.EXPECTED_STATES.values():
        state = dict(expected.values)
        assert expected.met_by(state)
        ends = [state["paid"], state["exception_raised"], state.get("credit_applied", False)]
        assert sum(ends) == 1


def test_rules_of_the_studies_are_those_of_the_domain(tables):
    for study in ("plumbline_determinism", "plumbline_parity", "plumbline_retry"):
        declared = tables(study).design.rules
        assert set(declared) == {rule.id for rule in procure_to_pay.RULES}
        for rule in procure_to_pay.RULES:
            assert declared[rule.id].severity == rule.severity
            for task, context in procure_to_pay.CONTEXTS.items():
                assert declared[rule.id].applies_to(task) == rule.applies(context)


def test_argument_schemas_of_the_study_are_those_of_the_domain(tables):
    declared = tables("plumbline_parity").design.argument_schemas
    exact = {t: s for t, s in procure_to_pay.ARGUMENT_SCHEMAS.items() if t not in declared}
    assert declared == {t: procure_to_pay.ARGUMENT_SCHEMAS[t] for t in declared}
    assert all(p.policy == "exact" for s in exact.values() for p in s.fields.values())


def test_authority_rises_with_the_amount():
    roles = [accounts_payable.required_role(amount) for amount in (0, 5000, -25000, 1e9)]
    assert roles == ["ap_clerk", "controller", "finance_director", "cfo"]
    assert accounts_payable.hold_category("NO SUCH CODE") == accounts_payable.UNLISTED_HOLD
