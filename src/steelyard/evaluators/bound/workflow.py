"""Scores from workflow signals, each with the records that it rests on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from steelyard.evaluators.bound.model import EvidenceError, capped
from steelyard.evaluators.bound.models import (
    Action,
    BoundCriteria,
    EvaluationResult,
    EvaluationScores,
    Provenance,
    ScoreEvidence,
)
from steelyard.evaluators.bound.policy import evaluate
from steelyard.evaluators.bound.signals import CodingWorkflowSignals, WorkflowNormalization
from steelyard.evaluators.bound.summation import compensated_mean

GATES = ("test_pass_rate", "required_checks_passed", "lint_passed", "type_check_passed")
"""What acceptance is made of, in the order in which it is added up."""

LARGE_CHANGE = 10.0
"""Changed files from which a change is as risky as any."""

MANY_MODIFIED_TESTS = 5.0
"""Modified tests from which modifying more makes it no riskier."""

MODIFIED_TESTS_RISK = 0.5
"""Risk of modifying that many tests."""

_MEANINGS = {
    "evidence_breadth": "share of the four gates that were reported",
    "unexpected_files_changed": "files changed that were not to be touched",
    "rollback_available": "1 where the change can be undone",
    "large_change_surface(files_changed)": "files changed, full at ten",
    "tests_removed": "tests that are gone",
    "tests_modified": "tests that were rewritten, half at five",
    "failed_checks(1 - A)": "what acceptance lacks",
    "retry_count": "retries, as a share of the number expected at most",
    "tool_call_count": "tool calls, as a share of the number expected at most",
    "token_usage": "tokens, as a share of the number expected at most",
    "execution_time_seconds": "seconds, as a share of the number expected at most",
}


@dataclass(frozen=True)
class Scored:
    """Scores and what they rest on."""

    scores: EvaluationScores
    provenance: Provenance


@dataclass(frozen=True)
class _Term:
    """One term of a mean: the raw value as recorded, and what enters the mean."""

    source: str
    value: float
    indicator: float


def score_workflow(
    signals: CodingWorkflowSignals,
    normalization: WorkflowNormalization | None = None,
    influence: float | None = None,
) -> Scored:
    """Score a state by what its workflow reported.

    - Acceptance: mean of the reported gates (:data:`GATES`) times reported/4, so a gate that was
      not reported costs as much as one that failed.
    - Risk: mean of the reported indicators and of what acceptance lacks.
    - Cost: mean of the shares spent; retries and tool calls always count, tokens and seconds
      where reported.
    - Influence: as given, else 0.

    Parameters
    ----------
    signals : CodingWorkflowSignals
    normalization : WorkflowNormalization, optional
        BOUND's defaults when absent.
    influence : float, optional
        Between -1 and 1.

    Returns
    -------
    Scored

    Raises
    ------
    EvidenceError
        If no gate was reported.
    ModelError
        If a score is outside its range: a given influence, or a cost of infinite time over
        infinite time.
    """
    limits = normalization or WorkflowNormalization()
    gates = _gates(signals)
    if not gates:
        raise EvidenceError(f"no evidence of acceptance: report one of {', '.join(GATES)}")
    acceptance, accepted = _acceptance(gates)
    risks = [*_risks(signals), _Term("failed_checks(1 - A)", 1 - acceptance, 1 - acceptance)]
    costs = list(_costs(signals, limits))
    scores = {
        "acceptance": acceptance,
        "influence": 0.0 if influence is None else influence,
        "risk": compensated_mean([term.indicator for term in risks]),
        "cost": compensated_mean([term.indicator for term in costs]),
    }
    read = EvaluationScores.read(scores)
    read.reasoning = _reasoning(read, len(gates))
    provenance = {
        "acceptance": accepted,
        "influence": [influence_record(influence)],
        "risk": _records(risks),
        "cost": _records(costs),
    }
    return Scored(read, provenance)


def evaluate_workflow(
    action: Action,
    signals: CodingWorkflowSignals,
    criteria: BoundCriteria,
    normalization: WorkflowNormalization | None = None,
    influence: float | None = None,
) -> EvaluationResult:
    """Score a state by its signals and hold the scores against the criteria.

    Parameters and errors are those of :func:`score_workflow` and
    :func:`steelyard.evaluators.bound.policy.evaluate`.
    """
    scored = score_workflow(signals, normalization, influence)
    return evaluate(action, scored.scores, criteria, scored.provenance)


def influence_record(influence: float | None) -> ScoreEvidence:
    """Return the one record behind an influence."""
    source = "default" if influence is None else "external"
    value = 0.0 if influence is None else float(influence)
    return ScoreEvidence(source=source, value=value, contribution=value)


def _gates(signals: CodingWorkflowSignals) -> list[tuple[str, float]]:
    reported = ((name, getattr(signals, name)) for name in GATES)
    return [(name, float(value)) for name, value in reported if value is not None]


def _acceptance(gates: Sequence[tuple[str, float]]) -> tuple[float, list[ScoreEvidence]]:
    breadth = len(gates) / len(GATES)
    # Two steps, though the sum over four would be the same number: the bits differ.
    acceptance = compensated_mean([value for _, value in gates]) * breadth
    records = [
        ScoreEvidence(source=name, value=value, contribution=value / len(gates))
        for name, value in gates
    ]
    return acceptance, [*records, _record("evidence_breadth", breadth, breadth)]


def _risks(signals: CodingWorkflowSignals) -> Iterator[_Term]:
    unexpected, undoable = signals.unexpected_files_changed, signals.rollback_available
    changed, removed, modified = (
        signals.files_changed,
        signals.tests_removed,
        signals.tests_modified,
    )
    if unexpected is not None:
        yield _Term("unexpected_files_changed", float(unexpected), float(unexpected > 0))
    if undoable is not None:
        yield _Term("rollback_available", float(undoable), float(not undoable))
    if changed is not None:
        share = min(changed / LARGE_CHANGE, 1.0)
        yield _Term("large_change_surface(files_changed)", float(changed), share)
    if removed is not None:
        yield _Term("tests_removed", float(removed), float(removed > 0))
    if modified is not None:
        share = min(modified / MANY_MODIFIED_TESTS, 1.0) * MODIFIED_TESTS_RISK
        yield _Term("tests_modified", float(modified), share)


def _costs(signals: CodingWorkflowSignals, limits: WorkflowNormalization) -> Iterator[_Term]:
    spent: tuple[tuple[str, float | None, float], ...] = (
        ("retry_count", signals.retry_count, limits.max_expected_retries),
        ("tool_call_count", signals.tool_call_count, limits.max_expected_tool_calls),
        ("token_usage", signals.token_usage, limits.max_expected_tokens),
        (
            "execution_time_seconds",
            signals.execution_time_seconds,
            limits.max_expected_runtime_seconds,
        ),
    )
    for name, value, limit in spent:
        if value is not None:
            yield _Term(name, float(value), capped(value, limit))


def _records(terms: Sequence[_Term]) -> list[ScoreEvidence]:
    return [_record(term.source, term.value, term.indicator / len(terms)) for term in terms]


def _record(source: str, value: float, contribution: float) -> ScoreEvidence:
    return ScoreEvidence(
        source=source,
        value=value,
        contribution=contribution,
        description=_MEANINGS.get(source),
    )


def _reasoning(scores: EvaluationScores, gates: int) -> str:
    return (
        f"acceptance {scores.acceptance:.4f} from {gates} of {len(GATES)} gates, influence "
        f"{scores.influence:.4f}, risk {scores.risk:.4f}, cost {scores.cost:.4f}"
    )
