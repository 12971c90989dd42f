"""Runs of an agent that end early keep what was paid for, leave no agent, and can be finished."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from cli.handoff_programs import chosen, make_program, manual
from steelyard.store.connect import connect
from steelyard.store.schema import TABLES

ROOT = Path(__file__).resolve().parents[2]
SCENARIOS = chosen("failed-test", "ordinary-unfinished", "delegation-blocked")
PATIENCE = 60.0


@pytest.fixture
def hesitant(tmp_path):
    """An agent that, as long as ``hold`` is there, never answers its second prompt."""
    calls, hold = tmp_path / "calls", tmp_path / "hold"
    hold.touch()
    return make_program(
        tmp_path,
        before=f'echo "$$" >> "{calls}"\n'
        f'if [ -e "{hold}" ] && [ "$(wc -l < "{calls}")" -eq 2 ]; then exec sleep 600; fi',
    )


def command(program, database, *more):
    given = ("handoff", "import", *manual(program), *SCENARIOS, "--database", database, *more)
    return [str(word) for word in given]


def wait_for(holds):
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)


def is_alive(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    return state not in "ZX"


def break_off(program, database, how):
    """Start a run, end it while the second trial is running, and return what it said."""
    calls = program.with_name("calls")
    scratch = program.with_name("scratch")
    scratch.mkdir()
    started = subprocess.Popen(
        [sys.executable, "-m", "steelyard", *command(program, database)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "TMPDIR": str(scratch)},
    )  # fmt: skip
    try:
        wait_for(lambda: calls.exists() and len(calls.read_text().split()) == 2)
        time.sleep(0.1)
        started.send_signal(how)
        out, err = started.communicate(timeout=PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            started.kill()
    agent = int(calls.read_text().split()[1])
    wait_for(lambda: not is_alive(agent))
    program.with_name("hold").unlink()
    return started.returncode, out, err


def everything(database):
    """Every table but for times and dates."""
    found = {}
    with connect(database) as connection:
        for name, table in TABLES.items():
            columns = [column for column in table.names if column != "wall_ms"]
            dated = "WHERE name != 'observed_at'" if name == "covariates" else ""
            found[name] = connection.execute(
                f"SELECT {', '.join(columns)} FROM {name} {dated} ORDER BY ALL"
            ).fetchall()
    return found


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupted_run_says_what_it_kept_and_leaves_nothing(tmp_path, hesitant, how):
    database = tmp_path / "trials.duckdb"
    code, out, err = break_off(hesitant, database, how)
    assert (code, out) == (130, "")
    assert err == (
        f"steelyard: interrupted; {database} holds 1 of 3 trials; the same command runs the "
        "others\n"
    )
    assert list(hesitant.with_name("scratch").iterdir()) == []
    with connect(database) as connection:
        rows = connection.execute("SELECT status FROM trials ORDER BY status").fetchall()
    assert rows == [("completed",), ("missing",), ("missing",)]


def test_a_run_that_is_killed_is_finished_by_the_same_command(program, tmp_path, hesitant):
    broken, whole = tmp_path / "broken.duckdb", tmp_path / "whole.duckdb"
    assert break_off(hesitant, broken, signal.SIGKILL) == (-signal.SIGKILL, "", "")
    finished = program(*command(hesitant, broken))
    assert finished.code == 0
    assert "3 of 3 trials passed, 0 failed, 0 without a result; 2 run now" in finished.err
    assert len(finished.json["results"]) == 2
    assert program(*command(hesitant, whole)).code == 0
    assert everything(broken) == everything(whole)
    assert len(hesitant.with_name("calls").read_text().split()) == 4 + 3


def test_without_a_database_nothing_is_kept_and_that_is_said(program, monkeypatch, hesitant):
    from steelyard.harness.handoff import manual as runner

    def interrupt(*_arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "run_import_scenario", interrupt)
    done = program("handoff", "import", *manual(hesitant), *SCENARIOS)
    assert (done.code, done.out) == (130, "")
    assert done.err.startswith("steelyard: interrupted; nothing was kept")


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_waits_until_a_result_is_written(which):
    from steelyard.harness.handoff.manual_trials import _undisturbed

    came = []
    before = signal.signal(which, lambda *_: came.append("signal"))
    try:
        with _undisturbed():
            os.kill(os.getpid(), which)
            time.sleep(0.01)
            came.append("written")
    finally:
        signal.signal(which, before)
    assert came == ["written", "signal"]


def test_an_agent_that_becomes_another_file_is_not_counted(program, tmp_path):
    database = tmp_path / "trials.duckdb"
    agent = make_program(tmp_path, before='echo "# updated" >> "$0"')
    report = tmp_path / "report.json"
    updated = program(*command(agent, database, "--report", report))
    assert updated.code == 1
    assert not report.exists()
    assert "no trial was finished" in updated.err
    assert "became another file during a trial, which is not counted" in updated.err
    with connect(database) as connection:
        rows = connection.execute("SELECT status FROM trials").fetchall()
    assert rows == [("missing",)] * 3


def test_a_database_in_use_is_said_to_be(program, tmp_path, hesitant):
    database = tmp_path / "trials.duckdb"
    hesitant.with_name("hold").unlink()
    assert program(*command(hesitant, database)).code == 0
    holder = subprocess.Popen(
        [
            sys.executable, "-c",
            "import sys, duckdb; held = duckdb.connect(sys.argv[1]); print(flush=True); input()",
            str(database),
        ],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    )  # fmt: skip
    try:
        holder.stdout.readline()
        refused = program(*command(hesitant, database, "--repeats", 2))
    finally:
        holder.communicate(b"\n", timeout=PATIENCE)
    assert (refused.code, refused.out) == (2, "")
    assert f"locked by process {holder.pid}" in refused.err


def test_a_terminal_sees_a_bar_and_nothing_of_what_the_agent_wrote(tmp_path):
    agent = make_program(
        tmp_path, before="printf '\\033]0;owned\\007\\033[31mred' >&2; printf '\\033[2Jclear'"
    )
    ours, theirs = pty.openpty()
    started = subprocess.Popen(
        [
            sys.executable, "-m", "steelyard",
            *command(agent, tmp_path / "trials.duckdb", "--report", tmp_path / "report.json"),
        ],
        cwd=ROOT, stdout=theirs, stderr=theirs, env={**os.environ, "TERM": "xterm"},
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    with suppress(OSError):
        while part := os.read(ours, 65_536):
            seen += part
    assert started.wait(PATIENCE) == 1
    assert b"import failed-test" in seen
    assert b"0 of 3 trials passed, 3 failed" in seen
    assert b"owned" not in seen
    assert b"\x1b[2J" not in seen
    assert b"\x1b[31m" not in seen
