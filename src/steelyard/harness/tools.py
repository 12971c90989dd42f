"""Tools, and the toolbox through which one trial calls them: every attempt is recorded."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.errors import InputError
from steelyard.harness.snapshots import snapshot, storable
from steelyard.trials.model import Arguments, Step, UnreadableArguments
from steelyard.trials.strict_json import canonical_dumps


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


StepRow = tuple[str, str, str | None, str | None, str | None, float | None]
"""A step as the tables hold it: kind, name, arguments and output as JSON, error, wall_ms."""

_KIND, _NAME, _ARGUMENTS, _OUTPUT, _ERROR, _WALL_MS, _GIVEN, _RETURNED = range(8)
"""Positions in the record of a step: a `StepRow`, then arguments and output as values.

A list and not an object with names, because ten thousands of them are made per second.
"""


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
        self._records: list[list[Any]] = []
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
        InputError
            If the name is not text or the arguments are not JSON; nothing is recorded then.
        """
        if not isinstance(name, str):
            raise InputError(f"a tool is called by its name, a text; this is {name!r}")
        given, text = _snapshot_arguments(arguments)
        # A model may answer with half a character; the step is kept, readable, and fails.
        readable = name if name.isascii() else storable(name)
        record: list[Any] = ["tool_call", readable, text, None, None, None, given, None]
        number = self.calls[name] = self.calls.get(name, 0) + 1
        self._records.append(record)
        clock = self._clock
        began = clock()
        try:
            output = self._attempt(name, arguments, number)
            if output is not None:
                record[_RETURNED], record[_OUTPUT] = snapshot(output)
        except BaseException as error:
            record[_ERROR] = _reason(error)
            raise
        finally:
            record[_WALL_MS] = (clock() - began) * 1000.0
        return output

    def record(
        self,
        kind: str,
        name: str,
        arguments: Arguments = None,
        output: Any = None,
        error: str | None = None,
    ) -> None:
        """Record a step that calls nothing: a decision, a message, the final answer.

        A step without a name gets its kind as its name.

        Raises
        ------
        InputError
            If kind, name or error is not text, or a value is not JSON.
        """
        for what, given_text in (("kind", kind), ("name", name), ("error", error or "")):
            if not isinstance(given_text, str):
                raise InputError(f"a step's {what} is text, not {given_text!r}")
        given, text = _snapshot_arguments(arguments)
        returned, written = (None, None) if output is None else snapshot(output)
        kind, name = storable(kind), storable(name or kind)
        failure = None if error is None else storable(error)
        self._records.append([kind, name, text, written, failure, None, given, returned])

    @property
    def rows(self) -> list[StepRow]:
        """The steps so far, for the tables; out of reach of later changes."""
        return [tuple(record[:_GIVEN]) for record in self._records]

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps so far, for rules and measures."""
        return tuple(
            Step(r[_KIND], r[_NAME], r[_GIVEN], r[_RETURNED], r[_ERROR], r[_WALL_MS])
            for r in self._records
        )

    def _attempt(self, name: str, arguments: Arguments, number: int) -> Any:
        tool = self._tools.get(name)
        if tool is None:
            raise ToolError(f"there is no tool {name!r}")
        if type(arguments) is not dict and isinstance(arguments, UnreadableArguments):
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


def _snapshot_arguments(arguments: Arguments) -> tuple[Arguments, str | None]:
    if type(arguments) is dict:  # nearly always
        return snapshot(arguments)
    if arguments is None:
        return None, None
    if isinstance(arguments, UnreadableArguments):
        return arguments, canonical_dumps(arguments.raw)
    return snapshot(arguments)


def _reason(error: BaseException) -> str:
    """Return a failed step's error: never empty, since a blank field in a file means no error."""
    text = str(error) if isinstance(error, ToolError) else f"{type(error).__name__}: {error}"
    return storable(text) or type(error).__name__
