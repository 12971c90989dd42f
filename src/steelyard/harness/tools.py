"""Tools, and the toolbox through which one trial calls them: every attempt is recorded."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InputError
from steelyard.trials.arguments import read_arguments
from steelyard.trials.model import Arguments, Step, UnreadableArguments
from steelyard.trials.strict_json import canonical_dumps, loads


class ToolError(Exception):
    """What a tool answers when it refuses or fails: the agent is told, the trial goes on."""


@dataclass(frozen=True)
class Tool:
    """Something an agent can do.

    Attributes
    ----------
    name : str
    description : str
        For a model.
    parameters : mapping
        JSON schema of the arguments, an object.
    function : callable
        Takes the arguments by name and returns a JSON value, or raises `ToolError`.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]
    function: Callable[..., Any]


Before = Callable[[str, Mapping[str, Any], int], None]
"""Called with tool, arguments and the number of this call of that tool (from 1); may raise
`ToolError` (the tool is then not called)."""

After = Callable[[str, Mapping[str, Any], Any], Any]
"""Called with tool, arguments and result; returns what the agent gets instead."""


@dataclass(slots=True)
class StepRecord:
    """A step as it was when it happened: JSON texts, which later changes cannot reach."""

    kind: str
    name: str
    arguments: str | None
    output: str | None
    error: str | None
    wall_ms: float | None

    def to_step(self) -> Step:
        """Return the step with its values read back."""
        return Step(
            self.kind,
            self.name,
            read_arguments(self.arguments),
            None if self.output is None else loads(self.output),
            self.error,
            self.wall_ms,
        )


class Toolbox:
    """The tools of one trial.

    Parameters
    ----------
    tools : iterable of Tool
        In the order in which they are offered.
    clock : callable, optional
        Seconds from a clock that never goes back.

    Attributes
    ----------
    before : list of `Before`
        Called in order before a tool; a perturbation appends its own.
    after : list of `After`
        Called in order after a tool has succeeded.
    calls : dict of str to int
        Attempts so far, by tool.
    listed : bool
        Whether anyone looked at the list of tools.

    Raises
    ------
    InputError
        If two tools have one name.
    """

    def __init__(
        self, tools: Iterable[Tool], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._tools: dict[str, Tool] = {}
        self._clock = clock
        self._records: list[StepRecord] = []
        self.before: list[Before] = []
        self.after: list[After] = []
        self.calls: dict[str, int] = {}
        self.listed = False
        self.set_tools(tools)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools in order, as an agent is offered them; looking is remembered."""
        self.listed = True
        return tuple(self._tools.values())

    @property
    def names(self) -> tuple[str, ...]:
        """The tools' names in order; looking at these is not remembered."""
        return tuple(self._tools)

    def tool(self, name: str) -> Tool:
        """Return one tool without marking the list as read; `ToolError` if there is none."""
        if name not in self._tools:
            raise ToolError(f"there is no tool {name!r}")
        return self._tools[name]

    def set_tools(self, tools: Iterable[Tool]) -> None:
        """Offer these tools, in this order, instead."""
        offered: dict[str, Tool] = {}
        for tool in tools:
            if tool.name in offered:
                raise InputError(f"two tools are called {tool.name!r}")
            offered[tool.name] = tool
        self._tools = offered

    def add(self, *tools: Tool) -> None:
        """Offer these tools after the others."""
        self.set_tools((*self._tools.values(), *tools))

    def call(self, name: str, arguments: Arguments) -> Any:
        """Call a tool and record the attempt as a step.

        Parameters
        ----------
        name : str
        arguments : mapping, UnreadableArguments or None
            None is taken as no arguments.

        Returns
        -------
        Any
            What the tool returned, changed by the hooks in ``after``.

        Raises
        ------
        ToolError
            If the tool does not exist, does not take these arguments, or fails. The step is
            recorded as failed, as it is when a defect of the tool raises anything else, which is
            passed on.
        """
        given = _as_text(arguments)
        number = self.calls[name] = self.calls.get(name, 0) + 1
        began = self._clock()
        try:
            output = self._attempt(name, arguments, number)
            text = _as_text(output)
        except Exception as error:
            elapsed = (self._clock() - began) * 1000.0
            reason = str(error) if isinstance(error, ToolError) else _crash(error)
            self._records.append(StepRecord("tool_call", name, given, None, reason, elapsed))
            raise
        elapsed = (self._clock() - began) * 1000.0
        self._records.append(StepRecord("tool_call", name, given, text, None, elapsed))
        return output

    def record(
        self,
        kind: str,
        name: str,
        arguments: Arguments = None,
        output: Any = None,
        error: str | None = None,
    ) -> None:
        """Record a step that calls nothing: a decision, a message, the final answer."""
        self._records.append(
            StepRecord(kind, name, _as_text(arguments), _as_text(output), error, None)
        )

    @property
    def records(self) -> list[StepRecord]:
        """The steps so far, as texts."""
        return self._records

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far, read back from their texts."""
        return tuple(record.to_step() for record in self._records)

    def _attempt(self, name: str, arguments: Arguments, number: int) -> Any:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f"there is no tool {name!r}")
        if isinstance(arguments, UnreadableArguments):
            raise ToolError(f"{name}: arguments are {arguments.reason}")
        values: Mapping[str, Any] = {} if arguments is None else arguments
        for hook in self.before:
            hook(name, values, number)
        try:
            output = tool.function(**values)
        except TypeError as error:
            _refuse_unfit(tool, values, error)
            raise
        for change in self.after:
            output = change(name, values, output)
        return output


def _refuse_unfit(tool: Tool, arguments: Mapping[str, Any], error: TypeError) -> None:
    """Raise `ToolError` if the arguments do not fit the function; else the tool has a defect."""
    try:
        inspect.signature(tool.function).bind(**arguments)
    except TypeError as misfit:
        raise ToolError(f"{tool.name}: bad arguments: {misfit}") from error


def _as_text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, UnreadableArguments):
        value = value.raw
    return canonical_dumps(value)


def _crash(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
