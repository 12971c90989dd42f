"""What a run survives: kills, cut logs, full disks, a second run, folders it may not write to."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import pytest

from steelyard.errors import StoreError
from steelyard.harness import planned_database
from steelyard.harness.database import RunDatabase
from steelyard.harness.export import export_run
from steelyard.harness.runner import run_study

SCRIPT = Path(__file__).parents[2] / "experiments" / "benchmarks" / "reliability.py"
HASTY = {
    "steady": {"entry": "toy:steady"},
    "hasty": {"entry": "toy:Impatient", "parameters": {"crash_in": "t1"}},
}


def exported(database: Path, folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in export_run(database, folder)}


def test_killed_runs_end_with_the_tables_of_an_unbroken_one():
    sizes = ["--kills", "4", "--trials", "500", "--model-trials", "50"]
    command = [sys.executable, SCRIPT, *sizes, "--seed", "4"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stderr
    figures = json.loads(ended.stdout)
    assert (figures["kills"], figures["trials"]) == (4, 500)
    assert (figures["differing"], figures["lost"], figures["duplicated"]) == (0, 0, 0)
    bought = figures["recorded"]
    assert (bought["kills"], bought["answers"], bought["bought_twice"]) == (4, 200, 0)
    assert max(bought["recorded_at_kill"]) > 0
    assert bought["differing"] == bought["differing_recordings"] == bought["differing_replays"] == 0
    assert bought["below_account"] == 0


@pytest.fixture
def interrupted(toy, tmp_path, monkeypatch):
    """A run whose process died with transactions in its write-ahead log, and the whole tables."""
    study = toy(arms=HASTY, repeats=10)
    run_study(study, tmp_path / "whole.duckdb")
    database = tmp_path / "cut" / "run.duckdb"
    run_study(study, database, limit=0)
    code = """
import os, sys
from pathlib import Path
from steelyard.harness import executors, runner
from steelyard.harness.study import load_study
executors.TOGETHER_SECONDS, runner.BATCH_TRIALS = -1.0, 10
record, batches = runner.RunDatabase.record, []
def counted(self, finished):
    record(self, finished)
    batches.append(len(finished))
    if len(batches) == 8:
        os.kill(os.getpid(), 9)
