"""Policies of schema 1.0: their validation, and the object that has passed it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from steelyard.evaluators.contract.errors import PolicyError
from steelyard.evaluators.contract.rules import KINDS, Rule
from steelyard.evaluators.contract.values import ValueProblemError, checked_document

SCHEMA_VERSION = "1.0"
MAX_RULES = 256
MAX_ENTRIES = 256
"""Most values of a ``one_of`` rule."""

MAX_SEGMENTS = 32
"""Most names in a path."""

_IDENTIFIER = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_PATH = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*(?:\.[A-Za-z_][A-Za-z0-9_-]*)*")
_NAMES_SHOWN, _NAME_SHOWN = 8, 60  # in a message: names, and characters of one
_OPERANDS = {"equals": ("value",), "one_of": ("values",)}


@dataclass(frozen=True, slots=True)
class Policy:
    """A validated policy. Made by `validate_policy`; shares nothing with what it was made from.

    Whoever is handed one checks it again, as any document.

    Attributes
    ----------
    policy_id : str
        Its identifier.
    rules : tuple of Rule
        In the order in which they were declared.
    size : int
        Bytes of its canonical text; the same whatever the order of the rules.
    """

    policy_id: str
    rules: tuple[Rule, ...]
    size: int

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """Ids of the rules, in their order."""
        return tuple(rule.rule_id for rule in self.rules)

    def document(self, order: Sequence[int] | None = None) -> dict[str, Any]:
        """Return the policy as JSON has it, as a fresh copy.

        Parameters
        ----------
        order : sequence of int, optional
            Positions of the rules, in the order in which the copy is to have them.
        """
        rules = self.rules if order is None else [self.rules[position] for position in order]
        return {
            "schema_version": SCHEMA_VERSION,
            "policy_id": self.policy_id,
            "rules": [rule.document() for rule in rules],
        }


def validate_policy(value: Any) -> Policy:
    """Check a policy against schema 1.0.

    Parameters
    ----------
    value : dict or Policy
        The document: ``schema_version`` (``"1.0"``), ``policy_id`` and ``rules``. A `Policy` is
        checked anew: nothing keeps a program from making one by hand, or from changing an operand.

    Returns
    -------
    Policy

    Raises
    ------
    PolicyError
        For the first thing that is wrong, with policy, rule and index where they are known.

    Examples
    --------
    >>> rule = {"rule_id": "calm", "kind": "false", "path": "alarm.raised"}
    >>> validate_policy({"schema_version": "1.0", "policy_id": "p", "rules": [rule]}).rule_ids
    ('calm',)
    """
    if isinstance(value, Policy):
        value = _as_document(value)
    if type(value) is not dict:
        raise PolicyError("the policy is not an object")
    try:
        document, size = checked_document(value)
    except ValueProblemError as problem:
        raise PolicyError(f"the policy is not usable: {problem}") from None
    fields = {"schema_version", "policy_id", "rules"}
    if wrong := _wrong_fields(document, fields):
        raise PolicyError(f"the policy has the wrong fields: {wrong}")
    if document["schema_version"] != SCHEMA_VERSION:
        raise PolicyError(f'schema_version must be the text "{SCHEMA_VERSION}"')
    policy_id = document["policy_id"]
    if not _is_identifier(policy_id):
        raise PolicyError(f"policy_id is not an identifier ({_IDENTIFIERS})")
    return Policy(policy_id, _rules(document["rules"], policy_id), size)


def _as_document(policy: Policy) -> dict[str, Any]:
    """Return what a policy says, uncopied: its operands may be anything until they are checked."""
    rules = [
        {"rule_id": rule.rule_id, "kind": rule.kind, "path": rule.path} | rule.operands
        for rule in policy.rules
    ]
    return {"schema_version": SCHEMA_VERSION, "policy_id": policy.policy_id, "rules": rules}


_IDENTIFIERS = "1 to 128 of A-Z a-z 0-9 . _ -, beginning with a letter or digit"


def _rules(value: Any, policy_id: str) -> tuple[Rule, ...]:
    if type(value) is not list or not value:
        raise PolicyError("rules must be an array with at least one rule", policy_id=policy_id)
    if len(value) > MAX_RULES:
        raise PolicyError(
            f"the policy has {len(value)} rules; at most {MAX_RULES} are accepted",
            policy_id=policy_id,
        )
    rules: dict[str, Rule] = {}
    for index, entry in enumerate(value):
        rule = _RuleReader(policy_id, index, entry).rule(rules)
        rules[rule.rule_id] = rule
    return tuple(rules.values())


@dataclass(frozen=True)
class _RuleReader:
    """Reads one rule, and says where it stands when something is wrong."""

    policy_id: str
    index: int
    entry: Any

    def rule(self, earlier: dict[str, Rule]) -> Rule:
        entry = self.entry
        if type(entry) is not dict:
            self._refuse("is not an object")
        kind = entry.get("kind")
        if type(kind) is not str or kind not in KINDS:
            self._refuse(f"has no known kind; accepted are {', '.join(KINDS)}")
        operands = _OPERANDS.get(kind, ())
        if wrong := _wrong_fields(entry, {"rule_id", "kind", "path", *operands}):
            self._refuse(f"has the wrong fields for kind {kind}: {wrong}")
        if not _is_identifier(entry["rule_id"]):
            self._refuse(f"has a rule_id that is not an identifier ({_IDENTIFIERS})")
        if entry["rule_id"] in earlier:
            self._refuse("has the rule_id of an earlier rule")
        self._check_path(entry["path"])
        if kind == "one_of":
            self._check_entries(entry["values"])
        given = {name: entry[name] for name in operands}
        rule = Rule(entry["rule_id"], kind, entry["path"], given)
        if kind == "one_of" and len(rule.accepted) < len(entry["values"]):
            self._refuse("has two equal entries in values")
        return rule

    def _check_path(self, path: Any) -> None:
        if type(path) is not str or not _PATH.fullmatch(path):
            self._refuse(
                "has a path that is not made of names joined by dots (a name: ASCII letters, "
                "digits, _ and -, beginning with a letter or _)"
            )
        if path.count(".") >= MAX_SEGMENTS:
            self._refuse(f"has a path of more than {MAX_SEGMENTS} names")

    def _check_entries(self, values: Any) -> None:
        if type(values) is not list or not values:
            self._refuse("needs an array with at least one entry as values")
        if len(values) > MAX_ENTRIES:
            self._refuse(f"has {len(values)} values; at most {MAX_ENTRIES} are accepted")

    def _refuse(self, problem: str) -> NoReturn:
        known = self.entry.get("rule_id") if type(self.entry) is dict else None
        rule_id = known if _is_identifier(known) else None
        name = f"rule {self.index} ({rule_id})" if rule_id else f"rule {self.index}"
        raise PolicyError(
            f"{name} {problem}", policy_id=self.policy_id, rule_id=rule_id, rule_index=self.index
        )


def _is_identifier(value: Any) -> bool:
    return type(value) is str and _IDENTIFIER.fullmatch(value) is not None


def _wrong_fields(value: dict[str, Any], expected: set[str]) -> str:
    """Say which fields are missing and which are unknown; the empty text if none is."""
    missing, unknown = sorted(expected - value.keys()), sorted(value.keys() - expected)
    parts = [
        f"{word} {_listed(names)}"
        for word, names in (("missing", missing), ("unknown", unknown))
        if names
    ]
    return "; ".join(parts)


def _listed(names: list[str]) -> str:
    """Write a few names out: a response that was taken for a policy may have thousands."""
    shown = [repr(n if len(n) <= _NAME_SHOWN else f"{n[:_NAME_SHOWN]}...") for n in names]
    more = [f"{len(names) - _NAMES_SHOWN} more"] if len(names) > _NAMES_SHOWN else []
    return ", ".join(shown[:_NAMES_SHOWN] + more)
