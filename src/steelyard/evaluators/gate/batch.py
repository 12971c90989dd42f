"""Many cases at once, as rows of a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from steelyard.errors import SteelyardError
from steelyard.evaluators.gate.engine import Decision, Gate
from steelyard.evaluators.gate.enums import CheckStatus, Directive, Disposition
from steelyard.evaluators.gate.proposals import evaluate_proposal
from steelyard.evaluators.gate.reading import Case
from steelyard.evaluators.gate.selection import EVALUATOR_NAMES

COLUMNS = (
    "case",
    "status",
    "error",
    "directive",
    "executed",
    "disposition",
    "verdict",
    "rationale",
    "confidence",
    "contradiction",
    "uncertainty",
    "tau",
    "qualified_tau",
    "eligibility",
    "checks",
    "checks_passed",
    "review_required",
    "material_evidence_conflict",
    "policy_authority_conflict",
    "evaluator_disagreement",
    "semantic_conflict",
    "broad_conflict",
    "hard_veto",
    "regime",
    *EVALUATOR_NAMES,
)
"""The columns of a row, in order."""


def decide_case(gate: Gate, case: Case, *, now: datetime | None = None) -> Decision:
    """Judge one case: its context, or its proposal about the context."""
    if case.proposal is None:
        return gate.decide(case.context, case.allowed_tools, now=now)
    allowed = case.allowed_tools or ()
    return evaluate_proposal(
        gate,
        case.proposal,
        trusted_context=case.context,
        allowed_action_names=allowed,
        allowed_tools=allowed,
        now=now,
    )


def decision_rows(
    gate: Gate, cases: Iterable[Case], *, now: datetime | None = None
) -> Iterator[dict[str, Any]]:
    """Judge cases one after the other.

    Parameters
    ----------
    gate : Gate
        What decides.
    cases : iterable of Case
        Read lazily; memory does not grow with their number.
    now : datetime, optional
        See `Gate.decide`.

    Yields
    ------
    dict
        One row for each case, in order, with the columns `COLUMNS`. A case that is refused has
        the status ``"error"``, its message and no directive; it never counts as executed.
    """
    for case in cases:
        try:
            decision = decide_case(gate, case, now=now)
        except SteelyardError as error:
            empty = dict.fromkeys(COLUMNS)
            yield {
                **empty,
                "case": case.case,
                "status": "error",
                "error": str(error),
                "executed": False,
            }
            continue
        yield _row(case.case, decision)


def _row(case: str, decision: Decision) -> dict[str, Any]:
    graph = decision.graph
    checks = graph.eligibility.checks
    signals = graph.conflict_signals
    verdict, forced = graph.recommended_verdict, graph.eligibility.directive
    votes = graph.evaluators
    return {
        "case": case,
        "status": "ok",
        "error": "",
        "directive": decision.directive.value,
        "executed": decision.directive is Directive.EXECUTE,
        "disposition": graph.disposition.value,
        "verdict": "" if verdict is None else verdict.value,
        "rationale": graph.recommended_rationale,
        "confidence": graph.confidence,
        "contradiction": graph.contradiction_score,
        "uncertainty": graph.uncertainty_score,
        "tau": graph.tau_effective,
        "qualified_tau": graph.qualified_tau_effective,
        "eligibility": "" if forced is None else forced.value,
        "checks": len(checks),
        "checks_passed": sum(check.status is CheckStatus.PASS for check in checks),
        "review_required": graph.review_required,
        "material_evidence_conflict": signals.material_evidence_conflict,
        "policy_authority_conflict": signals.policy_authority_conflict,
        "evaluator_disagreement": signals.evaluator_disagreement,
        "semantic_conflict": graph.semantic_conflict,
        "broad_conflict": graph.broad_conflict,
        "hard_veto": graph.disposition is Disposition.HARD_VETO,
        "regime": graph.classifier.regime.value,
        **{name: votes[name].verdict.value if name in votes else "" for name in EVALUATOR_NAMES},
    }
