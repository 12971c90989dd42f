"""The perturbations: the same request told in another way, or with less to go on.

Four of them leave everything as it is, and no directive may change: the order of facts and of
policies, irrelevant facts, and another unit for a number. Two take something away: a fact, or the
freshness of the record. Then the right directive changes with them, and `Case.request` says so.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from decision_gate.cases import STALE, Request
from decision_gate.contexts import context_of

PRESERVING = ("fact_order", "policy_order", "irrelevant_facts", "unit_changes")
Context = dict[str, Any]
Changed = tuple[Request, Context]


def unchanged(request: Request, source: random.Random) -> Changed:  # noqa: ARG001
    """Leave everything as it is."""
    return request, context_of(request)


def fact_order(request: Request, source: random.Random) -> Changed:
    """Tell facts, specifications and records in another order."""
    context = context_of(request)
    for name in ("structured_facts", "fact_specs"):
        context[name] = dict(_shuffled(context[name].items(), source))
    context["evidence"] = _shuffled(context["evidence"], source)
    return request, context


def policy_order(request: Request, source: random.Random) -> Changed:
    """Tell the policies in another order."""
    context = context_of(request)
    context["policy_rules"] = _shuffled(context["policy_rules"], source)
    return request, context


def irrelevant_facts(request: Request, source: random.Random) -> Changed:
    """Add facts and a record that have no bearing on the request."""
    context = context_of(request)
    noise = {f"note_{number}": round(source.uniform(0, 1_000), 2) for number in range(6)}
    for name, value in noise.items():
        context["structured_facts"][name] = {"key": name, "value": value}
    context["evidence"].append(
        {
            "id": "noise",
            "content": "A report about something else.",
            "source": "newsletter",
            "trust": 0.5,
            "freshness_hours": 5.0,
            "numeric_claims": {"visitors": round(source.uniform(10, 900), 1)},
        }
    )
    return request, context


def unit_changes(request: Request, source: random.Random) -> Changed:
    """Give one number in another unit, with the unit named; the quantity is the same."""
    context = context_of(request)
    facts = request.domain.facts
    known = [
        name for name in context["structured_facts"] if name in facts and facts[name].other_unit
    ]
    if not known:
        return request, context
    name = source.choice(sorted(known))
    fact = facts[name]
    told = context["structured_facts"][name]
    told["value"] = told["value"] * fact.factor
    if fact.kind == "int" and float(told["value"]).is_integer():
        told["value"] = int(told["value"])
    told["unit"] = fact.other_unit
    return request, context


def missing_facts(request: Request, source: random.Random) -> Changed:
    """Leave out one fact that a policy asks for."""
    written = [limit.fact for limit in request.domain.limits if limit.severity]
    hidden = source.choice(
        [name for name in written if name not in (*request.hidden, request.disputed)]
    )
    poorer = replace(request, hidden=(*request.hidden, hidden))
    return poorer, context_of(poorer)


def stale_evidence(request: Request, source: random.Random) -> Changed:  # noqa: ARG001
    """Let the records be twelve weeks old; the facts were taken from them."""
    older = replace(request, record_age=STALE)
    return older, context_of(older)


CHANGES: dict[str, Callable[[Request, random.Random], Changed]] = {
    "baseline": unchanged,
    "fact_order": fact_order,
    "policy_order": policy_order,
    "irrelevant_facts": irrelevant_facts,
    "unit_changes": unit_changes,
    "missing_facts": missing_facts,
    "stale_evidence": stale_evidence,
}


def _shuffled(items: Any, source: random.Random) -> list[Any]:
    """Return the items in an order that is not theirs, where there is another."""
    given = copy.copy(list(items))
    found = list(given)
    while len(given) > 1 and found == given:
        source.shuffle(found)
    return found
