"""Checks of comparisons: both arms met the same thing, in the same experiment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from steelyard.analysis.audit.findings import Finding, Verdict, listed, p_text, quoted, ratio
from steelyard.analysis.audit.manipulation import WELL_APPLIED, application_query
from steelyard.analysis.audit.published import (
    Comparison,
    claims_of,
    comparison_of,
    declared_comparisons,
    is_held,
)
from steelyard.analysis.evidence import Evidence
from steelyard.stats import exact_permutation

SIGNIFICANT: Final = 0.05

_ADVICE: Final = {
    "fail": "The difference cannot be read as one of the arms; compare trials in which both met "
    "the perturbation.",
    "caution": "Without that record the arms may have met different things.",
    "pass": "",
}


def confounded_comparisons(evidence: Evidence) -> Iterator[Finding]:
    """Demand that both arms of a comparison met the perturbation.

    For each declared or published comparison and each of its perturbations, the shares of trials
    in which the perturbation happened are compared (exact permutation test). Different shares
    (p < 0.05, or one of them 0 and the other not) fail: the difference of the arms is mixed with
    the difference of what they met. So does a share below 95 % on one side where the other is
    not recorded. Where neither is recorded, the comparison asks for caution.
    """
    found = False
    for comparison, perturbations in _comparisons(evidence):
        if not is_held(evidence, comparison):
            continue
        unknown = []
        for perturbation in perturbations:
            finding = _confounding(evidence, comparison, perturbation)
            if finding is None:
                unknown.append(perturbation)
            else:
                found = True
                yield finding
        if unknown:
            found = True
            yield _unknown_confounding(evidence, comparison, unknown)
    if not found:
        text = "no comparison of two arms of this database under a perturbation is known"
        yield Finding("all comparisons", "pass", text, application_query(evidence))


def _comparisons(evidence: Evidence) -> Iterator[tuple[Comparison, list[str]]]:
    """Yield each comparison once, with the perturbations (not the baseline) it was made under."""
    baseline, *perturbations = evidence.tables.design.design.perturbations
    merged: dict[tuple[str, str, str], tuple[Comparison, set[str]]] = {}
    pairs = [(one, set(names)) for one, names in declared_comparisons(evidence)]
    for _, claim in claims_of(evidence, "difference_points").iterrows():
        comparison = comparison_of(evidence, claim)
        if comparison is not None:
            pairs.append((comparison, {str(claim["scope"])}))
    for comparison, names in pairs:
        key = (comparison.reference, comparison.candidate, comparison.measure)
        merged.setdefault(key, (comparison, set()))[1].update(names - {baseline, "overall"})
    for comparison, names in merged.values():
        yield comparison, [name for name in perturbations if name in names]


def _confounding(evidence: Evidence, comparison: Comparison, perturbation: str) -> Finding | None:
    """Compare what the two sides met; None where neither side has a record."""
    parts, shares, counts = [], [], []
    for arm in (comparison.reference, comparison.candidate):
        trials = _assigned(evidence, arm, perturbation)
        known = trials["perturbation_applied"].dropna().astype(bool)
        if known.empty:
            parts.append(f"no record for {arm}")
            continue
        counts.append((int(known.sum()), len(known)))
        shares.append(known.mean())
        parts.append(f"{arm} met it in {ratio(*counts[-1])}")
        parts[-1] += _by_application(evidence, comparison, arm, perturbation)
    if not counts:
        return None
    text = "; ".join(parts)
    differ = min(shares) < WELL_APPLIED
    if len(counts) == 2:
        p_value = exact_permutation(*counts[0], *counts[1]).p_value
        differ = p_value < SIGNIFICANT or (min(shares) == 0) != (max(shares) == 0)
        text += f"; same share in both: {p_text(p_value)}"
    verdict: Verdict = "fail" if differ else "pass" if len(counts) == 2 else "caution"
    return Finding(
        subject=f"{perturbation}: {comparison.label}",
        verdict=verdict,
        evidence=text,
        query=application_query(evidence, perturbation),
        recommendation=_ADVICE[verdict],
    )


def _by_application(evidence: Evidence, comparison: Comparison, arm: str, perturbation: str) -> str:
    """Say how an arm did with and without the perturbation, where it ran both ways."""
    place, name = evidence.of_arm(arm)
    trials = place.trials(comparison.measure, comparison.missing)
    own = trials[trials["arm"].eq(name) & trials["perturbation"].eq(perturbation)]
    own = own[own["value"].notna() & own["perturbation_applied"].notna()]
    if own["perturbation_applied"].nunique() < 2:
        return ""
    met = own["perturbation_applied"].astype(bool)
    values = own["value"]
    return (
        f" and succeeded in {ratio(values[met].sum(), met.sum())} of the trials that met it, "
        f"{ratio(values[~met].sum(), (~met).sum())} of those that did not"
    )


def _unknown_confounding(
    evidence: Evidence, comparison: Comparison, perturbations: list[str]
) -> Finding:
    parts = []
    for arm in (comparison.reference, comparison.candidate):
        known = sum(
            int(_assigned(evidence, arm, name)["perturbation_applied"].notna().sum())
            for name in perturbations
        )
        assigned = sum(len(_assigned(evidence, arm, name)) for name in perturbations)
        parts.append(f"{arm} {known:,} of {assigned:,}")
    return Finding(
        subject=f"{listed(perturbations, 6)}: {comparison.label}",
        verdict="caution",
        evidence=f"trials with a record of whether it happened: {'; '.join(parts)}",
        query=application_query(evidence),
        recommendation=_ADVICE["caution"],
    )


def _assigned(evidence: Evidence, arm: str, perturbation: str) -> pd.DataFrame:
    place, name = evidence.of_arm(arm)
    trials = place.frame("trials")
    return trials[trials["arm"].eq(name) & trials["perturbation"].eq(perturbation)]


def arms_of_other_studies(evidence: Evidence) -> Iterator[Finding]:
    """Demand that compared arms ran in one study.

    A declared or published comparison with an arm of another study asks for caution: time, model
    version and conditions may differ with the arm. The tasks and variants they share are counted.
    """
    found = False
    for comparison, _ in _comparisons(evidence):
        own, sides = evidence.study, (comparison.reference, comparison.candidate)
        if {arm.rpartition(":")[0] or own for arm in sides} == {own}:
            continue
        found = True
        yield _across_studies(evidence, comparison)
    if not found:
        text = "every comparison is between arms of this study"
        yield Finding("all comparisons", "pass", text, application_query(evidence))


def _across_studies(evidence: Evidence, comparison: Comparison) -> Finding:
    if not is_held(evidence, comparison):
        return Finding(
            subject=comparison.label,
            verdict="caution",
            evidence="this database does not hold both arms",
            query="SELECT DISTINCT study, arm FROM trials ORDER BY study, arm",
            recommendation="Load both studies into one database.",
        )
    sides = [evidence.of_arm(arm) for arm in (comparison.reference, comparison.candidate)]
    cells = []
    for place, name in sides:
        trials = place.frame("trials")
        own = trials[trials["arm"].eq(name)]
        cells.append(set(zip(own["task"], own["perturbation"], own["variant"], strict=True)))
    shared = len(cells[0] & cells[1])
    names = " OR ".join(
        f"(study = {quoted(place.study)} AND arm = {quoted(name)})" for place, name in sides
    )
    return Finding(
        subject=comparison.label,
        verdict="caution",
        evidence=(
            f"arms of {sides[0][0].study} and {sides[1][0].study}; they share {shared} of "
            f"{len(cells[0] | cells[1])} cells of task, perturbation and variant"
        ),
        query=(
            "SELECT study, arm, perturbation, count(*) AS trials, "
            "count(*) FILTER (perturbation_applied) AS applied "
            f"FROM trials WHERE {names} GROUP BY ALL ORDER BY ALL"
        ),
        recommendation="Run both arms in one study, in random order, before calling it an effect.",
    )
