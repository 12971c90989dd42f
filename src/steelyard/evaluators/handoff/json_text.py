"""One JSON value as a handoff document may hold it, with the kind of fault when it does not.

`steelyard.trials.strict_json` says where a fault stands; a conformance report needs to know which
of a fixed list of faults comes first, so this reader keeps its own short list of kinds.
"""

from __future__ import annotations

import json
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn

MAX_DEPTH = 500
"""Deepest nesting that is read. Deeper text is a syntax fault, never a crash."""

PUBLISHED_DEPTH = 950
"""Deepest nesting that the published tool reads for sure; it crashes at about a thousand."""

MAX_INTEGER_DIGITS = 4300
"""Longest integer, as Python's own limit for converting text to a number."""

_WHITESPACE = " \t\n\r"
# A text that is never closed runs to the end: read again from each of its quotes, it would take
# a time that grows with the square of its length.
_STRUCTURE = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)|[\[\]{}]', re.DOTALL)
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class JsonFaultError(Exception):
    """A text that is not one JSON value.

    Attributes
    ----------
    kind : str
        ``not-utf8``, ``json-syntax``, ``trailing-content``, ``duplicate-field``,
        ``non-standard-constant`` or ``integer-too-long``.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind


def read_json(text: str | bytes, *, strict: bool = True, published: bool = False) -> Any:
    """Read one JSON value surrounded by nothing but JSON whitespace.

    Parameters
    ----------
    text : str or bytes
        Bytes must be UTF-8. A byte order mark is a syntax fault.
    strict : bool, default True
        Refuse repeated member names and ``NaN`` or ``Infinity``. When false, the last member wins
        and the constants are read, as the published validator does.
    published : bool, default False
        Read what the published tool does: deeper nesting, and lone surrogates, which are no Unicode
        text and which no table can hold.

    Returns
    -------
    object
        dict, list, str, int, float, bool or None.

    Raises
    ------
    JsonFaultError
        The first fault, in reading order.
    """
    source = _decoded(text).lstrip(_WHITESPACE)
    try:
        # Cut where it gets too deep: what is wrong before that comes first, and what is nested
        # after a whole value is trailing content.
        value, end = _decode(source, _decoder(strict), PUBLISHED_DEPTH if published else MAX_DEPTH)
    except (json.JSONDecodeError, RecursionError):
        raise JsonFaultError("json-syntax") from None
    if source[end:].strip(_WHITESPACE):
        raise JsonFaultError("trailing-content")
    if not published and _has_lone_surrogate(source, value):
        raise JsonFaultError("json-syntax")
    return value


def _decoded(text: str | bytes) -> str:
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        raise JsonFaultError("not-utf8") from None


def _decode(source: str, decoder: json.JSONDecoder, max_depth: int) -> tuple[Any, int]:
    readable = source[: _depth_end(source, max_depth)]
    if _depth_end(readable, MAX_DEPTH) == len(readable):
        return decoder.raw_decode(readable)
    # Nesting is recursion: on a stack of its own the verdict does not hang on the caller's depth.
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(decoder.raw_decode, readable).result()


def _depth_end(source: str, limit: int) -> int:
    """Return the place of the first bracket that is nested too deep, the end if there is none."""
    if source.count("[") + source.count("{") <= limit:
        return len(source)
    depth = 0
    for token in _STRUCTURE.finditer(source):
        word = token.group()
        depth += (word in "[{") - (word in "]}")
        if depth > limit:
            return token.start()
    return len(source)


def _decoder(strict: bool) -> json.JSONDecoder:
    if strict:
        return json.JSONDecoder(
            object_pairs_hook=_unique_members,
            parse_constant=_refuse_constant,
            parse_int=_bounded_integer,
        )
    return json.JSONDecoder(parse_int=_bounded_integer)


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise JsonFaultError("duplicate-field")
    return members


def _refuse_constant(_word: str) -> NoReturn:
    raise JsonFaultError("non-standard-constant")


def _bounded_integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_INTEGER_DIGITS:
        raise JsonFaultError("integer-too-long")
    return int(digits)


def _has_lone_surrogate(source: str, value: Any) -> bool:
    if not (_ESCAPED_SURROGATE.search(source) or _LONE_SURROGATE.search(source)):
        return False
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, str) and _LONE_SURROGATE.search(part):
            return True
        if isinstance(part, dict):
            pending += [*part.keys(), *part.values()]
        elif isinstance(part, list):
            pending += part
    return False
