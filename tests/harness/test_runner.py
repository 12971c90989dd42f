"""Runs: what becomes rows, that workers do not matter, and that a run goes on where it stopped."""

from __future__ import annotations

import itertools
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from steelyard.errors import InputError, StoreError, StudyError
from steelyard.harness import runner as runner_module
from steelyard.harness.executors import Serial, Threads
from steelyard.harness.export import export_run
from steelyard.harness.processes import Processes
from steelyard.harness.runner import run_study
from steelyard.harness.study import RunnableStudy
from steelyard.store.connect import connect

TWO_ARMS = {
    "steady": {"entry": "toy:steady"},
    "hasty": {"entry": "toy:Impatient", "parameters": {"crash_in": "t1"}},
}


@pytest.fixture
def database(tmp_path: Path) -> Path:
    return tmp_path / "runs" / "toy.duckdb"


def rows(database: Path, query: str) -> list[tuple]:
    connection = connect(database)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def exported(database: Path, folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in export_run(database, folder)}


def test_a_run_fills_every_table(toy, database):
    report = run_study(toy(arms=TWO_ARMS, variants=2), database)
    assert (report.progress.total, report.progress.completed, report.progress.failed) == (24, 16, 8)
    assert report.missing == []
    assert [row[:5] for row in report.arms] == [("hasty", 12, 4, 8, 0), ("steady", 12, 12, 0, 0)]
    trial = rows(database, "SELECT * FROM trials WHERE trial_id = 'steady/t2/fault/1/0'")[0]
    assert trial[:10] == (
        "toy_study", "steady/t2/fault/1/0", "steady", "t2", "fault", "1", 0, "completed", 1, True,
    )  # fmt: skip
    assert rows(database, "SELECT count(DISTINCT seed) FROM trials") == [(24,)]
    assert rows(database, "SELECT bool_and(wall_ms > 0) FROM trials") == [(True,)]
    steps = rows(
        database,
        "SELECT step_index, kind, name, arguments, error FROM steps "
        "WHERE trial_id = 'steady/t1/fault/0/0' ORDER BY step_index",
    )
    assert [step[:3] for step in steps] == [
        (0, "decision", "begin"),
        (1, "tool_call", "add"),
        (2, "tool_call", "add"),
        (3, "final", "respond"),
    ]
    assert steps[1][3:] == ('{"number":1}', steps[1][4])
    assert steps[1][4].startswith("fault ")
    assert rows(database, "SELECT state FROM states WHERE trial_id = 'steady/t2/baseline/0/0'") == [
        ('{"total":2}',)
    ]
    measures = dict(
        rows(database, "SELECT measure, value FROM measures WHERE trial_id = 'steady/t2/fault/0/0'")
    )
    assert (measures["reached"], measures["unknown"]) == (1.0, None)
    assert rows(database, "SELECT DISTINCT trial_id[1:12], rule, severity FROM violations") == [
        ("hasty/t0/fau", "adds", "high"),
        ("hasty/t1/bas", "adds", "high"),
        ("hasty/t1/fau", "adds", "high"),
        ("hasty/t2/fau", "adds", "high"),
        ("steady/t0/ba", "adds", "high"),
        ("steady/t0/fa", "adds", "high"),
    ]


def test_a_crash_is_a_row_with_its_error_and_what_came_before(toy, database):
    run_study(toy(arms=TWO_ARMS), database)
    trial = "hasty/t1/baseline/0/0"
    ((status, error),) = rows(
        database, f"SELECT status, error FROM trials WHERE trial_id = '{trial}'"
    )
    assert status == "failed"
    assert error.startswith("RuntimeError: no way to do t1 (toy.py:")
    assert rows(database, f"SELECT kind FROM steps WHERE trial_id = '{trial}'") == [("message",)]
    assert rows(database, f"SELECT state FROM states WHERE trial_id = '{trial}'") == [
        ('{"total":0}',)
    ]


