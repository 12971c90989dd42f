"""What a run of an agent refuses before it starts one: foreign files, agents of another name."""

from __future__ import annotations

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
    ):
        refused = program(*command, *wrong)
        assert (refused.code, refused.out, len(refused.err.splitlines())) == (2, "", 1)
    assert not (tmp_path / "started").exists()
    assert not trials.exists()
