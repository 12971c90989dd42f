"""Replay of one trajectory: where the policy would have stopped it, and what that would spare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.bound.model import EvidenceError
from steelyard.evaluators.bound.models import (
    Action,
    BoundCriteria,
    Decision,
    EvaluationResult,
    EvaluationScores,
)
from steelyard.evaluators.bound.policy import evaluate
from steelyard.evaluators.bound.signals import (
    AgentStep,
    AgentTrajectory,
    CodingWorkflowSignals,
    WorkflowNormalization,
)
from steelyard.evaluators.bound.workflow import score_workflow


@dataclass(frozen=True)
class ReplayedStep:
    """One state and what the policy says of it."""

    step_index: int
    decision: Decision
    score: float
    scores: EvaluationScores


@dataclass(frozen=True)
class Experiment:
    """Where a policy would have stopped a trajectory.

    Attributes
    ----------
    task_id : str
    accepted : bool
        Whether any state was accepted.
    bound_stop_step : int or None
        Index of the first accepted state in the order of the list.
    actual_stop_step : int or None
        Where the agent itself stopped, as recorded.
    steps_saved : int or None
        Difference of the two indices, at least 0; None where either is unknown.
    tool_calls_saved, tokens_saved : int or None
    runtime_saved : float or None
        Difference of the counters at the two steps, at least 0; None where one is not recorded.
    post_solution_unnecessary_steps : int or None
        ``steps_saved``; 0 where no state was accepted.
    tests_pass_at_bound_stop, required_checks_pass_at_bound_stop : bool or None
        Whether the gate was full at the stop; None where it was not reported.
    regressions_after_accept : int
        Later states that are not accepted, whatever the cause: rising cost alone does it.
    per_step : tuple of ReplayedStep
    """

    task_id: str
    accepted: bool
    bound_stop_step: int | None
    actual_stop_step: int | None
    steps_saved: int | None
    tool_calls_saved: int | None
    tokens_saved: int | None
    runtime_saved: float | None
    post_solution_unnecessary_steps: int | None
    tests_pass_at_bound_stop: bool | None
    required_checks_pass_at_bound_stop: bool | None
    regressions_after_accept: int
    per_step: tuple[ReplayedStep, ...]


def run_experiment(
    trajectory: AgentTrajectory,
    criteria: BoundCriteria,
    normalization: WorkflowNormalization | None = None,
) -> Experiment:
    """Replay a trajectory, state by state, to its end.

    States are taken in the order of the list; where two share an index, the last one's counters
    count. This is BOUND's replay; :mod:`steelyard.analysis.stopping` replays tables.

    Parameters
    ----------
    trajectory : AgentTrajectory
    criteria : BoundCriteria
    normalization : WorkflowNormalization, optional

    Returns
    -------
    Experiment

    Raises
    ------
    EvidenceError
        If a state has neither scores nor a reported gate; the message names its place.
    ModelError
        If the task id of a trajectory with states is blank, or a state's score out of range.
    """
    replayed = tuple(
        _replayed(trajectory, place, criteria, normalization)
        for place in range(len(trajectory.steps))
    )
    stop = next((step.step_index for step in replayed if step.decision == "ACCEPT"), None)
    actual = trajectory.actual_stop_step
    saved = None if stop is None or actual is None else max(actual - stop, 0)
    at = {step.step_index: step.signals for step in trajectory.steps}
    before = None if stop is None else at[stop]
    after = None if saved is None or actual is None else at.get(actual)
    return Experiment(
        task_id=trajectory.task_id,
        accepted=stop is not None,
        bound_stop_step=stop,
        actual_stop_step=actual,
        steps_saved=saved,
        tool_calls_saved=_spared("tool_call_count", before, after),
        tokens_saved=_spared("token_usage", before, after),
        runtime_saved=_spared("execution_time_seconds", before, after),
        post_solution_unnecessary_steps=0 if stop is None else saved,
        tests_pass_at_bound_stop=_is_full("test_pass_rate", before),
        required_checks_pass_at_bound_stop=_is_full("required_checks_passed", before),
        regressions_after_accept=sum(
            stop is not None and step.step_index > stop and step.decision != "ACCEPT"
            for step in replayed
        ),
        per_step=replayed,
    )


def check_trajectory(trajectory: AgentTrajectory) -> None:
    """Refuse what BOUND's replay takes without a word and answers by chance.

    Raises
    ------
    EvidenceError
        If there is no state, or the step indexes do not rise from state to state.
    """
    if not trajectory.steps:
        raise EvidenceError("steps is empty; a trajectory has at least one state")
    indexes = [step.step_index for step in trajectory.steps]
    for place in range(1, len(indexes)):
        if indexes[place] <= indexes[place - 1]:
            raise EvidenceError(
                f"steps[{place}].step_index is {indexes[place]} after {indexes[place - 1]}; "
                "step indexes rise from state to state"
            )


def summary_text(experiment: Experiment) -> str:
    """Return six lines of ``key=value``; ``n/a`` stands for what is unknown."""
    lines = (
        {"task": experiment.task_id, "accepted": experiment.accepted},
        {
            "stop": "never" if experiment.bound_stop_step is None else experiment.bound_stop_step,
            "actual": (
                "unknown" if experiment.actual_stop_step is None else experiment.actual_stop_step
            ),
        },
        {
            name: _printed(getattr(experiment, name))
            for name in ("steps_saved", "tool_calls_saved", "tokens_saved", "runtime_saved")
        },
        {"post_solution_unnecessary_steps": _printed(experiment.post_solution_unnecessary_steps)},
        {
            name: _yes_or_no(getattr(experiment, name))
            for name in ("tests_pass_at_bound_stop", "required_checks_pass_at_bound_stop")
        },
        {"regressions_after_accept": experiment.regressions_after_accept},
    )
    return "\n".join(" ".join(f"{key}={value}" for key, value in line.items()) for line in lines)


def _replayed(
    trajectory: AgentTrajectory,
    place: int,
    criteria: BoundCriteria,
    normalization: WorkflowNormalization | None,
) -> ReplayedStep:
    step = trajectory.steps[place]
    action = Action.read({"description": f"step {step.step_index}", "goal": trajectory.task_id})
    result = _result(action, step, criteria, normalization, f"steps[{place}]")
    return ReplayedStep(step.step_index, result.decision, result.score, result.scores)


def _result(
    action: Action,
    step: AgentStep,
    criteria: BoundCriteria,
    normalization: WorkflowNormalization | None,
    where: str,
) -> EvaluationResult:
    if step.scores is not None:
        return evaluate(action, step.scores, criteria)
    try:
        scored = score_workflow(step.signals, normalization)
    except EvidenceError as error:
        raise EvidenceError(f"{where} (step_index {step.step_index}): {error}") from None
    return evaluate(action, scored.scores, criteria)


def _spared(
    name: str, before: CodingWorkflowSignals | None, after: CodingWorkflowSignals | None
) -> Any:
    """Return what the agent spent between the two states; None where that is not recorded."""
    if before is None or after is None:
        return None
    low, high = getattr(before, name), getattr(after, name)
    if low is None or high is None:
        return None
    # A float counter gives a float 0, as a difference of floats is one.
    return max(high - low, type(high)(0))


def _is_full(name: str, signals: CodingWorkflowSignals | None) -> bool | None:
    value = None if signals is None else getattr(signals, name)
    return None if value is None else value >= 1.0


def _printed(value: float | None) -> str:
    return "n/a" if value is None else str(value)


def _yes_or_no(value: bool | None) -> str:
    return "n/a" if value is None else "yes" if value else "no"
