"""Results that the tables cannot hold, and exceptions that are no `Exception`: a row, no abort."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from steelyard.errors import StoreError
from steelyard.harness import executors, runner
from steelyard.harness.export import export_run
from steelyard.harness.runner import run_study
from steelyard.harness.study import load_study
from steelyard.store import connect

ODD = """

import asyncio, sys


def exits(setup):
    if setup.task.id == "t1":
        sys.exit("enough")
    steady(setup)


def cancelled(setup):
    if setup.task.id == "t1":
        raise asyncio.CancelledError
    steady(setup)


def half_a_character(setup):
    try:
        setup.call("ad\\ud800d", {})
    except ToolError as error:
        setup.toolbox.record("message", "told", error=f"\\ud800 {error}")
    steady(setup)


def number_for_a_name(setup):
    setup.call(7 if setup.task.id == "t1" else "add", {"number": setup.task.data["target"]})


def number_for_an_error(setup):
    setup.toolbox.record("message", "said", error=7 if setup.task.id == "t1" else None)


def half_a_reason(setup):
    raise NotRunError("no recording \\ud800")


class Odd(Counter):
    def __init__(self, measure="", column="detail", value=None):
        super().__init__()
        self.measure = eval(measure) if measure else ""
        self.column = column
        self.value = eval(value) if isinstance(value, str) else value

    def measures(self, trial, state, truth):
        odd = {self.measure: 1} if self.measure and trial.key.task == "t1" else {}
        return {**super().measures(trial, state, truth), **odd}

    def violations(self, trial, task):
        value = self.value if task.id == "t1" else None
        return [{"rule": "adds", "severity": "high", self.column: value}]


class Says(Baseline):
    def __init__(self, applied):
        self.applied = applied

    def perturb(self, setup, variant):
        return PerturbedTrial(setup, lambda: self.applied if setup.task.id == "t1" else True)
