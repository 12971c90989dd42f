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

# Ours: a key has a left boundary ("risk-assessment" is none) and is no word ("sk-learn-contrib"). A
# bearer token is told from a word ("the bearer walked.", "bearer and/or holder") by a digit, a
# capital inside it, padding, the start of a JSON Web Token, or its length. Names may have prefixes
# and suffixes ("secret_key", "accessToken"), but then a plain number is no secret ("token_count:
# 512"). A home folder may stand after any character that is no part of a path ("x=/home/...") and
# in a file URL, and backslashes may be doubled, as JSON does.
_BEARER = (
    r"(?:(?=[A-Za-z0-9._~+/-]*[0-9=])[A-Za-z0-9._~+/=-]{6,}|eyJ[A-Za-z0-9._-]+|"
    r"(?-i:[A-Za-z]*[a-z][A-Z])[A-Za-z0-9._~+/=-]{4,}|[A-Za-z0-9._~+/=-]{20,})"
)
_NO_FIGURE = r"(?!(?:\d[\d.,_]*|true|false|yes|no|none|null)(?:[\s\"',;.)}\]]|\Z))"
_PLAIN_NAME = rf"(?<![_-])[\"']?(?:{_KEY_NAMES})[\"']?\s*[:=]\s*[\"']?"
_LONG_NAME = (
    rf"(?:{_KEY_NAMES})(?:[_-][A-Za-z0-9]{{1,32}}){{0,4}}[\"']?\s*[:=]\s*[\"']?{_NO_FIGURE}"
)
_CAMEL_NAME = (
    r"(?-i:[a-z][A-Za-z0-9]{0,63}(?:ApiKey|Password|Secret|Token|Cookie)(?:Key|Id|Value)?)"
    rf"[\"']?\s*[:=]\s*[\"']?{_NO_FIGURE}"
)
_OURS: Mapping[str, re.Pattern[str]] = {
    **_PUBLISHED,
    "secret key": re.compile(
        r"(?<![A-Za-z0-9_-])sk-(?:(?=[A-Za-z_-]*(?:[0-9]|(?-i:[A-Z])))[A-Za-z0-9_-]{10,}|"
        r"[A-Za-z0-9_-]{32,})",
        re.IGNORECASE,
    ),
    "bearer token": re.compile(rf"\bbearer\s+{_REDACTED}{_BEARER}", re.IGNORECASE),
    "home folder": re.compile(
        r"(?:(?<![A-Za-z0-9._/-])|(?<=file://))/(?:home|users)/[^\s/]+", re.IGNORECASE
    ),
    "Windows home folder": re.compile(r"[A-Z]:\\{1,2}users\\{1,2}[^\\\s]+", re.IGNORECASE),
    "assigned secret": re.compile(
        rf"(?<![A-Za-z0-9])(?:{_PLAIN_NAME}|{_LONG_NAME}|{_CAMEL_NAME}){_REDACTED}[^\s\"']+",
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
