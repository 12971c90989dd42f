"""Judging a response by a policy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from steelyard.evaluators.contract.errors import ResponseError
from steelyard.evaluators.contract.policy import Policy, validate_policy
from steelyard.evaluators.contract.rules import Rule
from steelyard.evaluators.contract.values import ValueProblemError, checked_document


def evaluate(policy: Any, response: Any) -> dict[str, Any]:
    """Judge a response by every rule of a policy, in its order.

    Parameters
    ----------
    policy : dict or Policy
        Validated first.
    response : dict
        The object that is judged.

    Returns
    -------
    dict
        ``passed`` (every rule is), ``policy_id`` and ``rule_results``: per rule ``kind``,
        ``passed``, ``path``, ``reason_code`` and ``rule_id``. No value of the response.

    Raises
    ------
    PolicyError
        As `validate_policy`.
    ResponseError
        If the response is no object or exceeds the limits.

    Examples
    --------
    >>> rule = {"rule_id": "calm", "kind": "false", "path": "alarm"}
    >>> policy = {"schema_version": "1.0", "policy_id": "p", "rules": [rule]}
    >>> evaluate(policy, {"alarm": 0})["rule_results"][0]["reason_code"]
    'VALUE_NOT_FALSE'
    """
    checked = validate_policy(policy)
    copy, _ = checked_response(response)
    return judge(checked, checked.rules, copy)


def checked_response(response: Any) -> tuple[dict[str, Any], int]:
    """Return a copy of a response, and its canonical size in bytes.

    Raises
    ------
    ResponseError
        If it is no object or exceeds the limits.
    """
    if type(response) is not dict:
        raise ResponseError("the response is not an object")
    try:
        return checked_document(response)
    except ValueProblemError as problem:
        raise ResponseError(f"the response is not usable: {problem}") from None


def judge(policy: Policy, rules: Iterable[Rule], response: dict[str, Any]) -> dict[str, Any]:
    """Judge a checked response by ``rules``, those of ``policy`` in any order."""
    rows = [rule.judge(response) for rule in rules]
    return {
        "passed": all(row["passed"] for row in rows),
        "policy_id": policy.policy_id,
        "rule_results": rows,
    }
