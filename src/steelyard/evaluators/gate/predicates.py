"""Evaluation of predicates over facts and the action.

A condition is true, false or unbound (it names a fact, an argument or an action that is not
there). With Kleene's logic a false operand decides "and" and a true one decides "or", wherever
it stands, whatever the others are. The published gate reads from left to right and stops at the
first operand that is unbound.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.gate.predicate_lexer import PredicateError
from steelyard.evaluators.gate.predicate_parser import (
    Comparison,
    Junction,
    Negation,
    Node,
    Path,
    parse_predicate,
)
from steelyard.evaluators.gate.schemas import CandidateAction, FactValue

_ABSENT = object()

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(slots=True)
class Outcome:
    """What became of a predicate.

    Attributes
    ----------
    value : bool or None
        None if it is unbound or failed.
    unbound : bool
        Whether something that it names is missing.
    error : str
        Why it could not be read or evaluated; empty otherwise.
    cited_fact_keys : tuple of str
        Facts that it names; empty if it could not be parsed.
    """

    value: bool | None
    unbound: bool
    error: str
    cited_fact_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bindings:
    """What a predicate is evaluated over.

    Parameters
    ----------
    facts : mapping of str to FactValue
        The facts.
    action : CandidateAction, optional
        The action.
    in_order : bool, default False
        Whether operands are read from left to right, as published.
    literals_only : bool, default False
        Whether the right side must be a literal, of any script's digits, as published.
    """

    facts: Mapping[str, FactValue]
    action: CandidateAction | None = None
    in_order: bool = False
    literals_only: bool = False


def evaluate_predicate(text: str, bindings: Bindings) -> Outcome:
    """Parse and evaluate a predicate; nothing is raised.

    Parameters
    ----------
    text : str
        A predicate, or anything else.
    bindings : Bindings
        Facts and action.

    Returns
    -------
    Outcome
        Exactly one of ``value is not None``, ``unbound`` and ``error`` holds.
    """
    predicate = parse_predicate(text, literals_only=bindings.literals_only)
    cited = predicate.cited_fact_keys
    if predicate.root is None:
        return Outcome(None, unbound=False, error=predicate.error, cited_fact_keys=cited)
    try:
        value = _evaluate(predicate.root, bindings)
    except PredicateError as error:
        return Outcome(None, unbound=False, error=str(error), cited_fact_keys=cited)
    except RecursionError:
        return Outcome(None, unbound=False, error="nested too deeply", cited_fact_keys=cited)
    return Outcome(value, unbound=value is None, error="", cited_fact_keys=cited)


def _evaluate(node: Node, bindings: Bindings) -> bool | None:
    """Return True, False, or None where it is unbound. The parser bounds the depth."""
    if isinstance(node, Comparison):
        return _compare(node, bindings)
    if isinstance(node, Negation):
        value = _evaluate(node.operand, bindings)
        return None if value is None else not value
    if bindings.in_order:
        return _junction_in_order(node, bindings)
    return _junction(node, bindings)


def _junction(node: Junction, bindings: Bindings) -> bool | None:
    """Kleene's logic; an operand that cannot be evaluated counts like an unbound one."""
    unbound, failure = False, None
    for operand in node.operands:
        try:
            value = _evaluate(operand, bindings)
        except PredicateError as error:
            failure = failure or error
            continue
        if value is node.decisive:
            return node.decisive
        unbound = unbound or value is None
    if failure is not None:
        raise failure
    return None if unbound else not node.decisive


def _junction_in_order(node: Junction, bindings: Bindings) -> bool | None:
    for operand in node.operands:
        value = _evaluate(operand, bindings)
        if value is None or value is node.decisive:
            return value
    return not node.decisive


def _compare(node: Comparison, bindings: Bindings) -> bool | None:
    left = _value_at(node.left, bindings)
    right = node.right
    if isinstance(right, Path):
        right = _value_at(right, bindings)
    if left is _ABSENT or right is _ABSENT:
        return None
    try:
        if node.operator == "in":
            if not isinstance(right, list):
                raise PredicateError("the right side of 'in' must be a list")
            return left in right
        return bool(_OPERATORS[node.operator](left, right))
    except (TypeError, RecursionError, OverflowError):
        kinds = f"{type(left).__name__} {node.operator} {type(right).__name__}"
        raise PredicateError(f"{kinds} cannot be compared") from None


def _value_at(path: Path, bindings: Bindings) -> Any:
    if path.root == "fact":
        fact = bindings.facts.get(path.key)
        return _ABSENT if fact is None else fact.value
    if bindings.action is None:
        return _ABSENT
    if path.root == "name":
        return bindings.action.name
    return bindings.action.payload.get(path.key, _ABSENT)
