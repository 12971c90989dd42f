"""One rule of a policy, and how it judges a response."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from steelyard.evaluators.contract.values import identity, plain_copy

RULE_SATISFIED = "RULE_SATISFIED"
FIELD_MISSING = "FIELD_MISSING"

_NOTHING: Any = object()  # an absent member; None is the value null


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, made by `validate_policy`.

    Attributes
    ----------
    rule_id : str
        Its identifier.
    kind : str
        One of `KINDS`.
    path : str
        The names that lead to the value, joined by dots.
    operands : dict
        ``{"value": ...}`` for ``equals``, ``{"values": [...]}`` for ``one_of``, else empty. Read
        it, do not change it.
    """

    rule_id: str
    kind: str
    path: str
    operands: dict[str, Any]
    names: tuple[str, ...] = field(init=False, repr=False, compare=False)
    accepted: frozenset[tuple[type, Any]] = field(init=False, repr=False, compare=False)
    test: Callable[[Rule, Any], bool] = field(init=False, repr=False, compare=False)
    reason_if_failed: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        test, reason = _TESTS[self.kind]
        entries = (
            self.operands.values() if self.kind == "equals" else self.operands.get("values", ())
        )
        object.__setattr__(self, "names", tuple(self.path.split(".")))
        object.__setattr__(self, "accepted", frozenset(map(identity, entries)))
        object.__setattr__(self, "test", test)
        object.__setattr__(self, "reason_if_failed", reason)

    def accepts(self, value: Any) -> bool:
        """Return whether a checked value, once found at the path, passes."""
        return self.test(self, value)

    def document(self) -> dict[str, Any]:
        """Return the rule as it stands in a policy, as a fresh copy."""
        operands = plain_copy(self.operands)
        return {"rule_id": self.rule_id, "kind": self.kind, "path": self.path, **operands}

    def reason(self, response: Any) -> str:
        """Return `RULE_SATISFIED`, or the code of what is wrong with a response.

        A path is followed through objects only, by exact names; whatever cannot be followed is
        `FIELD_MISSING`.
        """
        value = response
        for name in self.names:
            if type(value) is not dict:
                return FIELD_MISSING
            value = value.get(name, _NOTHING)
            if value is _NOTHING:
                return FIELD_MISSING
        return RULE_SATISFIED if self.test(self, value) else self.reason_if_failed

    def judge(self, response: Any) -> dict[str, Any]:
        """Return the row of an evaluation; it holds no value of the response."""
        reason = self.reason(response)
        return {
            "kind": self.kind,
            "passed": reason is RULE_SATISFIED,
            "path": self.path,
            "reason_code": reason,
            "rule_id": self.rule_id,
        }


def _is_present(_rule: Rule, _value: Any) -> bool:
    return True


def _is_accepted(rule: Rule, value: Any) -> bool:
    return identity(value) in rule.accepted


def _is_false(_rule: Rule, value: Any) -> bool:
    return value is False


def _is_empty_list(_rule: Rule, value: Any) -> bool:
    return type(value) is list and not value


_TESTS: dict[str, tuple[Callable[[Rule, Any], bool], str]] = {
    "required_field": (_is_present, FIELD_MISSING),  # present is all it asks
    "equals": (_is_accepted, "VALUE_NOT_EQUAL"),
    "one_of": (_is_accepted, "VALUE_NOT_ALLOWED"),
    "false": (_is_false, "VALUE_NOT_FALSE"),
    "empty_list": (_is_empty_list, "VALUE_NOT_EMPTY_LIST"),
}

KINDS = tuple(_TESTS)
"""The kinds of rule of schema 1.0."""
