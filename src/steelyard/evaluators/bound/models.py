"""Schemas of an evaluation: the action, the criteria it is held to, its scores, the result."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from steelyard.evaluators.bound.model import Amount, Model, Share, Text

Decision = Literal["ACCEPT", "RETRY", "REPLAN", "ROLLBACK"]

DECISIONS: tuple[Decision, ...] = ("ACCEPT", "RETRY", "REPLAN", "ROLLBACK")
"""In the order of their codes in arrays."""

DIMENSIONS = ("acceptance", "influence", "risk", "cost")
"""What a state is scored on, in the order of every listing."""


class Action(Model):
    """What an agent means to do, or did; no number depends on it."""

    description: Text
    goal: Text
    context: str | None = None


class BoundWeights(Model):
    """How much each dimension counts in the utility."""

    acceptance: Amount = 1.0
    influence: Amount = 1.0
    risk: Amount = 1.0
    cost: Amount = 1.0


class EvaluationScores(Model):
    """A state's scores: what speaks for it and what against it."""

    acceptance: Share
    influence: Annotated[float, Field(ge=-1, le=1)]
    risk: Share
    cost: Share
    reasoning: str | None = None


class ScoreEvidence(Model):
    """One record behind a score: where it comes from, its value, its part in the score."""

    source: str
    value: float
    contribution: float | None = None
    description: str | None = None


Provenance = dict[str, list[ScoreEvidence]]
"""Records of each dimension, in the order in which they were added up."""


class BoundCriteria(Model):
    """What a state must reach.

    Attributes
    ----------
    threshold : float
        Utility from which a state is accepted; at least 0.
    retry_margin : float
        How far below the threshold a state may be for another attempt to be worth it.
    rollback_risk_threshold : float
        Risk from which a state is undone, whatever its utility.
    weights : BoundWeights
    weight : float, optional
        Older name of the acceptance weight.
    """

    threshold: Amount
    retry_margin: Amount = 0.1
    rollback_risk_threshold: Share = 0.8
    weights: BoundWeights = Field(default_factory=BoundWeights)
    weight: Amount | None = None

    @model_validator(mode="after")
    def _check_weight(self) -> Self:
        _settle_weight(self)
        return self


class EvaluationResult(Model):
    """A state's scores, its utility term by term, and what to do.

    Attributes
    ----------
    acceptance_component, influence_component, risk_component, cost_component : float
        Weight times score.
    score : float
        The utility: the first two components less the other two.
    distance_to_threshold : float
        ``score`` less ``threshold``.
    provenance : dict of str to list of ScoreEvidence, optional
        What the scores rest on, by dimension.
    """

    scores: EvaluationScores
    weights: BoundWeights
    threshold: Amount
    acceptance_component: float
    influence_component: float
    risk_component: float
    cost_component: float
    score: float
    distance_to_threshold: float
    decision: Decision
    rollback_risk_threshold: Share = 0.8
    retry_margin: Amount = 0.1
    provenance: Provenance | None = None
    weight: Amount | None = None

    @model_validator(mode="after")
    def _check_weight(self) -> Self:
        _settle_weight(self)
        return self


def _settle_weight(model: BoundCriteria | EvaluationResult) -> None:
    """Let the acceptance weight and its older name agree.

    ``weight`` sets the acceptance weight when all weights are 1, contradicts any other weights,
    and afterwards always equals ``weights.acceptance``. So an object whose weights are not all 1
    cannot be read back from its own dump: that is BOUND's rule and its published behaviour.
    """
    if model.weight is not None:
        if model.weights != BoundWeights():
            raise ValueError(
                f"weight = {model.weight} is the older name of weights.acceptance and cannot "
                "stand beside weights that are not all 1; give weights alone"
            )
        model.weights = BoundWeights(acceptance=model.weight)
    model.weight = model.weights.acceptance
