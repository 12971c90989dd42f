"""The policy: the bounded utility of a state, and which of four things to do with it."""

from __future__ import annotations

from dataclasses import dataclass

from steelyard.errors import InputError
from steelyard.evaluators.bound.models import (
    Action,
    BoundCriteria,
    BoundWeights,
    Decision,
    EvaluationResult,
    EvaluationScores,
    Provenance,
)


@dataclass(frozen=True)
class Components:
    """The four products and the utility that they add up to."""

    weighted_acceptance: float
    influence: float
    risk: float
    cost: float
    total: float


class ActionMismatchError(InputError):
    """Scores that were given for one action are asked for another."""


@dataclass(frozen=True)
class StaticScores:
    """Scores that were given beforehand.

    Parameters
    ----------
    scores : EvaluationScores
    expected_action : Action, optional
        The only action they are for.
    """

    scores: EvaluationScores
    expected_action: Action | None = None

    def of(self, action: Action) -> EvaluationScores:
        """Return the scores; ActionMismatchError if they were given for another action."""
        if self.expected_action is not None and action != self.expected_action:
            raise ActionMismatchError(
                f"the scores are for the action {self.expected_action.description!r}, not for "
                f"{action.description!r}"
            )
        return self.scores


def components(scores: EvaluationScores, weights: BoundWeights) -> Components:
    """Return weight times score of each dimension, and their sum.

    S = ((wA A + wI I) - wR R) - wC C, in doubles and from left to right, not rounded anywhere.
    """
    acceptance = weights.acceptance * scores.acceptance
    influence = weights.influence * scores.influence
    risk = weights.risk * scores.risk
    cost = weights.cost * scores.cost
    return Components(acceptance, influence, risk, cost, acceptance + influence - risk - cost)


def decide(utility: float, risk: float, criteria: BoundCriteria) -> Decision:
    """Return what to do; the first rule that holds counts.

    1. Risk at or above the rollback threshold: ROLLBACK. The raw risk counts, not its product
       with a weight, so a weight of 0 does not switch the rule off.
    2. Utility at or above the threshold: ACCEPT.
    3. Threshold less utility at most the retry margin: RETRY.
    4. REPLAN. A utility that is NaN, from an infinite weight times 0, ends here.

    Comparisons are of doubles without tolerance: with threshold 0.4 and utility 0.3 the distance
    is larger than 0.1.
    """
    if risk >= criteria.rollback_risk_threshold:
        return "ROLLBACK"
    if utility >= criteria.threshold:
        return "ACCEPT"
    if criteria.threshold - utility <= criteria.retry_margin:
        return "RETRY"
    return "REPLAN"


def evaluate(
    action: Action,
    scores: EvaluationScores,
    criteria: BoundCriteria,
    provenance: Provenance | None = None,
) -> EvaluationResult:
    """Hold a state's scores against the criteria.

    Parameters
    ----------
    action : Action
        What was done; no number depends on it.
    scores : EvaluationScores
    criteria : BoundCriteria
    provenance : dict, optional
        Kept in the result; an empty one is none.

    Returns
    -------
    EvaluationResult
    """
    del action  # it has been validated, which is all it is for
    parts = components(scores, criteria.weights)
    return EvaluationResult(
        scores=scores,
        weights=criteria.weights,
        threshold=criteria.threshold,
        acceptance_component=parts.weighted_acceptance,
        influence_component=parts.influence,
        risk_component=parts.risk,
        cost_component=parts.cost,
        score=parts.total,
        distance_to_threshold=parts.total - criteria.threshold,
        decision=decide(parts.total, scores.risk, criteria),
        rollback_risk_threshold=criteria.rollback_risk_threshold,
        retry_margin=criteria.retry_margin,
        provenance=provenance or None,
    )
