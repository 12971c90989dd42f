"""Values as they were at one moment: a copy that nobody else holds, and its JSON text."""

from __future__ import annotations

import json.encoder
from collections.abc import Callable, Iterable
from typing import Any

from pydantic_core import to_json

from steelyard.trials.strict_json import canonical_dumps, loads

_SCALARS = frozenset((str, int, float, bool, type(None)))

_SAME_IN_EVERY_JSON = frozenset((str, int, bool, type(None)))
"""Scalars that pydantic writes as the standard library does; of some floats it does not."""

_SHORT = 4_000  # characters; an integer too long for `loads` makes a longer text
_MOST_NAMES = 16
_MOST_SHAPES = 1_000
_sorted_names: dict[tuple[Any, ...], tuple[str, ...] | None] = {}
"""Of objects written lately: their member names, and the same sorted; None if not all are text."""


class _UnusualError(Exception):
    """A value that the quick way does not cover."""


def _unusual(_value: Any) -> Any:
    raise _UnusualError


def _make_encoder() -> Callable[[Any, int], Iterable[str]]:
    """Return the inner encoder of `json.dumps` in our form, made once and not for every value."""
    # Private to the json module, and absent from interpreters without its C part.
    inner = getattr(json.encoder, "c_make_encoder", None)
    basestring = getattr(json.encoder, "c_encode_basestring", None)
    if inner is None or basestring is None:
        return _slow_encoder
    # No record of the containers seen so far: `_copy` has found that none holds itself.
    encode: Callable[[Any, int], Iterable[str]] = inner(
        None, _unusual, basestring, None, ":", ",", True, False, False
    )
    return encode


def _slow_encoder(value: Any, _level: int) -> Iterable[str]:
    return (canonical_dumps(value),)


_encode = _make_encoder()


def snapshot(value: Any) -> tuple[Any, str]:
    """Copy a JSON value and write it.

    Parameters
    ----------
    value : Any
        Made of dict, list, tuple, str, int, float, bool and None.

    Returns
    -------
    copy : Any
        Tuples have become lists, as they do in JSON.
    text : str
        What `canonical_dumps` gives; this is the same in a fraction of the time, which counts
        because it happens twice per step.

    Raises
    ------
    InputError
        As `canonical_dumps`.
    """
    if type(value) is dict:
        copy = value.copy()
        written = _flat_text(copy)
        if written is not None:
            return copy, written
    try:
        copy = _copy(value)
        text = "".join(_encode(copy, 0))
        if not text.isascii():
            text.encode()  # refuses lone surrogates
    except (_UnusualError, ValueError, RecursionError):
        text = canonical_dumps(value)  # says what is wrong with it, or knows how to write it
        return loads(text), text
    return copy, text


def storable(text: str) -> str:
    """Return a text with every lone surrogate, which UTF-8 cannot hold, replaced by ``?``."""
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode("utf-8")


def _flat_text(value: dict[Any, Any]) -> str | None:
    """Write an object of a few plain members, as most arguments are; None if it is none."""
    for member in value.values():
        if type(member) not in _SAME_IN_EVERY_JSON:
            return None
    names = tuple(value)
    try:
        order = _sorted_names[names]
    except KeyError:
        order = _sort(names)
    if order is None:
        return None
    try:
        text = to_json(value if order == names else {name: value[name] for name in order}).decode()
    except ValueError:  # a lone surrogate
        return None
    return text if len(text) < _SHORT else None


def _sort(names: tuple[Any, ...]) -> tuple[str, ...] | None:
    if len(names) > _MOST_NAMES:
        return None
    if len(_sorted_names) >= _MOST_SHAPES:  # names that are data: do not collect them
        _sorted_names.clear()
    whole = all(type(name) is str for name in names)
    order = _sorted_names[names] = tuple(sorted(names)) if whole else None
    return order


def _copy(value: Any) -> Any:
    kind = type(value)
    if kind in _SCALARS:
        return value
    if kind is dict:
        copy = value.copy()
        for name, member in value.items():
            if type(name) is not str:
                raise _UnusualError
            if type(member) not in _SCALARS:
                copy[name] = _copy(member)
        return copy
    if kind is list or kind is tuple:
        return [member if type(member) in _SCALARS else _copy(member) for member in value]
    raise _UnusualError
