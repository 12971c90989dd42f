"""How large the parts of a context may be. Input is hostile: every bound holds in every mode.

A list or mapping that is longer, a text that is longer, a number that is larger and a value that
is nested deeper are refused before anything is computed. Evidence and claims are compared in
pairs, so their limits are lower.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from pydantic_core import PydanticCustomError

MAX_RULES = 10_000
"""Rules, constraints, facts, specifications and causal edges, each."""

MAX_TERMS = 1_000
"""Terms of an objective."""

MAX_EVIDENCE = 500
"""Items of evidence; all pairs are compared."""

MAX_CLAIMS = 1_000
"""Aligned claims; pairs about one thing are compared."""

MAX_TEXT = 100_000
"""Characters of one text."""

MAX_KEYS = 1_000
"""Keys that one claim, rule or item lists."""

MAX_DEPTH = 20
"""Nesting of a fact's value, an action's payload or an item's metadata."""

MAX_PARTS = 20_000
"""Members of such a value, over all levels."""

MAX_INTEGER_BITS = 1_000
"""About 300 decimal digits: such an integer still has a double near it."""

_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def check_plain(value: Any, *, finite: bool) -> Any:
    """Return a value that JSON can hold; raise for anything else.

    Parameters
    ----------
    value : object
        What a caller gave where any JSON value is allowed.
    finite : bool
        Whether NaN and infinities are refused.

    Returns
    -------
    object
        The value itself.

    Raises
    ------
    PydanticCustomError
        It is nested too deep or inside itself, has too many members, holds a text or an integer
        that is too long, a lone surrogate, a number that is not finite, or another type.
    """
    pending: list[tuple[Any, int]] = [(value, 0)]
    parts = 0
    while pending:
        part, depth = pending.pop()
        parts += 1
        if depth > MAX_DEPTH:
            raise PydanticCustomError("too_deep", f"nested deeper than {MAX_DEPTH} levels")
        if parts > MAX_PARTS:
            raise PydanticCustomError("too_large", f"more than {MAX_PARTS} members")
        if isinstance(part, Mapping):
            if not all(isinstance(name, str) for name in part):
                raise PydanticCustomError("not_json", "a name that is no text is no JSON value")
            pending += [(name, depth) for name in part]
            pending += [(member, depth + 1) for member in part.values()]
        elif isinstance(part, list | tuple):
            pending += [(member, depth + 1) for member in part]
        else:
            _check_scalar(part, finite=finite)
    return value


def _check_scalar(value: Any, *, finite: bool) -> None:
    if isinstance(value, str):
        check_text(value)
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            raise PydanticCustomError("too_large", f"an integer over {MAX_INTEGER_BITS} bits")
    elif isinstance(value, float):
        if finite and not math.isfinite(value):
            raise PydanticCustomError("finite_number", "neither NaN nor an infinity is accepted")
    else:
        kind = type(value).__name__
        raise PydanticCustomError("not_json", f"a {kind} is no JSON value")


def check_text(text: str) -> str:
    """Return a text that is short enough and whole Unicode; raise for any other."""
    if len(text) > MAX_TEXT:
        raise PydanticCustomError("too_long", f"a text of more than {MAX_TEXT} characters")
    if not text.isascii() and _LONE_SURROGATE.search(text):
        raise PydanticCustomError("not_unicode", "a lone surrogate is not Unicode text")
    return text
