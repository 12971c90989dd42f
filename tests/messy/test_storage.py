"""Other processes, sudden death and leftovers.

Public bug reports of this kind: duckdb#17158, frappe/builder#644, semantic-reasoning/verinote#169
(readers blocked by a writer), duckdb#8592 and #15836, norrietaylor/distillery#647 (kill -9 and the
write-ahead log), tau2-bench#533 (the old file deleted before the new one is whole),
duckdb/duckdb-web#5710 (float sums that vary).
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

from made_up import SMALL_TRIALS
from steelyard.errors import StoreError
from steelyard.store.build import DATABASE, build_database, open_database
from steelyard.store.connect import connect, create
from steelyard.store.rows import add_rows
from steelyard.store.tables import StudyTables

HOLD = """
import sys
from steelyard.store.connect import connect
held = connect(sys.argv[1], read_only=False)
print("held", flush=True)
sys.stdin.read()
"""
BUILD = """
import sys
from steelyard.store.build import build_database
print("begin", flush=True)
for _ in range(int(sys.argv[2])):
    build_database(sys.argv[1])
"""


def start(code, *arguments):
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline()
    return process


def count(project):
    with connect(project / DATABASE) as connection:
        return len(StudyTables(connection, "small").frame("trials"))


def test_a_locked_database_names_the_holder_and_the_remedy(small_project, monkeypatch):
    project = small_project()
    monkeypatch.chdir(project)  # paths are shown from where the user stands
    build_database(project)
    holder = start(HOLD, project / DATABASE)
    try:
        with pytest.raises(StoreError) as caught:
            open_database(project)
        message = str(caught.value)
        assert f"locked by process {holder.pid} (python" in message
        assert f"end process {holder.pid}, then try again" in message
        assert str(project) not in message
    finally:
        holder.communicate("")
    with open_database(project) as connection:
        assert len(StudyTables(connection, "small").frame("trials")) == 3


def test_many_readers_share_a_database_while_it_is_rebuilt(small_project):
    project = small_project()
    with open_database(project) as connection:
        small_project(trials=SMALL_TRIALS + "a,t2,baseline,0,0,1\n")
        builder = start(BUILD, project, 1)
        assert builder.wait(60) == 0
        assert len(StudyTables(connection, "small").frame("trials")) == 3  # a snapshot
    assert count(project) == 4


def test_builds_at_once_leave_one_whole_database(small_project):
    project = small_project()
    builders = [start(BUILD, project, 5) for _ in range(3)]
    for builder in builders:
        output = builder.communicate(timeout=120)
        assert builder.returncode == 0, output
    assert count(project) == 3
    assert [path.name for path in (project / "build").iterdir()] == ["steelyard.duckdb"]


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is a POSIX signal")
def test_a_killed_build_leaves_the_earlier_database(small_project):
    project = small_project()
    build_database(project)
    small_project(trials=SMALL_TRIALS + "a,t2,baseline,0,0,1\n")
    for milliseconds in (0, 5, 10, 20, 40, 80, 160, 320):
        builder = start(BUILD, project, 1000)
        time.sleep(milliseconds / 1000)
        builder.send_signal(signal.SIGKILL)
        builder.communicate()
        assert count(project) in (3, 4)
    with open_database(project, rebuild=True) as connection:
        assert len(StudyTables(connection, "small").frame("trials")) == 4


def test_a_log_left_by_a_killed_writer_is_not_applied_to_the_new_file(small_project):
    project = small_project()
    build_database(project)
    log = project / DATABASE.with_name("steelyard.duckdb.wal")
    log.write_bytes(b"left by another process" * 10)
    with open_database(project, rebuild=True) as connection:
        assert len(StudyTables(connection, "small").frame("trials")) == 3
    assert not log.exists()


def test_a_broken_log_beside_the_database_costs_no_row(small_project):
    project = small_project()
    build_database(project)
    log = project / DATABASE.with_name("steelyard.duckdb.wal")
    for content in (b"", b"\x00" * 100, bytes(range(256))):
        log.write_bytes(content)
        assert count(project) == 3


def test_rows_are_added_all_or_none_also_on_disk(tmp_path):
    path = tmp_path / "x.duckdb"
    row = {"study": "s", "trial_id": "x", "measure": "m", "value": 1.0}
    with create(path) as connection:
        add_rows(connection, "measures", [row])
        with pytest.raises(StoreError, match="already holds the row"):
            add_rows(connection, "measures", [{**row, "measure": "a"}, row])
    with connect(path) as connection:
        assert connection.execute("SELECT count(*) FROM measures").fetchall() == [(1,)]


def test_a_sum_of_floats_is_one_number(tmp_path):
    with create(tmp_path / "x.duckdb") as connection:
        connection.execute(
            "INSERT INTO measures SELECT 's', i::TEXT, 'm', 1 / (i + 1)::DOUBLE * (CASE WHEN "
            "i % 2 = 0 THEN 1e10 ELSE 1e-3 END) FROM range(1500000) AS numbers(i)"
        )
        query = "SELECT sum(value) FROM measures"
        assert len({connection.execute(query).fetchall()[0][0] for _ in range(5)}) == 1
