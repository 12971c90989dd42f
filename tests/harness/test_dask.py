"""A real scheduler with two worker processes, one of which is killed in mid-run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from steelyard.errors import SteelyardError, StudyError
from steelyard.harness.dask_cluster import DaskCluster
from steelyard.harness.export import export_run
from steelyard.harness.runner import run_study
from steelyard.harness.study import RunnableStudy

pytest.importorskip("distributed")


def start(*arguments: str, **settings: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1", **settings},
    )


def drain(process: subprocess.Popen[str]) -> None:
    """Keep reading what a server logs, so that its pipe never fills."""
    threading.Thread(target=process.stderr.read, daemon=True).start()


def start_scheduler(**settings: str) -> tuple[subprocess.Popen[str], str]:
    server = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    scheduler = start("distributed.cli.dask_scheduler", *server, **settings)
    for line in scheduler.stderr:
        found = re.search(r"Scheduler at:\s+tcp://(\S+)", line)
        if found:
            drain(scheduler)
            return scheduler, found.group(1)
    raise AssertionError("the scheduler ended")


def start_worker(address: str, *options: str) -> subprocess.Popen[str]:
    worker = start(
        "distributed.cli.dask_worker", f"tcp://{address}", "--nthreads", "1", "--no-dashboard",
        *options,
    )  # fmt: skip
    for line in worker.stderr:
        if "Registered to" in line:
            break
    drain(worker)
    return worker


@pytest.fixture(scope="module")
def cluster():
    """Address of a scheduler, and its two workers (no nanny: a dead one stays dead)."""
    scheduler, address = start_scheduler()
    workers = [start_worker(address, "--no-nanny") for _ in range(2)]
    yield address, workers
    for process in (*workers, scheduler):
        process.kill()
        process.wait()


def test_a_trial_that_takes_every_worker_along_is_a_failed_row(toy, tmp_path):
    parameters = {"task": "t1", "marker": str(tmp_path / "deaths"), "times": 99}
    study = toy(
        arms={"deadly": {"entry": "toy:deadly", "parameters": parameters}},
        perturbations={"baseline": {"entry": "toy:Baseline"}},
        repeats=4,
    )
    scheduler, address = start_scheduler(DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES="0")
    nanny = start_worker(address)
    try:
        report = run_study(study, tmp_path / "d.duckdb", executor=f"dask://{address}")
    finally:
        nanny.terminate()  # takes its worker along
        nanny.wait()
        scheduler.kill()
        scheduler.wait()
    assert (report.progress.completed, report.progress.failed, report.missing) == (11, 1, [])
    trials = export_run(tmp_path / "d.duckdb", tmp_path / "d")[0].read_text().splitlines()
    (failed,) = [line for line in trials if ",failed," in line]
    assert failed.startswith("deadly/t1/baseline/0/0,")
    assert "the worker process died in this trial 1 times" in failed


def exported(database: Path, folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in export_run(database, folder)}


def test_trials_on_a_cluster_survive_the_death_of_a_worker(toy, tmp_path, cluster):
    address, workers = cluster
    arms = {
        "steady": {"entry": "toy:steady"},
        "hasty": {"entry": "toy:Impatient", "parameters": {"crash_in": "t1", "seconds": 0.01}},
    }
    study = toy(arms=arms, repeats=30)
    run_study(study, tmp_path / "here.duckdb")

    def kill_one(progress):
        if progress.ran >= 16 and workers[0].poll() is None:
            os.kill(workers[0].pid, signal.SIGKILL)

    report = run_study(
        study, tmp_path / "there.duckdb", executor=f"dask://{address}", on_progress=kill_one
    )
    assert workers[0].poll() is not None
    assert report.missing == []
    assert exported(tmp_path / "there.duckdb", tmp_path / "a") == exported(
        tmp_path / "here.duckdb", tmp_path / "b"
    )


def test_a_worker_with_another_study_is_refused(toy, tmp_path, cluster):
    study = toy(name="altered")
    file = study.folder / "study.toml"
    file.write_text(file.read_text() + "# changed\n")
    with pytest.raises(StudyError, match=r"a Dask worker cannot load the study: .* differs"):
        run_study(study, tmp_path / "x.duckdb", executor=f"dask://{cluster[0]}")


def test_no_scheduler(toy, tmp_path, monkeypatch):
    study = toy()
    monkeypatch.setattr("steelyard.harness.dask_cluster.CONNECT_SECONDS", 0.5)
    with pytest.raises(SteelyardError, match=r"no Dask scheduler answers at 127\.0\.0\.1:9"):
        run_study(study, tmp_path / "x.duckdb", executor="dask://127.0.0.1:9")
    made = RunnableStudy(study.declaration, study.domain, study.arms, study.perturbations)
    with pytest.raises(StudyError, match="was not loaded from a folder"):
        DaskCluster(made, "dask://127.0.0.1:9")


def test_without_the_extra(toy, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SteelyardError, match=r"pip install 'steelyard\[dask\]'"):
        DaskCluster(toy(), "dask://127.0.0.1:9")
