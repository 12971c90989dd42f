"""Adapters of what votes amount to: distances, uncertainty, thresholds, lattice, clean-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from steelyard.evaluators.gate.clean_up import (
    with_uncited_penalty,
    without_mismatched_claims,
    without_unauthorised_vetoes,
)
from steelyard.evaluators.gate.contradiction import (
    contradiction_of,
    jaccard_distance,
    pairwise_delta,
)
from steelyard.evaluators.gate.enums import Regime
from steelyard.evaluators.gate.lattice import rule_on
from steelyard.evaluators.gate.uncertainty import effective_thresholds, uncertainty_of
from vectors.gate_cases import context_of, result_of, results_of, settings_of


def pair_row(pair: Any) -> list[Any]:
    """Write a pair's distance as the vectors do."""
    return [pair.pair.left, pair.pair.right, pair.delta, list(pair.reason_codes)]


def pairwise(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the distance between two results."""
    found = pairwise_delta(
        result_of(data["left"], "left"),
        result_of(data["right"], "right"),
        settings_of(data).contradiction,
        distance_of_agreement=True,
    )
    parts = found.components
    return {
        "pair": [found.pair.left, found.pair.right],
        "delta": found.delta,
        "components": {
            "conclusion": parts.conclusion_conflict,
            "constraint": parts.constraint_conflict,
            "evidence": parts.evidence_conflict,
            "assumption": parts.assumption_conflict,
            "premise": parts.premise_conflict,
        },
        "reason_codes": list(found.reason_codes),
    }


def matrix(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the distances between all results."""
    settings = settings_of(data)
    found = contradiction_of(results_of(data), settings.contradiction, distance_of_agreement=True)
    critical = found.critical(data.get("tau", settings.tau_base))
    return {
        "delta_max": found.delta_max,
        "pairs": [pair_row(pair) for pair in found.pairs],
        "critical_pairs": [[pair.pair.left, pair.pair.right] for pair in critical],
        "shared_assumptions": [atom.predicate for atom in found.shared_assumptions],
        "conflicting_assumptions": [
            [atom.predicate, atom.polarity] for atom in found.conflicting_assumptions
        ],
    }


def distance(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Jaccard distance."""
    return {"distance": jaccard_distance(data["left"], data["right"])}


def uncertainty(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the uncertainty."""
    context, settings = context_of(data["context"]), settings_of(data)
    return {"uncertainty": uncertainty_of(results_of(data), context, settings.n_unresolved_cap)}


def thresholds(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the adapted thresholds."""
    tau, qualified_tau = effective_thresholds(
        results_of(data),
        settings_of(data),
        uncertainty=data["uncertainty"],
        severe=data["evidence_severe"],
        regime=data["regime"] and Regime(data["regime"]),
        domain=data["domain"],
    )
    return {"tau": tau, "qualified_tau": qualified_tau}


def lattice(data: Mapping[str, Any]) -> dict[str, Any]:
    """Apply the lattice."""
    settings, adapted = settings_of(data), data.get("thresholds", {})
    ruling = rule_on(
        results_of(data),
        delta_max=data["delta_max"],
        uncertainty=data["uncertainty"],
        tau=adapted.get("tau", settings.tau_base),
        qualified_tau=adapted.get("qualified_tau", settings.qualified_tau),
        u_insufficient=settings.u_insufficient,
        severe=data["evidence_severe"],
        may_veto=data.get("may_hard_veto", {}),
    )
    return {
        "disposition": ruling.disposition.value,
        "recommended_verdict": ruling.verdict and ruling.verdict.value,
        "rationale": ruling.rationale,
        "review_required": bool(ruling.review_reasons),
        "review_reasons": list(ruling.review_reasons),
    }


def mismatched(data: Mapping[str, Any]) -> dict[str, Any]:
    """Drop claims that speak for another verdict."""
    return {
        name: {"claims": [c.id for c in result.claims], "reason_codes": result.reason_codes}
        for name, result in without_mismatched_claims(results_of(data)).items()
    }


def vetoes(data: Mapping[str, Any]) -> dict[str, Any]:
    """Take away vetoes without authority."""
    results, errors = without_unauthorised_vetoes(results_of(data), data["may_hard_veto"])
    return {
        "results": {
            name: {"hard_veto": r.hard_veto, "reason_codes": r.reason_codes}
            for name, r in results.items()
        },
        "errors": [[error.evaluator, error.error_type] for error in errors],
    }


def uncited(data: Mapping[str, Any]) -> dict[str, Any]:
    """Lower the confidence of claims without citations."""
    return {
        name: {
            "claims": [[c.id, c.confidence] for c in result.claims],
            "reason_codes": result.reason_codes,
        }
        for name, result in with_uncited_penalty(results_of(data), data["penalty"]).items()
    }


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("prismthinker", function): adapter
    for function, adapter in {
        "contradiction.pairwise_delta": pairwise,
        "contradiction.matrix": matrix,
        "contradiction.jaccard_distance": distance,
        "uncertainty.score": uncertainty,
        "thresholds.effective": thresholds,
        "lattice.apply": lattice,
        "disposition.drop_mismatched_claims": mismatched,
        "disposition.strip_unauthorized_vetoes": vetoes,
        "disposition.apply_uncited_penalty": uncited,
    }.items()
}
