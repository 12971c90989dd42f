"""JSON as RFC 8259 means it, with the place of every fault.

The standard library accepts what other readers refuse (``NaN``, two members of one name, lone
surrogates) and then two programs see two different values in one file. Here all of it is an
error that names line and column.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

from steelyard.errors import DataError, InputError

MAX_DEPTH = 100
"""Deepest nesting that is read by default; agents' arguments are rarely deeper than 10."""

_WRITABLE_DEPTH = 500  # below the interpreter's own limit; also ends at a value inside itself

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
# A string that never ends is one token up to the end of the text: were every quote in it tried in
# turn, the time would grow with the square of the length.
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL)
_NO_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[^"\[\]{}]+', re.DOTALL)
_WORDS = ("NaN", "Infinity", "-Infinity")


@dataclass(frozen=True)
class Parsed:
    """A JSON value and what had to be changed to hold it.

    Attributes
    ----------
    value : object
        The value in Python's types.
    surrogates_replaced : int
        Lone surrogates replaced by U+FFFD; always 0 unless replacement was asked for.
    """

    value: Any
    surrogates_replaced: int


class _FaultError(Exception):
    """Something that the standard parser lets pass; where it stands is looked up afterwards."""


def loads(
    text: str | bytes,
    *,
    path: str = "",
    max_depth: int = MAX_DEPTH,
    replace_surrogates: bool = False,
) -> Any:
    r"""Parse strict JSON.

    Parameters
    ----------
    text : str or bytes
        One JSON value; bytes must be UTF-8 (a byte order mark is skipped).
    path : str, optional
        Named in messages.
    max_depth : int, default 100
        Deepest nesting of arrays and objects.
    replace_surrogates : bool, default False
        Replace a lone surrogate (``"\ud83d"`` without its partner) by U+FFFD instead of
        refusing it. Use `parse` to learn how many there were.

    Returns
    -------
    object
        dict, list, str, int, float, bool or None.

    Raises
    ------
    DataError
        For anything RFC 8259 does not allow, a repeated member name, a number that a double
        cannot hold, nesting beyond ``max_depth``, and lone surrogates. The message holds
        path, line and column.
    """
    return parse(text, path=path, max_depth=max_depth, replace_surrogates=replace_surrogates).value


def parse(
    text: str | bytes,
    *,
    path: str = "",
    max_depth: int = MAX_DEPTH,
    replace_surrogates: bool = False,
) -> Parsed:
    """Parse strict JSON as `loads` does, and count replaced surrogates.

    Parameters and errors are those of `loads`.

    Returns
    -------
    Parsed
    """
    source = _decode(text, path)
    if source.count("[") + source.count("{") > max_depth and _is_deeper(source, max_depth):
        _refuse_faults(source, path, max_depth)
    try:
        value = json.loads(
            source,
            object_pairs_hook=_object,
            parse_constant=_refuse_constant,
            parse_float=_finite_float,
        )
    except json.JSONDecodeError as error:
        raise _at(source, error.pos, path, f"not valid JSON: {error.msg.lower()}") from None
    except (_FaultError, ValueError, RecursionError) as error:
        # ValueError: an integer with more digits than Python converts.
        _refuse_faults(source, path, max_depth)
        raise _at(source, 0, path, f"not readable as JSON: {error}") from None
    if not (_ESCAPED_SURROGATE.search(source) or _LONE_SURROGATE.search(source)):
        return Parsed(value, 0)
    return _without_surrogates(value, source, path, replace=replace_surrogates)


def canonical_dumps(value: Any) -> str:
    """Write a value as the one JSON text that stands for it.

    Members sorted by name (by code point), no spaces, no escapes beyond the necessary: equal
    values give equal texts, so texts can be compared, hashed and stored. ``1``, ``1.0`` and
    ``true`` remain three texts.

    Parameters
    ----------
    value : object
        Made of dict (names are text), list, tuple, str, int, float, bool and None.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If a name is not text, a number is not finite, a string holds a lone surrogate, a type
        has no JSON form, or the nesting is deeper than 500. The message says where in the value.
    """
    _check_writable(value)
    try:
        return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    except ValueError as error:  # an integer with more digits than Python writes
        raise InputError(f"the value has no JSON form: {error}") from None


def _decode(text: str | bytes, path: str) -> str:
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    if not isinstance(text, (bytes, bytearray)):
        raise InputError(f"JSON is read from text or bytes, not {type(text).__name__}")
    try:
        return bytes(text).decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        before = bytes(text)[: error.start].decode("utf-8", errors="replace")
        raise _at(before, len(before), path, "not valid UTF-8") from None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _FaultError("a member name occurs twice")
    return members


def _refuse_constant(word: str) -> NoReturn:
    raise _FaultError(word)


def _finite_float(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _FaultError(digits)
    return number


def _is_deeper(source: str, max_depth: int) -> bool:
    depth = 0
    for bracket in _NO_BRACKET.sub("", source):
        depth += 1 if bracket in "[{" else -1
        if depth > max_depth:
            return True
    return False


def _refuse_faults(source: str, path: str, max_depth: int) -> None:
    """Raise for the first fault of the text, with its place; return if there is none."""
    open_names: list[set[str] | None] = []  # per open bracket: names so far, None in an array
    tokens = list(_TOKEN.finditer(source))
    for index, token in enumerate(tokens):
        word = token.group()
        if word in "[{":
            open_names.append(set() if word == "{" else None)
            if len(open_names) > max_depth:
                raise _at(source, token.start(), path, f"nested deeper than {max_depth} levels")
        elif word in "]}":
            if open_names:
                open_names.pop()
        elif word in _WORDS:
            raise _at(source, token.start(), path, f"{word} is not JSON; use null or a number")
        elif word.startswith('"'):
            is_name = index + 1 < len(tokens) and tokens[index + 1].group() == ":"
            if is_name and _is_repeated(open_names, word):
                name = json.loads(word, strict=False)
                fault = f"the member name {name!r} occurs twice in one object"
                raise _at(source, token.start(), path, fault)
        elif _too_large(word):
            raise _at(source, token.start(), path, f"the number {word[:40]} is too large")


def _is_repeated(open_names: list[set[str] | None], word: str) -> bool:
    """Return whether the innermost object has a member of this name; if not, note the name."""
    names = open_names[-1] if open_names else None
    if names is None:
        return False
    try:
        name = json.loads(word, strict=False)
    except json.JSONDecodeError:  # a bad escape: a fault as well, and looked for by the parser
        return False
    if name in names:
        return True
    names.add(name)
    return False


def _too_large(word: str) -> bool:
    try:
        return math.isinf(float(word)) or len(word) > 4000
    except ValueError:
        return False


def _without_surrogates(value: Any, source: str, path: str, *, replace: bool) -> Parsed:
    found = sum(len(_LONE_SURROGATE.findall(text)) for text in _strings(value))
    if found and not replace:
        position = _first_lone_surrogate(source)
        raise _at(source, position, path, "a lone surrogate is not Unicode text")
    return Parsed(_replaced(value, path) if found else value, found)


def _first_lone_surrogate(source: str) -> int:
    for token in _TOKEN.finditer(source):
        word = token.group()
        if word.startswith('"') and _LONE_SURROGATE.search(json.loads(word, strict=False)):
            return token.start()
    return 0


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for member in value:
            yield from _strings(member)
    elif isinstance(value, dict):
        for name, member in value.items():
            yield name
            yield from _strings(member)


def _replaced(value: Any, path: str) -> Any:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_replaced(member, path) for member in value]
    if isinstance(value, dict):
        members = {_replaced(name, path): _replaced(m, path) for name, m in value.items()}
        if len(members) < len(value):
            place = f"{path}: " if path else ""
            raise DataError(f"{place}two member names differ only in lone surrogates")
        return members
    return value


def _check_writable(value: Any) -> None:
    """Raise for the first part that has no JSON form; iterative, whatever the depth."""
    pending: list[tuple[Any, str, int]] = [(value, "$", 0)]
    while pending:
        part, where, depth = pending.pop()
        if depth > _WRITABLE_DEPTH:
            raise InputError(f"the value is nested deeper than {_WRITABLE_DEPTH} levels")
        if isinstance(part, (list, tuple)):
            pending += [(member, f"{where}[{i}]", depth + 1) for i, member in enumerate(part)]
        elif isinstance(part, dict):
            for name, member in part.items():
                if not isinstance(name, str):
                    raise InputError(f"{where} has the member name {name!r}; names are text")
                pending += [
                    (name, f"a name in {where}", depth),
                    (member, f"{where}.{name}", depth + 1),
                ]
        else:
            _check_scalar(part, where)


def _check_scalar(value: Any, where: str) -> None:
    if isinstance(value, str):
        if _LONE_SURROGATE.search(value):
            raise InputError(f"{where} holds a lone surrogate, which is not Unicode text")
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{where} is {value}, which JSON has no number for")
    elif value is not None and not isinstance(value, (bool, int)):
        raise InputError(f"{where} is a {type(value).__name__}, which JSON has no form for")


def _at(source: str, position: int, path: str, message: str) -> DataError:
    line = source.count("\n", 0, position) + 1
    column = position - (source.rfind("\n", 0, position) + 1) + 1
    place = f"{path}:{line}:{column}" if path else f"line {line}, column {column}"
    return DataError(f"{place}: {message}")
