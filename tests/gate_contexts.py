"""Contexts for the gate's tests: a refund that may be executed, and changes of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from steelyard.evaluators.gate import (
    DEFAULT,
    PUBLISHED,
    Compatibility,
    Decision,
    Gate,
    GateSettings,
    ReasoningContext,
    read_context,
)

TOOLS = ["refund"]
BOTH = pytest.mark.parametrize("compatibility", [DEFAULT, PUBLISHED], ids=["default", "published"])


def action(**changes: Any) -> dict[str, Any]:
    """Return a tool call that refunds 20."""
    fields = {"id": "a", "kind": "tool_invocation", "name": "refund", "payload": {"amount": 20}}
    return {**fields, **changes}


def rule(name: str, predicate: str, **changes: Any) -> dict[str, Any]:
    """Return a trusted prohibition that blocks."""
    fields = {
        "id": name,
        "modality": "prohibition",
        "severity": "block",
        "authority": "trusted",
        "predicate": predicate,
    }
    return {**fields, **changes}


def permission(predicate: str = "fact.amount <= 50") -> dict[str, Any]:
    """Return the permission of small refunds."""
    return rule("small", predicate, modality="permission", action_name="refund")


def evidence(name: str, **changes: Any) -> dict[str, Any]:
    """Return an item of evidence."""
    return {"id": name, "content": "text", "source": "s", **changes}


def refund(**changes: Any) -> dict[str, Any]:
    """Return the fields of a context whose refund may be executed."""
    fields = {
        "query": "Decide about the refund of order nine",
        "hypothesis": {"id": "h", "statement": "Refund order nine", "action": action()},
        "facts": {"amount": 20},
        "specs": {"amount": {"fact_type": "int", "minimum": 0, "maximum": 100, "required": True}},
        "policy_rules": [permission()],
    }
    return {**fields, **changes}


def with_action(**changes: Any) -> dict[str, Any]:
    """Return a hypothesis about another action."""
    return {"id": "h", "statement": "Refund order nine", "action": action(**changes)}


def context(
    fields: Mapping[str, Any] | None = None, compatibility: Compatibility = DEFAULT
) -> ReasoningContext:
    """Read fields as a context."""
    return read_context(refund() if fields is None else fields, compatibility=compatibility)


def decide(
    fields: Mapping[str, Any] | None = None,
    tools: list[str] | None = TOOLS,
    compatibility: Compatibility = DEFAULT,
    **settings: Any,
) -> Decision:
    """Decide fields as a context."""
    gate = Gate(GateSettings(**settings), compatibility)
    return gate.decide(context(fields, compatibility), tools)
