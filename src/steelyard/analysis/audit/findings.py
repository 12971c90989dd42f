"""What a check of the audit reports, and the few helpers that write it down."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from steelyard.analysis.evidence import Evidence

Verdict: TypeAlias = Literal["pass", "caution", "fail"]

VERDICTS: Final = ("fail", "caution", "pass")
"""From worst to best. ``fail``: the evidence contradicts a claim or cannot carry it. ``caution``:
it may carry it, but something that matters is unknown or was not shown. ``pass``: checked, and
nothing found."""


@dataclass(frozen=True)
class Finding:
    """One line of the audit.

    Attributes
    ----------
    subject : str
        What was checked: an arm, a condition, a claim.
    verdict : {"pass", "caution", "fail"}
    evidence : str
        The numbers, in one sentence.
    query : str
        SQL that shows the rows behind the sentence.
    recommendation : str
        What to do about it; empty for a pass.
    """

    subject: str
    verdict: Verdict
    evidence: str
    query: str
    recommendation: str = ""


Check: TypeAlias = Callable[[Evidence], Iterator[Finding]]
"""A rule over one study. Yields at least one finding, also when there is nothing to object to."""


def quoted(text: str) -> str:
    """Return ``text`` as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def select_claims(evidence: Evidence, condition: str) -> str:
    """Return SQL that lists the study's claims for which ``condition`` holds."""
    return (
        "SELECT claim, arm, scope, metric, successes, total, value, low, high, p_value, text, "
        f"source FROM claims WHERE study = {quoted(evidence.study)} AND {condition} ORDER BY claim"
    )


def ratio(successes: float, total: float) -> str:
    """Write a proportion with its counts: ``52/64 (81.2%)``."""
    if not total:
        return f"{successes:.0f}/0"
    return f"{successes:.0f}/{total:.0f} ({percent(successes / total)})"


def percent(share: float) -> str:
    """Write a share as a percentage to one decimal."""
    return "no share" if math.isnan(share) else f"{100 * share:.1f}%"


def p_text(p_value: float) -> str:
    """Write a p-value to two significant digits, never as 0 and never rounded up to 1."""
    if math.isnan(p_value):
        return "no p-value"
    if p_value < 1e-4:
        return f"p = {p_value:.1e}" if p_value >= 1e-16 else "p < 1e-16"
    return f"p = {p_value:.2g}" if p_value < 0.995 else f"p = {min(p_value, 1.0):.3f}"


def listed(names: Iterable[str], limit: int = 4) -> str:
    """Write names as a list, the first ``limit`` of them and how many more there are."""
    every = list(names)
    shown = ", ".join(every[:limit])
    more = len(every) - limit
    return f"{shown} and {more} more" if more > 0 else shown


def plural(count: int, noun: str) -> str:
    """Write a count with its noun: ``1 trial``, ``2 trials``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
