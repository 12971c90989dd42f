"""Adapters of whole decisions, directives, proposals, documents and probes to vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.evaluators.gate.compatibility import PUBLISHED
from steelyard.evaluators.gate.context import ReasoningContext, materialised_hypothesis
from steelyard.evaluators.gate.directive import (
    Envelope,
    allow_generation,
    honor_envelope,
    to_envelope,
)
from steelyard.evaluators.gate.documents import context_from_documents
from steelyard.evaluators.gate.engine import Gate
from steelyard.evaluators.gate.enums import Directive, Disposition, Regime, Verdict
from steelyard.evaluators.gate.errors import GateInputError
from steelyard.evaluators.gate.graph import DecisionGraph
from steelyard.evaluators.gate.probes import candidate_values
from steelyard.evaluators.gate.proposals import evaluate_proposal
from steelyard.evaluators.gate.regime import Classification
from steelyard.evaluators.gate.results import (
    AlignedDelta,
    ConflictSignals,
    EligibilityAssessment,
    EligibilityCheck,
    read_result,
)
from steelyard.evaluators.gate.schemas import CandidateAction, FactSpec, Hypothesis
from vectors.gate_cases import (
    NOW,
    aligned_of,
    check_rows,
    conflict_rows,
    context_of,
    decoded,
    encoded,
    result_of,
    settings_of,
    signals_of,
)


def graph_of(data: Mapping[str, Any]) -> DecisionGraph:
    """Return the graph that a case describes in a few words."""
    kind = data.get("action_kind")
    action = kind and CandidateAction(id="a", kind=kind, name="n")
    eligibility = data.get("eligibility")
    directive = None if eligibility in {None, "none"} else Directive(eligibility)
    checks = tuple(
        read_result(
            {**check, "cited_fact_keys": tuple(check.get("cited_fact_keys", ()))}, EligibilityCheck
        )
        for check in data.get("checks", ())
    )
    questions = data.get("questions", [])
    asked = {
        "formal": result_of({"verdict": "approve", "unresolved_questions": questions}, "formal")
    }
    verdict = data.get("recommended_verdict")
    return DecisionGraph(
        context=ReasoningContext(query="q"),
        hypothesis=Hypothesis(id="h", statement="s", action=action),
        classifier=Classification(Regime.OPEN_DIALECTIC),
        selected_evaluators=("formal",),
        evaluators=asked,
        disposition=Disposition(data["disposition"]),
        recommended_verdict=verdict and Verdict(verdict),
        recommended_rationale="",
        eligibility=EligibilityAssessment(directive, checks),
        authorising_rule_ids=(),
        conflict_signals=ConflictSignals(),
        aligned_delta=AlignedDelta(),
        review_required=data.get("review_required", False),
    )


def envelope_row(envelope: Envelope) -> dict[str, Any]:
    """Write an envelope as the vectors do."""
    return {
        "directive": envelope.directive.value,
        "allowed_tools": list(envelope.allowed_tools),
        "gather_fact_keys": list(envelope.gather_fact_keys),
    }


def envelope(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the directive of a graph."""
    return envelope_row(to_envelope(graph_of(data), data["allowed_tools"], PUBLISHED))


