"""Adapters of predicates, classification, evidence, eligibility and evaluators to vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.evaluators.gate.arithmetic import probe_expression
from steelyard.evaluators.gate.causal import judge_causal
from steelyard.evaluators.gate.compatibility import PUBLISHED
from steelyard.evaluators.gate.eligibility import assess
from steelyard.evaluators.gate.empirical import judge_empirical
from steelyard.evaluators.gate.enums import Regime
from steelyard.evaluators.gate.formal import judge_formal
from steelyard.evaluators.gate.policy import judge_policy
from steelyard.evaluators.gate.predicates import Bindings, evaluate_predicate
from steelyard.evaluators.gate.regime import classify
from steelyard.evaluators.gate.schemas import CandidateAction
from steelyard.evaluators.gate.selection import select_evaluators
from steelyard.evaluators.gate.situation import Situation
from steelyard.evaluators.gate.utility import judge_utility
from vectors.gate_cases import (
    aligned_of,
    check_rows,
    conflict_rows,
    context_of,
    decoded,
    encoded,
    settings_of,
    signals_of,
    situation,
)


def predicate(data: Mapping[str, Any]) -> dict[str, Any]:
    """Evaluate a predicate over facts and an action."""
    action = data.get("action")
    if action is not None:
        action = CandidateAction.model_validate(decoded(action), context=PUBLISHED)
    context = context_of({"query": "", "facts": data.get("facts", {})})
    bindings = Bindings(context.structured_facts, action, in_order=True, literals_only=True)
    outcome = evaluate_predicate(data["predicate"], bindings)
    return {
        "value": outcome.value,
        "unbound": outcome.unbound,
        "error": bool(outcome.error),
        "cited_fact_keys": list(outcome.cited_fact_keys),
    }


def expression(data: Mapping[str, Any]) -> dict[str, Any]:
    """Compute a query."""
    found = probe_expression(data["query"])
    return {
        "eligible": found.eligible,
        "value": encoded(found.value),
        "value_type": type(found.value).__name__ if found.eligible else None,
        "division_by_zero": found.division_by_zero,
        "math_shaped": found.math_shaped,
    }


def classification(data: Mapping[str, Any]) -> dict[str, Any]:
    """Classify a context."""
    found = classify(context_of(data["context"]), settings_of(data).classifier, PUBLISHED)
    return {
        "regime": found.regime.value,
        "fast_path": found.fast_path is not None,
        "feature_scores": found.feature_scores,
        "reason_codes": found.reason_codes,
        "override_applied": found.override_applied,
    }


def selection(data: Mapping[str, Any]) -> dict[str, Any]:
    """Select evaluators."""
    found = select_evaluators(
        context_of(data["context"]),
        Regime(data["regime"]),
        min_heads=settings_of(data).min_heads,
    )
    return {
        "names": list(found.names),
        "reason_codes": list(found.reason_codes),
        "independence_ok": found.independence_ok,
    }


def evidence_active(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the ids of the active evidence."""
    return {"active_ids": [item.id for item in situation(data).evidence]}


def evidence_conflicts(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the conflicts between active evidence."""
    return {"conflicts": conflict_rows(situation(data).conflicts)}


def eligibility(data: Mapping[str, Any]) -> dict[str, Any]:
    """Make every check."""
    found = assess(situation(data))
    return {
        "directive": found.assessment.directive and found.assessment.directive.value,
        "checks": check_rows(found.assessment.checks),
        "signals": signals_of(found.signals),
        "aligned_delta": aligned_of(found.aligned_delta),
        "eligible_rule_ids": [rule.id for rule in found.eligible_rules],
    }


def evaluator(judge: Callable[[Situation], Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return the adapter of one evaluator."""

    def adapter(data: Mapping[str, Any]) -> dict[str, Any]:
        result = judge(situation(data))
        return {
            "verdict": result.verdict.value,
            "confidence": result.confidence,
            "hard_veto": result.hard_veto,
            "reason_codes": result.reason_codes,
            "n_unresolved": len(result.unresolved_questions),
            "claims": [
                [
                    claim.id,
                    claim.polarity,
                    claim.confidence,
                    [[cited.kind.value, cited.ref] for cited in claim.citations],
                ]
                for claim in result.claims
            ],
            "premise_ids": result.premise_ids,
            "assumptions": [
                [atom.id, atom.predicate, atom.polarity, atom.confidence]
                for atom in result.assumptions
            ],
            "constraints_applied": [
                [c.constraint_id, c.status.value, c.cited_fact_keys]
                for c in result.constraints_applied
            ],
            "supporting_evidence_ids": result.supporting_evidence_ids,
            "contradicting_evidence_ids": result.contradicting_evidence_ids,
            "backend": result.backend,
        }

    return adapter


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("prismthinker", function): adapter
    for function, adapter in {
        "predicate.evaluate": predicate,
        "classifier.probe_expression": expression,
        "classifier.classify": classification,
        "selector.select": selection,
        "evidence.active": evidence_active,
        "evidence.conflicts": evidence_conflicts,
        "eligibility.assess": eligibility,
        "evaluator.formal": evaluator(judge_formal),
        "evaluator.policy": evaluator(judge_policy),
        "evaluator.empirical": evaluator(judge_empirical),
        "evaluator.causal": evaluator(judge_causal),
        "evaluator.utility": evaluator(judge_utility),
    }.items()
}
