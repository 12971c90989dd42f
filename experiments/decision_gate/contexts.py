"""What a decider is told about a request: facts, specifications, policies, records."""

from __future__ import annotations

from typing import Any

from decision_gate.cases import Request
from decision_gate.domains import Limit

NEGATED = {"<=": ">", ">=": "<", "==": "!="}


def context_of(request: Request) -> dict[str, Any]:
    """Return the context of a request, as `steelyard.evaluators.gate.read_context` takes it."""
    domain = request.domain
    shown = {name: fact for name, fact in domain.facts.items() if name not in request.hidden}
    action = {
        "id": "action",
        "kind": "tool_invocation",
        "name": domain.action,
        "payload": {domain.size: request.asked},
    }
    return {
        "query": domain.question,
        "hypothesis": {"id": request.case_id, "statement": domain.question, "action": action},
        "structured_facts": {
            name: {"key": name, "value": request.facts[name]}
            | ({"unit": fact.unit} if fact.unit else {})
            for name, fact in shown.items()
        },
        "fact_specs": {name: _spec(request, name) for name in domain.facts},
        "policy_rules": [_permission(domain.action)]
        + [_policy(limit, domain.action) for limit in domain.limits if limit.severity],
        "objective": {
            "id": "objective",
            "terms": [_term(request)],
            "reject_below": 0.05,
            "caution_below": 0.1,
        },
        "evidence": _records(request),
    }


def _spec(request: Request, name: str) -> dict[str, Any]:
    fact = request.domain.facts[name]
    written = {limit.fact for limit in request.domain.limits if limit.severity}
    spec = {"key": name, "fact_type": fact.kind, "required": name in written}
    return spec | ({"unit": fact.unit} if fact.unit else {})


def _permission(action: str) -> dict[str, Any]:
    """Allow the action in general; every other policy narrows this down."""
    return {
        "id": "may",
        "modality": "permission",
        "predicate": f"action.name == '{action}'",
        "severity": "block",
        "authority": "trusted",
        "action_name": action,
    }


def _policy(limit: Limit, action: str) -> dict[str, Any]:
    bound = str(limit.bound).lower() if isinstance(limit.bound, bool) else limit.bound
    return {
        "id": f"limit-{limit.fact}",
        "modality": "prohibition",
        "predicate": f"fact.{limit.fact} {NEGATED[limit.relation]} {bound}",
        "severity": limit.severity,
        "authority": "trusted",
        "action_name": action,
    }


def _term(request: Request) -> dict[str, Any]:
    name = request.domain.objective
    limit = next(one for one in request.domain.limits if one.fact == name)
    direction = "minimize" if limit.relation == "<=" else "maximize"
    return {"fact_key": name, "weight": 1.0, "direction": direction, "target": limit.bound}


def _records(request: Request) -> list[dict[str, Any]]:
    """Return the record that the numbers rest on, and a second one where two disagree."""
    numbers = {
        name: float(value)
        for name, value in request.facts.items()
        if not isinstance(value, bool) and name not in request.hidden
    }
    first = {
        "id": "record",
        "content": "The system of record.",
        "source": "records",
        "trust": 0.9,
        "freshness_hours": request.record_age,
        "numeric_claims": numbers,
    }
    if request.disputed not in numbers:
        return [first]
    value = numbers[request.disputed]
    second = {
        "id": "second-record",
        "content": "A second system.",
        "source": "ledger",
        "trust": 0.9,
        "freshness_hours": request.record_age,
        "numeric_claims": {request.disputed: value * 3 + 1},
    }
    return [first, second]
