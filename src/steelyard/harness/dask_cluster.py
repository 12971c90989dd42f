"""Trials on many machines, by way of a Dask scheduler (the extra ``steelyard[dask]``).

Every worker machine needs the same checkout: a worker loads the study from the same folder, or from
``experiments/`` of its own checkout. Only this process writes the database. When a worker dies, the
scheduler itself gives its trials to another one, as often as its setting
``distributed.scheduler.allowed-failures`` says; a trial that takes that many along is a failed row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

from steelyard.errors import SteelyardError, StudyError
from steelyard.harness.executors import TICK_SECONDS
from steelyard.harness.processes import load_checked
from steelyard.harness.study import RunnableStudy
from steelyard.harness.trial import FinishedTrial, PlannedTrial, run_trial
from steelyard.store.project import find_root

CHUNK = 16
"""Trials per task of the scheduler, whose own overhead is about a millisecond per task."""

CONNECT_SECONDS = 10.0


class DaskCluster:
    """Trials as tasks of a Dask scheduler.

    Parameters
    ----------
    study : RunnableStudy
        Loaded from a folder.
    address : str
        ``"dask://host:port"``.

    Raises
    ------
    SteelyardError
        If Dask is not installed, or the scheduler does not answer.
    """

    def __init__(self, study: RunnableStudy, address: str) -> None:
        if study.folder is None:
            raise StudyError(
                f"study {study.id} was not loaded from a folder; workers cannot load it"
            )
        try:
            import distributed
        except ImportError:
            raise SteelyardError(
                "the executor dask:// needs the extra: pip install 'steelyard[dask]'"
            ) from None
        self._dask: Any = distributed
        self._study = study
        self._address = address.removeprefix("dask://")
        try:
            self._client: Any = self._dask.Client(f"tcp://{self._address}", timeout=CONNECT_SECONDS)
        except (OSError, ValueError) as error:
            raise SteelyardError(f"no Dask scheduler answers at {self._address}: {error}") from None
        self._stopped = False
        self._alone = False
        # Trials of tasks that took their workers along. The scheduler blames every task that waits
        # on a dead worker, so each of these runs with no other task about.
        self._suspects: deque[PlannedTrial] = deque()

    def run(self, trials: Iterator[PlannedTrial]) -> Iterator[list[FinishedTrial]]:
        """See `Executor.run`."""
        running: dict[Any, list[PlannedTrial]] = {}
        try:
            while True:
                self._submit(trials, running)
                if not running:
                    return
                yield self._collect(running)
        finally:
            self._client.close()

    def stop(self) -> None:
        """See `Executor.stop`."""
        self._stopped = True

    def _submit(
        self, trials: Iterator[PlannedTrial], running: dict[Any, list[PlannedTrial]]
    ) -> None:
        if self._suspects:
            if not running and not self._stopped:
                self._send([self._suspects.popleft()], running, alone=True)
            return
        threads = sum(self._client.nthreads().values())
        while not self._stopped and len(running) < max(2, 2 * threads):
            chunk = list(islice(trials, CHUNK))
            if not chunk:
                return
            self._send(chunk, running, alone=False)

    def _send(
        self, chunk: list[PlannedTrial], running: dict[Any, list[PlannedTrial]], *, alone: bool
    ) -> None:
        study = self._study
        future = self._client.submit(_run_chunk, str(study.folder), study.digest, chunk, pure=False)
        running[future] = chunk
        self._alone = alone

    def _collect(self, running: dict[Any, list[PlannedTrial]]) -> list[FinishedTrial]:
        try:
            done = self._dask.wait(
                list(running), timeout=TICK_SECONDS, return_when="FIRST_COMPLETED"
            ).done
        except self._dask.TimeoutError:
            if self._client.status not in ("running", "connecting"):
                raise SteelyardError(
                    f"the Dask scheduler at {self._address} went away; the trials written so far "
                    "are kept, and the same command goes on where it stopped"
                ) from None
            return []
        finished: list[FinishedTrial] = []
        for future in done:
            finished += self._result(future, running.pop(future))
        return finished

    def _result(self, future: Any, chunk: list[PlannedTrial]) -> list[FinishedTrial]:
        try:
            return list(future.result())
        except self._dask.KilledWorker as error:
            if not self._alone:
                self._suspects.extend(chunk)
                return []
            times = error.allowed_failures + 1
            text = f"the worker process died in this trial {times} times, with no other about"
            return [FinishedTrial(chunk[0].key, "failed", text, times)]
        except SteelyardError as error:
            raise StudyError(f"a Dask worker cannot load the study: {error}") from None
        finally:
            future.release()


def _run_chunk(folder: str, digest: str, chunk: list[PlannedTrial]) -> list[FinishedTrial]:
    """Run trials on a worker."""
    study = _loaded(folder, digest)
    return [run_trial(study, planned) for planned in chunk]


@lru_cache(maxsize=4)
def _loaded(folder: str, digest: str) -> RunnableStudy:
    home = Path(folder)
    if not home.is_dir():
        home = find_root() / "experiments" / home.name
    return load_checked(home, digest)
