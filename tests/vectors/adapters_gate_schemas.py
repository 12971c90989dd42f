"""Adapters of the gate's schemas to vectors: what is refused, and where."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from pydantic import ValidationError

from steelyard.evaluators.gate.compatibility import PUBLISHED
from steelyard.evaluators.gate.context import EvidenceItem, ReasoningContext, RetrieveRequest
from steelyard.evaluators.gate.engine import Gate
from steelyard.evaluators.gate.errors import GateInputError
from steelyard.evaluators.gate.results import (
    AssumptionAtom,
    Citation,
    Claim,
    ConflictComponent,
    EvaluatorError,
    EvaluatorPair,
    EvaluatorResult,
    read_result,
)
from steelyard.evaluators.gate.schemas import (
    AlignedClaim,
    CandidateAction,
    CausalEdge,
    CausalGraph,
    ConstraintSpec,
    FactSpec,
    FactValue,
    Hypothesis,
    ObjectiveSpec,
    ObjectiveTerm,
    PolicyRule,
)
from steelyard.evaluators.gate.settings import ContradictionWeights, GateSettings
from vectors.gate_cases import decoded

ONE_KIND = {"dataclass_type": "model_type"}
"""Ours returns plain dataclasses where the published gate has models: one fault, two names."""

NOT_CONTEXTS: dict[str, Any] = {"dict": {"query": "q"}, "none": None, "string": "q"}


def evaluate_non_context(data: Mapping[str, Any]) -> dict[str, Any]:
    """Judge something that is no context."""
    try:
        Gate(compatibility=PUBLISHED).decide(NOT_CONTEXTS.get(data["kind"], object()))
    except GateInputError:
        return {"error_class": "TypeError"}
    return {"ok": True}


def validation(read: Callable[[Any], Any]) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """Return the adapter of one schema."""

    def adapter(data: Mapping[str, Any]) -> dict[str, Any]:
        try:
            made = read(decoded(data["data"]))
        except ValidationError as error:
            fields = sorted(
                [".".join(map(str, f["loc"])), ONE_KIND.get(f["type"], f["type"])]
                for f in error.errors()
            )
            return {"error_class": "ValidationError", "errors": fields}
        if "show" not in data:
            return {"ok": True}
        return {"ok": True, "fields": {name: getattr(made, name) for name in data["show"]}}

    return adapter


SCHEMAS: dict[str, Any] = {
    "ReasoningContext": ReasoningContext,
    "EvidenceItem": EvidenceItem,
    "AlignedClaim": AlignedClaim,
    "EngineConfig": GateSettings,
    "PolicyRule": PolicyRule,
    "FactSpec": FactSpec,
    "FactValue": FactValue,
    "CandidateAction": CandidateAction,
    "CausalEdge": CausalEdge,
    "CausalGraph": CausalGraph,
    "ContradictionWeights": ContradictionWeights,
    "ObjectiveTerm": ObjectiveTerm,
    "ObjectiveSpec": ObjectiveSpec,
    "RetrieveRequest": RetrieveRequest,
    "Hypothesis": Hypothesis,
    "ConstraintSpec": ConstraintSpec,
}


PARTS: dict[str, type] = {
    "EvaluatorPair": EvaluatorPair,
    "EvaluatorResult": EvaluatorResult,
    "Claim": Claim,
    "Citation": Citation,
    "AssumptionAtom": AssumptionAtom,
    "ConflictComponent": ConflictComponent,
    "EvaluatorError": EvaluatorError,
}


VALIDATIONS = {
    f"validate.{name}": validation(partial(model.model_validate, context=PUBLISHED))
    for name, model in SCHEMAS.items()
} | {
    f"validate.{name}": validation(partial(read_result, kind=kind)) for name, kind in PARTS.items()
}


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("prismthinker", function): adapter
    for function, adapter in {
        "engine.evaluate_non_context": evaluate_non_context,
        **VALIDATIONS,
    }.items()
}
