"""What a study is made of: domains, worlds, tasks, arms, perturbations and models, as protocols.

Nothing here runs anything. A domain, an arm or a perturbation is any object of this shape; none has
to inherit from ours. All state of a trial is made for that trial: the world by `Domain.world`, the
perturbation's by `Perturbation.perturb`, the model's by `ModelSource.client_for`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from steelyard.errors import SteelyardError
from steelyard.harness.tools import Tool, Toolbox
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Trial

Kind = Literal["cpu", "model"]
"""What an arm waits for: its own computing (processes help) or a model's answers (threads do)."""


class NotRunError(SteelyardError):
    """A trial could not begin or go on for a reason that says nothing about its arm.

    The trial stays ``missing`` with this text, and the next run tries it again: no recording to
    replay, no network.
    """


class StopRunError(SteelyardError):
    """The whole run has to end: the spend cap is reached, the key was refused.

    The trial stays ``missing``; trials in flight are finished, no other is begun.
    """


@dataclass(frozen=True)
class Task:
    """One thing an agent is asked to do.

    Attributes
    ----------
    id : str
        Unique within the domain.
    prompt : str
        What the agent is told.
    data : mapping
        Facts about the task that a scripted agent, a perturbation or a measure may use.
    """

    id: str
    prompt: str
    data: Mapping[str, Any] = field(default_factory=dict)


class World(Protocol):
    """The system of record of one trial; nothing of it is shared with another trial.

    A world may have ``close()``, which is called when the trial is over.
    """

    def tools(self) -> Sequence[Tool]:
        """Return what an agent can do here, in the order in which it is offered."""
        ...

    def state(self) -> Mapping[str, Any]:
        """Return the state of the system of record, as JSON values."""
        ...


