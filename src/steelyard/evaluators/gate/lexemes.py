"""Words of a query that hint at what kind of question it is."""

from __future__ import annotations

import re
from functools import lru_cache

from steelyard.evaluators.gate.compatibility import Compatibility

EMPIRICAL = ("p-value", "pvalue", "distribution", "posterior", "sample")
POLICY = ("allow", "deny", "gdpr", "retention", "pii", "must not")
PRAGMATIC = ("sla", "p99", "cache", "throughput", "budget")


def mentions(query: str, lexemes: tuple[str, ...], compatibility: Compatibility) -> bool:
    """Return whether a query holds one of the lexemes, ignoring case.

    Parameters
    ----------
    query : str
        Any text.
    lexemes : tuple of str
        Words or phrases in lower case.
    compatibility : Compatibility
        As published, part of a word is enough: ``disallowed`` holds ``allow``.
    """
    lowered = query.lower()
    if compatibility.substring_lexemes:
        return any(lexeme in lowered for lexeme in lexemes)
    return _pattern(lexemes).search(lowered) is not None


@lru_cache(maxsize=16)
def _pattern(lexemes: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(map(re.escape, lexemes)) + r")(?!\w)")
