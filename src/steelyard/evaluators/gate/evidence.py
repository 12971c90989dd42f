"""Which items of evidence still stand, and which of them contradict each other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.context import EvidenceItem, ReasoningContext
from steelyard.evaluators.gate.enums import ConflictKind
from steelyard.evaluators.gate.results import EvidenceConflict
from steelyard.evaluators.gate.schemas import FactSpec

RELATIVE_DIFFERENCE = 0.10
"""Share of the larger value from which two numbers are a mismatch."""

TRUST_DIFFERENCE = 0.5
"""Difference of trust from which it counts as a conflict of its own."""

SEVERE = 0.7
"""Severity from which a conflict is severe."""


def active_evidence(context: ReasoningContext) -> list[EvidenceItem]:
    """Return the items that no valid chain of supersessions replaces.

    An item is dropped only if every link of its chain of ``superseded_by`` is good: it is the id
    of an item that exists, was not visited yet, has the same source and no less trust. With
    repeated ids every item stands.
    """
    items = context.evidence
    by_id = {item.id: item for item in items}
    if len(by_id) < len(items):
        return list(items)
    return [item for item in items if not _superseded(item, by_id)]


def _superseded(item: EvidenceItem, by_id: dict[str, EvidenceItem]) -> bool:
    if "superseded_by" not in item.metadata:
        return False
    visited = {item.id}
    while "superseded_by" in item.metadata:
        successor = item.metadata["superseded_by"]
        target = by_id.get(successor) if isinstance(successor, str) else None
        if target is None or target.id in visited:
            return False
        if target.source != item.source or target.trust < item.trust:
            return False
        visited.add(target.id)
        item = target
    return True


def evidence_conflicts(
    items: Sequence[EvidenceItem],
    specs: dict[str, FactSpec],
    *,
    stale_hours: float,
    now: datetime | None = None,
) -> list[EvidenceConflict]:
    """Compare every pair of items.

    Parameters
    ----------
    items : sequence of EvidenceItem
        The active items.
    specs : dict of str to FactSpec
        A step makes smaller differences count.
    stale_hours : float
        Age in hours from which an item is old.
    now : datetime, optional
        When ages are measured; without it only stated ages are known.

    Returns
    -------
    list of EvidenceConflict
        Sorted by pair, kind and severity; the left item of a pair stands before the right one.
    """
    found: list[EvidenceConflict] = []
    old = [_is_old(item, stale_hours, now) for item in items]
    negated = [_negated(item) for item in items]
    for i, left in enumerate(items):
        for j in range(i + 1, len(items)):
            right = items[j]
            if left.numeric_claims and right.numeric_claims:
                for key in left.numeric_claims:
                    if key in right.numeric_claims:
                        found += _numeric(left, right, key, specs.get(key), stale_hours)
            if left.source == right.source and old[i] != old[j]:
                found.append(_conflict(left, right, ConflictKind.STALE, 0.4))
            if (negated[i] and right.id in negated[i]) or (negated[j] and left.id in negated[j]):
                found.append(_conflict(left, right, ConflictKind.EXPLICIT_NEGATION, 1.0))
    found.sort(key=lambda c: (c.left, c.right, c.kind, c.severity, c.key or ""))
    return found


_CODES = {
    ConflictKind.NUMERIC_MISMATCH: reasons.EVIDENCE_NUMERIC_MISMATCH,
    ConflictKind.SOURCE_TRUST: reasons.EVIDENCE_TRUST,
    ConflictKind.TEMPORAL: reasons.EVIDENCE_TEMPORAL,
    ConflictKind.STALE: reasons.EVIDENCE_STALE,
    ConflictKind.EXPLICIT_NEGATION: reasons.EVIDENCE_NEGATION,
}


def _conflict(
    left: EvidenceItem,
    right: EvidenceItem,
    kind: ConflictKind,
    severity: float,
    key: str | None = None,
) -> EvidenceConflict:
    return EvidenceConflict(left.id, right.id, kind, severity, _CODES[kind], key)


def _numeric(
    left: EvidenceItem, right: EvidenceItem, key: str, spec: FactSpec | None, stale_hours: float
) -> list[EvidenceConflict]:
    """Return the conflicts of one number that both items claim."""
    a, b = left.numeric_claims[key], right.numeric_claims[key]
    difference = abs(a - b)
    relative = difference / max(abs(a), abs(b), 1e-12)
    step = spec.step if spec is not None else None
    if not (relative > RELATIVE_DIFFERENCE or (step is not None and difference > step)):
        return []
    severity = min(1.0, relative / 0.5)
    found = [_conflict(left, right, ConflictKind.NUMERIC_MISMATCH, severity, key)]
    if abs(left.trust - right.trust) >= TRUST_DIFFERENCE:
        found.append(_conflict(left, right, ConflictKind.SOURCE_TRUST, 0.5, key))
    if left.retrieved_at is not None and right.retrieved_at is not None:
        seconds = abs((_utc(left.retrieved_at) - _utc(right.retrieved_at)).total_seconds())
        if seconds:
            severity = min(1.0, seconds / 3600 / max(stale_hours, 1e-9))
            found.append(_conflict(left, right, ConflictKind.TEMPORAL, severity, key))
    return found


def _is_old(item: EvidenceItem, stale_hours: float, now: datetime | None) -> bool:
    if item.freshness_hours is not None:
        return item.freshness_hours > stale_hours
    if item.retrieved_at is None or now is None:
        return False
    return (_utc(now) - _utc(item.retrieved_at)).total_seconds() / 3600 > stale_hours


def _utc(time: datetime) -> datetime:
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time


def _negated(item: EvidenceItem) -> set[str]:
    """Return the ids of the items that this one says are wrong."""
    if not item.metadata:
        return set()
    found: set[str] = set()
    for name in ("negates_id", "negates_ids"):
        value: Any = item.metadata.get(name)
        if isinstance(value, list | tuple):
            found.update(str(member) for member in value)
        elif value is not None:
            found.add(str(value))
    return found


def is_severe(conflicts: Sequence[EvidenceConflict]) -> bool:
    """Return whether any conflict is severe."""
    return any(conflict.severity >= SEVERE for conflict in conflicts)
