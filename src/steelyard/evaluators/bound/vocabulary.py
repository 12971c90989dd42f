"""Words by which a check is judged to be observable, and descriptions that say nothing."""

from __future__ import annotations

import re

_STEMS = {
    "": "accepted accepts empty false invalid none null ran rejected rejects throws thrown true"
    " valid verified verifies verify written",
    "s d": "compile complete create delete parse produce raise remove validate",
    "s ed": "contain exit fail return succeed",
    "s ted": "emit",
    "s": "equal exist output run write",
    "s ged": "log",
    "es ed": "match pass",
}


def _with_endings() -> frozenset[str]:
    words: set[str] = set()
    for endings, stems in _STEMS.items():
        for stem in stems.split():
            words |= {stem, *(stem + ending for ending in endings.split())}
    return frozenset(words)


OBSERVABLE = _with_endings()
"""A check that uses one of these names something that can be seen to hold or not."""

VAGUE = frozenset(
    (
        "",
        "...",
        "all good",
        "checked",
        "complete",
        "completed",
        "done",
        "fail",
        "failed",
        "fine",
        "fixed",
        "good",
        "implemented",
        "it works",
        "n/a",
        "na",
        "no",
        "ok",
        "okay",
        "pass",
        "passed",
        "passes",
        "ready",
        "success",
        "successful",
        "test",
        "tests",
        "todo",
        "works",
        "works fine",
        "yes",
    )
)
"""Descriptions that say nothing, however long a description must be."""

SHORT = 10
"""Descriptions of fewer code points say too little."""

_BREAK = re.compile("[^a-z0-9]+")


def is_observable(*texts: str) -> bool:
    """Tell whether a text has an observable word.

    Texts are lower-cased and split at everything but a to z and 0 to 9. An
    accented letter splits a word like a blank does; capitals inside a word do not.
    """
    return any(not OBSERVABLE.isdisjoint(_BREAK.split(text.lower())) for text in texts)


def is_vague(description: str) -> bool:
    """Tell whether a description is too short or one of :data:`VAGUE`."""
    stripped = description.strip().lower()
    return len(stripped) < SHORT or stripped in VAGUE