class Domain(Protocol):
    """Tasks, the world they are done in, and how a trial is judged.

    A domain may have ``signals(trial)``, which returns what a stopping policy may know after each
    step: rows of ``signals`` without study and trial_id.
    """

    @property
    def name(self) -> str:
        """For messages and tables."""
        ...

    def tasks(self) -> Sequence[Task]:
        """Return every task, in order."""
        ...

    def world(self, task: Task) -> World:
        """Return a fresh world for one trial."""
        ...

    def truth(self, task: Task) -> Mapping[str, Any]:
        """Return what is right for this task, derived from the system of record by its tools."""
        ...

    def measures(
        self, trial: Trial, state: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Judge a finished trial: name to value; 0/1 for booleans, None for "not measured"."""
        ...

    def violations(self, trial: Trial, task: Task) -> Sequence[Mapping[str, Any]]:
        """Return the rules the trial broke: rows of ``violations`` without study and trial_id."""
        ...


@dataclass(frozen=True)
class Usage:
    """What a trial took from its model so far.

    ``cost_usd`` is None where the model's price is not known.
    """

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float | None = 0.0
    model: str | None = None


class TrialModel(Protocol):
    """A model as one trial sees it: its identity and the turn are part of every recording's key."""

    @property
    def usage(self) -> Usage:
        """What was asked and answered so far."""
        ...

    def complete(self, request: Any) -> Any:
        """Answer a `ModelRequest` with a `ModelResponse` (see the models of this room)."""
        ...


class ModelSource(Protocol):
    """Where trials get their models from: live, recorded or replayed.

    ``study.toml`` names one by ``[run.model] entry``: a callable that is given the keyword
    arguments ``recordings`` (the study's folder of recordings, a path), ``offline`` (True for
    ``steelyard replay``) and the declared parameters. It may have ``largest_cost_usd(calls)``: what
    so many calls can cost at most, for ``steelyard plan``.
    """

    def client_for(self, identity: str) -> TrialModel:
        """Return a model for one trial (its trial id) or one set of variants."""
        ...

    def close(self) -> None:
        """Let go of connections and files."""
        ...


@dataclass
class TrialSetup:
    """One trial about to run: what its arm gets, and what a perturbation may change before.

    Attributes
    ----------
    key : TrialKey
    task : Task
    toolbox : Toolbox
        Calls tools and records a step for each attempt.
    seed : int
        From the study's seed and the trial's key alone, 0 to 2^63 - 1.
    temperature : float or None
        None leaves it to the model.
    model : TrialModel or None
        None where the study declares no model.
    prompt_read : bool
        Whether anyone asked for the prompt since the perturbation was put in place.
    """

    key: TrialKey
    task: Task
    toolbox: Toolbox
    seed: int = 0
    temperature: float | None = None
    model: TrialModel | None = None
    prompt_read: bool = False
    _prompt: str | None = field(default=None, repr=False)

    @property
    def prompt(self) -> str:
        """The task's prompt, or what a perturbation made of it; reading it is remembered."""
        self.prompt_read = True
        return self.task.prompt if self._prompt is None else self._prompt

    @prompt.setter
    def prompt(self, text: str) -> None:
        self._prompt = text
        self.prompt_read = False

    def random(self) -> random.Random:
        """Return a generator of this trial's own, seeded by ``seed``."""
        return random.Random(self.seed)  # noqa: S311 - reproducible, not secret

    def call(self, name: str, arguments: Mapping[str, Any]) -> Any:
        """Call a tool; see `Toolbox.call`."""
        return self.toolbox.call(name, arguments)

    def decide(
        self, name: str, arguments: Mapping[str, Any] | None = None, output: Any = None
    ) -> None:
        """Record a decision: a control step that calls nothing."""
        self.toolbox.record("decision", name, arguments, output)

    def message(self, text: str, name: str = "message") -> None:
        """Record something that was said; it is no control step."""
        self.toolbox.record("message", name, None, text)

    def final(self, output: Any, name: str = "respond") -> None:
        """Record the answer."""
        self.toolbox.record("final", name, None, output)


@runtime_checkable
class Arm(Protocol):
    """An agent or architecture. Any callable that takes a `TrialSetup` is an arm as well.

    Optional attributes: ``kind`` (`Kind`, by default ``"cpu"``) and ``model_calls`` (the largest
    number of model calls of a trial, by default 0), both of which ``study.toml`` may state instead.
    """

    def run(self, setup: TrialSetup) -> None:
        """Do the task. An exception makes the trial a failed one and is kept as its error."""
        ...


@dataclass(frozen=True)
class Variant:
    """One instance of a perturbation for one task, the same for all arms and repeats.

    Attributes
    ----------
    index : int
        From 0; its decimal text is the trial's variant.
    meta : mapping
        JSON values; all that `Perturbation.perturb` needs to make the variant again.
    """

    index: int
    meta: Mapping[str, Any] = field(default_factory=dict)


def _not_established() -> None:
    return None


@dataclass(frozen=True)
class PerturbedTrial:
    """A trial with its perturbation in place.

    Attributes
    ----------
    setup : TrialSetup
        What the arm gets: the same object, changed, or another.
    applied : callable
        Asked after the trial: did the perturbation take effect? None where that cannot be known.
    """

    setup: TrialSetup
    applied: Callable[[], bool | None] = _not_established


class Perturbation(Protocol):
    """A change that leaves the right answer as it was.

    One that writes its variants with a model has the attribute ``needs_model = True`` and gets the
    attribute ``model`` (a `TrialModel`) before ``variants`` is called. It may have
    ``model_calls(count)``: how often it asks at most for ``count`` variants of one task.
    """

    @property
    def name(self) -> str:
        """For messages; the study's own name for it stands in the trials."""
        ...

    @property
    def preserves(self) -> str:
        """The invariant it preserves, in words."""
        ...

    def variants(self, task: Task, count: int, random: random.Random) -> list[Variant]:
        """Return up to ``count`` variants; fewer where some were discarded.

        The generator depends on the study's seed, the perturbation and the task alone.
        """
        ...

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Put one variant in place for one trial; all state it needs is made here."""
        ...
