"""Certified bounds, under the definition that was described and the one that was computed."""

from __future__ import annotations

from steelyard.analysis.certificate import Certificate
from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.errors import InputError

DEFINITIONS = ("minimum", "lowest estimate")
"""``minimum``: the smallest lower limit over the perturbations, which is what the certificates
say they print. ``lowest estimate``: the lower limit of the perturbation with the lowest rate, the
first listed on ties, which is what they do print."""


@estimand
def certified_bound(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    arm: str,
    definition: str = "minimum",
) -> Computed:
    """Return the lower 95 % Wilson limit that holds for the worst perturbation, as a proportion."""
    bound, _, _ = _read(evidence.certificate(arm, measure, missing), definition)
    return Computed(value=bound)


@estimand
def grade(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    arm: str,
    definition: str = "minimum",
) -> Computed:
    """Return the certified bound's letter: A from 0.95, B 0.85, C 0.70, D 0.50, else F."""
    _, _, letter = _read(evidence.certificate(arm, measure, missing), definition)
    return Computed(text=letter)


@estimand
def worst_perturbation(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    arm: str,
    definition: str = "minimum",
) -> Computed:
    """Return the name of the perturbation that decides the certified bound, and its lower limit."""
    bound, worst, _ = _read(evidence.certificate(arm, measure, missing), definition)
    return Computed(value=bound, text=worst)


def _read(certificate: Certificate, definition: str) -> tuple[float, str, str]:
    if definition == "minimum":
        return certificate.bound, certificate.worst_perturbation, certificate.grade
    if definition == "lowest estimate":
        return (
            certificate.plumbline_bound,
            certificate.plumbline_worst,
            certificate.plumbline_grade,
        )
    raise InputError(f"definition is {definition!r}; accepted: {', '.join(DEFINITIONS)}")
