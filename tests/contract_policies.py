"""Small policies and evaluators for the tests of the contract room and of order drift."""

from __future__ import annotations

from typing import Any

from vectors.declared_evaluators import DeclaredEvaluator


def rule(rule_id: str, kind: str = "false", path: str | None = None, **operands: Any) -> dict:
    return {"rule_id": rule_id, "kind": kind, "path": path or rule_id, **operands}


def policy(*rules: Any, **changes: Any) -> dict[str, Any]:
    """Return a policy; rules are documents, or ids of rules that want false."""
    documents = [rule(one) if isinstance(one, str) else one for one in rules]
    return {"schema_version": "1.0", "policy_id": "p", "rules": documents, **changes}


def numbered(count: int) -> dict[str, Any]:
    """Return a policy of rules r0, r1, ..."""
    return policy(*(f"r{i}" for i in range(count)))


def passing(count: int) -> dict[str, Any]:
    """Return a response that passes `numbered`."""
    return {f"r{i}": False for i in range(count)}


def when(condition: dict[str, Any], *actions: dict[str, Any]) -> DeclaredEvaluator:
    """Return an evaluator that differs from the built-in one under a condition."""
    return DeclaredEvaluator({"steps": [{"when": condition, "do": list(actions)}]})


def flip(rule_id: str) -> dict[str, Any]:
    return {"flip_passed": {"row": rule_id}}
