"""Content that must not leave a machine: keys, tokens, addresses, home folders."""

from __future__ import annotations

import re
from collections.abc import Mapping

_KEY_NAMES = r"api_key|api-key|apikey|password|secret|token|cookie"
_REDACTED = r"(?!\[REDACTED\])"

_PUBLISHED: Mapping[str, re.Pattern[str]] = {
    "secret key": re.compile(r"sk-[A-Za-z0-9_-]{10,}", re.IGNORECASE),
    "bearer token": re.compile(rf"\bbearer\s+{_REDACTED}[A-Za-z0-9._~+/=-]+", re.IGNORECASE),
    "e-mail address": re.compile(
        # The lookbehind changes no match; without it a long word is read once per letter.
        r"(?<![A-Za-z0-9._%+-])[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[A-Za-z]{2,}"
    ),
    "home folder": re.compile(r"(?:^|\s)/(?:home|users)/[^\s/]+", re.IGNORECASE),
    "Windows home folder": re.compile(r"[A-Z]:\\users\\[^\\\s]+", re.IGNORECASE),
    "assigned secret": re.compile(
        rf"(?<![A-Za-z0-9_])[\"']?(?:{_KEY_NAMES})[\"']?\s*[:=]\s*[\"']?{_REDACTED}[^\s\"']+",
        re.IGNORECASE,
    ),
}

# Ours: a key has a left boundary ("risk-assessment" is none), a bearer token holds a digit or a
# separator ("the bearer walked" is none), names may have prefixes and suffixes ("secret_key"), and
# a home folder may stand after any character that is no part of a path ("x=/home/...").
_OURS: Mapping[str, re.Pattern[str]] = {
    **_PUBLISHED,
    "secret key": re.compile(r"(?<![A-Za-z0-9_-])sk-[A-Za-z0-9_-]{10,}", re.IGNORECASE),
    "bearer token": re.compile(
        rf"\bbearer\s+{_REDACTED}(?=[A-Za-z0-9._~+/=-]*[0-9._~+/=])[A-Za-z0-9._~+/=-]{{6,}}",
        re.IGNORECASE,
    ),
    "home folder": re.compile(r"(?<![A-Za-z0-9._/-])/(?:home|users)/[^\s/]+", re.IGNORECASE),
    "assigned secret": re.compile(
        rf"(?<![A-Za-z0-9])[\"']?(?:[A-Za-z0-9]{{1,32}}[_-]){{0,4}}(?:{_KEY_NAMES})"
        rf"(?:[_-][A-Za-z0-9]{{1,32}}){{0,4}}[\"']?"
        rf"\s*[:=]\s*[\"']?{_REDACTED}[^\s\"']+",
        re.IGNORECASE,
    ),
}


def sensitive_classes(text: str, *, compatibility: bool = False) -> list[str]:
    """Return the classes of sensitive content that a text holds.

    Parameters
    ----------
    text : str
        The content of one file.
    compatibility : bool, default False
        The published patterns.

    Returns
    -------
    list of str
        Names of classes, in a fixed order, each once. What was found is not returned: a report
        must not repeat a secret.
    """
    patterns = _PUBLISHED if compatibility else _OURS
    return [name for name, pattern in patterns.items() if pattern.search(text)]
