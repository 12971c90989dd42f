"""How well the checks of a plan are written: whether one could see them hold. Words only.

Nothing here knows whether the checks are the right ones. A plan for another task, or a check that
says the opposite of what is wanted, can score 1.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.errors import printable
from steelyard.evaluators.bound.contracts import BoundPlan, StepContract
from steelyard.evaluators.bound.vocabulary import is_observable, is_vague

OVERSIZED = 15
"""A step with more acceptance checks is warned about."""

LIMITATIONS = (
    "Whether the checks are about what the goal asks for is not judged.",
    "Checks that are missing are not noticed.",
    "Checks that are not needed are not noticed.",
    "Whether a risk is the right one to watch is not judged.",
    "A check worded as if it could be seen need not be one that a program can run.",
)
"""What no report of this module says."""


@dataclass(frozen=True)
class QualityWarning:
    """Something about the checks of one step.

    Attributes
    ----------
    step : str
        Id of the step.
    code : str
        ``no_acceptance_checks``, ``vague_checks``, ``duplicate_ids``, ``no_observable_check`` or
        ``oversized``.
    details : dict
        ``count``, ``ids`` or ``limit``, where the code has them.
    """

    step: str
    code: str
    details: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return one flat object."""
        return {"step": self.step, "code": self.code, **self.details}


@dataclass(frozen=True)
class QualityReport:
    """What the wording of the checks of a step or plan shows.

    Attributes
    ----------
    measurable : int
        Acceptance checks that name something observable.
    acceptance_check_count, risk_check_count : int
    has_budget : bool
        Whether any limit is set; 0 is one.
    warnings : tuple of QualityWarning
    """

    measurable: int
    acceptance_check_count: int
    risk_check_count: int
    has_budget: bool
    warnings: tuple[QualityWarning, ...]

    @property
    def measurable_ratio(self) -> float:
        """Share of the acceptance checks that are measurable; 0 where there is none."""
        return self.measurable / self.acceptance_check_count if self.acceptance_check_count else 0.0

    @property
    def observability(self) -> str:
        """``most`` (from 0.8), ``some`` (from 0.5) or ``few`` of the checks are measurable."""
        ratio = self.measurable_ratio
        return "most" if ratio >= 0.8 else "some" if ratio >= 0.5 else "few"

    def to_dict(self) -> dict[str, Any]:
        """Return the report as JSON has it."""
        return {
            "measurable_ratio": self.measurable_ratio,
            "acceptance_check_count": self.acceptance_check_count,
            "risk_check_count": self.risk_check_count,
            "has_budget": self.has_budget,
            "warnings": [warning.to_dict() for warning in self.warnings],
        }


@dataclass(frozen=True)
class Finding:
    """A plan's report in a corpus, with the remarks that it gives rise to."""

    name: str
    goal: str
    step_count: int
    report: QualityReport
    note: str


@dataclass(frozen=True)
class CorpusQuality:
    """Reports of several plans, by name.

    Attributes
    ----------
    findings : tuple of Finding
        Sorted by file name.
    limitations : tuple of str
    """

    findings: tuple[Finding, ...]
    limitations: tuple[str, ...] = LIMITATIONS

    @property
    def plans_with_warnings(self) -> int:
        """How many plans have a warning."""
        return sum(bool(finding.report.warnings) for finding in self.findings)

    @property
    def aggregate(self) -> QualityReport:
        """The report over the steps of all plans; the ratio is of summed counts."""
        return _joined([finding.report for finding in self.findings])

    def to_text(self) -> str:
        """Return a line for all plans and one for each; what is not printable is escaped."""
        ratio = self.aggregate.measurable_ratio
        counted = f"{len(self.findings)} plans, {self.plans_with_warnings} with warnings"
        lines = [f"{counted}, {ratio:.3f} of the acceptance checks measurable"]
        lines += [
            f"{printable(finding.name)}: {finding.report.measurable_ratio:.3f}. {finding.note}"
            for finding in self.findings
        ]
        return "\n".join(lines)


def step_quality(step: StepContract) -> QualityReport:
    """Judge the wording of one step's checks."""
    checks = step.acceptance_checks
    measurable = sum(is_observable(check.id, check.description) for check in checks)
    return QualityReport(
        measurable=measurable,
        acceptance_check_count=len(checks),
        risk_check_count=len(step.risk_checks),
        has_budget=step.budget is not None and step.budget.is_limited,
        warnings=tuple(_warnings(step, measurable)),
    )


def plan_quality(plan: BoundPlan) -> QualityReport:
    """Judge the wording of a plan's checks: counts are added up over the steps."""
    return _joined([step_quality(step) for step in plan.steps])


def corpus_quality(plans: Mapping[str, BoundPlan]) -> CorpusQuality:
    """Judge the plans of a corpus.

    Parameters
    ----------
    plans : mapping of str to BoundPlan
        By name; they are reported in the order that files of these names have in a folder.

    Returns
    -------
    CorpusQuality
    """
    findings = []
    for name in sorted(plans, key=lambda stem: f"{stem}.json"):
        plan = plans[name]
        report = plan_quality(plan)
        findings.append(Finding(name, plan.goal, len(plan.steps), report, quality_note(report)))
    return CorpusQuality(tuple(findings))


def quality_note(report: QualityReport) -> str:
    """Return what the report says, in sentences."""
    warned = Counter(warning.code for warning in report.warnings)
    said = ", ".join(f"{code} {count}" for code, count in sorted(warned.items()))
    sentences = [
        f"Warnings: {said}." if said else "No warnings.",
        f"{report.observability.capitalize()} of the checks name something observable.",
    ]
    if not report.has_budget:
        sentences.append("There is no budget.")
    if report.risk_check_count == 0:
        sentences.append("There is no risk check.")
    sentences.append("Whether the checks are relevant cannot be told from their wording.")
    return " ".join(sentences)


def _warnings(step: StepContract, measurable: int) -> list[QualityWarning]:
    checks = step.acceptance_checks
    if not checks:  # only in an object that was changed after it was validated
        return [QualityWarning(step.id, "no_acceptance_checks", {})]
    found = []
    vague = sum(is_vague(check.description) for check in checks)
    times = Counter(check.id for check in checks)
    repeated = sorted(check for check, count in times.items() if count > 1)
    if vague:
        found.append(QualityWarning(step.id, "vague_checks", {"count": vague}))
    if repeated:
        found.append(QualityWarning(step.id, "duplicate_ids", {"ids": repeated}))
    if not measurable:
        found.append(QualityWarning(step.id, "no_observable_check", {}))
    if len(checks) > OVERSIZED:
        details = {"count": len(checks), "limit": OVERSIZED}
        found.append(QualityWarning(step.id, "oversized", details))
    return found


def _joined(reports: Sequence[QualityReport]) -> QualityReport:
    return QualityReport(
        measurable=sum(report.measurable for report in reports),
        acceptance_check_count=sum(report.acceptance_check_count for report in reports),
        risk_check_count=sum(report.risk_check_count for report in reports),
        has_budget=any(report.has_budget for report in reports),
        warnings=tuple(warning for report in reports for warning in report.warnings),
    )
