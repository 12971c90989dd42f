"""Rewordings of a request, and the guard that keeps only those that ask for the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from steelyard.harness.replies import object_in

# what a request is about: anything with a digit in it, such as INV-7002, 4506.25 or 2026-07-02
_IDENTIFIER = re.compile(r"[^\s,;:()\"']*\d[^\s,;:()\"']*")

WRITE = (
    "Reword the request below in {count} different ways. Keep its meaning exactly: the same task "
    "about the same things, every name, number and identifier as it stands, nothing added and "
    "nothing left out. Answer with a JSON array of {count} strings and nothing else."
)
JUDGE = (
    "Compare two requests. Answer with a JSON object of two booleans and nothing else: "
    '"equivalent" if whoever follows the second does exactly what the first asks for, "{same}" if '
    "both are about the very same thing."
)


class Discard(NamedTuple):
    """A rewording that was not used, and why."""

    text: str
    reason: str


class Rewordings(NamedTuple):
    """The rewordings of one request."""

    accepted: list[str]
    discarded: list[Discard]


Objection = Callable[[str, str], str | None]
"""Compares the original with a rewording; returns why it is not equivalent, or None."""


def keep_equivalent(
    original: str, candidates: Iterable[str], count: int, objections: Sequence[Objection]
) -> Rewordings:
    """Keep the first rewordings that nothing is objected to.

    Parameters
    ----------
    original : str
    candidates : iterable of str
        Looked at in order, until there are enough.
    count : int
        How many are wanted.
    objections : sequence of callable
        See `Objection`; asked in order, the first objection decides.

    Returns
    -------
    Rewordings
        Possibly fewer than ``count``; every candidate that was looked at is in one of the lists.
    """
    found = Rewordings([], [])
    for text in candidates:
        if len(found.accepted) == count:
            break
        reasons = (objection(original, text) for objection in objections)
        reason = next((reason for reason in reasons if reason is not None), None)
        if reason is None:
            found.accepted.append(text)
        else:
            found.discarded.append(Discard(text, reason))
    return found


def lost_identifiers(original: str, rewording: str) -> str | None:
    """Object to a rewording that lacks an identifier or a number of the original."""
    kept = set(identifiers(rewording))
    lost = sorted(set(identifiers(original)) - kept)
    return f"lacks {', '.join(lost)}" if lost else None


def identifiers(text: str) -> list[str]:
    """Return the words of a text that hold a digit, without a full stop at their end."""
    return [word.rstrip(".!?") for word in _IDENTIFIER.findall(text)]


def verdict_objection(reply: str, same: str) -> str | None:
    """Read a judge's verdict.

    Parameters
    ----------
    reply : str
        A JSON object with ``equivalent`` and the member named by ``same``.
    same : str

    Returns
    -------
    str or None
        An objection unless both members are true; an answer that cannot be read is one.
    """
    verdict: Mapping[str, Any] | None = object_in(reply)
    if verdict is None:
        return "the judge's answer could not be read"
    failed = [name for name in ("equivalent", same) if not verdict.get(name)]
    return f"judged not {', not '.join(failed)}" if failed else None