@pytest.mark.parametrize("method", ["world", "measures", "violations", "truth"])
def test_a_defect_of_the_domain_fails_the_trial_not_the_run(toy, database, method, monkeypatch):
    study = toy(tasks=["t1"], perturbations={"baseline": {"entry": "toy:Baseline"}})

    def broken(*_):
        raise ValueError(f"{method} of <object at 0x7f00deadbeef> \ud800")

    monkeypatch.setattr(study.domain, method, broken)
    report = run_study(study, database)
    assert report.progress.failed == 1
    ((error,),) = rows(database, "SELECT error FROM trials")
    assert error.startswith(f"ValueError: {method} of <object at 0x…> ? (test_runner.py:")


@pytest.mark.parametrize(
    ("method", "value", "says"),
    [
        ("measures", {"m": "high"}, "measure 'm' is 'high'"),
        ("measures", {"": 1}, "name is text"),
        ("violations", [{"rule": "r", "severity": "high"}], "'r' is not declared in study.toml"),
        ("violations", [{"severity": "high"}], "'None' is not declared"),
        ("violations", [{"rule": "adds", "severity": "low"}], "study.toml declares 'high'"),
        ("violations", [{"rule": "r", "severity": "high", "x": 1}], "a violation has"),
    ],
)
def test_judgements_of_the_wrong_shape_fail_the_trial(  # noqa: PLR0917
    toy, database, method, value, says, monkeypatch
):
    study = toy(tasks=["t1"])
    monkeypatch.setattr(study.domain, method, lambda *_: value)
    run_study(study, database)
    assert all(says in error for (error,) in rows(database, "SELECT error FROM trials"))


def test_the_error_of_the_arm_outweighs_that_of_its_judge(toy, database, monkeypatch):
    study = toy(arms={"hasty": TWO_ARMS["hasty"]}, tasks=["t1"])
    monkeypatch.setattr(study.domain, "measures", lambda *_: 1 / 0)
    run_study(study, database)
    assert all("no way" in error for (error,) in rows(database, "SELECT error FROM trials"))


@pytest.mark.parametrize(
    "settings",
    [
        {"workers": 8, "executor": "threads"},
        {"workers": 2, "executor": "processes"},
        {"workers": 3},
        {"limit": 7},
    ],
    ids=str,
)
def test_the_tables_do_not_depend_on_who_ran_the_trials(toy, tmp_path, settings):
    study = toy(arms=TWO_ARMS, variants=2, repeats=3)
    run_study(study, tmp_path / "one.duckdb", workers=1)
    other = tmp_path / "other.duckdb"
    while run_study(study, other, **settings).missing:
        pass
    first = exported(tmp_path / "one.duckdb", tmp_path / "one")
    assert exported(other, tmp_path / "other") == first
    assert len(first["trials.csv"].splitlines()) == 1 + 72


def test_eight_processes_give_the_tables_of_one(toy, tmp_path):
    study = toy(arms=TWO_ARMS, variants=2, repeats=3)
    run_study(study, tmp_path / "one.duckdb", workers=1)
    run_study(study, tmp_path / "eight.duckdb", workers=8)
    assert exported(tmp_path / "eight.duckdb", tmp_path / "eight") == exported(
        tmp_path / "one.duckdb", tmp_path / "one"
    )


