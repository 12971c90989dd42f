"""The decision graph: every verdict, every disagreement, and what they amount to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.enums import Disposition, Verdict
from steelyard.evaluators.gate.regime import Classification
from steelyard.evaluators.gate.results import (
    AlignedDelta,
    AssumptionAtom,
    ConflictSignals,
    Counterfactual,
    EligibilityAssessment,
    EvaluatorError,
    EvaluatorResult,
    EvidenceConflict,
    PairDelta,
)
from steelyard.evaluators.gate.schemas import Hypothesis

_NOT_WRITTEN = ("context", "hypothesis", "classifier")


@dataclass(frozen=True, slots=True)
class DecisionGraph:
    """What was decided about one context and why.

    Attributes
    ----------
    context, hypothesis
        What was judged.
    classifier : Classification
        The kind of question.
    selected_evaluators : tuple of str
        Who was heard, in order.
    evaluators : dict of str to EvaluatorResult
        Their votes.
    disposition, recommended_verdict, recommended_rationale
        What the votes amount to.
    eligibility : EligibilityAssessment
        The checks that no vote outweighs.
    authorising_rule_ids : tuple of str
        Trusted permissions that hold.
    confidence : float
        Mean confidence of those who voted.
    contradiction_score, uncertainty_score : float
        Largest distance between two evaluators, and uncertainty.
    tau_effective, qualified_tau_effective : float or None
        The thresholds that were applied; None where nobody was heard.
    critical_conflicts : tuple of PairDelta
        Pairs further apart than the threshold.
    evidence_conflicts, shared_assumptions, conflicting_assumptions, counterfactuals, errors
        See their classes.
    conflict_signals, aligned_delta
        Conflicts by kind.
    review_required, review_reasons
        Whether and why a person should look.
    settings_sha256 : str
        Which settings were applied.
    schema_version : str
        Version of this layout.
    """

    context: ReasoningContext
    hypothesis: Hypothesis
    classifier: Classification
    selected_evaluators: tuple[str, ...]
    evaluators: dict[str, EvaluatorResult]
    disposition: Disposition
    recommended_verdict: Verdict | None
    recommended_rationale: str
    eligibility: EligibilityAssessment
    authorising_rule_ids: tuple[str, ...]
    conflict_signals: ConflictSignals
    aligned_delta: AlignedDelta
    confidence: float = 0.0
    contradiction_score: float = 0.0
    uncertainty_score: float = 1.0
    tau_effective: float | None = None
    qualified_tau_effective: float | None = None
    critical_conflicts: tuple[PairDelta, ...] = ()
    evidence_conflicts: tuple[EvidenceConflict, ...] = ()
    shared_assumptions: tuple[AssumptionAtom, ...] = ()
    conflicting_assumptions: tuple[AssumptionAtom, ...] = ()
    counterfactuals: tuple[Counterfactual, ...] = ()
    review_required: bool = False
    review_reasons: tuple[str, ...] = ()
    errors: tuple[EvaluatorError, ...] = field(default=())
    settings_sha256: str = ""
    schema_version: str = "1.2.0"

    @property
    def semantic_conflict(self) -> bool:
        """Whether evidence or authorities contradict each other."""
        signals = self.conflict_signals
        return signals.material_evidence_conflict or signals.policy_authority_conflict

    @property
    def broad_conflict(self) -> bool:
        """Whether anything contradicts anything: the widest of the published definitions."""
        return bool(
            self.semantic_conflict
            or self.disposition is Disposition.CONFLICT
            or self.critical_conflicts
            or self.evidence_conflicts
            or self.conflicting_assumptions
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the graph as JSON can hold it, without the context that it was made from."""
        written = {
            entry.name: _plain(getattr(self, entry.name))
            for entry in fields(self)
            if entry.name not in _NOT_WRITTEN
        }
        arithmetic = self.classifier.fast_path
        return {
            **written,
            "query": self.context.query,
            "hypothesis": self.hypothesis.model_dump(mode="json"),
            "regime": self.classifier.regime.value,
            "classifier": {
                "regime": self.classifier.regime.value,
                "fast_path": arithmetic is not None,
                "feature_scores": self.classifier.feature_scores,
                "reason_codes": list(self.classifier.reason_codes),
                "override_applied": self.classifier.override_applied,
            },
            "fast_path": None if arithmetic is None else {"value": str(arithmetic.value)},
        }


def _plain(value: Any) -> Any:
    """Return a dataclass, or a collection of them, as plain lists and objects."""
    if isinstance(value, tuple | list):
        return [_plain(member) for member in value]
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    return asdict(value) if hasattr(value, "__dataclass_fields__") else value
