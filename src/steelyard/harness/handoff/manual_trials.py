"""Trials of agents that somebody runs by hand: planned, run one after the other, written at once.

Every trial costs its user money and time. So each is written as soon as it is finished, and none
that has a result is run again.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

from steelyard.evaluators.handoff.results import Gates
from steelyard.harness.handoff.identity_probe import executable_digest
from steelyard.harness.handoff.strata import Role, Stratum
from steelyard.trials.ids import TrialKey

PERTURBATION, VARIANT = "none", "0"


@dataclass(frozen=True)
class TrialRecord:
    """What came of a trial.

    Attributes
    ----------
    capability, scenario : str
        What was done; the scenario of a roundtrip is its route.
    passed : bool
        Whether nothing was wrong.
    blocked : str or None
        Why the agent's sandbox could not start: such a trial is missing, not failed.
    gates : dict
        Every gate that applies to the scenario, and how an answer differs from what is expected;
        None was not evaluated.
    report : dict
        The result as reported.
    prompts : dict of str to str or None
        Digests of what was asked, by the name of a covariate; None was not asked.
    seconds : float
        Of the agents' processes.
    """

    capability: str
    scenario: str
    passed: bool
    blocked: str | None
    gates: Gates
    report: dict[str, Any]
    prompts: dict[str, str | None]
    seconds: float


@dataclass(frozen=True)
class ManualTrial:
    """A trial that is to be run.

    Attributes
    ----------
    task : str
        Capability and scenario.
    repeat : int
        From 0.
    stratum : Stratum
        Its arm.
    roles : tuple of Role
        Who takes part.
    run : callable
        Runs it.
    """

    task: str
    repeat: int
    stratum: Stratum
    roles: tuple[Role, ...]
    run: Callable[[], TrialRecord]

    @property
    def key(self) -> TrialKey:
        """Where it stands in the design."""
        return TrialKey(self.stratum.arm, self.task, PERTURBATION, VARIANT, self.repeat)

    @property
    def changed_executable(self) -> str | None:
        """The command whose file is another one than was identified, if any is."""
        for role in self.roles:
            program = role.command.arguments[0]
            if executable_digest(program) != role.identity.sha256:
                return program
        return None


@dataclass
class Tally:
    """How far a run is; one object, updated and shown again and again.

    Attributes
    ----------
    requested : int
        Trials that were asked for.
    passed, failed : int
        Of these, the ones with a result, earlier runs included.
    ran : int
        Trials with a result of this run.
    blocked : dict of str to str
        Trials of this run without a result, and why.
    current : str
        What is being run.
    kept : bool
        Whether results are written into a database.
    stopped : str or None
        Why no other trial was begun.
    arms : tuple of str
        The names under which the trials stand in the tables.
    """

    requested: int = 0
    passed: int = 0
    failed: int = 0
    ran: int = 0
    blocked: dict[str, str] = field(default_factory=dict)
    current: str = ""
    kept: bool = False
    stopped: str | None = None
    arms: tuple[str, ...] = ()

    @property
    def missing(self) -> int:
        """Trials without a result."""
        return self.requested - self.passed - self.failed

    @property
    def success(self) -> bool:
        """Whether there was a trial and every one passed, now or before."""
        return 0 < self.requested == self.passed


Show = Callable[[Tally], None]


def crossed(tasks: Sequence[Any], repeats: int) -> Iterator[tuple[Any, int]]:
    """Yield tasks and repeats: every task once before any is repeated.

    Whatever drifts during a run meets all tasks alike, and a run that is broken off has tried as
    many as it could.
    """
    for repeat in range(repeats):
        for task in tasks:
            yield task, repeat


def run_planned(
    planned: Sequence[ManualTrial], database: Path | None, show: Show
) -> tuple[list[tuple[ManualTrial, TrialRecord]], Tally]:
    """Run what has no result yet.

    Parameters
    ----------
    planned : sequence of ManualTrial
        In the order in which they are run.
    database : pathlib.Path or None
        Where results are and go; see `ManualDatabase`. Without one every trial is run.
    show : callable
        Called before and after each trial, with the same `Tally`.

    Returns
    -------
    list of (ManualTrial, TrialRecord)
        What this call ran. A trial during which an agent's file became another one is not among
        them: nobody knows which agent it was of. No other is begun then.
    Tally
        What became of all that were planned.

    Raises
    ------
    StoreError
        The database cannot be used.
    """
    from steelyard.harness.handoff.tables import ManualDatabase

    if database is None:
        return _run(planned, Tally(len(planned)), show, lambda _planned, _record: None)
    with ManualDatabase(database, planned) as tables:
        results = tables.results()
        found = [results.get(trial.key.trial_id) for trial in planned]
        arms = tuple(dict.fromkeys(trial.stratum.arm for trial in planned))
        counts = (found.count(True), found.count(False))
        tally = Tally(len(planned), *counts, kept=True, arms=arms)
        todo = [trial for trial, result in zip(planned, found, strict=True) if result is None]
        return _run(todo, tally, show, tables.record)


def _run(
    todo: Sequence[ManualTrial],
    tally: Tally,
    show: Show,
    keep: Callable[[ManualTrial, TrialRecord], None],
) -> tuple[list[tuple[ManualTrial, TrialRecord]], Tally]:
    finished = []
    show(tally)
    for trial in todo:
        tally.current = trial.task
        show(tally)
        record = trial.run()
        changed = trial.changed_executable
        if changed is not None:
            tally.stopped = f"{changed} became another file during a trial, which is not counted"
            break
        with _undisturbed():
            keep(trial, record)
            finished.append((trial, record))
            _count(tally, trial, record)
        show(tally)
    tally.current = ""
    show(tally)
    return finished, tally


def _count(tally: Tally, trial: ManualTrial, record: TrialRecord) -> None:
    if record.blocked is not None:
        tally.blocked[trial.key.trial_id] = record.blocked
        return
    tally.ran += 1
    tally.passed += record.passed
    tally.failed += not record.passed


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold Ctrl-C, SIGTERM and the end of a terminal back for as long as a result is written."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    names = ("SIGINT", "SIGTERM", "SIGHUP")  # the last is not known on every system
    before: Mapping[int, Any] = {
        number: signal.signal(number, lambda *arrived: came.append(arrived))
        for number in (getattr(signal, name) for name in names if hasattr(signal, name))
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    for number, _frame in came[:1]:
        signal.raise_signal(number)
