"""Rules as plain data, for policies that stand in a TOML or JSON file.

One mapping per rule::

    { rule = "must_call", tool = "check_duplicate", severity = "critical" }
    { rule = "must_not_call", tool = "pay", when = { is_false = "should_pay" } }
    { rule = "ordering", first = "approve", then = "pay", when = { is_true = "needs_approval" } }
    { rule = "call_at_most", tool = "pay", limit = 1 }
    { rule = "argument_equals", tool = "pay", argument = "amount", from_context = "expected" }
    { rule = "argument_satisfies", tool = "approve", predicate = "authority", id = "authority" }
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields
from typing import Any

from steelyard.errors import InputError, UnknownNameError
from steelyard.evaluators.invariants.rule import Condition, ContextFlag, Rule
from steelyard.evaluators.invariants.rules import (
    ArgumentEquals,
    ArgumentSatisfies,
    CallAtMost,
    MustCall,
    MustNotCall,
    Ordering,
    Predicate,
)

RULES: Mapping[str, type[Rule]] = {
    "must_call": MustCall,
    "must_not_call": MustNotCall,
    "ordering": Ordering,
    "call_at_most": CallAtMost,
    "argument_equals": ArgumentEquals,
    "argument_satisfies": ArgumentSatisfies,
}


def rules_from_data(
    data: Iterable[Mapping[str, Any]], predicates: Mapping[str, Predicate] | None = None
) -> tuple[Rule, ...]:
    """Make rules from plain data.

    Parameters
    ----------
    data : iterable of mapping
        One mapping per rule; see the module's text.
    predicates : mapping of str to callable, optional
        The predicates that ``argument_satisfies`` rules name.

    Returns
    -------
    tuple of Rule
        In the order of ``data``.

    Raises
    ------
    UnknownNameError
        A rule, a parameter, a condition or a predicate that does not exist.
    InputError
        A parameter that is lacking.
    """
    return tuple(
        _rule(entry, predicates or {}, f"rule {number}") for number, entry in enumerate(data, 1)
    )


def _rule(entry: Mapping[str, Any], predicates: Mapping[str, Predicate], where: str) -> Rule:
    if "rule" not in entry:
        raise InputError(f"{where} has no 'rule'; accepted are " + ", ".join(RULES))
    parameters = {key: value for key, value in entry.items() if key != "rule"}
    kind = _lookup("rule", entry["rule"], RULES, where)
    where = f"{where} ({entry['rule']})"
    accepted = {field.name for field in fields(kind)}
    for key in parameters:
        if key not in accepted:
            raise UnknownNameError("parameter", key, accepted, where)
    lacking = [
        field.name
        for field in fields(kind)
        if field.default is MISSING and field.name not in parameters
    ]
    if lacking:
        raise InputError(f"{where} lacks {', '.join(lacking)}")
    if "when" in parameters:
        parameters["when"] = _condition(parameters["when"], where)
    if "predicate" in parameters:
        parameters["predicate"] = _lookup("predicate", parameters["predicate"], predicates, where)
    rule: Rule = kind(**parameters)
    return rule


def _lookup(kind: str, name: Any, known: Mapping[str, Any], where: str) -> Any:
    if name not in known:
        raise UnknownNameError(kind, str(name), known, where)
    return known[name]


def _condition(value: Any, where: str) -> Condition:
    match value:
        case {"is_true": str(key), **rest} if not rest:
            return ContextFlag(key)
        case {"is_false": str(key), **rest} if not rest:
            return ContextFlag(key, value=False)
    raise InputError(
        f"{where}: when is {value!r}; accepted are {{ is_true = FLAG }} and {{ is_false = FLAG }}"
    )
