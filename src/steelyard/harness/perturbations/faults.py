"""Perturbations of tool calls: faults that pass, and tools that are slow to answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from random import Random
from typing import Any

from steelyard.errors import InputError
from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant
from steelyard.harness.tools import ToolError

ERRORS = (
    "503 service unavailable",
    "429 rate limit exceeded",
    "connection reset by peer",
)


class Fault:
    """A fault in one trial: certain calls of one tool fail.

    Parameters
    ----------
    setup : TrialSetup
        The trial; the fault puts itself in place.
    tool : str
    error : str
        The text of the `ToolError`.
    calls : sequence of int
        Which calls of the tool fail, from 1.
    after : bool
        Whether the tool does its work before the error: the answer is lost, not the effect.
    may_fire : callable, optional
        Asked once more before each failure; the default allows all.

    Attributes
    ----------
    fired : int
        How many calls failed so far.
    """

    def __init__(
        self,
        setup: TrialSetup,
        tool: str,
        error: str,
        calls: Sequence[int] = (1,),
        *,
        after: bool = False,
        may_fire: Callable[[], bool] = lambda: True,
    ) -> None:
        self.tool = tool
        self.error = error
        self.calls = frozenset(calls)
        self.may_fire = may_fire
        self.fired = 0
        self._counts = setup.toolbox.calls
        if after:
            setup.toolbox.after.append(self._after)
        else:
            setup.toolbox.before.append(self._before)

    def has_fired(self) -> bool:
        """Return whether any call failed."""
        return self.fired > 0

    def _before(self, tool: str, arguments: Mapping[str, Any], number: int) -> None:  # noqa: ARG002
        if tool == self.tool and number in self.calls and self.may_fire():
            self.fired += 1
            raise ToolError(self.error)

    def _after(self, tool: str, arguments: Mapping[str, Any], output: Any) -> Any:
        self._before(tool, arguments, self._counts[tool])
        return output


class ToolFault:
    """The first call of one tool fails with an error that passes.

    Parameters
    ----------
    targets : sequence of str
        Tools; variants take them by turns.
    errors : sequence of str, optional
        Error texts; variants take them by turns. By default those of an overloaded service.
    calls : sequence of int
        Which calls of the target fail, from 1.
    after : bool
        Whether the tool has done its work when the error comes.
    shared : bool
        Whether all trials of a variant share one fault, which fires once. This is how Plumbline
        0.3.0 ran its published studies; the trials that come later are then not perturbed. It is
        for reproducing those studies and only meaningful when one process runs all trials.
    """

    name = "tool_fault"
    preserves = "the request, the tools' right answers, and what is right for the task"

    def __init__(
        self,
        targets: Sequence[str] = (),
        errors: Sequence[str] = ERRORS,
        calls: Sequence[int] = (1,),
        after: bool = False,
        shared: bool = False,
    ) -> None:
        self.targets = checked_texts("tool_fault", "targets", targets)
        self.errors = checked_texts("tool_fault", "errors", errors)
        if not calls or not all(type(number) is int and number >= 1 for number in calls):
            raise InputError(
                f"tool_fault: calls is {calls!r}; accepted are numbers of calls from 1"
            )
        self.calls = list(calls)
        self.after = after
        self.shared = shared
        self._spent: set[tuple[str, int]] = set()

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants: target and error by turns."""
        return [
            Variant(
                index,
                {
                    "target": self.targets[index % len(self.targets)],
                    "error": self.errors[index % len(self.errors)],
                    "calls": self.calls,
                },
            )
            for index in range(count)
        ]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Put a fault in place; it took effect if it fired in this trial."""
        key = (setup.task.id, variant.index)

        def first_of_all() -> bool:
            fresh = key not in self._spent
            self._spent.add(key)
            return fresh

        fault = Fault(
            setup,
            variant.meta["target"],
            variant.meta["error"],
            variant.meta["calls"],
            after=self.after,
            may_fire=first_of_all if self.shared else lambda: True,
        )
        return PerturbedTrial(setup, fault.has_fired)


class Latency:
    """The first calls of one tool time out and say when to try again.

    No time passes in fact: a trial's result must not depend on the speed of the machine. What an
    agent is told is what it would be told.

    Parameters
    ----------
    targets : sequence of str
        Tools; variants take them by turns.
    timeouts : sequence of int
        How many calls time out before one is answered; variants take them by turns.
    timeout_s, retry_after_s : float
        The times that the error names, in seconds.
    after : bool
        Whether a call that timed out has done its work, as a payment may have.
    """

    name = "latency"
    preserves = "the request, the tools' right answers, and what is right for the task"

    def __init__(
        self,
        targets: Sequence[str] = (),
        timeouts: Sequence[int] = (1, 2),
        timeout_s: float = 30.0,
        retry_after_s: float = 2.0,
        after: bool = False,
    ) -> None:
        self.targets = checked_texts("latency", "targets", targets)
        if not timeouts or not all(type(number) is int and number >= 1 for number in timeouts):
            raise InputError(f"latency: timeouts is {timeouts!r}; accepted are numbers from 1")
        self.timeouts = list(timeouts)
        self.error = f"timed out after {timeout_s:g} s; retry after {retry_after_s:g} s"
        self.after = after

    def variants(self, task: Task, count: int, random: Random) -> list[Variant]:  # noqa: ARG002
        """Return ``count`` variants: target and number of timeouts by turns."""
        return [
            Variant(
                index,
                {
                    "target": self.targets[index % len(self.targets)],
                    "timeouts": self.timeouts[index % len(self.timeouts)],
                },
            )
            for index in range(count)
        ]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Put the timeouts in place; they took effect if one came about."""
        calls = range(1, variant.meta["timeouts"] + 1)
        fault = Fault(setup, variant.meta["target"], self.error, calls, after=self.after)
        return PerturbedTrial(setup, fault.has_fired)


def checked_texts(perturbation: str, parameter: str, values: Sequence[str]) -> list[str]:
    """Return a parameter that is a list of texts; InputError if it is none, or empty."""
    texts = [] if isinstance(values, str) else list(values)
    if not texts or not all(isinstance(text, str) and text for text in texts):
        raise InputError(
            f"{perturbation}: {parameter} is {values!r}; accepted is a list of at least one text"
        )
    return texts