def test_arms_take_turns(toy, database, monkeypatch):
    study = toy(arms={"a": {"entry": "toy:steady"}, "b": {"entry": "toy:steady"}}, repeats=2)
    order = []
    monkeypatch.setattr(
        runner_module._Run, "_count", lambda _, trial: order.append(trial.key)
    )  # the order in which they were run
    run_study(study, database)
    blocks = [(key.task, key.perturbation, key.variant, key.repeat) for key in order]
    assert [key.arm for key in order] == ["a", "b"] * (len(order) // 2)
    assert blocks == sorted(blocks)


def test_a_resumed_run_runs_nothing_twice(toy, database):
    study = toy(repeats=4)
    first = run_study(study, database, limit=5)
    assert (first.progress.ran, len(first.missing), first.resumed) == (5, 19, False)
    second = run_study(study, database)
    assert (second.progress.ran, second.progress.completed, second.resumed) == (19, 24, True)
    assert run_study(study, database).progress.ran == 0
    assert rows(
        database, "SELECT count(*), count(DISTINCT (trial_id, step_index)) FROM steps"
    ) == rows(database, "SELECT count(*), count(*) FROM steps")


def test_pages_of_missing_trials_join_without_gap(toy, database, monkeypatch):
    monkeypatch.setattr("steelyard.harness.database.PAGE", 7)
    monkeypatch.setattr("steelyard.harness.planned_database.PLAN_CHUNK", 5)
    report = run_study(toy(arms=TWO_ARMS, repeats=5), database)
    assert (report.progress.ran, report.missing) == (60, [])


def test_trials_that_could_not_be_run_stay_missing_and_are_tried_again(toy, database):
    study = toy(
        arms={"asks": {"entry": "toy:asks", "kind": "model"}}, model={"entry": "toy:Models"}
    )
    for _ in range(2):
        report = run_study(study, database, models=study.models())
        assert [name for name, _ in report.missing] == [
            "asks/t1/baseline/0/0",
            "asks/t1/fault/0/0",
        ]
        assert {reason for _, reason in report.missing} == {"there is no recording"}
    assert report.progress.without_result == report.progress.ran == 2
    assert rows(database, "SELECT count(*) FROM steps WHERE trial_id LIKE 'asks/t1/%'") == [(0,)]
    assert rows(
        database,
        "SELECT DISTINCT model, tokens_in, tokens_out, cost_usd FROM trials "
        "WHERE status = 'completed'",
    ) == [("toy-1", 10, 2, 0.5)]


def test_a_reason_to_stop_ends_the_run_and_keeps_what_is_done(toy, database):
    arm = {"entry": "toy:asks", "kind": "model", "parameters": {"stop_at": "t2"}}
    study = toy(arms={"asks": arm}, model={"entry": "toy:Models"}, repeats=10)
    report = run_study(study, database, models=study.models(), executor="serial")
    assert report.progress.stopping == "the spend cap is reached"
    assert report.progress.completed == 20
    assert report.progress.cost_usd == 10.0
    assert report.progress.ran == 41


def test_the_first_interrupt_finishes_what_is_in_flight_and_the_second_ends_at_once(toy, tmp_path):
    slow = {"slow": {"entry": "toy:Impatient", "parameters": {"seconds": 0.05}}}
    study = toy(arms=slow, repeats=40)

    def interrupt(times):
        def show(progress):
            if progress.ran and times:
                times.pop()
                os.kill(os.getpid(), signal.SIGINT)

        return show

    before = signal.getsignal(signal.SIGINT)  # ignored, where a shell runs the tests behind
    once = run_study(
        study, tmp_path / "a.duckdb", workers=4, executor="threads", on_progress=interrupt([1])
    )
    assert once.progress.stopping == "interrupted"
    assert 0 < once.progress.ran < 40
    assert len(once.missing) == 240 - once.progress.completed - once.progress.failed
    with pytest.raises(KeyboardInterrupt):
        run_study(study, tmp_path / "b.duckdb", on_progress=interrupt([1, 1]))
    assert rows(tmp_path / "b.duckdb", "SELECT count(*) FROM trials WHERE status <> 'missing'") > [
        (0,)
    ]
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_outside_the_main_thread_works_without_signals(toy, database):
    reports = []
    study = toy()
    thread = threading.Thread(target=lambda: reports.append(run_study(study, database)))
    thread.start()
    thread.join()
    assert reports[0].progress.completed == 6


@pytest.mark.parametrize(("times", "status"), [(1, "completed"), (2, "failed")])
def test_a_dead_worker_costs_its_trial_one_more_attempt(toy, tmp_path, times, status):
    parameters = {"task": "t1", "marker": str(tmp_path / "deaths"), "times": times}
    study = toy(
        arms={"deadly": {"entry": "toy:deadly", "parameters": parameters}},
        perturbations={"baseline": {"entry": "toy:Baseline"}},
        repeats=30,
    )
    report = run_study(study, tmp_path / "d.duckdb", workers=2, executor="processes")
    assert report.missing == []
    found = rows(
        tmp_path / "d.duckdb", "SELECT trial_id, status, attempts, error FROM trials "
        "WHERE attempts > 1"
    )  # fmt: skip
    assert [row[:3] for row in found] == [("deadly/t1/baseline/0/0", status, 2)]
    if status == "failed":
        assert "died in this trial 2 times, last with exit code -9" in found[0][3]


def test_a_study_that_a_worker_cannot_load_ends_the_run(toy, database):
    study = toy()
    code = study.folder / "toy.py"
    code.write_text("raise ImportError('gone')")
    with pytest.raises(StudyError, match=r"a worker process cannot load the study: .*gone"):
        run_study(study, database, executor="processes", workers=1)
    file = study.folder / "study.toml"
    file.write_text(file.read_text() + "# changed\n")
    code.write_text((Path(__file__).parent / "toy.py").read_text())
    with pytest.raises(StudyError, match="differs from the one the run was started with"):
        run_study(study, database, executor="processes", workers=1)


def test_a_study_made_from_objects_runs_here_but_not_elsewhere(toy, database):
    study = toy()
    made = RunnableStudy(study.declaration, study.domain, study.arms, study.perturbations)
    with pytest.raises(StudyError, match="was not loaded from a folder"):
        run_study(made, database, executor="processes")
    assert run_study(made, database).progress.completed == 6
    assert made.place("run", "seed") == "run.seed"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"workers": 0}, "workers is 0"),
        ({"workers": True}, "workers is True"),
        ({"executor": "ants"}, "executor is 'ants'"),
        ({"limit": -1}, "limit is -1"),
    ],
)
def test_settings_that_cannot_be(toy, database, settings, says):
    with pytest.raises(InputError, match=says):
        run_study(toy(), database, **settings)
    assert not database.exists()


