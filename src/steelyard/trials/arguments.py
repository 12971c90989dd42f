"""Arguments of a call: read them without losing any, compare them by declared rules.

`read_arguments` turns whatever a trace recorded into one of three things: a mapping, None (not
recorded) or `UnreadableArguments`. `compare_arguments` lists the fields in which two calls of one
tool differ, each with the policy that was applied and the severity it was declared to have.

Without a declaration every difference counts: text by its code points, numbers by their value,
lists in order. Nothing is coerced: ``"007"`` is not 7, ``true`` is not 1, and NaN equals nothing,
itself included. A schema says which differences do not matter. The comparison that Plumbline
published, which does coerce, is `steelyard.trials.published_arguments`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from steelyard.errors import DataError, InputError
from steelyard.trials import published_arguments, strict_json
from steelyard.trials.argument_schema import (
    ArgumentDifference,
    ArgumentSchema,
    FieldPolicy,
    argument_names,
    check_policy,
)
from steelyard.trials.model import Arguments, UnreadableArguments
from steelyard.trials.tokens import arguments_text, canonical_text

# A tool-call layer that encodes its arguments twice is common, three times has been seen; a text
# that unwraps for longer is not arguments.
_MAX_ENCODINGS = 4
_LONGEST_NUMBER = 400
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")


def read_arguments(value: Any) -> Arguments:
    r"""Read the arguments of a call from what a trace recorded.

    Parameters
    ----------
    value : Any
        None, JSON text or bytes, or an already decoded JSON value.

    Returns
    -------
    mapping, UnreadableArguments or None
        None when nothing was recorded (None, blank text, JSON ``null``). A mapping for a JSON
        object, also one that was encoded as a JSON string and encoded again. Everything else (a
        list, a number, broken JSON, repeated keys, NaN) is kept in `UnreadableArguments` with
        the reason. Lone surrogates are replaced by U+FFFD.

    Examples
    --------
    >>> read_arguments('{"city": "Paris"}')
    {'city': 'Paris'}
    >>> read_arguments('"{\\"city\\": \\"Paris\\"}"')
    {'city': 'Paris'}
    >>> read_arguments("[1, 2]").reason
    'a list, not an object'
    """
    decoded = value
    for encoding in range(_MAX_ENCODINGS):
        if not isinstance(decoded, str | bytes):
            break
        if not decoded.strip():
            return None
        try:
            decoded = strict_json.loads(decoded, replace_surrogates=True)
        except DataError as error:
            if encoding > 0:  # a JSON string whose text is not JSON: a plain text
                break
            return UnreadableArguments(value, str(error))
    if decoded is None or isinstance(decoded, UnreadableArguments):
        return decoded
    if not isinstance(decoded, Mapping):
        return UnreadableArguments(decoded, f"{_json_type(decoded)}, not an object")
    if not all(isinstance(key, str) for key in decoded):
        return UnreadableArguments(decoded, "an object with keys that are not text")
    return decoded


def storable_arguments(arguments: Arguments) -> Any:
    """Return arguments as the JSON value that a table holds; `read_arguments` reads it back.

    Parameters
    ----------
    arguments : mapping, UnreadableArguments or None

    Returns
    -------
    Any
        None when they were not recorded, so that the table holds NULL and not an empty object.
        Unreadable arguments as they came: a text that is not JSON becomes a JSON string. Bytes
        that are not UTF-8 and lone surrogates, which no table can hold, become U+FFFD.
    """
    if not isinstance(arguments, UnreadableArguments):
        return arguments
    raw = arguments.raw
    if isinstance(raw, bytes):
        raw = raw.decode("utf-8", errors="replace")
    if isinstance(raw, str):
        return _SURROGATE.sub("\ufffd", raw)
    return raw if isinstance(raw, int | float | list) else repr(raw)


def _json_type(value: Any) -> str:
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, list | tuple):
        return "a list"
    return "a text" if isinstance(value, str) else f"a {type(value).__name__}"


def compare_arguments(
    expected: Arguments,
    got: Arguments,
    schema: ArgumentSchema | None = None,
    *,
    tool: str = "",
    compatibility: Literal["plumbline"] | None = None,
) -> tuple[ArgumentDifference, ...]:
    """List the differences between the arguments of two calls of one tool.

    Parameters
    ----------
    expected, got : mapping, UnreadableArguments or None
        The reference's arguments and the candidate's.
    schema : ArgumentSchema, optional
        The declared comparison; see the module's text for what holds without one.
    tool : str, optional
        Named in the result.
    compatibility : {"plumbline"}, optional
        Compare as Plumbline 0.3.0 does: values are coerced to numbers, text is trimmed and
        lower-cased, lists are sets, ``true == 1``, and arguments that were not recorded are
        empty.

    Returns
    -------
    tuple of ArgumentDifference
        In the order of the argument names. Arguments that were not recorded differ from any
        that were, the empty ones included; nothing is known about two that were not, and that
        too is one entry, with the policy ``"unknown"``.

    Raises
    ------
    InputError
        An unknown policy or severity, a negative or NaN tolerance, a value that is not JSON.
    """
    if compatibility == "plumbline":
        return published_arguments.compare(expected, got, schema, tool)
    if compatibility is not None:
        raise InputError(f"compatibility is {compatibility!r}; accepted are 'plumbline' and None")
    if not isinstance(expected, Mapping) or not isinstance(got, Mapping):
        return tuple(_whole_difference(expected, got, tool))
    return tuple(_field_differences(expected, got, schema or ArgumentSchema(), tool))


def _whole_difference(
    expected: Arguments, got: Arguments, tool: str
) -> Iterator[ArgumentDifference]:
    if expected is None or got is None:
        yield ArgumentDifference(tool, "", expected, got, "unknown", "high")
    elif arguments_text(expected) != arguments_text(got):
        yield ArgumentDifference(tool, "", expected, got, "unreadable", "high")


def _field_differences(
    expected: Mapping[str, Any], got: Mapping[str, Any], schema: ArgumentSchema, tool: str
) -> Iterator[ArgumentDifference]:
    for name in argument_names(expected, got):
        absent: Literal["expected", "got"] | None = None
        if name not in expected:
            absent = "expected"
        elif name not in got:
            absent = "got"
        left, right = expected.get(name), got.get(name)
        rule = schema.fields.get(name) or schema.default or FieldPolicy()
        check_policy(rule, f"argument {name!r} of {tool or 'the call'}")
        if rule.policy == "ignore" or (absent is None and values_equal(left, right, rule)):
            continue
        size = magnitude(left, right) if absent is None else None
        yield ArgumentDifference(tool, name, left, right, rule.policy, rule.severity, size, absent)


def values_equal(expected: Any, got: Any, rule: FieldPolicy) -> bool:
    """Return whether two values are the same under one policy; see `FieldPolicy`.

    Parameters
    ----------
    expected, got : Any
        JSON values.
    rule : FieldPolicy
        Only its policy and tolerances are used.
    """
    if rule.policy == "ignore":
        return True
    if rule.policy == "numeric":
        left, right = _number(expected), _number(got)
        if left is not None and right is not None:
            return _numbers_equal(left, right, rule)
    elif rule.policy == "text" and isinstance(expected, str) and isinstance(got, str):
        return _folded(expected) == _folded(got)
    elif rule.policy in ("set", "multiset"):
        left_members, right_members = _members(expected), _members(got)
        if rule.policy == "set":
            return set(left_members) == set(right_members)
        return sorted(left_members) == sorted(right_members)
    return canonical_text(expected) == canonical_text(got) and not _holds_nan(expected)


def magnitude(expected: Any, got: Any) -> float | None:
    """Return got / expected, or None unless both are numbers and expected is not 0."""
    if not (_is_number(expected) and _is_number(got)) or expected == 0:
        return None
    try:
        return float(got / expected)
    except OverflowError:  # an integer or a ratio beyond the range of a double
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _number(value: Any) -> float | None:
    """Return the number a value is, or a text in JSON's number form stands for."""
    if isinstance(value, np.integer | np.floating):
        return value.item()
    if _is_number(value):
        return value  # type: ignore[no-any-return]
    if isinstance(value, str) and len(value) < _LONGEST_NUMBER and _JSON_NUMBER.fullmatch(value):
        if not set(value) & set(".eE"):
            return int(value)
        number = float(value)
        return None if math.isinf(number) else number  # "1e999" is not infinity
    return None


