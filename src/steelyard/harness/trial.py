"""Running one trial: set it up, let the arm work, judge what came of it."""

from __future__ import annotations

import hashlib
import re
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.harness.judgements import (
    checked_applied,
    checked_measures,
    checked_signals,
    checked_violations,
)
from steelyard.harness.protocols import (
    ModelSource,
    NotRunError,
    PerturbedTrial,
    StopRunError,
    Task,
    TrialSetup,
    Usage,
    Variant,
    World,
)
from steelyard.harness.snapshots import snapshot, storable
from steelyard.harness.study import LoadedArm, RunnableStudy
from steelyard.harness.tools import StepRow, Toolbox
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Trial
from steelyard.trials.strict_json import loads

NO_USAGE = Usage()
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass(frozen=True, slots=True)
class PlannedTrial:
    """A trial to be run.

    Attributes
    ----------
    key : TrialKey
    seed : int
        See `seed_of`.
    meta : str
        The variant's meta as JSON text.
    attempts : int
        How often it was begun before and took its worker process with it.
    """

    key: TrialKey
    seed: int
    meta: str = "{}"
    attempts: int = 0


@dataclass(slots=True)
class FinishedTrial:
    """What a trial leaves for the tables.

    Attributes
    ----------
    key : TrialKey
    status : str
        ``"completed"``, ``"failed"``, or ``"missing"`` if it could not be run.
    error : str or None
    attempts : int
    applied : bool or None
        Whether the perturbation took effect.
    usage : Usage
    wall_ms : float or None
    steps : list of `steelyard.harness.tools.StepRow`
    state : str or None
        JSON text.
    measures : list of (str, float or None)
    violations, signals : list of mapping
        Rows of these tables, without study and trial_id.
    stop : str or None
        Why the whole run has to end.
    """

    key: TrialKey
    status: str = "completed"
    error: str | None = None
    attempts: int = 1
    applied: bool | None = None
    usage: Usage = NO_USAGE
    wall_ms: float | None = None
    steps: Sequence[StepRow] = ()
    state: str | None = None
    measures: Sequence[tuple[str, float | None]] = ()
    violations: Sequence[Mapping[str, Any]] = ()
    signals: Sequence[Mapping[str, Any]] = ()
    stop: str | None = None


