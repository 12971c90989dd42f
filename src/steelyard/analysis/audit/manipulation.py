"""Checks of the experiment itself: the perturbation happened, in every arm and every repeat."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pandas as pd

from steelyard.analysis.audit.findings import Finding, Verdict, listed, plural, quoted, ratio
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.manipulation import manipulation

WELL_APPLIED: Final = 0.95
"""Share of trials in which a perturbation should have happened for the condition to be as named."""


def perturbation_applied(evidence: Evidence) -> Iterator[Finding]:
    """Demand that a perturbation happened: one that never did is not evidence.

    For each arm and perturbation: applied in at least 95 % of the trials where it is recorded
    passes, in fewer asks for caution, in none fails. Where nothing was recorded the condition may
    or may not be what its name says, which asks for caution.
    """
    yield from _by_group(evidence, "arm")


def perturbation_applied_by_repeat(evidence: Evidence) -> Iterator[Finding]:
    """Demand that every repeat met the perturbation afresh.

    As above, for each arm, perturbation and repeat. A fault that fires once and is shared between
    repeats reaches the first only; the later repeats are trials without a fault under its name.
    """
    yield from _by_group(evidence, "repeat")


def _by_group(evidence: Evidence, column: str) -> Iterator[Finding]:
    by = ("arm", "perturbation") if column == "arm" else ("arm", "perturbation", "repeat")
    table = evidence.once(("manipulation", by), lambda: manipulation(evidence.tables, by=by))
    baseline = evidence.tables.design.design.perturbations[0]
    table = table[table["perturbation"].ne(baseline)]
    recorded = table[table["recorded"].gt(0)]
    if column == "repeat":
        # One repeat cannot differ from itself; the check by arm has already spoken of it.
        repeats = recorded.groupby(["arm", "perturbation"])["repeat"].transform("nunique")
        recorded = recorded[repeats.gt(1)]
    for _, row in recorded.iterrows():
        yield _application(evidence, row, column)
    unknown = table[table["recorded"].eq(0)]
    if len(unknown) and column == "arm":
        yield _unknown_application(evidence, unknown)
    if recorded.empty and (unknown.empty or column == "repeat"):
        text = (
            "no trial was assigned to a perturbation"
            if table.empty
            else "no perturbation is recorded for more than one repeat"
        )
        yield Finding("all trials", "pass", text, application_query(evidence))


def _application(evidence: Evidence, row: pd.Series, column: str) -> Finding:
    applied, recorded = int(row["applied"]), int(row["recorded"])
    share = applied / recorded
    verdict: Verdict = "pass" if share >= WELL_APPLIED else "caution" if applied else "fail"
    where = f"{row['perturbation']}, {row['arm']}"
    if column == "repeat":
        where += f", repeat {row['repeat']}"
    text = f"the perturbation happened in {ratio(applied, recorded)} of the trials it was meant for"
    if row["unknown"]:
        text += f"; not recorded for {plural(int(row['unknown']), 'other')}"
    return Finding(
        subject=where,
        verdict=verdict,
        evidence=text,
        query=application_query(evidence, str(row["perturbation"])),
        recommendation=""
        if verdict == "pass"
        else "Give each trial its own fault, record that it fired, and report rates as applied.",
    )


def _unknown_application(evidence: Evidence, unknown: pd.DataFrame) -> Finding:
    names = list(dict.fromkeys(unknown["perturbation"]))
    return Finding(
        subject=listed(names, 6),
        verdict="caution",
        evidence=(
            f"unknown: not recorded for any of {plural(int(unknown['assigned'].sum()), 'trial')} "
            f"({listed(dict.fromkeys(unknown['arm']))})"
        ),
        query=application_query(evidence),
        recommendation="Record in each trial whether the perturbation reached the agent.",
    )


def application_query(evidence: Evidence, perturbation: str = "") -> str:
    """Return SQL that counts assigned and applied trials by perturbation, arm and repeat."""
    only = f" AND perturbation = {quoted(perturbation)}" if perturbation else ""
    return (
        "SELECT perturbation, arm, repeat, count(*) AS assigned, "
        "count(*) FILTER (perturbation_applied) AS applied, "
        "count(*) FILTER (NOT perturbation_applied) AS not_applied, "
        "count(*) FILTER (perturbation_applied IS NULL) AS unknown "
        f"FROM trials WHERE study = {quoted(evidence.study)}{only} "
        "GROUP BY ALL ORDER BY ALL"
    )