def _numbers_equal(left: float, right: float, rule: FieldPolicy) -> bool:
    if left == right:
        return True
    if _not_finite(left) or _not_finite(right):
        return False
    first, second = _as_written(left), _as_written(right)
    absolute, relative = _as_written(rule.absolute_tolerance), _as_written(rule.relative_tolerance)
    return abs(first - second) <= max(absolute, relative * max(abs(first), abs(second)))


def _not_finite(number: float) -> bool:
    return isinstance(number, float) and not math.isfinite(number)


def _as_written(number: float) -> Fraction:
    """Return a number as its shortest decimal form: 0.8 - 0.7 is then 1/10 and not 0.1...0089."""
    return Fraction(number) if isinstance(number, int) else Fraction(repr(float(number)))


def _folded(text: str) -> str:
    # folding can take a letter apart whose capital is written with accents of its own
    folded = unicodedata.normalize("NFD", text).casefold()
    return " ".join(unicodedata.normalize("NFC", folded).split())


def _members(value: Any) -> list[str]:
    members = value if isinstance(value, list | tuple) else [value]
    texts = [canonical_text(member) for member in members]
    # NaN equals nothing, so a member that holds it gets a text that no other member has.
    return [f"{t}#{id(members)}.{i}" if _holds_nan(members[i]) else t for i, t in enumerate(texts)]


def _holds_nan(value: Any) -> bool:
    if isinstance(value, float | np.floating):
        return math.isnan(value)
    if isinstance(value, list | tuple):
        return any(_holds_nan(member) for member in value)
    if isinstance(value, Mapping):
        return any(_holds_nan(member) for member in value.values())
    return False
