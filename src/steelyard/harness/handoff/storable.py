"""Reports as JSON and the tables can hold them: an agent chose parts of what they say."""

from __future__ import annotations

import math
from typing import Any

DEEPEST = 90
"""Nesting that is kept; every reader of the tables takes 100."""

CUT = "(nested deeper than is kept)"


def storable(value: Any, *, surrogates: bool = False, depth: int = 0) -> Any:
    """Return a report as strict JSON can hold it.

    A number that is not finite (an agent wrote 1e999) becomes None, what is nested too deeply a
    note, and a lone surrogate (part of a file's name that is no text) its escape.

    Parameters
    ----------
    value : object
        Of JSON's types.
    surrogates : bool, default False
        Leave lone surrogates as they are, for a reader that takes them.
    depth : int, default 0
        How deep it stands.
    """
    if isinstance(value, str):
        return value if surrogates else value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if not isinstance(value, dict | list | tuple):
        return value
    if depth >= DEEPEST:
        return CUT
    if isinstance(value, dict):
        return {
            storable(name, surrogates=surrogates): storable(
                member, surrogates=surrogates, depth=depth + 1
            )
            for name, member in value.items()
        }
    return [storable(member, surrogates=surrogates, depth=depth + 1) for member in value]
