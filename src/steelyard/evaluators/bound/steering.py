"""The text that tells an agent what the policy decided, and why."""

from __future__ import annotations

from steelyard.evaluators.bound.models import DIMENSIONS, Decision, EvaluationResult

_ADVICE: dict[Decision, str] = {
    "ACCEPT": (
        "This is good enough, and its risk is within the limit.\n"
        "Stop polishing it and go on with the larger goal."
    ),
    "RETRY": (
        "This is close to good enough.\n"
        "Keep the approach and make one more attempt, aimed at what is lacking."
    ),
    "REPLAN": (
        "This falls well short of good enough.\n"
        "Drop the approach and change the strategy before going on."
    ),
    "ROLLBACK": (
        "The risk has reached its limit, whatever the utility.\nUndo or avoid this before going on."
    ),
}


def steering_text(result: EvaluationResult) -> str:
    """Return the decision, the formula with its numbers, and what to do, in plain text.

    Parameters
    ----------
    result : EvaluationResult

    Returns
    -------
    str
        Fewer than 150 words. Numbers have two decimals (halves of the binary value go to even).
    """
    pairs = [
        f"({getattr(result.weights, name):.2f} * {getattr(result.scores, name):.2f})"
        for name in DIMENSIONS
    ]
    return "\n".join(
        [
            "[BOUND]",
            "",
            f"Decision: {result.decision}",
            "",
            "S = (wA * A) + (wI * I) - (wR * R) - (wC * C)",
            f"S = {pairs[0]} + {pairs[1]} - {pairs[2]} - {pairs[3]}",
            f"S = {result.score:.2f}",
            f"Threshold: T = {result.threshold:.2f}",
            f"Distance to threshold: {result.distance_to_threshold:.2f}",
            f"Risk: {result.scores.risk:.2f}",
            f"Rollback threshold: {result.rollback_risk_threshold:.2f}",
            "",
            _ADVICE[result.decision],
        ]
    )
