"""A database is built whole or not at all, and rebuilt exactly when it is outdated."""

from __future__ import annotations

import os

import duckdb
import pytest

from made_up import SMALL_COLUMNS, SMALL_STUDY, SMALL_TRIALS
from steelyard.errors import DataError, StoreError, StudyError, UnknownNameError
from steelyard.store import build
from steelyard.store.build import DATABASE, build_database, data_digest, open_database
from steelyard.store.connect import connect, digest_of
from steelyard.store.project import find_root
from steelyard.store.tables import StudyTables


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_report_counts_rows(small_project):
    report = build_database(small_project())
    assert report.path.name == "steelyard.duckdb"
    assert report.rows["small"]["trials"] == 3
    assert report.rows["small"]["claims"] == 0
    assert names(report.path.parent) == ["steelyard.duckdb"]


def test_opening_builds_once_and_again_after_a_change(small_project):
    project = small_project()
    with open_database(project) as first:
        digest = digest_of(first)
    before = (project / DATABASE).stat().st_mtime_ns
    with open_database(project) as second:
        assert digest_of(second) == digest == data_digest(project)
    assert (project / DATABASE).stat().st_mtime_ns == before
    small_project(study=SMALL_STUDY.replace("A small study", "A changed study"))
    with open_database(project) as third:
        assert digest_of(third) != digest
        assert StudyTables(third, "small").info["title"] == "A changed study"
    with open_database(project, rebuild=True):
        assert (project / DATABASE).stat().st_mtime_ns > before


@pytest.mark.parametrize(
    "change",
    [
        {"trials": SMALL_TRIALS + "a,t2,baseline,0,0,1\n"},
        {"columns": SMALL_COLUMNS + "# a comment\n"},
        {"study": SMALL_STUDY + "# a comment\n"},
    ],
)
def test_the_digest_covers_data_and_declarations(small_project, change):
    before = data_digest(small_project())
    assert data_digest(small_project(**change)) != before


def test_the_digest_does_not_depend_on_line_ends(small_project):
    before = data_digest(small_project())
    assert data_digest(small_project(study=SMALL_STUDY.replace("\n", "\r\n"))) == before


def test_a_failure_leaves_the_earlier_database(small_project):
    project = small_project()
    build_database(project)
    small_project(trials=SMALL_TRIALS + "a,t1,baseline,0,0,1\n")
    content = (project / DATABASE).read_bytes()
    with pytest.raises(DataError, match="are both trial"):
        open_database(project)
    assert (project / DATABASE).read_bytes() == content
    assert names(project / "build") == ["steelyard.duckdb"]


def test_a_failure_of_the_database_itself_is_a_store_error(small_project, monkeypatch):
    project = small_project()

    def disk_full(*_):
        raise duckdb.IOException("No space left on device")

    monkeypatch.setattr(build, "load_study", disk_full)
    with pytest.raises(StoreError, match=r"steelyard\.duckdb: cannot be written: No space left"):
        build_database(project)
    assert names(project / "build") == []


def test_a_file_that_cannot_be_replaced_is_a_store_error(small_project, monkeypatch):
    project = small_project()

    def refuse(self, target):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(build.Path, "replace", refuse)
    with pytest.raises(StoreError, match="cannot be replaced: Permission denied"):
        build_database(project)
    assert names(project / "build") == []


def test_only_the_chosen_studies_are_built(root, tmp_path):
    path = tmp_path / "one.duckdb"
    report = build_database(root, path, ["tau_bench_airline"])
    assert list(report.rows) == ["tau_bench_airline"]
    with connect(path) as connection, pytest.raises(UnknownNameError, match="unknown study"):
        StudyTables(connection, "plumbline_retry")
    with pytest.raises(UnknownNameError, match="did you mean 'plumbline_retry'"):
        build_database(root, path, ["plumbline_rety"])


def test_places_that_cannot_hold_a_database(small_project, tmp_path):
    project = small_project()
    (tmp_path / "taken").mkdir()
    with pytest.raises(StoreError, match="taken: a directory stands where a database file"):
        build_database(project, tmp_path / "taken")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot be created"):
        build_database(project, tmp_path / "file" / "x.duckdb")


def test_a_foreign_file_under_our_name_is_not_overwritten_by_opening(small_project):
    project = small_project()
    (project / "build").mkdir()
    (project / DATABASE).write_text("something else")
    with pytest.raises(StoreError, match="not a DuckDB file"):
        open_database(project)
    assert (project / DATABASE).read_text() == "something else"


def test_a_database_of_another_schema_version_is_rebuilt(small_project):
    project = small_project()
    build_database(project)
    with duckdb.connect(str(project / DATABASE)) as connection:
        connection.execute("UPDATE meta SET schema_version = 0")
    with open_database(project) as connection:
        assert digest_of(connection) == data_digest(project)


def test_a_process_that_holds_the_earlier_database_is_told(small_project):
    project = small_project()
    held = open_database(project)
    small_project(trials=SMALL_TRIALS + "a,t2,baseline,0,0,1\n")
    with pytest.raises(StoreError, match="this process still has an earlier database open"):
        open_database(project)
    held.close()
    with open_database(project) as connection:
        assert len(StudyTables(connection, "small").frame("trials")) == 4


def test_the_root_is_found_from_below_and_by_name(small_project, monkeypatch, root):
    project = small_project()
    assert find_root(project / "data" / "made_up") == project
    monkeypatch.delenv("STEELYARD_HOME", raising=False)
    monkeypatch.chdir(project / "experiments")
    assert find_root() == project
    monkeypatch.chdir("/")
    assert find_root() == root  # the editable install's checkout
    monkeypatch.setenv("STEELYARD_HOME", str(project))
    assert find_root() == project
    monkeypatch.setenv("STEELYARD_HOME", os.sep)
    with pytest.raises(StudyError, match="STEELYARD_HOME is '/', which does not hold"):
        find_root()
    with pytest.raises(StudyError, match="no project found"):
        find_root("/")
