"""The rules for a path that somebody else wrote down: relative, POSIX, in one spelling only."""

from __future__ import annotations

import posixpath
from typing import Any

MAX_PARENT_STEPS = 3
"""A measured write may lie this many folders above the workspace: the disposable root."""


def path_fault(path: str, *, parent_steps: int = 0) -> str | None:
    """Return the first rule that a relative path breaks, or None.

    Parameters
    ----------
    path : str
        The path as written.
    parent_steps : int, default 0
        How many leading ``..`` components are allowed.

    Returns
    -------
    str or None
        ``absolute``, ``separator`` (a backslash), ``control`` (a character below U+0020),
        ``parent``, ``empty`` (also ``.``) or ``normalized``.
    """
    rules = (
        ("absolute", path.startswith("/")),
        ("separator", "\\" in path),
        ("control", any(character < " " for character in path)),
        ("parent", _climbs_above(path.split("/"), parent_steps)),
        ("empty", path in {"", "."}),
        ("normalized", posixpath.normpath(path) != path),
    )
    return next((name for name, is_broken in rules if is_broken), None)


def _climbs_above(parts: list[str], parent_steps: int) -> bool:
    leading = next((i for i, part in enumerate(parts) if part != ".."), len(parts))
    return leading > parent_steps or leading == len(parts) or ".." in parts[leading:]


def path_list_faults(value: Any, *, parent_steps: int = 0) -> list[str]:
    """Return the rules that a list of paths breaks.

    Parameters
    ----------
    value : object
        What stands in the field.
    parent_steps : int, default 0
        As for `path_fault`.

    Returns
    -------
    list of str
        ``type`` alone, or those of ``paths-sorted`` (by code point), ``paths-unique`` and
        ``paths-<fault>`` that apply, each once.
    """
    if not isinstance(value, list) or not all(isinstance(path, str) for path in value):
        return ["type"]
    faults = []
    if value != sorted(value):
        faults.append("paths-sorted")
    if len(set(value)) < len(value):
        faults.append("paths-unique")
    for path in value:
        fault = path_fault(path, parent_steps=parent_steps)
        if fault is not None and f"paths-{fault}" not in faults:
            faults.append(f"paths-{fault}")
    return faults


def is_non_blank(value: Any) -> bool:
    """Return whether a value is text with a character that is not whitespace."""
    return isinstance(value, str) and bool(value.strip())