"""

EXECUTORS = ({"executor": "serial"}, {"executor": "threads"}, {"executor": "processes"})
BASELINE = {"baseline": {"entry": "toy:Baseline"}}


@pytest.fixture
def odd(experiment):
    def make(**settings):
        folder = experiment(**{"perturbations": BASELINE, **settings})
        with (folder / "toy.py").open("a", encoding="utf-8") as file:
            file.write(ODD)
        return load_study(folder)

    return make


def arm(name):
    return {"arms": {"odd": {"entry": f"toy:{name}"}}}


def domain(**parameters):
    return {"domain": {"entry": "toy:Odd", "parameters": parameters}}


def applied(value):
    return {"perturbations": {"baseline": {"entry": "toy:Says", "parameters": {"applied": value}}}}


CASES = [
    (arm("exits"), "SystemExit: enough"),
    (arm("cancelled"), "CancelledError"),
    (arm("number_for_a_name"), "a tool is called by its name, a text; this is 7"),
    (arm("number_for_an_error"), "a step's error is text, not 7"),
    (domain(measure="'m\\ud800'"), "a measure's name is text, not 'm\\ud800'"),
    (domain(value="{'a': 1}"), "has detail {'a': 1}; accepted are text and None"),
    (domain(value="lambda: 1"), "has detail <function"),
    (domain(value="'\\ud800'"), "has detail '\\ud800'"),
    (domain(column="step_name", value=3), "has step_name 3; accepted are text"),
    (domain(column="step_index", value="'two'"), "has step_index 'two'; accepted are whole"),
    (domain(column="step_index", value="2**31"), "has step_index 2147483648"),
    (domain(column="step_index", value=-1), "has step_index -1"),
    (domain(column="step_index", value=True), "has step_index True"),
    (applied(1), "applied() is 1; accepted are True, False and None"),
    (applied("yes"), "applied() is 'yes'"),
]


@pytest.mark.parametrize(("settings", "says"), CASES)
def test_the_trial_fails_with_the_reason_and_the_others_are_kept(odd, tmp_path, settings, says):
    study = odd(**settings)
    run_study(study, tmp_path / "run.duckdb", executor="serial")
    with connect(tmp_path / "run.duckdb") as connection:
        found = connection.execute(
            "SELECT task, status, error FROM trials ORDER BY task"
        ).fetchall()
    assert [status for _, status, _ in found] == ["completed", "failed", "completed"]
    assert says in found[1][2]


@pytest.mark.parametrize("settings", [arm("exits"), arm("cancelled"), domain(value="lambda: 1")])
def test_whoever_runs_the_trial_the_tables_are_the_same(odd, tmp_path, settings):
    study = odd(**settings)
    tables = []
    for number, executor in enumerate(EXECUTORS):
        database = tmp_path / f"{number}.duckdb"
        run_study(study, database, workers=2, **executor)
        files = export_run(database, tmp_path / str(number))
        tables.append({file.name: file.read_bytes() for file in files})
    assert tables[0] == tables[1] == tables[2]


def test_half_a_character_from_a_model_is_a_failed_step(odd, tmp_path):
    report = run_study(odd(**arm("half_a_character"), tasks=["t1"]), tmp_path / "run.duckdb")
    assert report.progress.completed == 1
    with connect(tmp_path / "run.duckdb") as connection:
        steps = connection.execute(
            "SELECT name, error FROM steps ORDER BY step_index LIMIT 2"
        ).fetchall()
    assert steps == [
        ("ad?d", "there is no tool 'ad\\ud800d'"),
        ("told", "? there is no tool 'ad\\ud800d'"),
    ]


def test_half_a_character_in_the_reason_of_a_missing_trial(odd, tmp_path):
    report = run_study(odd(**arm("half_a_reason"), tasks=["t1"]), tmp_path / "run.duckdb")
    assert [reason for _, reason in report.missing] == ["no recording ?"]


def test_an_interrupt_in_an_arm_ends_the_run_and_keeps_what_is_finished(toy, tmp_path, monkeypatch):
    study = toy(perturbations=BASELINE)
    steady = study.arms["steady"].run

    def interrupted(setup):
        if setup.task.id == "t1":
            raise KeyboardInterrupt
        steady(setup)

    monkeypatch.setattr("steelyard.harness.executors.TOGETHER_SECONDS", -1.0)
    object.__setattr__(study.arms["steady"], "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        run_study(study, tmp_path / "run.duckdb")
    object.__setattr__(study.arms["steady"], "run", steady)
    report = run_study(study, tmp_path / "run.duckdb")
    assert (report.progress.ran, report.missing) == (2, [])


def test_a_second_run_leaves_the_log_of_the_first_alone_whatever_the_file_is_called(toy, tmp_path):
    slow = {"slow": {"entry": "toy:Impatient", "parameters": {"seconds": 0.02}}}
    study = toy(arms=slow, repeats=200)
    database = tmp_path / "WAL while replaying WAL file.duckdb"
    command = [sys.executable, "-m", "steelyard", "run", study.folder, "--database", database]
    first = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    log = database.with_name(database.name + ".wal")
    try:
        deadline = time.monotonic() + 60
        while not (log.exists() and log.stat().st_size) and time.monotonic() < deadline:
            time.sleep(0.05)
        with pytest.raises(StoreError, match=f"locked by process {first.pid}"):
            run_study(study, database)
        assert log.exists()
    finally:
        first.send_signal(signal.SIGKILL)
        first.communicate(timeout=60)
    report = run_study(study, database, limit=0)
    assert report.damaged_log is None
    assert report.progress.completed > 0


def test_a_run_that_is_to_stop_begins_no_other_phase(toy, tmp_path):
    study = toy()
    run_study(study, tmp_path / "run.duckdb", limit=0)
    with runner.RunDatabase(tmp_path / "run.duckdb", study) as target:
        run = runner._Run(target, runner.Progress(), None)
        run.stop("interrupted")
        run.phase(executors.Serial(study), list(study.arms), None)
        assert run.progress.ran == 0
