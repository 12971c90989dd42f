"""Published numbers against the evidence: what was printed, what comes out, how near is enough.

``experiments/<study>/pins.toml`` holds one entry per published number
(:mod:`steelyard.report.pin_file`). A number that the tables determine is *reproduced* or
*disputed*; a disputed one is pinned twice, as printed and as the evidence has it, with the
reason, so that neither can change unnoticed. Numbers that the tables cannot determine are listed
with what is missing.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.estimands import FIGURES, Computed, compute
from steelyard.analysis.evidence import Evidence
from steelyard.errors import SteelyardError, UnknownNameError
from steelyard.report.pin_file import Group, Pin, Pins, read_pins

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

__all__ = [
    "STATUSES",
    "PinResult",
    "Pins",
    "check_pin",
    "check_pins",
    "count_statuses",
    "read_pins",
]

STATUSES = ("reproduced", "disputed", "not determinable", "failed")
"""What can become of a pin, in the order in which the counts are shown."""

_SLACK = 1e-12
"""Added to every tolerance: 0.8125 printed as 0.812 differs by a hair more than half a unit."""

_EQUAL = ("successes", "total", "text")
"""Figures that have no tolerance."""


@dataclass(frozen=True)
class PinResult:
    """What became of one published number.

    Attributes
    ----------
    id : str
    status : str
        ``reproduced``, ``disputed`` (printed and evidence are as pinned, and differ),
        ``not determinable`` or ``failed``.
    group : str
        Name of the group; empty for numbers that are not determinable.
    printed : dict
        The published figures by name.
    computed : dict
        The same figures as the tables give them.
    tolerance, p_tolerance : float
        Largest accepted distances.
    reason : str
        Why this tolerance; for disputed numbers what is wrong; else what is missing.
    source : str
    message : str
        For a failed pin, what differs, with both numbers. Empty otherwise.
    """

    id: str
    status: str
    group: str = ""
    printed: Mapping[str, Any] = field(default_factory=dict)
    computed: Mapping[str, Any] = field(default_factory=dict)
    tolerance: float = 0.0
    p_tolerance: float = 0.0
    reason: str = ""
    source: str = ""
    message: str = ""

    def to_row(self) -> dict[str, Any]:
        """Return one flat row: printed and computed figures side by side."""
        row: dict[str, Any] = {"id": self.id, "status": self.status, "group": self.group}
        for name in FIGURES:
            row[name] = self.printed.get(name)
            row[f"computed_{name}"] = self.computed.get(name)
        row |= {"tolerance": self.tolerance, "p_tolerance": self.p_tolerance}
        return row | {"reason": self.reason, "source": self.source, "message": self.message}


def check_pins(
    tables: StudyTables, pins: Pins, ids: Sequence[str] = (), evidence: Evidence | None = None
) -> list[PinResult]:
    """Compute pinned numbers from the tables and compare.

    Parameters
    ----------
    tables : StudyTables
        The study that the pins belong to.
    pins : Pins
        From :func:`read_pins`.
    ids : sequence of str, optional
        Check only these; all when empty.
    evidence : Evidence, optional
        Of the same tables, where some of it has been computed already.

    Returns
    -------
    list of PinResult
        In the file's order, the numbers that are not determinable last.

    Raises
    ------
    UnknownNameError
        An id that the pins do not hold.
    """
    known = pins.ids()
    for name in ids:
        if name not in known:
            raise UnknownNameError("pin", name, known, f"study {pins.study}")
    wanted = set(ids or known)
    evidence = evidence or Evidence(tables)
    results = [check_pin(evidence, group, pin) for group, pin in pins.pinned() if pin.id in wanted]
    for entry in pins.not_determinable:
        results += [
            PinResult(name, "not determinable", reason=entry.reason)
            for name in entry.ids
            if name in wanted
        ]
    return results


def check_pin(evidence: Evidence, group: Group, pin: Pin) -> PinResult:
    """Compute one pinned number and compare it with what was printed.

    A reproduced pin must come out as printed. A disputed pin must come out as its ``evidence``
    says, must differ from what was printed, and, where the group knows how the printed number
    arose, must come out as printed under those parameters. An estimand that raises fails the pin.

    Parameters
    ----------
    evidence : Evidence
        The study; one object for many pins computes every table once.
    group : Group
        The pin's group.
    pin : Pin

    Returns
    -------
    PinResult
    """
    tolerances = _tolerances(group, pin)
    parameters = group.parameters | pin.parameters
    expected = pin.evidence.figures() if pin.evidence else pin.figures()
    computed: dict[str, Any] = {}
    faults: list[str] = []
    for name in group.estimands:
        answer = _compute(evidence, name, parameters)
        if isinstance(answer, str):
            faults.append(f"{name}: {answer}")
            continue
        computed = computed or {figure: getattr(answer, figure) for figure in expected}
        faults += [f"{name}: {fault}" for fault in _differences(expected, answer, tolerances)]
    if group.status == "disputed" and not faults:
        faults = _check_dispute(evidence, group, pin, Computed(**computed))
    return PinResult(
        id=pin.id,
        status="failed" if faults else group.status,
        group=group.name,
        printed=pin.figures(),
        computed=computed,
        tolerance=group.tolerance,
        p_tolerance=tolerances["p_value"],
        reason=pin.why or group.why or group.reason,
        source=pin.source or group.source,
        message="; ".join(faults),
    )


def count_statuses(results: Sequence[PinResult]) -> dict[str, int]:
    """Count the results of each status, in the order of :data:`STATUSES`."""
    counts = Counter(result.status for result in results)
    return {status: counts[status] for status in STATUSES}


def _compute(evidence: Evidence, name: str, parameters: Mapping[str, Any]) -> Computed | str:
    """Return what an estimand gives, or why it gives nothing."""
    try:
        return compute(evidence, name, parameters)
    except SteelyardError as error:
        return str(error)


def _check_dispute(evidence: Evidence, group: Group, pin: Pin, computed: Computed) -> list[str]:
    printed, tolerances = pin.figures(), _tolerances(group, pin)
    if not _differences(printed, computed, tolerances):
        return ["the evidence agrees with what was printed; this is no dispute"]
    if group.printed_with is None:
        return []
    parameters = group.parameters | pin.parameters | group.printed_with
    answer = _compute(evidence, group.estimands[0], parameters)
    if isinstance(answer, str):
        return [f"as printed: {answer}"]
    return [f"as printed: {fault}" for fault in _differences(printed, answer, tolerances)]


def _tolerances(group: Group, pin: Pin) -> dict[str, float]:
    own = pin.p_tolerance
    tolerances = dict.fromkeys(("value", "low", "high"), group.tolerance)
    return tolerances | {"p_value": group.p_tolerance if own is None else own}


def _differences(
    expected: Mapping[str, Any], computed: Computed, tolerances: Mapping[str, float]
) -> list[str]:
    """Say which figures are not as expected, with both numbers."""
    faults = []
    for name, figure in expected.items():
        found = getattr(computed, name)
        same = found == figure if name in _EQUAL else _is_near(figure, found, tolerances[name])
        if not same:
            within = "" if name in _EQUAL else f" (tolerance {tolerances[name]:g})"
            faults.append(f"{name} is pinned as {figure!r} and computed as {found!r}{within}")
    return faults


def _is_near(expected: float, found: float | None, tolerance: float) -> bool:
    if found is None or math.isnan(found):
        return False
    return abs(found - expected) <= tolerance + _SLACK
