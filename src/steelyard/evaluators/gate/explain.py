"""A decision in words, for a person who has to act on it."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.evaluators.gate.engine import Decision
from steelyard.evaluators.gate.errors import printable
from steelyard.evaluators.gate.graph import DecisionGraph
from steelyard.evaluators.gate.results import EvaluatorResult


def explained(decision: Decision) -> str:
    """Return a decision as lines of plain text.

    Parameters
    ----------
    decision : Decision
        From `Gate.decide`.

    Returns
    -------
    str
        Directive and reasons, checks, votes with their claims, agreement, probes; ends with a
        line break. Characters that are not printable are written as escapes.
    """
    lines = [*_head(decision), *_checks(decision.graph), *_votes(decision.graph)]
    lines += [*_agreement(decision.graph), *_conflicts(decision.graph), *_probes(decision.graph)]
    return "\n".join(printable(line) for line in lines) + "\n"


def _head(decision: Decision) -> Iterator[str]:
    graph, envelope = decision.graph, decision.envelope
    action = graph.hypothesis.action
    yield f"{envelope.directive.value.upper()}  {graph.hypothesis.statement}"
    if action is not None:
        yield f"  action: {action.name} ({action.kind.value})"
    if envelope.allowed_tools:
        yield f"  may run: {', '.join(envelope.allowed_tools)}"
    if envelope.gather_fact_keys:
        yield f"  to find out: {', '.join(envelope.gather_fact_keys)}"
    for reason in envelope.reasons:
        yield f"  because {reason}"
    codes = [*graph.review_reasons, *envelope.reason_codes]
    if codes:
        yield f"  reason codes: {', '.join(codes)}"


def _checks(graph: DecisionGraph) -> Iterator[str]:
    forced = graph.eligibility.directive
    outcome = "no check decides" if forced is None else f"the checks say {forced.value}"
    yield f"Eligibility: {outcome}"
    for check in graph.eligibility.checks:
        detail = f"  {check.detail}" if check.detail else ""
        yield f"  {check.status.value:<14} {check.kind:<10} {check.id}{detail}"


def _votes(graph: DecisionGraph) -> Iterator[str]:
    yield f"Evaluators heard ({graph.classifier.regime.value}):"
    for name, result in graph.evaluators.items():
        veto = ", veto" if result.hard_veto else ""
        yield f"  {name:<10} {result.verdict.value:<13} {result.confidence:.2f}{veto}"
        yield from _grounds(result)


def _grounds(result: EvaluatorResult) -> Iterator[str]:
    for claim in result.claims:
        cited = ", ".join(f"{c.kind.value} {c.ref}" for c in claim.citations) or "nothing"
        yield f"    {claim.polarity:+.0f} {claim.statement} (rests on {cited})"
    for question in result.unresolved_questions:
        yield f"    ?  {question}"


def _agreement(graph: DecisionGraph) -> Iterator[str]:
    verdict = "none" if graph.recommended_verdict is None else graph.recommended_verdict.value
    how = f"{graph.disposition.value}, verdict {verdict} ({graph.recommended_rationale})"
    yield f"Together: {how}"
    if graph.tau_effective is not None and graph.qualified_tau_effective is not None:
        yield (
            f"  contradiction {graph.contradiction_score:.3f} (conflict above "
            f"{graph.tau_effective:.3f}, qualified above {graph.qualified_tau_effective:.3f})"
        )
    yield f"  uncertainty {graph.uncertainty_score:.3f}, confidence {graph.confidence:.3f}"


def _conflicts(graph: DecisionGraph) -> Iterator[str]:
    for pair in graph.critical_conflicts:
        yield f"  {pair.pair.left} against {pair.pair.right}: {pair.delta:.3f}"
    for conflict in graph.evidence_conflicts:
        about = f" on {conflict.key}" if conflict.key else ""
        yield (
            f"  evidence {conflict.left} against {conflict.right}{about}: {conflict.kind.value}"
            f" ({conflict.severity:.2f})"
        )
    for error in graph.errors:
        yield f"  {error.evaluator}: {error.error_type}: {error.message}"


def _probes(graph: DecisionGraph) -> Iterator[str]:
    found = [counterfactual for counterfactual in graph.counterfactuals if counterfactual.key]
    if not found:
        return
    yield "What if (a diagnosis, no permission):"
    for counterfactual in found:
        effect = "would settle it" if counterfactual.resolving else "would not"
        yield (
            f"  {counterfactual.key} {counterfactual.original} -> {counterfactual.probed}: "
            f"{effect} (contradiction {counterfactual.delta:.3f})"
        )
