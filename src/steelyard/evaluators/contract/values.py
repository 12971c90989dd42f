"""JSON values: what is one, how large it may be, and when two of them are equal.

Every document of this room (policy, response, result) is held to the same limits. They are stated
here and do not depend on settings of the interpreter.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from steelyard.evaluators.contract.errors import InvalidJsonError

MAX_BYTES = 1_000_000
"""Largest document: as it is read, and in its canonical form (UTF-8)."""

MAX_LEVELS = 32
"""Deepest nesting. A scalar stands at level 0; each array or object adds one level."""

MAX_NODES = 100_000
"""Most values in a document: containers and scalars, without member names."""

MAX_DIGITS = 4_300
"""Longest integer, in decimal digits."""

_LARGE_BITS = int(MAX_DIGITS * math.log2(10))  # integers of fewer bits have at most MAX_DIGITS
_FIRST_TOO_LONG = 10**MAX_DIGITS

_encode = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=False, check_circular=False, allow_nan=False
).encode


class ValueProblemError(Exception):
    """A value that is not JSON or exceeds a limit; callers turn it into their own error."""


def checked_copy(value: Any) -> Any:
    """Return a copy that shares no container with ``value`` nor within itself.

    Parameters
    ----------
    value : object
        Made of None, bool, int, finite float, str, list and dict with names of str. Subclasses of
        these types are refused: their behaviour is not that of the JSON value they look like.

    Raises
    ------
    ValueProblemError
        If it is not such a value, or exceeds `MAX_LEVELS`, `MAX_NODES` or `MAX_DIGITS`. A
        container inside itself exceeds `MAX_LEVELS`.
    """
    return _Copier().copy(value, 0)


def plain_copy(value: Any) -> Any:
    """Copy a value that has been checked before."""
    if type(value) is dict:
        return {name: plain_copy(member) for name, member in value.items()}
    if type(value) is list:
        return [plain_copy(member) for member in value]
    return value


def checked_document(value: Any) -> tuple[Any, int]:
    """Return a `checked_copy` and its canonical size in bytes.

    Raises
    ------
    ValueProblemError
        As `checked_copy`, and if the canonical form exceeds `MAX_BYTES`.
    """
    copy = checked_copy(value)
    size = len(canonical(copy).encode())
    if size > MAX_BYTES:
        raise ValueProblemError(
            f"its canonical form has {size:,} bytes, more than {MAX_BYTES:,} (a number such as "
            "1e9 is written out in it)"
        )
    return copy, size


def canonical(value: Any) -> str:
    """Return the canonical text of a checked value; see `canonical_text`."""
    return _encode(value)


def canonical_text(value: Any) -> str:
    r"""Return the one JSON text that stands for a value.

    Names sorted by code point, no spaces, nothing escaped beyond ``"``, ``\`` and controls below
    U+0020; integers in decimal, doubles as Python's ``repr`` writes them.

    Parameters
    ----------
    value : object
        See `checked_copy`.

    Returns
    -------
    str

    Raises
    ------
    InvalidJsonError
        If the value is not JSON, or exceeds the limits.

    Examples
    --------
    >>> canonical_text({"b": 1e2, "a": [True, None]})
    '{"a":[true,null],"b":100.0}'
    """
    try:
        return canonical(checked_copy(value))
    except ValueProblemError as problem:
        raise InvalidJsonError(f"the value is not usable: {problem}") from None


def canonical_equal(left: Any, right: Any) -> bool:
    """Return whether two values have one canonical text.

    Then true is not 1, 1 is not 1.0, 0.0 is not -0.0, and an absent member is not null; the order
    of members does not matter.

    Raises
    ------
    InvalidJsonError
        As `canonical_text`.
    """
    return canonical_text(left) == canonical_text(right)


def fingerprint(value: Any) -> str:
    """Return the SHA-256 of the canonical text in UTF-8, in hexadecimal."""
    return digest(canonical_text(value))


def digest(text: str) -> str:
    """Return the SHA-256 of a text in UTF-8, in hexadecimal."""
    return hashlib.sha256(text.encode()).hexdigest()


def identity(value: Any) -> tuple[type, Any]:
    """Return a key that two checked values share exactly when they are canonically equal.

    Scalars are not written out for it, which would be most of the time of an evaluation.
    """
    kind = type(value)
    if kind is list or kind is dict:
        return kind, canonical(value)
    return kind, repr(value) if kind is float else value


class _Copier:
    """One walk over a value, which counts its nodes."""

    def __init__(self) -> None:
        self.nodes = 0

    def copy(self, value: Any, level: int) -> Any:
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise ValueProblemError(f"it has more than {MAX_NODES:,} values")
        kind = type(value)
        if kind is dict or kind is list:
            if level == MAX_LEVELS:
                raise ValueProblemError(f"it is nested deeper than {MAX_LEVELS} levels")
            if kind is list:
                return [self.copy(member, level + 1) for member in value]
            return {_name(name): self.copy(member, level + 1) for name, member in value.items()}
        if kind is str:
            _check_text(value)
        elif kind is int:
            _check_length(value)
        elif kind is float:
            if not math.isfinite(value):
                raise ValueProblemError("it holds a number that is not finite")
        elif value is not None and kind is not bool:
            raise ValueProblemError(f"it holds a {kind.__name__}, which JSON has no form for")
        return value


def _name(name: Any) -> str:
    if type(name) is not str:
        raise ValueProblemError(f"it has a member name of type {type(name).__name__}, not text")
    _check_text(name)
    return name


def _check_text(text: str) -> None:
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise ValueProblemError("it holds a lone surrogate, which is not text") from None


def _check_length(number: int) -> None:
    if number.bit_length() > _LARGE_BITS and abs(number) >= _FIRST_TOO_LONG:
        raise ValueProblemError(f"it holds an integer of more than {MAX_DIGITS:,} digits")
