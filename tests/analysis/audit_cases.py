"""What the audit's tests share: running one check, and trials and claims in few words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from steelyard.analysis.audit.findings import Check, Finding
from steelyard.analysis.evidence import Evidence
from steelyard.store.tables import StudyTables

SmallStudy = Callable[..., StudyTables]


def run(check: Check, tables: StudyTables) -> list[Finding]:
    """Run one check, and every query of its findings."""
    findings = list(check(Evidence(tables)))
    assert findings, "a check reports at least one finding"
    for finding in findings:
        tables.connection.execute(finding.query).fetchall()
        assert finding.evidence
        assert (finding.recommendation == "") == (finding.verdict == "pass"), finding
    return findings


def one(check: Check, tables: StudyTables, subject: str = "") -> Finding:
    """Run one check and return its only finding, or the only one about ``subject``."""
    chosen = [finding for finding in run(check, tables) if subject in finding.subject]
    assert len(chosen) == 1, chosen
    return chosen[0]


def verdicts(check: Check, tables: StudyTables) -> dict[str, str]:
    """Run one check and return its verdicts by subject."""
    return {finding.subject: finding.verdict for finding in run(check, tables)}


def trials(counts: dict[str, tuple[int, int]], **common: Any) -> Iterator[dict[str, Any]]:
    """Yield trials from ``{arm: (successes, total)}``, each of a task of its own."""
    for arm, (successes, total) in counts.items():
        for index in range(total):
            yield {"arm": arm, "task": f"t{index}", "success": int(index < successes), **common}


def rate_claim(claim: str, successes: int, total: int, **more: Any) -> dict[str, Any]:
    """Return a published rate with an interval that nobody could object to."""
    rate = {"measure": "success", "statistic": "rate", "missing_policy": "exclude"}
    value = successes / total if total else 0.0
    figures = {"successes": successes, "total": total, "value": value}
    return {"claim": claim, "arm": "a", **rate, **figures, "low": 0.0, "high": 1.0, **more}


def difference_claim(claim: str, p_value: float, **more: Any) -> dict[str, Any]:
    """Return a published difference of b against a."""
    what = {"measure": "success", "statistic": "difference_points", "missing_policy": "exclude"}
    return {"claim": claim, "arm": "a|b", **what, "value": 0.0, "p_value": p_value, **more}
