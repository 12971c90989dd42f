"""Arms that any domain can use: an executor of a fixed procedure, and agents that choose tools.

An executor reads the request once and then follows its domain's procedure, with or without
retries. A free-form agent says in each turn which tools it wants called; a guarded one has a guard
that may refuse a call before it is made. What is domain's own (the procedure, the guard) is given
to them. They hold no state of a trial, so one object serves all trials and threads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from steelyard.errors import InputError, SteelyardError
from steelyard.harness.protocols import Kind, TrialSetup
from steelyard.harness.replies import is_transient
from steelyard.harness.tools import ToolError
from steelyard.trials.model import Arguments


class ArmError(SteelyardError):
    """The agent failed at its task in a way that ends the trial; its status is ``failed``."""


class InterpretationError(ArmError):
    """The request could not be understood."""


class TurnLimitError(ArmError):
    """The agent still wanted to call tools when its turns were used up."""


class Answer(NamedTuple):
    """What became of a tool call: its output, or the error of the last attempt."""

    output: Any = None
    error: str | None = None


class Ask(Protocol):
    """A tool call within a procedure."""

    def __call__(self, tool: str, **arguments: Any) -> Answer:
        """Call a tool; errors are answers, not exceptions."""
        ...


Procedure = Callable[[Ask, Any], str]
"""Does one task by asking tools, given what was read from the request; returns the report."""

Interpret = Callable[[TrialSetup], Any]
"""Reads from a request what it is about; a falsy value means that it was not understood."""


def call_tool(setup: TrialSetup, tool: str, arguments: Arguments, retries: int = 0) -> Answer:
    """Call a tool, again while its error is transient.

    Parameters
    ----------
    setup : TrialSetup
    tool : str
    arguments : mapping, UnreadableArguments or None
    retries : int
        Attempts after the first at most; there is no pause between them. Every attempt is a step.

    Returns
    -------
    Answer
    """
    error = ""
    for _ in range(retries + 1):
        try:
            return Answer(setup.toolbox.call(tool, arguments))
        except ToolError as refusal:
            error = str(refusal)
        if not is_transient(error):
            break
    return Answer(error=error)


class PlanExecute:
    """Understand the request once, then follow a fixed procedure.

    Parameters
    ----------
    procedure : callable
        See `Procedure`.
    interpret : callable
        See `Interpret`. It may have ``model_calls``, the number of model calls it makes at most.
    subject : str
        What ``interpret`` returns, as the argument of the decision that is recorded.
    retries : int
        See `call_tool`.

    Raises
    ------
    InputError
        If ``retries`` is not a whole number from 0.
    """

    def __init__(
        self, procedure: Procedure, interpret: Interpret, subject: str, retries: int = 0
    ) -> None:
        if isinstance(retries, bool) or not isinstance(retries, int) or retries < 0:
            raise InputError(f"retries is {retries!r}; accepted are whole numbers from 0")
        self.procedure = procedure
        self.interpret = interpret
        self.subject = subject
        self.retries = retries
        self.model_calls: int = getattr(interpret, "model_calls", 0)
        self.kind: Kind = "model" if self.model_calls else "cpu"

    def run(self, setup: TrialSetup) -> None:
        """Do the task.

        Raises
        ------
        InterpretationError
            If the request was not understood. The answer that says so is recorded before.
        """
        subject = self.interpret(setup)
        setup.decide("interpret_request", {self.subject: subject or None})
        if not subject:
            setup.final("I could not tell from the request what to work on.")
            raise InterpretationError(f"no {self.subject} could be read from the request")

        def ask(tool: str, **arguments: Any) -> Answer:
            return call_tool(setup, tool, arguments, self.retries)

        setup.final(self.procedure(ask, subject))


class Call(NamedTuple):
    """A tool call that an agent wants made."""

    tool: str
    arguments: Arguments


class Turn(NamedTuple):
    """One turn of an agent: what it says, and the calls it wants; without calls it is done."""

    text: str = ""
    calls: Sequence[Call] = ()


class Agent(Protocol):
    """A free-form agent at work on one trial."""

    def turn(self, answers: Sequence[Answer]) -> Turn:
        """Take the answers to the calls of the turn before; say what comes next."""
        ...


@dataclass
class Seen:
    """What one trial's calls have shown so far; a guard decides by it.

    Attributes
    ----------
    calls : list of (Call, Any)
        Every call that succeeded, with its output, in order.
    """

    calls: list[tuple[Call, Any]] = field(default_factory=list)

    def last(self, tool: str, **about: Any) -> Any:
        """Return the last output of a tool called with these arguments among others, or None."""
        for call, output in reversed(self.calls):
            given = call.arguments if isinstance(call.arguments, Mapping) else {}
            if call.tool == tool and all(given.get(key) == value for key, value in about.items()):
                return output
        return None


class Refusal(NamedTuple):
    """Why a guard did not let a call through: a code for tables, a text for the agent."""

    code: str
    text: str


Veto = Callable[[TrialSetup, Call, Seen], Refusal | None]
"""A guard's decision about a call that is about to be made; None lets it through."""


class FreeForm:
    """An agent that chooses which tools to call, turn by turn.

    Parameters
    ----------
    agent : callable
        Makes the agent of a trial from its `TrialSetup`.
    turns : int
        Turns at most.
    veto : callable, optional
        A guard; see `Veto`. What it refuses is not called, but recorded as a decision
        ``blocked:<tool>`` with the refusal as its output.
    model_calls : int, optional
        Model calls per trial at most; by default one per turn. 0 for an agent that computes.
    """

    def __init__(
        self,
        agent: Callable[[TrialSetup], Agent],
        turns: int = 12,
        veto: Veto | None = None,
        model_calls: int | None = None,
    ) -> None:
        if isinstance(turns, bool) or not isinstance(turns, int) or turns < 1:
            raise InputError(f"turns is {turns!r}; accepted are whole numbers from 1")
        self.agent = agent
        self.turns = turns
        self.veto = veto
        self.model_calls = turns if model_calls is None else model_calls
        self.kind: Kind = "model" if self.model_calls else "cpu"

    def run(self, setup: TrialSetup) -> None:
        """Do the task.

        Raises
        ------
        TurnLimitError
            If the agent is not done after its last turn.
        """
        agent, seen = self.agent(setup), Seen()
        answers: list[Answer] = []
        for _ in range(self.turns):
            turn = agent.turn(answers)
            if not turn.calls:
                setup.final(turn.text)
                return
            if turn.text:
                setup.message(turn.text, "agent")
            answers = [self._do(setup, call, seen) for call in turn.calls]
        raise TurnLimitError(f"the agent was not done after {self.turns} turns")

    def _do(self, setup: TrialSetup, call: Call, seen: Seen) -> Answer:
        refusal = None if self.veto is None else self.veto(setup, call, seen)
        if refusal is not None:
            arguments = call.arguments if isinstance(call.arguments, Mapping) else None
            setup.decide(f"blocked:{call.tool}", arguments, refusal._asdict())
            return Answer(error=refusal.text)
        answer = call_tool(setup, call.tool, call.arguments)
        if answer.error is None:
            seen.calls.append((call, answer.output))
        return answer
