"""Schemas of contracts (what a step must achieve, risk and spend) and of the evidence for them."""

from __future__ import annotations

from typing import Self

from pydantic import Field, model_validator

from steelyard.evaluators.bound.model import Amount, Count, Model, Share


class AcceptanceCheck(Model):
    """Something that must hold after the step; only a required check counts."""

    id: str
    description: str
    required: bool = True


class RiskCheck(Model):
    """Something that must not go wrong, and how bad it would be."""

    id: str
    description: str
    severity: Share


class StepBudget(Model):
    """What a step may spend; None is no limit, 0 is a limit."""

    max_retries: Count | None = None
    max_tool_calls: Count | None = None
    max_tokens: Count | None = None
    max_runtime_seconds: Amount | None = None

    @property
    def is_limited(self) -> bool:
        """Whether any limit is set."""
        return any(getattr(self, name) is not None for name in type(self).model_fields)


class StepContract(Model):
    """What one step of a plan promises."""

    id: str
    description: str
    goal: str
    acceptance_checks: list[AcceptanceCheck]
    risk_checks: list[RiskCheck] = Field(default_factory=list)
    expected_artifacts: list[str] = Field(default_factory=list)
    budget: StepBudget | None = None

    @model_validator(mode="after")
    def _check_checks(self) -> Self:
        if not self.acceptance_checks:
            raise ValueError("acceptance_checks is empty; a contract has at least one")
        return self


class BoundPlan(Model):
    """A goal and the contracts of its steps."""

    goal: str
    steps: list[StepContract]

    @model_validator(mode="after")
    def _check_steps(self) -> Self:
        if not self.steps:
            raise ValueError("steps is empty; a plan has at least one")
        return self


class CheckEvidence(Model):
    """One observation of one check."""

    check_id: str
    passed: bool
    source: str
    details: str | None = None


class ExecutionEvidence(Model):
    """What was observed of a step's execution."""

    acceptance: list[CheckEvidence] = Field(default_factory=list)
    risks: list[CheckEvidence] = Field(default_factory=list)
    produced_artifacts: list[str] = Field(default_factory=list)
    unexpected_artifacts: list[str] = Field(default_factory=list)
    retry_count: Count = 0
    tool_call_count: Count = 0
    token_usage: Count | None = None
    runtime_seconds: Amount | None = None
    rollback_available: bool | None = None
