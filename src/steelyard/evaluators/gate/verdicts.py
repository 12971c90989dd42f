"""From votes to a graph: the clean-up, the distances, the thresholds, the lattice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.clean_up import cleaned
from steelyard.evaluators.gate.contradiction import Contradiction, contradiction_of
from steelyard.evaluators.gate.eligibility import Eligibility
from steelyard.evaluators.gate.enums import CitationKind, Directive, Disposition, Verdict
from steelyard.evaluators.gate.evidence import is_severe
from steelyard.evaluators.gate.graph import DecisionGraph
from steelyard.evaluators.gate.hearing import Hearing
from steelyard.evaluators.gate.lattice import Ruling, rule_on
from steelyard.evaluators.gate.regime import Classification
from steelyard.evaluators.gate.results import (
    Citation,
    Claim,
    ConflictSignals,
    Counterfactual,
    EvaluatorError,
    EvaluatorResult,
)
from steelyard.evaluators.gate.situation import Situation
from steelyard.evaluators.gate.uncertainty import effective_thresholds, uncertainty_of


@dataclass(frozen=True, slots=True)
class Judgement:
    """Votes after the clean-up and what they amount to."""

    results: dict[str, EvaluatorResult]
    errors: tuple[EvaluatorError, ...]
    contradiction: Contradiction
    uncertainty: float
    tau: float
    qualified_tau: float
    ruling: Ruling

    @property
    def contested(self) -> bool:
        """Whether evaluators are further apart than the threshold."""
        return self.contradiction.delta_max > self.tau

    @property
    def vetoed(self) -> bool:
        """Whether a veto stands."""
        return any(result.hard_veto for result in self.results.values())


@dataclass(frozen=True, slots=True)
class Examination:
    """A situation that has passed eligibility and classification, ready for its graph."""

    situation: Situation
    eligibility: Eligibility
    classification: Classification

    def graph(
        self,
        judgement: Judgement,
        counterfactuals: tuple[Counterfactual, ...],
        codes: Sequence[str],
    ) -> DecisionGraph:
        """Return the graph of a case in which evaluators were heard."""
        results, ruling = judgement.results, judgement.ruling
        votes = [result for result in results.values() if result.determined]
        contradiction = judgement.contradiction
        known = self.eligibility.signals
        return self._outline(
            results,
            ruling,
            codes,
            required=bool(codes),
            conflict_signals=ConflictSignals(
                known.material_evidence_conflict,
                known.policy_authority_conflict,
                len({vote.verdict for vote in votes}) >= 2,
                ruling.rationale == "lattice.tie",
                known.aligned_conflict_pairs,
            ),
            confidence=sum(vote.confidence for vote in votes) / len(votes) if votes else 0.0,
            contradiction_score=contradiction.delta_max,
            uncertainty_score=judgement.uncertainty,
            tau_effective=judgement.tau,
            qualified_tau_effective=judgement.qualified_tau,
            critical_conflicts=contradiction.critical(judgement.tau),
            evidence_conflicts=tuple(self.situation.conflicts),
            shared_assumptions=contradiction.shared_assumptions,
            conflicting_assumptions=contradiction.conflicting_assumptions,
            counterfactuals=counterfactuals,
            errors=judgement.errors,
        )

    def computed(self) -> DecisionGraph:
        """Return the graph of a query that is arithmetic: its value is the answer."""
        hypothesis = self.situation.hypothesis.id
        arithmetic = self.classification.fast_path
        claim = Claim(
            "axiomatic-value",
            "axiomatic",
            f"its value is {arithmetic.value if arithmetic is not None else None}",
            1.0,
            1.0,
            hypothesis,
            [Citation(CitationKind.HYPOTHESIS, hypothesis)],
        )
        result = EvaluatorResult("axiomatic", Verdict.APPROVE, 1.0, "solver", claims=[claim])
        results = {"axiomatic": result}
        ruling = Ruling(Disposition.CONSENSUS, Verdict.APPROVE, "lattice.consensus")
        return self._outline(
            results, ruling, (), required=False, confidence=1.0, uncertainty_score=0.0
        )

    def closed(self, names: Sequence[str], code: str) -> DecisionGraph:
        """Return the graph of a case in which nobody may be heard."""
        stubs = {
            name: EvaluatorResult(name, Verdict.UNDETERMINED, 0.0, "rules", reason_codes=[code])
            for name in names
        }
        ruling = Ruling(Disposition.INSUFFICIENT_EVIDENCE, None, "lattice.insufficient")
        return self._outline(stubs, ruling, (code,), required=True)

    def _outline(
        self,
        results: dict[str, EvaluatorResult],
        ruling: Ruling,
        codes: Sequence[str],
        *,
        required: bool,
        conflict_signals: ConflictSignals | None = None,
        **scores: Any,
    ) -> DecisionGraph:
        """Return a graph; without scores those of a case in which nobody was heard."""
        assessment = self.eligibility.assessment
        if assessment.directive is not None:
            codes = (*codes, reasons.ELIGIBILITY_GATE)
        settings = self.situation.settings
        return DecisionGraph(
            self.situation.context,
            self.situation.hypothesis,
            self.classification,
            tuple(results),
            results,
            ruling.disposition,
            ruling.verdict,
            ruling.rationale,
            assessment,
            self.eligibility.authorising_rule_ids,
            conflict_signals or self.eligibility.signals,
            self.eligibility.aligned_delta,
            review_required=required or assessment.directive is Directive.ESCALATE,
            review_reasons=tuple(dict.fromkeys(codes)),
            settings_sha256=settings.sha256,
            schema_version=settings.schema_version,
            **scores,
        )


def judge(
    situation: Situation,
    classification: Classification,
    hearing: Hearing,
    may_veto: Mapping[str, bool],
) -> Judgement:
    """Return what the votes of a hearing amount to.

    Parameters
    ----------
    situation : Situation
        With the eligible rules.
    classification : Classification
        Its regime moves the thresholds.
    hearing : Hearing
        The votes.
    may_veto : mapping of str to bool
        Who may veto.
    """
    settings = situation.settings
    results, errors = cleaned(hearing.results, situation, may_veto, settings.uncited_penalty)
    contradiction = contradiction_of(
        results,
        settings.contradiction,
        distance_of_agreement=situation.compatibility.distance_of_agreement,
    )
    uncertainty = uncertainty_of(results, situation.context, settings.n_unresolved_cap)
    severe = is_severe(situation.weighty_conflicts)
    tau, qualified_tau = effective_thresholds(
        results,
        settings,
        uncertainty=uncertainty,
        severe=severe,
        regime=classification.regime,
        domain=situation.context.domain,
    )
    ruling = rule_on(
        results,
        delta_max=contradiction.delta_max,
        uncertainty=uncertainty,
        tau=tau,
        qualified_tau=qualified_tau,
        u_insufficient=settings.u_insufficient,
        severe=severe,
        may_veto=may_veto,
    )
    errors = [*hearing.errors, *errors]
    return Judgement(results, tuple(errors), contradiction, uncertainty, tau, qualified_tau, ruling)
