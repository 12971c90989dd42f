"""Rules that say at which state of a trial to stop, as a study declares them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from steelyard.errors import InputError
from steelyard.evaluators.bound.model import Model
from steelyard.evaluators.bound.models import DIMENSIONS, BoundCriteria, BoundWeights
from steelyard.evaluators.bound.signals import WorkflowNormalization

Rule = Literal["bound", "green", "fixed_step", "never", "oracle"]

# Strict, unlike BOUND's own schemas: a text or truth value in a declaration is a slip.
Finite = Annotated[float, Field(strict=True, ge=0, allow_inf_nan=False)]
Positive = Annotated[int, Field(strict=True, ge=1, le=1_000_000)]
Index = Annotated[int, Field(strict=True, ge=0, lt=2**31)]
Flag = Annotated[bool, Field(strict=True)]

_OF_BOUND = (
    "threshold",
    "weights",
    "retry_margin",
    "rollback_risk_threshold",
    "normalization",
    "missing_gates",
    "hard_gates",
)
_TAKES: dict[str, tuple[str, ...]] = {
    "bound": (*_OF_BOUND, "consecutive"),
    "green": ("consecutive",),
    "fixed_step": ("step",),
    "never": (),
    "oracle": (),
}


class StopWeights(BoundWeights):
    """Weights that are finite, so that every utility is a number."""

    acceptance: Finite = 1.0
    influence: Finite = 1.0
    risk: Finite = 1.0
    cost: Finite = 1.0


class StopPolicy(Model):
    """When to stop a trial.

    Attributes
    ----------
    rule : {"bound", "green", "fixed_step", "never", "oracle"}
        ``bound``: at a state that BOUND's policy accepts. ``green``: at a state of which every
        reported gate is full. ``fixed_step``: at the first state from step ``step`` on.
        ``never``: run on to the agent's own stop. ``oracle``: at the first state that satisfies
        the task; no policy can know it, it is the best that stopping could do.
    name : str
        How tables call it; made from the settings where it is not given.
    threshold, weights, retry_margin, rollback_risk_threshold
        As :class:`steelyard.evaluators.bound.BoundCriteria`, but finite.
    normalization : WorkflowNormalization
    missing_gates : {"failed", "left_out"}
        What a gate does that was not reported: fail, which is BOUND's rule, or nothing.
    hard_gates : bool
        Accept only where every reported gate is full, whatever the utility.
    consecutive : int
        Stop at this many such states in a row.
    step : int
        Of ``fixed_step``.
    """

    rule: Rule = "bound"
    name: str = ""
    threshold: Finite = 0.6
    weights: StopWeights = Field(default_factory=StopWeights)
    retry_margin: Finite = 0.1
    rollback_risk_threshold: Annotated[Finite, Field(le=1)] = 0.8
    normalization: WorkflowNormalization = Field(default_factory=WorkflowNormalization)
    missing_gates: Literal["failed", "left_out"] = "failed"
    hard_gates: Flag = False
    consecutive: Positive = 1
    step: Index = 0

    @model_validator(mode="after")
    def _check_settings(self) -> Self:
        settings = self.model_fields_set - {"rule", "name"}
        if foreign := sorted(settings - set(_TAKES[self.rule])):
            raise ValueError(f"the rule {self.rule!r} has no {', '.join(foreign)}")
        if self.rule == "fixed_step" and "step" not in settings:
            raise ValueError("the rule 'fixed_step' needs a step")
        if not self.name:
            self.name = _named(self)
        return self

    @model_serializer(mode="wrap")
    def _dump_settings(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out what the rule does not have, so that a dump can be read back."""
        kept = ("rule", "name", *_TAKES[self.rule])
        return {name: value for name, value in dump(self).items() if name in kept}

    @property
    def criteria(self) -> BoundCriteria:
        """What the rule ``bound`` holds a state against."""
        return BoundCriteria(
            threshold=self.threshold,
            weights=self.weights,
            retry_margin=self.retry_margin,
            rollback_risk_threshold=self.rollback_risk_threshold,
        )

    def changed(self, **settings: Any) -> StopPolicy:
        """Return the policy with other settings, named after them unless a name is among them."""
        kept = {name: getattr(self, name) for name in self.model_fields_set - {"name"}}
        return StopPolicy.read(kept | settings)


def read_policy(policy: StopPolicy | Mapping[str, Any]) -> StopPolicy:
    """Return a policy as it was declared.

    Parameters
    ----------
    policy : StopPolicy or mapping

    Raises
    ------
    InputError
        For unknown fields, values outside their ranges, settings that the rule does not have.
    """
    if isinstance(policy, StopPolicy):
        return policy
    if not isinstance(policy, Mapping):
        raise InputError(f"a stop policy is a mapping of settings, not {policy!r}")
    return StopPolicy.read(dict(policy))


def _named(policy: StopPolicy) -> str:
    if policy.rule == "fixed_step":
        return f"step {policy.step}"
    said = [policy.rule if policy.rule != "bound" else f"bound T={_short(policy.threshold)}"]
    said += [
        f"w_{name}={_short(getattr(policy.weights, name))}"
        for name in DIMENSIONS
        if getattr(policy.weights, name) != 1.0
    ]
    default = StopPolicy.model_fields
    for name in ("rollback_risk_threshold", "missing_gates", "hard_gates", "consecutive"):
        value = getattr(policy, name)
        if value != default[name].default:
            said.append(f"{name}={_short(value) if isinstance(value, float) else value}")
    if policy.normalization != WorkflowNormalization():
        said.append("own caps")
    return " ".join(said)


def _short(number: float) -> str:
    """Return a number in six digits, or in as many as tell it from every other."""
    short = f"{number:g}"
    return short if float(short) == number else repr(number)
