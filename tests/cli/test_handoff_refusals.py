"""What a run of an agent refuses before it starts one: foreign files, agents of another name."""

from __future__ import annotations

import json
import os
import sqlite3

import duckdb
import pytest

from cli.handoff_programs import chosen, make_program, manual
from harness.handoff.scripted import EXPERIMENT
from steelyard.store.connect import create
from steelyard.store.declaration import read_declaration
from steelyard.store.rows import add_study


@pytest.fixture
def codex(tmp_path):
    return make_program(tmp_path)


@pytest.fixture
def trials(tmp_path):
    """The path of a database that does not exist."""
    return tmp_path / "trials.duckdb"


def foreign_text(path):
    path.write_text("not a database")


def foreign_sqlite(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE studies (study TEXT)")


def foreign_duckdb(path):
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE trials (x INTEGER)")


def foreign_study(path):
    with create(path) as connection:
        add_study(connection, read_declaration(EXPERIMENT / "study.toml"))


@pytest.mark.parametrize("make", [foreign_text, foreign_sqlite, foreign_duckdb, foreign_study])
def test_a_foreign_file_is_refused_and_left_as_it_was(program, tmp_path, trials, make):
    codex = make_program(tmp_path, before=f'touch "{tmp_path}/started"')
    make(trials)
    before = trials.read_bytes()
    refused = program(
        "handoff", "import", *manual(codex), *chosen("failed-test"), "--database", trials
    )
    assert (refused.code, refused.out) == (2, "")
    assert len(refused.err.splitlines()) == 1
    assert "trials.duckdb: " in refused.err
    assert trials.read_bytes() == before
    assert not (tmp_path / "started").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["codex", "trials.duckdb"]


def test_what_is_no_file_is_refused(program, tmp_path, codex):
    command = ("handoff", "import", *manual(codex), *chosen("failed-test"), "--database")
    assert program(*command, tmp_path).code == 2
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    assert program(*command, link).code == 2
    assert program(*command, tmp_path / "no" / "such.duckdb").code == 2


def test_who_is_not_the_adapter_leaves_no_database(program, tmp_path, trials):
    other = make_program(tmp_path, "claude-code").rename(tmp_path / "codex")
    refused = program("handoff", "import", *manual(other), "--database", trials)
    assert refused.code == 1
    assert "codex is not codex: unexpected_product (it says it is claude-code)" in refused.err
    assert not trials.exists()


def test_why_an_agent_is_not_asked_is_said_in_words(program, tmp_path):
    silent = tmp_path / "silent"
    silent.write_text("#!/bin/sh\nexit 1\n")
    silent.chmod(0o755)
    for command, words in (
        (tmp_path / "nowhere", "nowhere cannot be found as a program: executable_not_found"),
        (silent, "silent does not say that it is codex: version_probe_failed"),
    ):
        options = ("--agent-command", command, "--adapter", "codex", "--unsafe-manual")
        told = program("handoff", "import", *options, "--identity-kind", "executable")
        assert (told.code, told.json["results"]) == (1, [])
        assert words in told.err


def test_a_program_is_found_from_where_the_user_stands(program, tmp_path, codex, monkeypatch, root):
    monkeypatch.chdir(tmp_path)
    words = [word.replace(str(tmp_path), ".") for word in manual(codex)]
    assert "./codex" in words
    command = ("handoff", "import", *words, *chosen("failed-test"), "--root", root)
    assert program(*command).code == 0


def test_where_a_report_cannot_go_is_said_before_anything_is_started(program, tmp_path, trials):
    codex = make_program(tmp_path, before=f'touch "{tmp_path}/started"')
    command = ("handoff", "import", *manual(codex), *chosen("failed-test"))
    for wrong in (
        ("--report", tmp_path),
        ("--report", tmp_path / "no" / "report.json"),
        ("--report", trials, "--database", trials),
        ("--report", ""),
    ):
        refused = program(*command, *wrong)
        assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    assert not (tmp_path / "started").exists()
    assert not trials.exists()


def test_a_report_takes_the_place_of_a_file_only(program, tmp_path):
    """Renamed onto a device or a pipe, it would have deleted it."""
    codex = make_program(tmp_path, before=f'touch "{tmp_path}/started"')
    runs = ("handoff", "import", *manual(codex), *chosen("failed-test"))
    dry = ("handoff", "export", "--agent-command", codex, "--dry-run")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for place in (pipe, tmp_path, tmp_path / "no" / "report.json"):
        for command in (runs, dry):
            refused = program(*command, "--report", place)
            assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    assert pipe.is_fifo()
    assert not (tmp_path / "started").exists()
    link, target = tmp_path / "link.json", tmp_path / "target.json"
    link.symlink_to(target)
    assert program(*dry, "--report", link).code == 0
    assert link.is_symlink()
    assert json.loads(target.read_text())["dry_run"] is True


def test_a_report_that_cannot_be_written_is_printed(program, tmp_path, trials):
    """The folder goes while the agent runs: what it cost is not lost."""
    away = tmp_path / "away"
    away.mkdir()
    codex = make_program(tmp_path, before=f'rm -rf "{away}"')
    command = ("handoff", "import", *manual(codex), *chosen("failed-test"), "--database", trials)
    done = program(*command, "--report", away / "report.json")
    assert (done.code, done.json["success"]) == (2, True)
    assert "report.json: cannot be written: No such file or directory; the report is" in done.err
    assert "1 of 1 trial passed" in done.err


def test_a_damaged_database_is_one_line(program, tmp_path, codex, trials):
    """DuckDB tells of a damaged block when it reads it: on opening the file or long after."""
    command = ("handoff", "import", *manual(codex), *chosen("failed-test"), "--database", trials)
    assert program(*command).code == 0
    content, messages = trials.read_bytes(), []
    header, block = 3 * 4096, 262_144
    for start in range(header, len(content), block):
        damaged = b"\x5a" * len(content[start : start + block])
        trials.write_bytes(content[:start] + damaged + content[start + block :])
        told = program("handoff", "gates", trials)
        if told.code != 0:  # a block of nothing that is read
            assert (told.code, told.out, len(told.err.splitlines())) == (2, "", 1)
            messages.append(told.err)
    assert any("a database is damaged" in message for message in messages)