def generation(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return whether a text may be generated."""
    return {"allow": allow_generation(Disposition(data["disposition"]))}


def honoured(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a host runs that obeys a directive."""
    found = honor_envelope(
        Directive(data["directive"]), data["allowed_tools"], data["requested_tools"]
    )
    return {
        "executed_tools": list(found.executed_tools),
        "blocked": found.blocked,
        "accepted": found.accepted,
    }


def documents(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the context that documents make."""
    host = dict(decoded(data.get("extra", {})))
    host.pop("query", None)
    if "facts" in host:
        facts = host.pop("facts")
        host["structured_facts"] = {k: {"key": k, "value": v} for k, v in facts.items()}
    context = context_from_documents(
        decoded(data["documents"]),
        data["query"],
        host=host,
        lift=True,
        compatibility=PUBLISHED,
    )
    graph = context.causal_graph
    return {
        "evidence": [
            [e.id, e.source, e.trust, e.freshness_hours, e.numeric_claims] for e in context.evidence
        ],
        "facts": {key: fact.value for key, fact in context.structured_facts.items()},
        "rules": [rule.id for rule in context.policy_rules],
        "constraints": [constraint.id for constraint in context.constraints],
        "edges": graph and [edge.edge_id for edge in graph.edges],
    }


def candidates(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a fact may be varied to."""
    spec = FactSpec.model_validate(decoded(data["spec"]), context=PUBLISHED)
    return {"values": candidate_values(spec, decoded(data["current"]))}


def hypothesis(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the hypothesis of a context."""
    found = materialised_hypothesis(context_of(data["context"]))
    return {
        "id": found.id,
        "statement": found.statement,
        "action_kind": found.action and found.action.kind.value,
        "action_name": found.action and found.action.name,
    }


def proposal(data: Mapping[str, Any]) -> dict[str, Any]:
    """Judge an untrusted proposal."""
    try:
        decision = evaluate_proposal(
            Gate(settings_of(data), PUBLISHED),
            decoded(data["proposal"]),
            trusted_context=context_of(data["trusted_context"]),
            allowed_action_names=data["allowed_action_names"],
            allowed_tools=data["allowed_tools"],
            now=NOW,
        )
    except GateInputError as error:
        return refusal_row(error, "ValueError")
    graph = decision.graph
    return {
        **envelope_row(decision.envelope),
        "disposition": graph.disposition.value,
        "recommended_verdict": graph.recommended_verdict and graph.recommended_verdict.value,
        "regime": graph.classifier.regime.value,
        "query": graph.context.query,
        "hypothesis_id": graph.hypothesis.id,
        "eligibility": eligibility_row(graph),
        "selected_evaluators": list(graph.selected_evaluators),
    }


def eligibility_row(graph: DecisionGraph) -> dict[str, Any]:
    """Write the eligibility of a graph as the vectors do."""
    directive = graph.eligibility.directive
    return {
        "directive": directive and directive.value,
        "checks": check_rows(graph.eligibility.checks),
    }


def refusal_row(error: GateInputError, otherwise: str) -> dict[str, Any]:
    """Write a refusal as the vectors do."""
    if not error.fields:
        return {"error_class": otherwise}
    fields = sorted([path, kind] for path, kind in error.fields)
    return {"error_class": "ValidationError", "errors": fields}


def vote_rows(graph: DecisionGraph) -> dict[str, Any]:
    """Write the votes of a graph as the vectors do."""
    return {
        name: {
            "verdict": result.verdict.value,
            "confidence": result.confidence,
            "hard_veto": result.hard_veto,
            "reason_codes": result.reason_codes,
            "n_unresolved": len(result.unresolved_questions),
        }
        for name, result in graph.evaluators.items()
    }


def finding_rows(graph: DecisionGraph) -> dict[str, Any]:
    """Write conflicts, assumptions and probes of a graph as the vectors do."""
    return {
        "evidence_conflicts": conflict_rows(graph.evidence_conflicts),
        "shared_assumptions": [atom.predicate for atom in graph.shared_assumptions],
        "conflicting_assumptions": [
            [atom.predicate, atom.polarity] for atom in graph.conflicting_assumptions
        ],
        "counterfactuals": [
            [c.key, c.original, c.probed, c.delta, c.resolving, list(c.flips)]
            for c in graph.counterfactuals
        ],
    }


def evaluate(data: Mapping[str, Any]) -> dict[str, Any]:
    """Judge a context."""
    context = context_of(data["context"])
    decision = Gate(settings_of(data), PUBLISHED).decide(context, data["allowed_tools"], now=NOW)
    graph = decision.graph
    arithmetic = graph.classifier.fast_path
    return {
        **envelope_row(decision.envelope),
        "disposition": graph.disposition.value,
        "recommended_verdict": graph.recommended_verdict and graph.recommended_verdict.value,
        "rationale": graph.recommended_rationale,
        "regime": graph.classifier.regime.value,
        "fast_path": arithmetic
        and {
            "value": encoded(arithmetic.value),
            "value_type": type(arithmetic.value).__name__,
        },
        "classifier_reason_codes": graph.classifier.reason_codes,
        "feature_scores": graph.classifier.feature_scores,
        "selected_evaluators": list(graph.selected_evaluators),
        "evaluators": vote_rows(graph),
        "delta": graph.contradiction_score,
        "uncertainty": graph.uncertainty_score,
        "confidence": graph.confidence,
        "tau_effective": graph.tau_effective,
        "qualified_tau_effective": graph.qualified_tau_effective,
        "critical_pairs": [
            [pair.pair.left, pair.pair.right, pair.delta] for pair in graph.critical_conflicts
        ],
        "review_required": graph.review_required,
        "review_reasons": list(graph.review_reasons),
        "eligibility": eligibility_row(graph),
        "conflict_signals": signals_of(graph.conflict_signals),
        "aligned_delta": aligned_of(graph.aligned_delta),
        **finding_rows(graph),
        "errors": [[error.evaluator, error.error_type] for error in graph.errors],
    }


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("prismthinker", function): adapter
    for function, adapter in {
        "adapter.to_envelope": envelope,
        "adapter.allow_generation": generation,
        "adapter.honor_envelope": honoured,
        "adapter.from_documents": documents,
        "adapter.evaluate_proposal": proposal,
        "counterfactual.candidates": candidates,
        "engine.materialize_hypothesis": hypothesis,
        "engine.evaluate": evaluate,
    }.items()
}