def seed_of(study_seed: int, key: TrialKey) -> int:
    """Return a trial's seed: the first 63 bits of SHA-256 over the study's seed and the trial id.

    Parameters
    ----------
    study_seed : int
    key : TrialKey

    Returns
    -------
    int
        0 to 2^63 - 1; it depends on nothing else, so neither order nor workers matter.
    """
    digest = hashlib.sha256(f"{study_seed}\n{key.trial_id}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def run_trial(
    study: RunnableStudy,
    planned: PlannedTrial,
    models: ModelSource | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> FinishedTrial:
    """Run one trial and judge it.

    Parameters
    ----------
    study : RunnableStudy
    planned : PlannedTrial
    models : ModelSource, optional
    clock : callable, optional
        Seconds; it may not go back.

    Returns
    -------
    FinishedTrial
        Whatever went wrong is in it: an exception of the arm, the domain or the perturbation
        makes it ``"failed"``, with the exception's type, text, file and line. Only
        KeyboardInterrupt is passed on.
    """
    finished = FinishedTrial(planned.key, attempts=planned.attempts + 1)
    running = _Running(study, planned, models, finished, clock)
    began = clock()
    try:
        running.run()
    except (NotRunError, StopRunError) as reason:
        stop = str(reason) if isinstance(reason, StopRunError) else None
        return FinishedTrial(
            planned.key, "missing", storable(str(reason)), finished.attempts, stop=stop
        )
    except KeyboardInterrupt:  # the second Ctrl-C
        raise
    # Any code of the experiment may have raised it, and not every exception is an `Exception`:
    # `sys.exit` and a cancelled coroutine would otherwise end the run, or its worker.
    except BaseException as error:
        # Where the arm has failed already, its own error is the one that explains the trial.
        finished.status, finished.error = "failed", finished.error or describe(error)
    finally:
        running.close()
    finished.wall_ms = (clock() - began) * 1000.0
    running.collect()
    return finished


def describe(error: BaseException) -> str:
    """Return an exception as one text: type, message, file and line, the same on every machine."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    # A lone surrogate cannot be stored, an object's address differs from run to run.
    return _ADDRESS.sub("0x…", storable(text)) + place


class _JudgedTrial(Trial):
    """A trial whose steps are made when they are first asked for: many measures never ask."""

    __slots__ = ("_toolbox",)

    @classmethod
    def of(
        cls,
        key: TrialKey,
        finished: FinishedTrial,
        toolbox: Toolbox,
        study: str,
        state: Mapping[str, Any],
    ) -> Trial:
        trial = cls.__new__(cls)
        put = object.__setattr__  # a Trial is frozen
        put(trial, "key", key)
        put(trial, "status", finished.status)
        put(trial, "study", study)
        put(trial, "state", state)
        put(trial, "error", finished.error)
        put(trial, "source_id", None)
        put(trial, "_toolbox", toolbox)
        return trial

    def __getattr__(self, name: str) -> Any:
        if name != "steps":  # every other field has its value
            raise AttributeError(name)
        steps = self._toolbox.steps
        object.__setattr__(self, "steps", steps)
        return steps


class _Running:
    """One trial while it runs; everything in here is its own."""

    def __init__(
        self,
        study: RunnableStudy,
        planned: PlannedTrial,
        models: ModelSource | None,
        finished: FinishedTrial,
        clock: Callable[[], float],
    ) -> None:
        self.study = study
        self.planned = planned
        self.models = models
        self.finished = finished
        self.clock = clock
        self.world: World | None = None
        self.setup: TrialSetup | None = None

    def run(self) -> None:
        """Set up, run the arm, read the state, judge. What was reached before an error is kept."""
        study, key = self.study, self.planned.key
        task, arm = study.tasks[key.task], study.arms[key.arm]
        self.world = study.domain.world(task)
        perturbed = self._perturbed(task, arm, self.world)
        try:
            arm.run(perturbed.setup)
        except (NotRunError, StopRunError, KeyboardInterrupt):
            raise
        except BaseException as error:  # as in `run_trial`
            self.finished.status, self.finished.error = "failed", describe(error)
        self.finished.applied = checked_applied(perturbed.applied(), key.perturbation)
        self._judge(task, self.world, perturbed.setup.toolbox)

    def collect(self) -> None:
        """Take over the steps and what the model was asked."""
        if self.setup is None:
            return
        # Plain tuples: they travel between processes, and thousands of them wait to be written.
        self.finished.steps = self.setup.toolbox.rows
        if self.setup.model is not None:
            self.finished.usage = self.setup.model.usage

    def close(self) -> None:
        """Let go of the world, if it wants to be told."""
        close = getattr(self.world, "close", None)
        if close is not None:
            close()

    def _perturbed(self, task: Task, arm: LoadedArm, world: World) -> PerturbedTrial:
        key = self.planned.key
        uses_model = arm.kind == "model" or arm.model_calls > 0
        model = None
        if self.models is not None and uses_model:
            model = self.models.client_for(key.trial_id)
        self.setup = TrialSetup(
            key,
            task,
            Toolbox(world.tools(), self.clock),
            self.planned.seed,
            arm.temperature,
            model,
        )
        meta = loads(self.planned.meta) if self.planned.meta != "{}" else {}
        perturbation = self.study.perturbations[key.perturbation]
        perturbed = perturbation.perturb(self.setup, Variant(int(key.variant), meta))
        self.setup = perturbed.setup
        return perturbed

    def _judge(self, task: Task, world: World, toolbox: Toolbox) -> None:
        finished, domain = self.finished, self.study.domain
        state, finished.state = snapshot(world.state())
        trial = _JudgedTrial.of(self.planned.key, finished, toolbox, self.study.id, state)
        finished.measures = checked_measures(domain.measures(trial, state, self.study.truth(task)))
        rules = self.study.declaration.rules
        finished.violations = checked_violations(domain.violations(trial, task), rules, task.id)
        report = getattr(domain, "signals", None)
        if report is not None:
            finished.signals = checked_signals(report(trial))
