"""What all rules share: where they apply, what they report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from steelyard.evaluators.invariants.reading import Call, Case
from steelyard.trials.argument_schema import SEVERITIES

Context: TypeAlias = Mapping[str, Any]
Condition: TypeAlias = Callable[[Context], bool]


@dataclass(frozen=True, slots=True)
class ContextFlag:
    """The condition that a flag of the context is set, or that it is not.

    Parameters
    ----------
    key : str
        The flag's name.
    value : bool, default True
        Whether the rule applies where the flag is true or where it is false. A flag that the
        context lacks is neither: the rule then does not apply.
    """

    key: str
    value: bool = True

    def __call__(self, context: Context) -> bool:
        """Return whether the context has the flag, with this value."""
        return self.key in context and bool(context[self.key]) is self.value


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule.

    Parameters
    ----------
    rule : str
        The rule's id.
    severity : str
        ``critical``, ``high``, ``medium`` or ``low``.
    step_index : int or None
        Where in the trial's steps the offence stands; None when the offence is that a call
        never happened.
    control_index : int or None
        The same, counted among the trial's control steps (tool calls and decisions).
    step_name : str
        The name of that step, or of the call that is lacking.
    detail : str
        One sentence.
    """

    rule: str
    severity: str
    step_index: int | None
    control_index: int | None
    step_name: str
    detail: str

    @property
    def severity_rank(self) -> int:
        """0 for critical to 3 for low; 9 for a severity that is none of the four."""
        return SEVERITIES.index(self.severity) if self.severity in SEVERITIES else 9


@dataclass(frozen=True, kw_only=True)
class Rule(ABC):
    """What all rules share.

    Parameters
    ----------
    severity : str
        How much a violation matters.
    when : callable, optional
        Takes the context; the rule applies where it returns a true value. Default: everywhere.
    id : str, optional
        Replaces the id that is made from the rule's parameters.
    """

    severity: str = "critical"
    when: Condition | None = None
    id: str = ""

    def __post_init__(self) -> None:
        if not self.id:
            object.__setattr__(self, "id", self._default_id())

    @abstractmethod
    def _default_id(self) -> str: ...

    @abstractmethod
    def check(self, case: Case) -> Violation | None:
        """Return the trial's first offence against the rule, or None.

        The rule is checked whether or not it applies; see `applies`.
        """

    def applies(self, context: Context) -> bool:
        """Return whether the rule is to be checked for a task with this context."""
        return self.when is None or bool(self.when(context))

    def assessable(self, case: Case) -> bool:
        """Return whether the trial's record suffices to check the rule.

        A rule about arguments cannot be checked where arguments were not recorded.
        """
        return all(case.arguments_known(tool) for tool in self.reads_arguments_of())

    def reads_arguments_of(self) -> tuple[str, ...]:
        """Return the tools whose arguments the rule looks at."""
        return ()

    def _missing(self, tool: str, detail: str) -> Violation:
        return Violation(self.id, self.severity, None, None, tool, detail)

    def _at(self, call: Call, detail: str) -> Violation:
        return Violation(
            self.id, self.severity, call.position, call.control_index, call.step.name, detail
        )
