"""Running a study: plan it once, then fill what is missing, as often as it takes."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from steelyard.errors import InputError
from steelyard.harness.database import RunDatabase
from steelyard.harness.executors import Executor, check_workers
from steelyard.harness.phases import phases_of
from steelyard.harness.plan import Variants, make_variants, plan_trials
from steelyard.harness.planned_database import plan_database
from steelyard.harness.progress import Progress, RunReport
from steelyard.harness.protocols import ModelSource
from steelyard.harness.study import RunnableStudy
from steelyard.harness.trial import FinishedTrial

BATCH_TRIALS = 2_000
BATCH_SECONDS = 0.5
"""A transaction holds up to this many trials, or those of this time: what a kill may cost."""


def run_study(
    study: RunnableStudy,
    database: Path,
    *,
    workers: int | None = None,
    executor: str = "auto",
    models: ModelSource | None = None,
    limit: int | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> RunReport:
    """Run what is missing of a study.

    The first call plans every trial into a new database; each call fills trials that are missing.
    It may be ended in any way at any moment. Ctrl-C (or SIGTERM) finishes the trials in flight; a
    second one ends at once.

    Parameters
    ----------
    study : RunnableStudy
    database : pathlib.Path
        The run's own; see `steelyard.harness.database`.
    workers : int, optional
        Threads or processes; by default 8 threads for arms that wait for a model, and one process
        (this one) for arms that compute. The tables do not depend on it.
    executor : str, default "auto"
        ``"auto"`` takes threads for arms that wait for a model, and for others processes if there
        is more than one worker; ``"serial"``, ``"threads"`` and ``"processes"`` decide it;
        ``"dask://host:port"`` sends arms that make no model calls to a Dask scheduler.
    models : ModelSource, optional
        For arms and perturbations that use one; the caller closes it.
    limit : int, optional
        Run at most so many trials now.
    on_progress : callable, optional
        Called a few times per second with the same `Progress`.

    Returns
    -------
    RunReport

    Raises
    ------
    StoreError
        If another run has the database, it belongs to another plan, or it cannot be written.
    StudyError
        If the study's code does not do what a study's code does.
    """
    workers = None if workers is None else check_workers(workers)
    if limit is not None and limit < 0:
        raise InputError(f"limit is {limit}; accepted are whole numbers of 0 or more")
    phases = phases_of(study, executor, workers, models)
    resumed = database.exists()
    with _older_objects_left_alone():
        if not resumed:
            variants = make_variants(study, models)
            skipped = _discarded_rows(study, variants)
            plan_database(database, study, plan_trials(study, variants), skipped)
        with RunDatabase(database, study) as target:
            counts = target.counts()
            progress = Progress(sum(counts.values()), counts["completed"], counts["failed"])
            run = _Run(target, progress, on_progress)
            with _interruptible(run):
                for arms, make in phases:
                    run.phase(make(), arms, limit)
            arms_after, missing = target.by_arm(), target.without_result()
    return RunReport(study.id, database, progress, resumed, arms_after, missing, target.damaged_log)


class _Run:
    """The state of one call of `run_study`."""

    def __init__(
        self,
        target: RunDatabase,
        progress: Progress,
        on_progress: Callable[[Progress], None] | None,
    ) -> None:
        self.target = target
        self.progress = progress
        self.show = on_progress
        self.batch: list[FinishedTrial] = []
        self.began = self.written = time.monotonic()
        self.shown = -1.0
        self.executor: Executor | None = None

    def phase(self, executor: Executor, arms: Sequence[str], limit: int | None) -> None:
        """Run the missing trials of some arms, and write them."""
        self.executor = executor  # from here on a signal stops it; an earlier one is seen below
        if self.progress.stopping:
            return
        planned = self.target.missing(arms)
        if limit is not None:
            planned = _first(planned, limit - self.progress.ran)
        try:
            for finished in executor.run(planned):
                self._take(finished)
        finally:
            self.executor = None
            # Also after an error or a second Ctrl-C: what is finished is not run again.
            self._write()
            self._tell(always=True)

    def stop(self, reason: str) -> None:
        """Begin no other trial."""
        self.progress.stopping = reason
        if self.executor is not None:
            self.executor.stop()

    def _take(self, finished: list[FinishedTrial]) -> None:
        for trial in finished:
            self._count(trial)
            if trial.stop is not None and not self.progress.stopping:
                self.stop(trial.stop)
        self.batch += finished
        waited = time.monotonic() - self.written
        if len(self.batch) >= BATCH_TRIALS or waited >= BATCH_SECONDS:
            self._write()
        self._tell()

    def _count(self, trial: FinishedTrial) -> None:
        progress = self.progress
        progress.ran += 1
        progress.completed += trial.status == "completed"
        progress.failed += trial.status == "failed"
        progress.without_result += trial.status == "missing"
        progress.cost_usd += trial.usage.cost_usd or 0.0

    def _write(self) -> None:
        if self.batch:
            batch, self.batch = self.batch, []
            self.target.record(batch)
        self.written = time.monotonic()

    def _tell(self, *, always: bool = False) -> None:
        now = time.monotonic()
        self.progress.seconds = now - self.began
        if self.show is not None and (always or now - self.shown > 0.1):
            self.shown = now
            self.show(self.progress)


def _discarded_rows(study: RunnableStudy, variants: Variants) -> list[dict[str, object]]:
    return [
        {
            "study": study.id,
            "file": "study.toml",
            "reason": f"perturbation {perturbation}, task {task}: variants discarded when made",
            "rows": count * study.settings.repeats * len(study.arms),
        }
        for (perturbation, task), count in variants.discarded.items()
    ]


def _first(planned: Iterator, count: int) -> Iterator:  # type: ignore[type-arg]
    for _ in range(max(count, 0)):
        found = next(planned, None)
        if found is None:
            return
        yield found


@contextmanager
def _older_objects_left_alone() -> Iterator[None]:
    """Keep the garbage collector from walking through what was there before, meanwhile.

    A run makes so many objects that all of them are examined again and again; those of the
    imported libraries are by far the most, and it took a tenth of the time of a quick trial.
    """
    if gc.get_freeze_count():  # whoever froze them decides when they thaw
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def _interruptible(run: _Run) -> Iterator[None]:
    """Take the first Ctrl-C or SIGTERM as the wish to stop, and the second as an order."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def wish(_number: int, _frame: FrameType | None) -> None:
        if run.progress.stopping:
            raise KeyboardInterrupt
        run.stop("interrupted")

    before = {number: signal.signal(number, wish) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
