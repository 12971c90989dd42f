"""What tools and models answer, read: which errors pass by themselves, and JSON amid prose."""

from __future__ import annotations

import re
from typing import Any, Literal

from steelyard.errors import SteelyardError
from steelyard.trials.strict_json import loads

# A status code stands alone: "INV-5031 not found" and "vendor V-503" are no outage.
_STATUS = re.compile(r"(?<![\w-])(429|502|503|504)(?![\w-])")
_OUTAGES = (
    "timeout",
    "timed out",
    "temporarily unavailable",
    "connection reset",
    "rate limit",
    "unavailable",
)
_FENCE = re.compile(r"\A```[^\n]*\n(.*?)(?:\n?```)?\Z", re.DOTALL)


def is_transient(error: str) -> bool:
    """Return whether an error tells of something that may pass, so that a retry makes sense.

    Parameters
    ----------
    error : str
        A tool's error text.

    Returns
    -------
    bool
        True for the HTTP status codes 429, 502, 503 and 504 standing alone, and for the words
        that go with them: timeouts, reset connections, rate limits, "unavailable".
    """
    text = error.lower()
    return any(outage in text for outage in _OUTAGES) or bool(_STATUS.search(text))


def json_in(text: str, brackets: Literal["{}", "[]"] = "{}") -> Any:
    """Return the JSON value that a model's answer holds.

    Parameters
    ----------
    text : str
        The answer: bare JSON, JSON in a code fence, or JSON amid prose.
    brackets : {"{}", "[]"}
        What is looked for amid prose: from the first opening to the last closing bracket.

    Returns
    -------
    Any
        None where there is no such value: two objects one after the other are not one.
    """
    bare = text.strip()
    fenced = _FENCE.match(bare)
    if fenced:
        bare = fenced[1].strip()
    start, end = bare.find(brackets[0]), bare.rfind(brackets[1])
    for candidate in (bare, bare[start : end + 1] if 0 <= start < end else ""):
        try:
            return loads(candidate)
        except SteelyardError:
            continue
    return None


def object_in(text: str) -> dict[str, Any] | None:
    """Return the JSON object that a model's answer holds, or None; see `json_in`."""
    value = json_in(text)
    return value if isinstance(value, dict) else None


def texts_in(text: str) -> list[str]:
    """Return the texts of the JSON array that a model's answer holds; see `json_in`.

    Members that are no text are left out; without an array there are none.
    """
    value = json_in(text, "[]")
    return [member for member in value if isinstance(member, str)] if type(value) is list else []
