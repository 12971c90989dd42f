"""Worker processes, for arms that compute.

Each worker loads the study from its folder, gets a few trials at a time through a pipe of its own,
and sends back what they left. Before each trial it writes its position into shared memory. When a
worker dies, the trial that took it along is therefore known: that one is begun once more in another
worker, and is a failed row if it takes that one along as well. Trials that the worker had finished
but not sent, or not begun, are begun again without a mark.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from steelyard.errors import StudyError
from steelyard.harness.executors import TICK_SECONDS, check_workers
from steelyard.harness.study import RunnableStudy, load_study
from steelyard.harness.trial import FinishedTrial, PlannedTrial, run_trial

SEND_SECONDS = 0.05
"""A worker keeps finished trials no longer than this; sending each alone would cost more time."""

CHUNK_SECONDS = 0.5
LARGEST_CHUNK = 500
ATTEMPTS = 2
"""A trial that has taken this many workers along is a failed one."""


@dataclass
class _Worker:
    process: BaseProcess
    pipe: Connection
    position: Any
    chunk: list[PlannedTrial] = field(default_factory=list)
    received: int = 0
    ready: bool = False


class Processes:
    """A pool of worker processes.

    Parameters
    ----------
    study : RunnableStudy
        Loaded from a folder.
    workers : int

    Raises
    ------
    StudyError
        If the study was made from objects: another process cannot load it.
    """

    def __init__(self, study: RunnableStudy, workers: int) -> None:
        if study.folder is None:
            raise StudyError(
                f"study {study.id} was not loaded from a folder; worker processes cannot load it. "
                "Use one worker, or threads"
            )
        self._folder = study.folder
        self._digest = study.digest
        self._count = check_workers(workers)
        self._context = multiprocessing.get_context("spawn")
        self._workers: list[_Worker] = []
        self._again: deque[PlannedTrial] = deque()
        self._stopped = False
        self._chunk = 1

    def run(self, trials: Iterator[PlannedTrial]) -> Iterator[list[FinishedTrial]]:
        """See `Executor.run`."""
        try:
            while True:
                self._hand_out(trials)
                if not any(worker.chunk for worker in self._workers):
                    return
                yield self._collect()
        finally:
            self._close()

    def stop(self) -> None:
        """See `Executor.stop`."""
        self._stopped = True

    def _hand_out(self, trials: Iterator[PlannedTrial]) -> None:
        """Give every idle worker its next trials; start workers while there is work for them."""
        idle = [worker for worker in self._workers if not worker.chunk]
        while not self._stopped and (idle or len(self._workers) < self._count):
            chunk = self._next_chunk(trials)
            if not chunk:
                return
            worker = idle.pop() if idle else self._start()
            worker.chunk, worker.received, worker.position.value = chunk, 0, -1
            try:
                worker.pipe.send(chunk)
            except OSError:  # it died while idle; `_collect` finds the body
                continue

    def _next_chunk(self, trials: Iterator[PlannedTrial]) -> list[PlannedTrial]:
        if self._again:
            first = self._again.popleft()
            # A suspect goes alone: should it take its worker along again, nothing else is lost.
            if first.attempts:
                return [first]
            chunk = [first]
            while self._again and len(chunk) < self._chunk and not self._again[0].attempts:
                chunk.append(self._again.popleft())
            return chunk
        return list(islice(trials, self._chunk))

    def _start(self) -> _Worker:
        ours, theirs = self._context.Pipe()
        position = self._context.RawValue("i", -1)
        process = self._context.Process(
            target=_work, args=(theirs, position, self._folder, self._digest), daemon=True
        )
        process.start()
        theirs.close()  # so that the pipe ends when the worker does
        worker = _Worker(process, ours, position)
        self._workers.append(worker)
        return worker

    def _collect(self) -> list[FinishedTrial]:
        """Wait for a worker to send something or to die."""
        finished: list[FinishedTrial] = []
        ready = wait([worker.pipe for worker in self._workers], TICK_SECONDS)
        for worker in [worker for worker in self._workers if worker.pipe in ready]:
            try:
                finished += self._received(worker, worker.pipe.recv())
            except (EOFError, OSError):
                finished += self._bury(worker)
        return finished

    def _received(self, worker: _Worker, message: Any) -> list[FinishedTrial]:
        if isinstance(message, str):
            raise StudyError(f"a worker process cannot load the study: {message}")
        if message is None:
            worker.ready = True
            return []
        results, seconds = message
        worker.received += len(results)
        if worker.received == len(worker.chunk):
            worker.chunk = []
        if seconds > 0:
            wanted = int(CHUNK_SECONDS * len(results) / seconds)
            self._chunk = max(1, min(LARGEST_CHUNK, wanted))
        return list(results)

    def _bury(self, worker: _Worker) -> list[FinishedTrial]:
        """Sort out the trials of a worker that died."""
        self._workers.remove(worker)
        worker.pipe.close()
        worker.process.join()
        if not worker.ready:
            raise StudyError(
                f"a worker process ended (exit code {worker.process.exitcode}) before it had "
                "loaded the study; a script that runs studies needs `if __name__ == '__main__':`"
            )
        left = worker.chunk[worker.received :]
        culprit = worker.position.value - worker.received
        for index, planned in enumerate(left):
            begun = replace(planned, attempts=planned.attempts + (index == culprit))
            if begun.attempts < ATTEMPTS:
                self._again.append(begun)
        return [
            FinishedTrial(
                planned.key,
                "failed",
                f"the worker process died in this trial {ATTEMPTS} times, last with exit code "
                f"{worker.process.exitcode}",
                ATTEMPTS,
            )
            for index, planned in enumerate(left)
            if planned.attempts + (index == culprit) >= ATTEMPTS
        ]

    def _close(self) -> None:
        for worker in self._workers:
            worker.pipe.close()  # the worker's next read ends it
        for worker in self._workers:
            worker.process.join(timeout=2.0)
            if worker.process.is_alive():
                worker.process.kill()
                worker.process.join()
        self._workers.clear()


def load_checked(folder: Path, digest: str) -> RunnableStudy:
    """Load a study in another process than the one that planned it.

    Raises
    ------
    StudyError
        If ``study.toml`` is not the one that was planned with.
    """
    study = load_study(folder)
    if study.digest != digest:
        raise StudyError(f"{folder.name}/study.toml differs from the one the run was started with")
    return study


def _work(pipe: Connection, position: Any, folder: Path, digest: str) -> None:
    """Run trials until the pipe ends; the body of a worker process."""
    # Ctrl-C reaches every process of the terminal; only the first decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        study = load_checked(folder, digest)
    except Exception as error:
        pipe.send(f"{type(error).__name__}: {error}")
        return
    pipe.send(None)
    try:
        while True:
            _work_on(pipe, position, study, pipe.recv())
    except (EOFError, OSError):
        return


def _work_on(
    pipe: Connection, position: Any, study: RunnableStudy, chunk: list[PlannedTrial]
) -> None:
    results: list[FinishedTrial] = []
    began = time.perf_counter()
    for index, planned in enumerate(chunk):
        position.value = index
        results.append(run_trial(study, planned))
        now = time.perf_counter()
        if now - began > SEND_SECONDS or index == len(chunk) - 1:
            pipe.send((results, now - began))
            results, began = [], time.perf_counter()
