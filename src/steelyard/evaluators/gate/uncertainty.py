"""How much is unknown, and how strict the thresholds are in one case."""

from __future__ import annotations

from collections.abc import Mapping

from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.enums import CitationKind, Regime, Verdict
from steelyard.evaluators.gate.regime import POLICY_DOMAINS
from steelyard.evaluators.gate.results import EvaluatorResult
from steelyard.evaluators.gate.settings import GateSettings

Results = Mapping[str, EvaluatorResult]

_REGIME_SHIFT = {
    Regime.CLOSED_FORMAL: -0.05,
    Regime.EMPIRICAL: 0.0,
    Regime.POLICY_NORMATIVE: -0.03,
    Regime.PRAGMATIC_SYSTEMS: 0.03,
    Regime.OPEN_DIALECTIC: 0.06,
}

TAU_RANGE = (0.22, 0.58)
"""Smallest and largest adapted threshold of a conflict."""

QUALIFIED_LEAST = 0.08
QUALIFIED_GAP = 0.05
"""Smallest adapted threshold of a qualified consensus, and its least distance below the other."""

UNCERTAIN = 0.35
"""Uncertainty from which thresholds are stricter."""


def uncertainty_of(results: Results, context: ReasoningContext, n_unresolved_cap: int) -> float:
    """Return the uncertainty in [0, 1].

    Half of it is lack of confidence of the evaluators that vote, a fifth evidence that nobody
    cites, a fifth required facts that are missing, and a tenth open questions, of which
    ``n_unresolved_cap`` count as many.
    """
    confidences = [result.confidence for result in results.values() if result.determined]
    confidence = sum(confidences) / len(confidences) if confidences else 0.0
    coverage = 1.0
    if context.evidence:
        coverage = len(_cited_evidence(results)) / len(context.evidence)
    required = [spec.key for spec in context.fact_specs.values() if spec.required]
    absent = sum(key not in context.structured_facts for key in required)
    missing = absent / len(required) if required else 0.0
    questions = sum(len(result.unresolved_questions) for result in results.values())
    score = (
        0.5 * (1 - confidence)
        + 0.2 * (1 - coverage)
        + 0.2 * missing
        + 0.1 * min(1.0, questions / max(1, n_unresolved_cap))
    )
    return min(1.0, max(0.0, score))


def _cited_evidence(results: Results) -> set[str]:
    cited: set[str] = set()
    for result in results.values():
        cited.update(result.supporting_evidence_ids, result.contradicting_evidence_ids)
        for claim in result.claims:
            cited.update(c.ref for c in claim.citations if c.kind is CitationKind.EVIDENCE)
    return cited


def effective_thresholds(
    results: Results,
    settings: GateSettings,
    *,
    uncertainty: float,
    severe: bool,
    regime: Regime | None,
    domain: str | None,
) -> tuple[float, float]:
    """Return the thresholds of a conflict and of a qualified consensus.

    Parameters
    ----------
    results : mapping of str to EvaluatorResult
        The votes.
    settings : GateSettings
        Priors; without ``dynamic_tau`` they are returned as they are.
    uncertainty : float
        See `uncertainty_of`.
    severe : bool
        Whether evidence is in severe conflict.
    regime : Regime or None
        Kind of question.
    domain : str or None
        Domain of the context.
    """
    if not settings.dynamic_tau:
        return settings.tau_base, settings.qualified_tau
    verdicts = [result.verdict for result in results.values() if result.determined]
    polar = Verdict.APPROVE in verdicts and Verdict.REJECT in verdicts
    shift = -0.06 if polar else (_REGIME_SHIFT[regime] if regime is not None else 0.0)
    if len(verdicts) <= 2:
        shift -= 0.04
    elif len(verdicts) >= 4 and not polar:
        shift += 0.03
    shift -= 0.03 * (severe and polar)
    shift -= 0.03 * (uncertainty >= UNCERTAIN)
    shift -= 0.02 * ((domain or "").lower() in POLICY_DOMAINS)
    tau = min(TAU_RANGE[1], max(TAU_RANGE[0], settings.tau_base + shift))
    scale = tau / settings.tau_base if abs(settings.tau_base) > 1e-12 else 1.0
    most = max(QUALIFIED_LEAST, tau - QUALIFIED_GAP)
    return tau, min(most, max(QUALIFIED_LEAST, settings.qualified_tau * scale))
