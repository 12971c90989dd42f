"""Whatever a user gets wrong ends in one line on standard error, exit code 2, nothing written."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest


def refused(done, *words) -> str:
    """Check that a run was refused as promised, and return what it said."""
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1, done.err
    assert done.err.startswith("steelyard: ")
    for word in words:
        assert word in done.err
    return done.err


class TestUnknownNames:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (
                ("rates", "plumbline_retri"),
                ("unknown study 'plumbline_retri'", "'plumbline_retry'"),
            ),
            (("rates", "plumbline_retry", "--arm", "reakt"), ("unknown arm", "'react'")),
            (
                ("rates", "plumbline_retry", "--measure", "outcome_corect"),
                ("unknown measure", "'outcome_correct'"),
            ),
            (
                ("rates", "plumbline_retry", "--perturbation", "toolfault"),
                ("unknown perturbation", "'tool_fault'"),
            ),
            (("rates", "plumbline_retry", "--task", "INV-702"), ("unknown task", "'INV-7002'")),
            (("certify", "plumbline_retry", "reakt"), ("unknown arm", "'react'")),
            (("compare", "plumbline_retry", "reakt", "plan_execute"), ("unknown arm", "'react'")),
            (
                ("compare", "plumbline_retry", "plumbline_party:react", "react"),
                ("unknown study", "'plumbline_parity'"),
            ),
            (("audit", "tau_bench"), ("unknown study", "'tau_bench_airline'")),
            (("sql", "SELECT 1", "--study", "mle_bench"), ("unknown study", "'mle_bench_famou'")),
        ],
    )
    def test_nearest_names_are_offered(self, cli, arguments, words):
        refused(cli(*arguments), *words)

    def test_study_of_reproduce_and_report(self, program, root):
        refused(program("reproduce", "plumbline_retri", "--root", root), "'plumbline_retry'")
        refused(program("report", "plumbline_retri", "--root", root), "'plumbline_retry'")


class TestOptions:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("rates", "plumbline_retry", "--confidence", "nan"), ("confidence is nan",)),
            (("rates", "plumbline_retry", "--confidence", "1"), ("confidence is 1.0",)),
            (("rates", "plumbline_retry", "--threshold", "inf"), ("threshold is inf",)),
            (("rates", "plumbline_retry", "--missing", "drop"), ("'drop'", "exclude, fail")),
            (("rates", "plumbline_retry", "--population", "all"), ("'all'", "assigned, applied")),
            (("rates", "plumbline_retry", "--by", "agent"), ("'agent'", "arm, perturbation")),
            (("rates", "plumbline_retry", "--by", "arm,arm"), ("twice",)),
            (("rates", "plumbline_retry", "--json", "--csv"), ("exclude each other",)),
            (("reliability", "plumbline_retry", "--k-max", "0"), ("k_max is 0",)),
            (("compare", "plumbline_retry", "react"), ("two arms",)),
            (("compare", "plumbline_retry", "react", "react"), ("name two arms",)),
            (("compare", "tau_bench_airline"), ("declares no comparison",)),
            (
                ("compare", "plumbline_retry", "react", "plan_execute", "--margin", "nan"),
                ("margin is nan",),
            ),
            (
                ("compare", "plumbline_retry", "react", "plan_execute", "--margin", "-0.1"),
                ("margin is -0.1",),
            ),
            (
                ("compare", "plumbline_retry", "react", "plan_execute", "--adjust", "none at all"),
                ("'none at all'", "holm"),
            ),
        ],
    )
    def test_value_and_what_is_accepted_are_named(self, cli, arguments, words):
        refused(cli(*arguments), *words)

    def test_empty_group(self, cli):
        # No trial of this task is subject to the rule, so there is no rate to report.
        arguments = ("--measure", "upheld:must_call:request_approval", "--task", "INV-7002")
        refused(cli("rates", "plumbline_retry", *arguments), "applies to no trial")

    def test_graded_measure_needs_a_threshold(self, cli):
        refused(cli("rates", "mle_bench_famou", "--measure", "score"), "threshold")

    @pytest.mark.parametrize(
        "arguments",
        [
            ("rates",),
            ("rate", "plumbline_retry"),
            ("rates", "plumbline_retry", "--confidence", "high"),
            ("rates", "plumbline_retry", "--no-such-option"),
            ("data", "check"),
        ],
    )
    def test_usage(self, program, arguments):
        done = program(*arguments)
        assert done.code == 2
        assert "Usage: " in done.err
        assert "Traceback" not in done.err


class TestDatabase:
    def test_absent(self, program, tmp_path):
        path = tmp_path / "absent.duckdb"
        refused(program("studies", "--database", path), "absent.duckdb", "no such database")
        assert not path.exists()

    def test_directory(self, program, tmp_path):
        refused(program("studies", "--database", tmp_path), "directory")

    def test_no_name(self, program):
        refused(program("studies", "--database", ""), ".: a directory stands where a database")

    def test_the_message_says_where_it_was_looked_for(self, program, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        said = refused(program("studies", "--database", "here/absent.duckdb"))
        assert said.startswith("steelyard: here/absent.duckdb: there is no such database")
        said = refused(program("studies", "--database", tmp_path / "here" / "absent.duckdb"))
        assert said.startswith("steelyard: here/absent.duckdb: ")
        said = refused(program("studies", "--database", "/none/absent.duckdb"))
        assert said.startswith("steelyard: /none/absent.duckdb: ")

    @pytest.mark.parametrize("verb", [("studies",), ("reproduce",), ("data", "verify")])
    def test_a_root_that_is_none(self, program, tmp_path, verb):
        refused(program(*verb, "--root", tmp_path / "none"), "none: there is no such folder")
        refused(program(*verb, "--root", tmp_path), "is no project", "data/manifest.toml")

    def test_no_duckdb_file(self, program, tmp_path):
        path = tmp_path / "notes.txt"
        path.write_text("hello")
        refused(program("studies", "--database", path), "notes.txt", "not a DuckDB file")
        assert path.read_text() == "hello"

    def test_foreign_duckdb_file(self, program, tmp_path):
        path = tmp_path / "foreign.duckdb"
        duckdb.connect(str(path)).close()
        refused(program("studies", "--database", path), "not one that steelyard made")

    def test_truncated(self, program, database_path, tmp_path):
        path = tmp_path / "short.duckdb"
        path.write_bytes(database_path.read_bytes()[:5000])
        refused(program("studies", "--database", path), "short.duckdb")

    def test_locked_by_a_writer(self, program, database_path, tmp_path):
        path = tmp_path / "locked.duckdb"
        shutil.copy(database_path, path)
        hold = textwrap.dedent(f"""
            import duckdb, sys
            connection = duckdb.connect({str(path)!r})
            connection.execute("CREATE TABLE held (i INTEGER)")
            print("held", flush=True)
            sys.stdin.read()
        """)
        with subprocess.Popen(
            [sys.executable, "-c", hold], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as holder:
            assert holder.stdout.readline() == "held\n"
            said = refused(program("studies", "--database", path), "locked")
            assert f"process {holder.pid}" in said
            holder.stdin.close()
        assert program("studies", "--database", path).code == 0


class TestProject:
    def test_folder_that_is_no_project(self, program, tmp_path):
        refused(program("studies", "--root", tmp_path), "manifest.toml")
        refused(program("data", "verify", "--root", tmp_path), "manifest.toml")
        refused(program("reproduce", "--root", tmp_path))
        assert list(tmp_path.iterdir()) == []

    def test_home_that_is_no_project(self, program, tmp_path, monkeypatch):
        monkeypatch.setenv("STEELYARD_HOME", str(tmp_path))
        refused(program("studies"), "STEELYARD_HOME")

    def test_changed_data_file_is_named_with_both_digests(self, program, project):
        path = project / "data" / "tau_bench_airline" / "trials.csv.gz"
        path.write_bytes(path.read_bytes() + b"\0")
        said = refused(program("data", "verify", "--root", project), "trials.csv.gz", "changed")
        assert said.count("expected SHA-256") == 1
        refused(program("rates", "tau_bench_airline", "--root", project), "changed")
        assert not (project / "build").exists()

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
    def test_folder_that_must_not_be_written(self, program, project):
        project.chmod(0o555)
        try:
            refused(program("studies", "--root", project), "build")
        finally:
            project.chmod(0o755)

    def test_file_where_the_build_folder_belongs(self, program, project):
        (project / "build").write_text("in the way")
        refused(program("studies", "--root", project), "build")


def start(*arguments: object, **options) -> subprocess.Popen:
    command = [sys.executable, "-m", "steelyard", *map(str, arguments)]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


class TestTerminal:
    def test_reader_that_leaves_is_no_error(self, database_path):
        query = "SELECT * FROM range(300000)"
        with start("sql", query, "--csv", "--database", database_path) as running:
            running.stdout.readline()
            running.stdout.close()
            assert running.stderr.read() == ""

    @pytest.mark.parametrize("verb", ["studies", "--help"])
    def test_reader_that_was_never_there_is_no_error(self, database_path, verb):
        reader, writer = os.pipe()
        os.close(reader)
        arguments = [verb] if verb == "--help" else [verb, "--database", str(database_path)]
        done = subprocess.run(
            [sys.executable, "-m", "steelyard", *arguments],
            stdout=writer, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
        os.close(writer)
        assert done.stderr == ""

    def test_interrupt_exits_130_without_traceback(self, database_path):
        waiting = textwrap.dedent("""
            import time
            import steelyard.study
            from steelyard.cli.main import run

            def wait(*_):
                print("waiting", flush=True)
                time.sleep(600)

            steelyard.study.run_query = wait
            run()
        """)
        command = [sys.executable, "-c", waiting, "studies", "--database", str(database_path)]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as running:
            assert running.stdout.readline() == "waiting\n"
            running.send_signal(signal.SIGINT)
            _, said = running.communicate(timeout=60)
        assert running.returncode == 130, said
        assert "Traceback" not in said

    def test_terminal_that_lacks_a_character(self, database_path):
        environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
        query = "SELECT 'naïve 😀' AS text"
        with start("sql", query, "--database", database_path, env=environment) as running:
            out, said = running.communicate()
        assert running.returncode == 0
        assert said == ""
        assert r"na\xefve" in out


def test_a_full_disk_is_one_line(program, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device", "reports/index.html")

    monkeypatch.setattr("steelyard.report.reproduce.reproduce", full)
    refused(program("reproduce"), "reports/index.html: No space left on device")


def test_paths_of_the_test_do_not_matter(tmp_path, database_path):
    """The program works from a folder outside the checkout."""
    with start("studies", "--database", database_path, cwd=tmp_path) as running:
        out, _ = running.communicate()
    assert running.returncode == 0
    assert "plumbline_retry" in out
    assert list(Path(tmp_path).iterdir()) == []
