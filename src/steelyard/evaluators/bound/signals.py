"""Schemas of what a coding workflow reports, and of the trajectory it reports along."""

from __future__ import annotations

from steelyard.evaluators.bound.model import Amount, Count, Model, Share
from steelyard.evaluators.bound.models import EvaluationScores


class WorkflowNormalization(Model):
    """The spending at which cost is full, per kind of spending."""

    max_expected_retries: Count = 5
    max_expected_tool_calls: Count = 50
    max_expected_tokens: Count = 100_000
    max_expected_runtime_seconds: Amount = 3600.0


class CodingWorkflowSignals(Model):
    """What is known after a step; None where it was not reported. Counters run from the start."""

    test_pass_rate: Share | None = None
    lint_passed: bool | None = None
    type_check_passed: bool | None = None
    required_checks_passed: Share | None = None
    retry_count: Count = 0
    tool_call_count: Count = 0
    token_usage: Count | None = None
    execution_time_seconds: Amount | None = None
    files_changed: Count | None = None
    unexpected_files_changed: Count | None = None
    rollback_available: bool | None = None
    tests_added: Count | None = None
    tests_removed: Count | None = None
    tests_modified: Count | None = None


SIGNAL_NAMES: tuple[str, ...] = tuple(CodingWorkflowSignals.model_fields)
"""The signals, in the order of the table ``signals``."""


class AgentStep(Model):
    """One state of a trajectory; its own scores, where given, replace those of its signals."""

    step_index: Count
    signals: CodingWorkflowSignals
    scores: EvaluationScores | None = None


class AgentTrajectory(Model):
    """The states of one run, and the step at which the agent itself stopped."""

    task_id: str
    steps: list[AgentStep]
    actual_stop_step: Count | None = None
