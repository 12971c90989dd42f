"""Every number that the gate decides with, and what it may be."""

from __future__ import annotations

import hashlib
import json
import math
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, ValidationInfo, model_validator
from pydantic_core import PydanticCustomError

from steelyard.evaluators.gate.record import Number, Record, compatibility_of

_MOST = 1_000_000


class ContradictionWeights(Record):
    """Weights of the five parts of the distance between two evaluators; they sum to 1."""

    conclusion: Number = 0.35
    constraint: Number = 0.25
    evidence: Number = 0.15
    assumption: Number = 0.15
    premise: Number = 0.10

    @model_validator(mode="after")
    def _sum_to_one(self, info: ValidationInfo) -> ContradictionWeights:
        weights = (self.conclusion, self.constraint, self.evidence, self.assumption, self.premise)
        if not abs(sum(weights) - 1) <= 1e-9:
            raise PydanticCustomError("value_error", f"the weights sum to {sum(weights)}, not 1")
        if min(weights) < 0 and not compatibility_of(info).lenient_schemas:
            raise PydanticCustomError("value_error", "a weight is negative")
        return self


class RegimeWeights(Record):
    """Points that a feature adds to a regime, and when the best regime is clear enough."""

    score_floor: Number = 0.35
    score_margin: Number = 0.10
    numeric_empirical: Number = 0.35
    graph_empirical: Number = 0.25
    lexeme_empirical: Number = 0.20
    rules_policy: Number = 0.45
    domain_policy: Number = 0.25
    lexeme_policy: Number = 0.20
    numeric_pragmatic: Number = 0.10
    graph_pragmatic: Number = 0.15
    objective_pragmatic: Number = 0.40
    lexeme_pragmatic: Number = 0.20
    mixed_dialectic: Number = 0.30
    long_dialectic: Number = 0.20


class LanguageModel(Record):
    """Whether a language model takes part. It may not: True makes every decision fail closed."""

    enabled: bool = False


class GateSettings(Record):
    """Thresholds, budgets and isolation.

    Parameters
    ----------
    tau_base, qualified_tau : float, default 0.40 and 0.20
        Largest distance between evaluators above which there is a conflict, and above which a
        consensus is qualified. Priors, not calibrated values.
    u_insufficient : float, default 0.60
        Uncertainty from which evidence is insufficient.
    dynamic_tau : bool, default True
        Whether the thresholds adapt to the case.
    uncited_penalty : float, default 0.50
        Factor on the confidence of a claim that rests on nothing. It shows in the graph and
        changes no directive.
    min_heads : int, default 3
        Fewest evaluators heard.
    stale_hours : float, default 168
        Age from which evidence is old.
    minimum_trust : float, default 0.5
        Trust below which an item of evidence cannot force a review.
    n_unresolved_cap : int, default 10
        Open questions that count as many.
    max_probes, max_probe_params : int, default 12 and 4
        Budget of counterfactual probes, and of facts varied.
    stop_on_first_resolving : bool, default False
        Whether probing ends with the first probe that resolves.
    contradiction : ContradictionWeights
        Weights of the distance between evaluators.
    classifier : RegimeWeights
        Weights of the choice of a regime.
    isolation : {"inline", "threads", "processes"}
        Where evaluators run. Only ``"inline"`` is independent of the machine's load.
    head_timeout_ms, pool_budget_ms, counterfactual_timeout_ms : int
        Time limits of threads and processes, in milliseconds.
    llm : LanguageModel
        See there.
    """

    published_defaults: ClassVar[dict[str, Any]] = {"isolation": "processes"}

    schema_version: Literal["1.1.0", "1.2.0"] = "1.2.0"
    tau_base: Number = 0.40
    qualified_tau: Number = 0.20
    u_insufficient: Number = 0.60
    dynamic_tau: bool = True
    uncited_penalty: Number = 0.50
    min_heads: int = 3
    stale_hours: Number = 168.0
    minimum_trust: Number = 0.5
    n_unresolved_cap: int = 10
    max_probes: int = 12
    max_probe_params: int = 4
    stop_on_first_resolving: bool = False
    contradiction: ContradictionWeights = ContradictionWeights()
    classifier: RegimeWeights = RegimeWeights()
    isolation: Literal["inline", "threads", "processes"] = "inline"
    head_timeout_ms: int = 250
    pool_budget_ms: int = 400
    counterfactual_timeout_ms: int = 200
    llm: Annotated[LanguageModel, Field()] = LanguageModel()

    @model_validator(mode="after")
    def _are_in_range(self, info: ValidationInfo) -> GateSettings:
        if compatibility_of(info).lenient_schemas:
            return self
        for name in ("tau_base", "qualified_tau", "u_insufficient", "uncited_penalty"):
            _check_range(name, getattr(self, name), 0, 1)
        _check_range("minimum_trust", self.minimum_trust, 0, 1)
        _check_range("stale_hours", self.stale_hours, 0, math.inf)
        for name in ("min_heads", "n_unresolved_cap", "head_timeout_ms", "pool_budget_ms"):
            _check_range(name, getattr(self, name), 1, _MOST)
        for name in ("max_probes", "max_probe_params", "counterfactual_timeout_ms"):
            _check_range(name, getattr(self, name), 0, _MOST)
        return self

    @property
    def isolate_heads(self) -> bool:
        """Whether each evaluator runs in a process of its own."""
        return self.isolation == "processes"

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of the settings as compact JSON with sorted members."""
        text = json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _check_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        upper = f" to {most:g}" if math.isfinite(most) else " or more"
        raise PydanticCustomError(
            "value_error", f"{name} is {value:g}; accepted is {least:g}{upper}"
        )
