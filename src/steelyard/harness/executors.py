"""Who runs the trials: this thread, or several; see `processes` and `dask_cluster` for the others.

An executor takes planned trials from an iterator as it needs them and yields finished ones in
whatever order they end. It also yields empty lists while it waits, so that its caller can write
what it has and look at the clock. After `stop` it begins no other trial and finishes those in
flight.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Protocol

from steelyard.errors import InputError
from steelyard.harness.protocols import ModelSource
from steelyard.harness.study import RunnableStudy
from steelyard.harness.trial import FinishedTrial, PlannedTrial, run_trial

TICK_SECONDS = 0.2
"""How long an executor waits before it yields an empty list."""

TOGETHER_SECONDS = 0.02


class Executor(Protocol):
    """Runs trials."""

    def run(self, trials: Iterator[PlannedTrial]) -> Iterator[list[FinishedTrial]]:
        """Yield finished trials as they come, and empty lists while waiting."""
        ...

    def stop(self) -> None:
        """Begin no other trial."""
        ...


class Serial:
    """One trial after the other, in this thread.

    Parameters
    ----------
    study : RunnableStudy
    models : ModelSource, optional
    """

    def __init__(self, study: RunnableStudy, models: ModelSource | None = None) -> None:
        self._study = study
        self._models = models
        self._stopped = False

    def run(self, trials: Iterator[PlannedTrial]) -> Iterator[list[FinishedTrial]]:
        """See `Executor.run`."""
        finished: list[FinishedTrial] = []
        began = time.monotonic()
        for planned in trials:
            finished.append(run_trial(self._study, planned, self._models))
            # Trials of some microseconds go together; a longer one goes at once.
            if time.monotonic() - began > TOGETHER_SECONDS or finished[-1].stop is not None:
                yield finished
                if self._stopped:
                    return
                finished, began = [], time.monotonic()
        yield finished

    def stop(self) -> None:
        """See `Executor.stop`."""
        self._stopped = True


class Threads:
    """A pool of threads, for arms that wait for a model.

    Parameters
    ----------
    study : RunnableStudy
    models : ModelSource, optional
    workers : int, default 8
    """

    def __init__(
        self, study: RunnableStudy, models: ModelSource | None = None, workers: int = 8
    ) -> None:
        self._study = study
        self._models = models
        self._workers = check_workers(workers)
        self._stopped = threading.Event()

    def run(self, trials: Iterator[PlannedTrial]) -> Iterator[list[FinishedTrial]]:
        """See `Executor.run`."""
        with ThreadPoolExecutor(self._workers, thread_name_prefix="trial") as pool:
            running: set[Future[FinishedTrial | None]] = set()
            while True:
                # Twice as many as can run: a thread that is done finds the next one waiting.
                wanted = 0 if self._stopped.is_set() else 2 * self._workers - len(running)
                running |= {pool.submit(self._one, p) for p in islice(trials, wanted)}
                if not running:
                    return
                done, running = wait(running, TICK_SECONDS, FIRST_COMPLETED)
                results = [future.result() for future in done]
                yield [result for result in results if result is not None]

    def stop(self) -> None:
        """See `Executor.stop`."""
        self._stopped.set()

    def _one(self, planned: PlannedTrial) -> FinishedTrial | None:
        if self._stopped.is_set():
            return None
        return run_trial(self._study, planned, self._models)


def check_workers(workers: int) -> int:
    """Return a number of workers that can be; InputError for any other."""
    if isinstance(workers, bool) or not isinstance(workers, int) or not 1 <= workers <= 1024:
        raise InputError(f"workers is {workers!r}; accepted are 1 to 1024")
    return workers
