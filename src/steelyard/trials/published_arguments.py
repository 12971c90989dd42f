"""The comparison of arguments that Plumbline 0.3.0 published, for figures that rest on it.

It normalises before it compares: text is trimmed, its white space collapsed, its case dropped;
every number is a double; and Python's equality applies, in which ``True == 1.0``. Lists lose order
and multiplicity unless declared otherwise. `steelyard.trials.arguments` is what to use elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from steelyard.errors import InputError
from steelyard.trials.argument_schema import (
    ArgumentDifference,
    ArgumentSchema,
    FieldPolicy,
    argument_names,
)
from steelyard.trials.model import Arguments
from steelyard.trials.tokens import MAX_DEPTH


def normalised(value: Any) -> Any:
    """Return a scalar as the published rule compares it: text folded, numbers as doubles."""
    if isinstance(value, str):
        return " ".join(value.split()).lower()
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _double(value)
    return value


def canonical(value: Any, *, _depth: int = 0) -> Any:
    """Return a value in the published canonical form.

    A mapping becomes the tuple of its (key, canonical value) pairs in the order of the keys, a
    list the tuple of its canonical members, a scalar is `normalised`.
    """
    if _depth > MAX_DEPTH:
        raise InputError(f"value is nested deeper than {MAX_DEPTH} levels")
    deeper = _depth + 1
    if isinstance(value, Mapping):
        pairs = [(str(key), canonical(member, _depth=deeper)) for key, member in value.items()]
        return tuple(sorted(pairs, key=lambda pair: pair[0]))
    if isinstance(value, list | tuple):
        return tuple(canonical(member, _depth=deeper) for member in value)
    return normalised(value)


def compare(
    expected: Arguments, got: Arguments, schema: ArgumentSchema | None, tool: str
) -> tuple[ArgumentDifference, ...]:
    """List the differences between two calls by the published rules.

    Parameters
    ----------
    expected, got : mapping, UnreadableArguments or None
        Arguments that were not recorded count as empty; unreadable ones as one field ``_raw``,
        which is where Plumbline's importer puts them.
    schema : ArgumentSchema or None
        An unknown policy compares canonically.
    tool : str
        Named in the result.
    """
    return tuple(_differences(_as_mapping(expected), _as_mapping(got), schema, tool))


def policy_for(name: str, schema: ArgumentSchema | None, value: Any) -> FieldPolicy:
    """Return the policy of a field.

    Undeclared fields go by the type of ``value``: booleans exact, numbers numeric without
    tolerance, lists as sets with severity ``medium``, everything else exact.
    """
    if schema is not None:
        declared = schema.fields.get(name) or schema.default
        if declared is not None:
            return declared
    if isinstance(value, int | float) and not isinstance(value, bool):
        return FieldPolicy("numeric")
    if isinstance(value, list | tuple | set | frozenset):
        return FieldPolicy("set", severity="medium")
    return FieldPolicy("exact")


def differs(expected: Any, got: Any, tolerance: float = 0.0) -> bool:
    """Return whether a value differs from the one a rule expects, as ``ArgEquals`` decides it.

    Both are taken as doubles where ``float()`` accepts them, and differ when they are further
    apart than ``tolerance``: NaN is never further apart than anything. Otherwise their trimmed,
    lower-cased texts are compared.
    """
    left, right = _as_float(expected), _as_float(got)
    if left is None or right is None:
        return str(got).strip().lower() != str(expected).strip().lower()
    return abs(right - left) > tolerance


def _as_mapping(arguments: Arguments) -> Mapping[str, Any]:
    if arguments is None:
        return {}
    return arguments if isinstance(arguments, Mapping) else {"_raw": arguments.raw}


def _differences(
    expected: Mapping[str, Any],
    got: Mapping[str, Any],
    schema: ArgumentSchema | None,
    tool: str,
) -> Iterator[ArgumentDifference]:
    for name in argument_names(expected, got):
        absent: Literal["expected", "got"] | None = None
        if name not in expected:
            absent = "expected"
        elif name not in got:
            absent = "got"
        left, right = expected.get(name), got.get(name)
        rule = policy_for(name, schema, right if absent == "expected" else left)
        if rule.policy == "ignore":
            continue
        equal, magnitude = (False, None) if absent else _compare_values(left, right, rule)
        if not equal:
            yield ArgumentDifference(
                tool, name, left, right, rule.policy, rule.severity, magnitude, absent
            )


def _compare_values(left: Any, right: Any, rule: FieldPolicy) -> tuple[bool, float | None]:
    if rule.policy == "numeric":
        first, second = _as_float(left), _as_float(right)
        if first is not None and second is not None:
            return _compare_numbers(first, second, rule)
    if rule.policy == "set":
        return _member_set(left) == _member_set(right), None
    return bool(canonical(left) == canonical(right)), None


def _compare_numbers(left: float, right: float, rule: FieldPolicy) -> tuple[bool, float | None]:
    absolute, relative = rule.absolute_tolerance, rule.relative_tolerance
    if absolute == 0 and relative == 0:
        equal = left == right
    else:
        equal = abs(left - right) <= max(relative * max(abs(left), abs(right)), absolute)
    return equal, None if left == 0 else right / left


def _member_set(value: Any) -> set[Any]:
    members = value if isinstance(value, list | tuple | set | frozenset) else [value]
    try:
        return {canonical(member) for member in members}
    except TypeError:
        raise InputError(
            f"{value!r:.80} holds a member that is no JSON value; accepted are null, booleans, "
            "numbers, text, lists and objects"
        ) from None


def _double(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        raise InputError(
            "an integer is beyond the range of a double, which the "
            "published comparison makes of every number; compare without compatibility='plumbline'"
        ) from None


def _as_float(value: Any) -> float | None:
    """Return ``float(value)``, or None where Python refuses it."""
    if isinstance(value, int):
        return _double(value)
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