runner.RunDatabase.record = counted
runner.run_study(load_study(sys.argv[1]), Path(sys.argv[2]))
"""
    subprocess.run([sys.executable, "-c", code, study.folder, database], check=False, timeout=60)
    log = database.with_name("run.duckdb.wal")
    assert log.stat().st_size > 0
    return study, database, log, exported(tmp_path / "whole.duckdb", tmp_path / "whole")


@pytest.mark.parametrize("share", [0.0, 0.001, 0.3, 0.77, 0.999])
def test_a_log_that_was_cut_short_costs_the_trials_in_it_and_no_others(
    interrupted, share, tmp_path
):
    study, database, log, whole = interrupted
    with log.open("r+b") as file:
        file.truncate(int(log.stat().st_size * share))
    report = run_study(study, database)
    assert report.progress.ran <= 120
    assert report.missing == []
    assert exported(database, tmp_path / "export") == whole


def test_a_log_that_cannot_be_read_is_set_aside(interrupted, tmp_path):
    study, database, log, whole = interrupted
    content = bytearray(log.read_bytes())
    content[len(content) // 2] ^= 255
    log.write_bytes(content)
    report = run_study(study, database)
    assert report.damaged_log.name == "run.duckdb.wal.damaged"
    assert report.damaged_log.read_bytes() == content
    assert exported(database, tmp_path / "export") == whole


def test_a_second_run_on_one_database_is_refused_with_the_first_ones_pid(toy, tmp_path):
    slow = {"slow": {"entry": "toy:Impatient", "parameters": {"seconds": 0.1}}}
    study = toy(arms=slow, repeats=100)
    database = tmp_path / "run.duckdb"
    command = [sys.executable, "-m", "steelyard", "run", study.folder, "--database", database]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not database.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        with pytest.raises(StoreError, match=f"locked by process {first.pid}"):
            run_study(study, database)
        first.send_signal(signal.SIGINT)
        _, errors = first.communicate(timeout=60)
    finally:
        first.kill()
    assert first.returncode == 130
    assert b"goes on where it stopped" in errors
    with RunDatabase(database, study) as target:
        assert target.counts()["missing"] > 0


def test_two_runs_in_one_process_are_refused_too(toy, tmp_path):
    study = toy()
    database = tmp_path / "run.duckdb"
    run_study(study, database, limit=1)
    with (
        RunDatabase(database, study),
        pytest.raises(StoreError, match="a run in this process"),
    ):
        run_study(study, database)
    assert run_study(study, database).missing == []


def test_who_plans_second_finds_the_plan_of_the_first(toy, tmp_path):
    study = toy()
    database = tmp_path / "run.duckdb"
    run_study(study, database)
    before = database.read_bytes()
    planned_database.plan_database(database, study, [])
    assert database.read_bytes() == before
    assert [file.name for file in tmp_path.glob(".run*")] == []


def test_a_file_system_without_hard_links(toy, tmp_path, monkeypatch):
    def no_link(*_):
        raise OSError("not supported")

    monkeypatch.setattr(os, "link", no_link)
    assert run_study(toy(), tmp_path / "run.duckdb").missing == []


def test_what_a_killed_planner_left_is_cleared(toy, tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead = tmp_path / f".run.duckdb.{ended.pid}-abcd"
    alive = tmp_path / f".run.duckdb.{os.getppid()}-abcd"
    others = tmp_path / ".run.duckdb.text-abcd"
    for file in (dead, alive, others):
        file.touch()
    run_study(toy(), tmp_path / "run.duckdb")
    assert not dead.exists()
    assert alive.exists()
    assert others.exists()


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of a given size; only root may, elsewhere the test is skipped."""
    mounted = []

    def mount(kilobytes: int, options: str = "") -> Path:
        place = tmp_path / "disk"
        place.mkdir(exist_ok=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k{options}", "tmpfs", place]
        try:
            done = subprocess.run(command, capture_output=True, check=False)
        except OSError:
            pytest.skip("there is no mount")
        if done.returncode:
            pytest.skip("mounting a small disk is not permitted here")
        mounted.append(place)
        return place

    yield mount
    for place in mounted:
        subprocess.run(["umount", place], check=True)


@pytest.mark.parametrize("kilobytes", [100, 2400])
def test_a_full_disk_is_said_and_the_run_goes_on_when_there_is_space(
    toy, small_disk, tmp_path, kilobytes
):
    study = toy(repeats=120)
    run_study(study, tmp_path / "whole.duckdb")
    disk = small_disk(kilobytes)
    filler = disk / "filler"
    if kilobytes > 1000:  # room for the plan, not for the trials
        run_study(study, disk / "run.duckdb", limit=0)
        free = os.statvfs(disk)
        filler.write_bytes(b"x" * (free.f_bavail * free.f_frsize))
    with pytest.raises(StoreError, match=r"run\.duckdb: the disk is full; .*goes on where"):
        run_study(study, disk / "run.duckdb")
    filler.unlink(missing_ok=True)
    subprocess.run(["mount", "-o", "remount,size=20m", disk], check=True)
    assert run_study(study, disk / "run.duckdb").missing == []
    assert exported(disk / "run.duckdb", tmp_path / "a") == exported(
        tmp_path / "whole.duckdb", tmp_path / "b"
    )


def test_a_full_disk_under_the_export(toy, small_disk, tmp_path):
    run_study(toy(repeats=50), tmp_path / "run.duckdb")
    disk = small_disk(8)
    with pytest.raises(StoreError, match="evidence: cannot be written: No space left"):
        export_run(tmp_path / "run.duckdb", disk / "evidence")
    assert not list((disk / "evidence").glob(".*"))


def test_a_folder_that_may_not_be_written_to(toy, small_disk, tmp_path):
    disk = small_disk(1000, ",ro")
    with pytest.raises(StoreError, match=r"runs: cannot be made: Read-only file system"):
        run_study(toy(), disk / "runs" / "run.duckdb")
    with pytest.raises(StoreError, match=r"run\.duckdb: cannot be (opened|written)"):
        run_study(toy(), disk / "run.duckdb")


def test_a_file_where_a_folder_is_expected(toy, tmp_path):
    (tmp_path / "runs").touch()
    with pytest.raises(StoreError, match="runs: cannot be made"):
        run_study(toy(), tmp_path / "runs" / "run.duckdb")
    (tmp_path / "folder.duckdb").mkdir()
    with pytest.raises(StoreError, match="a directory stands where"):
        run_study(toy(), tmp_path / "folder.duckdb")


def test_a_batch_is_written_whole_or_not_at_all(toy, tmp_path, monkeypatch):
    study = toy(repeats=5)
    database = tmp_path / "run.duckdb"
    write = RunDatabase._write

    def fails_late(self, table, columns):
        if table == "measures":
            raise duckdb.IOException("IO Error: something else")
        write(self, table, columns)

    monkeypatch.setattr(RunDatabase, "_write", fails_late)
    with pytest.raises(StoreError, match=r"run\.duckdb: cannot be written: IO Error"):
        run_study(study, database)
    monkeypatch.undo()
    report = run_study(study, database)
    assert (report.progress.ran, report.missing) == (30, [])
