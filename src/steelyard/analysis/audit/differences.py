"""Checks of published differences: no difference claimed, shuffled p-values, many comparisons."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pandas as pd

from steelyard.analysis.audit.findings import (
    Finding,
    Verdict,
    listed,
    p_text,
    plural,
    quoted,
    select_claims,
)
from steelyard.analysis.audit.published import Comparison, claims_of, comparison_of, is_held
from steelyard.analysis.comparison import compare
from steelyard.analysis.evidence import Evidence
from steelyard.stats import holm

SIGNIFICANT: Final = 0.05

DRAWS: Final = 20_000
"""Draws assumed where a claim does not say how many it made."""

STANDARD_ERRORS: Final = 4.0
"""A Monte-Carlo p-value further than this from the exact one is not a draw of it (1 in 16,000)."""


def no_difference(evidence: Evidence) -> Iterator[Finding]:
    """Demand an equivalence test of "no difference": "not significant" is not "the same".

    For the published differences with p of 0.05 or more, by source and pair of arms: two
    one-sided tests against the margin that the study declares for these arms (five points where
    it declares none), and the smallest margin that the evidence supports. Equivalent within the
    margin passes. Anything else fails: the evidence is inconclusive, and does not carry the
    sentence that the arms do not differ.
    """
    claims = _difference_claims(evidence)
    silent = claims[claims["p_value"].ge(SIGNIFICANT)]
    for (source, arm, _), own in silent.groupby(["source", "arm", "measure"], sort=False):
        finding = _equivalence(evidence, str(source), own)
        yield finding or Finding(
            subject=f"{arm}, {source}",
            verdict="caution",
            evidence=f"{plural(len(own), 'published difference')}; the tables do not hold its arms",
            query=select_claims(evidence, f"p_value >= 0.05 AND source = {quoted(str(source))}"),
            recommendation="Publish the evidence of both arms.",
        )
    if silent.empty:
        yield Finding(
            subject="all claims",
            verdict="pass",
            evidence=f"none of {plural(len(claims), 'published difference')} has p of 0.05 or more",
            query=select_claims(evidence, "p_value >= 0.05"),
        )


def _equivalence(evidence: Evidence, source: str, own: pd.DataFrame) -> Finding | None:
    comparison, parts, verdicts = None, [], []
    for _, claim in own.iterrows():
        comparison = comparison_of(evidence, claim) or comparison
        row = _row(evidence, comparison, str(claim["scope"])) if comparison else None
        if row is None:
            continue
        verdicts.append(str(row["verdict"]))
        smallest = float(row["smallest_margin"])
        margin = "no margin" if math.isnan(smallest) else f"{100 * smallest:.1f} points"
        parts.append(
            f"{claim['scope']} {margin} ({_counts(row)}, published {p_text(claim['p_value'])})"
        )
    if comparison is None or not verdicts:
        return None
    same = verdicts.count("equivalent")
    stated = f"{100 * comparison.margin:g} points ({comparison.margin_source})"
    return Finding(
        subject=f"{comparison.label}, {source}",
        verdict="pass" if same == len(verdicts) else "fail",
        evidence=(
            f"{plural(len(verdicts), 'published difference')} with p of 0.05 or more; within a "
            f"margin of {stated} {same} equivalent, {len(verdicts) - same} not shown to be; "
            f"smallest margin the evidence supports: {listed(parts, 6)}"
        ),
        query=select_claims(evidence, f"p_value >= 0.05 AND source = {quoted(source)}"),
        recommendation=""
        if same == len(verdicts)
        else "Say inconclusive, with the interval of the difference, or run enough trials to tell.",
    )


def _counts(row: pd.Series) -> str:
    reference = f"{int(row['reference_successes'])}/{int(row['reference_total'])}"
    return f"{reference} against {int(row['candidate_successes'])}/{int(row['candidate_total'])}"


def monte_carlo_p_values(evidence: Evidence) -> Iterator[Finding]:
    """Demand exact p-values where they can be had: shuffled ones depend on order and seed.

    Published p-values of differences are set beside the exact permutation test of the same
    counts. One that is further off than four Monte-Carlo standard errors (of 20,000 draws), or on
    the other side of 0.05, fails. Ones that are off by more than 1 % of the exact value ask for
    caution: they depend on a seed and on the order of the trials, and cannot fall below
    1 / (draws + 1).
    """
    claims = _difference_claims(evidence)
    for source, own in claims.groupby("source", sort=False):
        yield _shuffled(evidence, str(source), own)
    if claims.empty:
        yield Finding(
            subject="all claims",
            verdict="pass",
            evidence="no p-value was published",
            query=select_claims(evidence, "p_value IS NOT NULL"),
        )


@dataclass(frozen=True)
class _PValues:
    """A published p-value beside the exact one."""

    claim: str
    drawn: float
    exact: float

    @property
    def distance(self) -> float:
        """Monte-Carlo standard errors between the published value and its expectation."""
        expected = (DRAWS * self.exact + 1.0) / (DRAWS + 1.0)
        spread = math.sqrt(max(self.exact * (1.0 - self.exact), 1e-12) / DRAWS)
        # A p printed to four decimals is off by up to half a unit for that reason alone.
        return max(abs(self.drawn - expected) - 5e-5, 0.0) / spread

    @property
    def is_no_draw(self) -> bool:
        """Whether it is too far off, or on the other side of 0.05."""
        flipped = (self.drawn < SIGNIFICANT) != (self.exact < SIGNIFICANT)
        return flipped or self.distance > STANDARD_ERRORS

    @property
    def is_off(self) -> bool:
        """Whether it differs from the exact value by more than 1 % of that."""
        return abs(self.drawn - self.exact) > 0.01 * self.exact

    def __str__(self) -> str:
        return f"{self.claim} (published {self.drawn:g}, exact {self.exact:.3g})"


def _shuffled(evidence: Evidence, source: str, own: pd.DataFrame) -> Finding:
    beside = []
    for _, claim in own.iterrows():
        comparison = comparison_of(evidence, claim)
        row = _row(evidence, comparison, str(claim["scope"])) if comparison else None
        if row is not None:
            exact = float(row["p_exact"])
            beside.append(_PValues(str(claim["claim"]), float(claim["p_value"]), exact))
    wrong = [one for one in beside if one.is_no_draw]
    off = sorted((one for one in beside if one.is_off), key=lambda one: -one.distance)
    text = (
        f"{len(beside) - len(off)} of {plural(len(own), 'published p-value')} are the exact ones "
        "to within 1%"
    )
    if off:
        text += f"; not: {listed([str(one) for one in off], 3)}"
    if wrong:
        text += f"; no draw of the exact value: {listed([one.claim for one in wrong])}"
    verdict: Verdict = "fail" if wrong else "caution" if off or not beside else "pass"
    return Finding(
        subject=source,
        verdict=verdict,
        evidence=text,
        query=_p_query(evidence, source),
        recommendation="" if verdict == "pass" else "Publish the exact p-value; it costs nothing.",
    )


def _p_query(evidence: Evidence, source: str) -> str:
    return select_claims(evidence, f"p_value IS NOT NULL AND source = {quoted(source)}")


def multiplicity(evidence: Evidence) -> Iterator[Finding]:
    """Demand an adjustment for the number of comparisons.

    The published p-values of one source are one family. Holm's procedure keeps the chance of any
    false finding at 5 %; findings that do not survive it ask for caution.
    """
    claims = _difference_claims(evidence)
    for source, family in claims.groupby("source", sort=False):
        own = family.assign(adjusted=holm(family["p_value"].tolist()))
        found = own["p_value"].lt(SIGNIFICANT)
        lost = own[found & own["adjusted"].ge(SIGNIFICANT)]
        text = (
            f"{plural(len(own), 'p-value')}, {int(found.sum())} below 0.05, "
            f"{int(found.sum()) - len(lost)} of them after Holm's adjustment"
        )
        if len(lost):
            shown = [f"{c['claim']} ({p_text(c['adjusted'])})" for _, c in lost.iterrows()]
            text += f"; not any more: {listed(shown)}"
        yield Finding(
            subject=str(source),
            verdict="caution" if len(lost) else "pass",
            evidence=text,
            query=_p_query(evidence, str(source)),
            recommendation="Publish adjusted p-values and the size of the family."
            if len(lost)
            else "",
        )
    if claims.empty:
        yield Finding(
            subject="all claims",
            verdict="pass",
            evidence="no family of p-values was published",
            query=select_claims(evidence, "p_value IS NOT NULL"),
        )


def _difference_claims(evidence: Evidence) -> pd.DataFrame:
    claims = claims_of(evidence, "difference_points")
    return claims[claims["p_value"].notna()]


def _row(evidence: Evidence, comparison: Comparison, scope: str) -> pd.Series | None:
    """Return the comparison's row for one scope: a perturbation, or all trials pooled.

    None where the tables do not hold the arms or the scope.
    """
    by: tuple[str, ...] = () if scope == "overall" else ("perturbation",)
    if not is_held(evidence, comparison):
        return None
    table = evidence.once(
        ("compare", comparison, by),
        lambda: compare(
            evidence.tables,
            comparison.reference,
            comparison.candidate,
            comparison.measure,
            by=by,
            missing=comparison.missing,
            margin=comparison.margin,
        ),
    )
    if by:
        table = table[table["perturbation"].eq(scope)]
    return table.iloc[0] if len(table) else None
