"""The study's claims, read as questions that the tables can answer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from steelyard.analysis.estimands.proportions import rate_row
from steelyard.analysis.evidence import Evidence
from steelyard.errors import SteelyardError, UnknownNameError

POLICIES = ("exclude", "recorded", "fail")
"""The missing policies that give one rate each, in the order in which an explanation is sought."""

DEFAULT_MARGIN = 0.05
"""Margin of "no difference" where the study declares none: five percentage points."""


@dataclass(frozen=True)
class Comparison:
    """A published or declared comparison of two arms.

    Attributes
    ----------
    label : str
        For the reader: ``candidate against reference`` and the measure.
    reference, candidate : str
        An arm, or ``study:arm``.
    measure, missing : str
    margin : float
        Declared for these arms (for this measure, else for another), else
        :data:`DEFAULT_MARGIN`.
    margin_source : str
        ``declared`` or ``default``.
    """

    label: str
    reference: str
    candidate: str
    measure: str
    missing: str
    margin: float
    margin_source: str


def published_claims(evidence: Evidence) -> pd.DataFrame:
    """Return the study's claims that were published.

    Numbers that this project's own data READMEs state (sources below ``data/``) are findings
    about the tables and not publications; the audit does not hold them against anyone.
    """
    claims = evidence.frame("claims")
    return claims[~claims["source"].str.startswith("data/")]


def claims_of(evidence: Evidence, *statistics: str) -> pd.DataFrame:
    """Return the published claims of the given statistics."""
    claims = published_claims(evidence)
    return claims[claims["statistic"].isin(list(statistics))]


def rate_claims(evidence: Evidence) -> pd.DataFrame:
    """Return the claims of a rate whose measure the tables hold, with a denominator above 0."""
    claims = claims_of(evidence, "rate")
    held = set(evidence.frame("measures")["measure"])
    return claims[claims["measure"].isin(held) & claims["total"].fillna(0).gt(0)]


def place_of(evidence: Evidence, claim: pd.Series) -> dict[str, str] | None:
    """Return where in the design a claim's rate was taken, or None where that is not clear.

    A scope is ``overall``, a perturbation, ``task:…`` or ``variant:…``; ``invariant:…`` is a
    measure of its own, taken overall.
    """
    place = {} if claim["arm"] == "all" else {"arm": str(claim["arm"])}
    scope = str(claim["scope"])
    kind, colon, name = scope.partition(":")
    if scope == "overall" or kind == "invariant":
        return place
    if colon and kind in ("task", "variant"):
        return place | {kind: name}
    if scope in evidence.tables.design.design.perturbations:
        return place | {"perturbation": scope}
    return None


def recompute(evidence: Evidence, claim: pd.Series, missing: str) -> pd.Series | None:
    """Return the row of the rates table that answers a claim, or None where there is none."""
    place = place_of(evidence, claim)
    if place is None:
        return None
    try:
        return rate_row(evidence, str(claim["measure"]), missing, place)
    except SteelyardError:
        return None


def explaining_policies(evidence: Evidence, claim: pd.Series) -> list[str]:
    """Return the missing policies under which the tables give a claim's counts."""
    found = []
    for policy in POLICIES:
        row = recompute(evidence, claim, policy)
        if row is not None and (row["successes"], row["total"]) == (
            claim["successes"],
            claim["total"],
        ):
            found.append(policy)
    return found


def comparison_of(evidence: Evidence, claim: pd.Series) -> Comparison | None:
    """Return the comparison that a claimed difference makes, or None where it cannot be read."""
    reference, bar, candidate = str(claim["arm"]).partition("|")
    if not bar or pd.isna(claim["measure"]):
        return None
    measure = str(claim["measure"])
    missing = str(claim["missing_policy"]) if pd.notna(claim["missing_policy"]) else "exclude"
    if reference == candidate:
        # An arm against itself: the same arm of another study, if the declaration names one.
        for one in evidence.tables.design.comparisons:
            names = [arm.rpartition(":")[2] for arm in (one.reference, one.candidate)]
            if names == [reference, candidate] and one.measure == measure:
                return _comparison(evidence, one.reference, one.candidate, measure, missing)
        return None
    return _comparison(evidence, reference, candidate, measure, missing)


def is_held(evidence: Evidence, comparison: Comparison) -> bool:
    """Tell whether this database holds both arms, one of which may be of another study."""
    try:
        sides = [evidence.of_arm(arm) for arm in (comparison.reference, comparison.candidate)]
    except UnknownNameError:
        return False
    return all(name in set(place.frame("trials")["arm"]) for place, name in sides)


def declared_comparisons(evidence: Evidence) -> Iterator[tuple[Comparison, tuple[str, ...]]]:
    """Yield the comparisons of the study's declaration, each with its perturbations."""
    design = evidence.tables.design
    for one in design.comparisons:
        names = tuple(one.perturbations) or tuple(design.design.perturbations)
        found = _comparison(
            evidence, one.reference, one.candidate, one.measure, design.missing.policy
        )
        yield found, names


def _comparison(
    evidence: Evidence, reference: str, candidate: str, measure: str, missing: str
) -> Comparison:
    margin, source = DEFAULT_MARGIN, "default"
    pair = {reference, candidate}
    same = [o for o in evidence.tables.design.comparisons if {o.reference, o.candidate} == pair]
    if same:
        best = next((one for one in same if one.measure == measure), same[0])
        margin, source = float(best.margin), "declared"
    label = f"{candidate} against {reference}, {measure}"
    return Comparison(label, reference, candidate, measure, missing, margin, source)
