"""How PrismThinker's vectors write contexts, settings and results, read and written.

All cases run the published behaviour, in this process and at a fixed time.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from steelyard.evaluators.gate.compatibility import PUBLISHED
from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.results import EvaluatorResult, read_result
from steelyard.evaluators.gate.settings import GateSettings
from steelyard.evaluators.gate.situation import Situation, situation_of

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def decoded(value: Any) -> Any:
    """Return a value with the vectors' spelling of non-finite numbers read."""
    if isinstance(value, dict):
        if value.keys() == {"$float"}:
            return float(value["$float"])
        return {name: decoded(member) for name, member in value.items()}
    if isinstance(value, list):
        return [decoded(member) for member in value]
    return value


def encoded(value: Any) -> Any:
    """Return a number as the vectors spell it."""
    if isinstance(value, complex):
        return {"$complex": [value.real, value.imag]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"$float": str(value)}
    return value


def context_of(data: Mapping[str, Any]) -> ReasoningContext:
    """Return the context of a case, its shorthands written out."""
    fields = decoded(dict(data))
    facts = fields.pop("facts", {})
    specs = fields.pop("specs", {})
    if facts:
        fields["structured_facts"] = {k: {"key": k, "value": v} for k, v in facts.items()}
    if specs:
        fields["fact_specs"] = {k: {"key": k, **spec} for k, spec in specs.items()}
    return ReasoningContext.model_validate(fields, context=PUBLISHED)


def settings_of(data: Mapping[str, Any]) -> GateSettings:
    """Return the settings of a case; evaluators run in this process, without time limits."""
    fields = {"isolation": "inline", **decoded(data.get("config", {}))}
    return GateSettings.model_validate(fields, context=PUBLISHED)


def situation(data: Mapping[str, Any]) -> Situation:
    """Return the situation of a case."""
    return situation_of(context_of(data["context"]), settings_of(data), PUBLISHED, NOW)


def result_of(data: Mapping[str, Any], name: str) -> EvaluatorResult:
    """Return a result of a case; vectors leave out what is the same in all of them."""
    defaults = {"evaluator": name, "backend": "rules", "confidence": 1.0}
    return read_result({**defaults, **data})


def results_of(data: Mapping[str, Any]) -> dict[str, EvaluatorResult]:
    """Return the results of a case by evaluator."""
    return {name: result_of(result, name) for name, result in data["results"].items()}


def conflict_rows(case: Any) -> list[list[Any]]:
    """Write conflicts of evidence as the vectors do."""
    return [[c.left, c.right, c.kind.value, c.severity, c.reason_code] for c in case]


def check_rows(checks: Any) -> list[list[Any]]:
    """Write checks as the vectors do."""
    return [[c.id, c.kind, c.status.value, c.authority, list(c.cited_fact_keys)] for c in checks]


def signals_of(signals: Any) -> dict[str, Any]:
    """Write conflict signals as the vectors do."""
    return {
        "material_evidence_conflict": signals.material_evidence_conflict,
        "policy_authority_conflict": signals.policy_authority_conflict,
        "evaluator_disagreement": signals.evaluator_disagreement,
        "decision_tie": signals.decision_tie,
        "aligned_conflict_pairs": [list(pair) for pair in signals.aligned_conflict_pairs],
    }


def aligned_of(delta: Any) -> dict[str, Any]:
    """Write the contradiction among claims as the vectors do."""
    return {
        "score": delta.score,
        "comparable_pairs": delta.comparable_pairs,
        "contradictory_pairs": delta.contradictory_pairs,
        "excluded_claims": delta.excluded_claims,
        "sufficient_evidence": delta.sufficient_evidence,
    }
