"""How a rule reads a trial: which steps are calls, and when two values are the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from steelyard.errors import InputError
from steelyard.trials import published_arguments
from steelyard.trials.argument_schema import FieldPolicy, check_policy
from steelyard.trials.arguments import values_equal
from steelyard.trials.model import Step, Trial


@dataclass(frozen=True, slots=True)
class Call:
    """A successful call and where it stands.

    Parameters
    ----------
    step : Step
        The call.
    position : int
        Its index among the trial's steps.
    control_index : int
        Its index among the trial's control steps.
    """

    step: Step
    position: int
    control_index: int

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The call's arguments; empty when they were not recorded or are no object."""
        return self.step.arguments if isinstance(self.step.arguments, Mapping) else {}


@dataclass(frozen=True, slots=True)
class Reading:
    """One way to read a trial.

    Parameters
    ----------
    kinds : tuple of str
        The kinds of steps that are calls.
    equal : callable
        ``equal(expected, got, tolerance, policy)`` returns whether a value is the expected one.
    unknown_is_empty : bool
        Whether arguments that were not recorded count as none at all.
    predicate_errors : {"violation", "raise"}
        What an exception in a user's predicate becomes.
    """

    kinds: tuple[str, ...]
    equal: Callable[[Any, Any, float, str | None], bool]
    unknown_is_empty: bool
    predicate_errors: Literal["violation", "raise"]


def _equal(expected: Any, got: Any, tolerance: float, policy: str | None) -> bool:
    name = policy or ("numeric" if tolerance else "exact")
    rule = FieldPolicy(name, absolute_tolerance=tolerance)
    check_policy(rule, "argument-equals rule")
    return values_equal(expected, got, rule)


def _equal_as_published(expected: Any, got: Any, tolerance: float, policy: str | None) -> bool:
    if policy is not None:
        raise InputError(
            "an argument-equals rule with a policy has no published counterpart; leave out the "
            "policy or compatibility='plumbline'"
        )
    return not published_arguments.differs(expected, got, tolerance)


STEELYARD = Reading(("tool_call",), _equal, unknown_is_empty=False, predicate_errors="violation")
"""Only tool calls are calls; values are compared as `steelyard.trials.arguments` does."""

PLUMBLINE = Reading(
    ("tool_call", "decision"),
    _equal_as_published,
    unknown_is_empty=True,
    predicate_errors="raise",
)
"""As Plumbline 0.3.0 reads a trial: a decision of the tool's name is a call of it, values are
coerced to numbers, and NaN is equal to every number."""


class Case:
    """One trial beside what is known about its task: what a rule is checked on.

    Parameters
    ----------
    trial : Trial
        Its steps are read once.
    context : mapping
        What the system of record says about the trial's task.
    reading : Reading, default STEELYARD
        Which steps are calls and when two values are equal.
    """

    def __init__(
        self, trial: Trial, context: Mapping[str, Any], reading: Reading = STEELYARD
    ) -> None:
        self.trial = trial
        self.context = context
        self.reading = reading
        self._successful: dict[str, list[Call]] = {}
        control_index = -1
        for position, step in enumerate(trial.steps):
            control_index += step.is_control
            if step.kind in reading.kinds and not step.failed:
                call = Call(step, position, control_index)
                self._successful.setdefault(step.name, []).append(call)

    def calls(self, name: str) -> list[Call]:
        """Return the successful calls of one name, in order."""
        return self._successful.get(name, [])

    def arguments_known(self, name: str) -> bool:
        """Return whether the arguments of every successful call of the name were recorded."""
        return self.reading.unknown_is_empty or all(
            call.step.arguments is not None for call in self.calls(name)
        )
