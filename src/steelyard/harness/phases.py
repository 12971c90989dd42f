"""Which arms are run by what: in this process, in threads, in processes, on other machines."""

from __future__ import annotations

import os
from collections.abc import Callable

from steelyard.errors import InputError
from steelyard.harness.executors import Executor, Serial, Threads
from steelyard.harness.processes import Processes
from steelyard.harness.protocols import ModelSource
from steelyard.harness.study import LoadedArm, RunnableStudy

MODEL_WORKERS = 8
EXECUTORS = ("auto", "serial", "threads", "processes")

Phase = tuple[list[str], Callable[[], Executor]]
"""Names of arms, and what makes the executor that runs them."""


def phases_of(
    study: RunnableStudy, executor: str, workers: int | None, models: ModelSource | None
) -> list[Phase]:
    """Group the arms by what runs them; arms that compute come first.

    Parameters
    ----------
    study : RunnableStudy
    executor : str
        See `steelyard.harness.runner.run_study`.
    workers : int or None
    models : ModelSource or None

    Returns
    -------
    list of Phase

    Raises
    ------
    InputError
        If there is no such executor.
    """
    if executor not in EXECUTORS and not executor.startswith("dask://"):
        raise InputError(
            f"executor is {executor!r}; accepted are {', '.join(EXECUTORS)} and dask://host:port"
        )
    computing = [name for name, arm in study.arms.items() if not _waits(arm)]
    waiting = [name for name, arm in study.arms.items() if _waits(arm)]

    def in_threads() -> Executor:
        return Threads(study, models, workers or MODEL_WORKERS)

    def in_processes() -> Executor:
        return Processes(study, workers or os.cpu_count() or 1)

    def on_cluster() -> Executor:
        from steelyard.harness.dask_cluster import DaskCluster

        return DaskCluster(study, executor)

    def alone() -> Executor:
        return Serial(study, models)

    if executor == "serial":
        return [([*computing, *waiting], alone)]
    if executor == "threads":
        return [([*computing, *waiting], in_threads)]
    local = in_processes if executor == "processes" or (workers or 1) > 1 else alone
    phases: list[Phase] = [(computing, on_cluster if executor.startswith("dask://") else local)]
    return [(arms, make) for arms, make in [*phases, (waiting, in_threads)] if arms]


def _waits(arm: LoadedArm) -> bool:
    """Tell whether an arm needs a model: its recordings and its budget are this process's."""
    return arm.kind == "model" or arm.model_calls > 0