def test_another_plan_is_refused_and_another_title_is_taken_over(toy, experiment, database):
    run_study(toy(repeats=2), database, limit=1)
    with pytest.raises(StoreError, match=r"planned with another \[run\] or \[design\]"):
        run_study(toy(repeats=3), database)
    with pytest.raises(StoreError, match="holds toy_study, not other"):
        run_study(toy(name="other"), database)
    study = toy(repeats=2)
    file = study.folder / "study.toml"
    file.write_text(file.read_text().replace("Adding", "Counting"))
    from steelyard.harness.study import load_study

    run_study(load_study(study.folder), database)
    assert rows(database, "SELECT title FROM studies") == [("Counting",)]


def test_discarded_variants_are_counted_in_the_tables(toy, database):
    discarding = {"fault": {"entry": "toy:Fault", "parameters": {"discard": 1}}}
    run_study(toy(perturbations=discarding, variants=2, repeats=3), database)
    assert rows(database, "SELECT sum(rows), count(*) FROM skipped_rows") == [(9, 3)]


def test_durations_do_not_follow_the_wall_clock(toy, database, monkeypatch):
    backwards = itertools.count(1_000_000_000, -3600)
    monkeypatch.setattr(time, "time", lambda: float(next(backwards)))
    report = run_study(toy(), database)
    assert report.progress.seconds > 0
    assert rows(database, "SELECT min(wall_ms) >= 0, max(wall_ms) < 60000 FROM trials") == [
        (True, True)
    ]
    assert rows(database, "SELECT min(wall_ms) >= 0 FROM steps") == [(True,)]


def test_executors_stop_when_told(toy):
    study = toy(repeats=50)
    from steelyard.harness.plan import make_variants, plan_trials

    for executor in (Serial(study), Threads(study, workers=2), Processes(study, 2)):
        planned = plan_trials(study, make_variants(study))
        finished = 0
        for batch in executor.run(planned):
            finished += len(batch)
            if finished:
                executor.stop()
        assert 1 <= finished < 300
        assert next(planned, None) is not None
