"""Checks of bounds that are said to hold under the worst perturbation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from steelyard.analysis.audit.findings import Finding, plural, quoted, select_claims
from steelyard.analysis.audit.published import claims_of, published_claims
from steelyard.analysis.certificate import Certificate
from steelyard.analysis.evidence import Evidence

ROUNDING: Final = 5.1e-5
"""Half a unit of the fourth decimal and a little: bounds are printed to four decimals or more."""

PARTS: Final = {"certified_bound": "rate", "retirement_bound": "outcome_equivalence"}
"""Bounds, and the statistic whose lower limits by perturbation they are the minimum of."""

CERTIFIED: Final = ("certified_bound", "grade", "worst_perturbation")


def bound_is_the_minimum(evidence: Evidence) -> Iterator[Finding]:
    """Demand that a worst-case bound is the smallest lower limit over the perturbations.

    Each published certified bound, grade and worst perturbation is set beside the minimum of the
    lower Wilson limits under the claim's own missing policy. A different bound, letter or name
    fails; the finding gives both, and says where the published one comes from: the lower limit
    of the perturbation with the lowest rate, which passes over small perturbations that had no
    failure. A perturbation without a scored trial has nothing certified, and asks for caution.
    """
    claims = claims_of(evidence, *CERTIFIED)
    claims = claims[claims["arm"].isin(list(evidence.tables.design.design.arms))]
    agreeing = []
    for (arm, source), own in claims.groupby(["arm", "source"], sort=False):
        finding = _definition(evidence, str(arm), str(source), own)
        if finding.verdict == "pass":
            agreeing.append(finding)
        else:
            yield finding
    if agreeing or claims.empty:
        text = (
            f"{plural(len(agreeing), 'certificate')} print the minimum under their missing policy"
            if agreeing
            else "no certified bound was published"
        )
        yield Finding("all other bounds", "pass", text, _bound_query(evidence))


def _definition(evidence: Evidence, arm: str, source: str, own: pd.DataFrame) -> Finding:
    policy = str(own["missing_policy"].iloc[0])
    measure = str(own["measure"].iloc[0])
    found = evidence.certificate(arm, measure, policy)
    wrong = [part for part in (_differs(claim, found) for _, claim in own.iterrows()) if part]
    text = (
        f"minimum {found.bound:.4f} ({found.worst_perturbation}, grade {found.grade}); lower limit "
        f"of the lowest rate {found.plumbline_bound:.4f} ({found.plumbline_worst}, grade "
        f"{found.plumbline_grade})"
    )
    if wrong:
        text = f"published {', '.join(wrong)}; {text}"
    if found.unscored_perturbations:
        text += f"; no scored trial under {', '.join(found.unscored_perturbations)}"
    verdict = "fail" if wrong else "caution" if found.unscored_perturbations else "pass"
    return Finding(
        subject=f"{arm}, {source}",
        verdict=verdict,  # type: ignore[arg-type]
        evidence=text,
        query=_bound_query(evidence, arm, source),
        recommendation="Publish the minimum; it needs no adjustment for taking a minimum."
        if wrong
        else "Say that the bound does not cover these perturbations.",
    )


def _differs(claim: pd.Series, found: Certificate) -> str:
    """Return what a claim printed if the minimum gives something else, else nothing."""
    statistic = claim["statistic"]
    if statistic == "grade":
        same, shown = claim["text"] == found.grade, f"grade {claim['text']}"
    elif statistic == "worst_perturbation":
        same, shown = claim["text"] == found.worst_perturbation, f"worst {claim['text']}"
    else:
        same = abs(float(claim["value"]) - found.bound) <= ROUNDING
        shown = f"bound {claim['value']:.4f}"
    return "" if same else shown


def _text(name: object) -> str:
    return name if isinstance(name, str) else ""


def _bound_query(evidence: Evidence, arm: str = "", source: str = "") -> str:
    condition = "statistic IN ('certified_bound', 'grade', 'worst_perturbation')"
    if arm:
        condition += f" AND arm = {quoted(arm)} AND source = {quoted(source)}"
    return select_claims(evidence, condition)


def bound_beside_its_parts(evidence: Evidence) -> Iterator[Finding]:
    """Demand that a published worst-case bound agrees with the limits published beside it.

    For each bound (certified or retirement) whose source also publishes lower limits by
    perturbation for the same arms, the smallest of those must be the bound. This uses the claims
    only, and so also covers bounds of measures that the tables do not hold.
    """
    claims = published_claims(evidence)
    bounds = claims[claims["statistic"].isin(list(PARTS))]
    names = evidence.tables.design.design.perturbations
    agreeing = 0
    for _, bound in bounds.iterrows():
        parts = claims[
            claims["source"].eq(bound["source"])
            & claims["arm"].eq(bound["arm"])
            & claims["measure"].fillna("").eq(_text(bound["measure"]))
            & claims["statistic"].eq(PARTS[bound["statistic"]])
            & claims["scope"].isin(names)
            & claims["total"].gt(0)
        ]
        if parts.empty:
            continue
        least = parts.sort_values(["low", "claim"]).iloc[0]
        if abs(float(least["low"]) - float(bound["value"])) <= ROUNDING:
            agreeing += 1
            continue
        yield Finding(
            subject=str(bound["claim"]),
            verdict="fail",
            evidence=(
                f"published {bound['value']:.4f}; the same file gives {least['low']:.4f} for "
                f"{least['scope']} ({least['successes']}/{least['total']})"
            ),
            query=select_claims(
                evidence,
                f"source = {quoted(str(bound['source']))} AND arm = {quoted(str(bound['arm']))} "
                "AND low IS NOT NULL",
            ),
            recommendation="Publish the smallest lower limit, or call the number something else.",
        )
    if agreeing or bounds.empty:
        text = f"{plural(agreeing, 'bound')} published with limits by perturbation are the smallest"
        yield Finding(
            subject="all other bounds",
            verdict="pass",
            evidence=text if len(bounds) else "no bound was published",
            query=select_claims(evidence, "statistic IN ('certified_bound', 'retirement_bound')"),
        )
