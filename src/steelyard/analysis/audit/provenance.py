"""Check of where the arms come from: whether the cases were new to those who made them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from steelyard.analysis.audit.findings import Finding, percent, quoted, ratio
from steelyard.analysis.evidence import Evidence

_CASE = ["task", "variant"]


def held_out_cases(evidence: Evidence) -> Iterator[Finding]:
    """Demand that an arm is judged on cases that its makers had not inspected.

    The study declares the studies whose results were seen when its arms got their present form
    (``[study] developed_on``). A case (task and variant) that stands in one of them is
    development, not held out: any such case fails. A declared study that this database does not
    hold asks for caution.
    """
    earlier = evidence.tables.design.study.developed_on
    if not earlier:
        text = "no study is declared whose results were seen before the arms got their present form"
        yield Finding("all cases", "pass", text, _query(evidence))
    for study in earlier:
        yield _seen_before(evidence, study)


def _seen_before(evidence: Evidence, study: str) -> Finding:
    before = _cases(evidence, study)
    if before.empty:
        return Finding(
            study,
            "caution",
            f"the arms were developed on {study}, which this database does not hold",
            _query(evidence),
            "Say how many of the cases were seen before.",
        )
    now = _cases(evidence, evidence.study)
    seen = len(now.merge(before, on=_CASE))
    if not seen:
        text = f"none of {len(now)} cases is one of {study}, on which the arms were developed"
        return Finding(study, "pass", text, _query(evidence, study))
    text = f"{ratio(seen, len(now))} of the cases are cases of {study}, seen before"
    return Finding(
        study,
        "fail",
        text + _changes(evidence, study),
        _query(evidence, study),
        "Read the rates as fit to these cases, and repeat on cases that nobody has inspected.",
    )


def _cases(evidence: Evidence, study: str) -> pd.DataFrame:
    query = "SELECT DISTINCT task, variant FROM trials WHERE study = ? ORDER BY ALL"
    return evidence.tables.connection.execute(query, [study]).df()


def _changes(evidence: Evidence, study: str) -> str:
    """Write the primary measure of the arms that both studies hold: then and now."""
    measure = evidence.tables.design.measures.primary
    query = """
        SELECT t.arm, t.study, count(m.value)::BIGINT AS total, avg(m.value) AS rate
        FROM trials t JOIN measures m USING (study, trial_id)
        WHERE m.measure = ? AND t.study IN (?, ?) GROUP BY t.arm, t.study ORDER BY t.arm
    """
    found = evidence.tables.connection.execute(query, [measure, study, evidence.study]).df()
    table = found.pivot_table(index="arm", columns="study", values="rate")
    if study not in table or evidence.study not in table:
        return ""
    both = table.dropna()
    shown = [
        f"{arm} {percent(row[study])} there and {percent(row[evidence.study])} here"
        for arm, row in both.iterrows()
    ]
    return f"; {measure}: {', '.join(shown)}" if shown else ""


def _query(evidence: Evidence, *studies: str) -> str:
    names = ", ".join(quoted(name) for name in (evidence.study, *studies))
    return (
        "SELECT task, variant, list(DISTINCT study ORDER BY study) AS studies FROM trials "
        f"WHERE study IN ({names}) GROUP BY task, variant ORDER BY task, variant"
    )
