"""Why a database cannot be opened, in words that say what to do."""

from __future__ import annotations

import duckdb
import pandas as pd
import pytest

from steelyard.errors import StoreError
from steelyard.store.connect import _why_not, connect, create, digest_of
from steelyard.store.schema import META, TABLES, statements
from steelyard.store.table_definition import Column


def test_a_new_database_has_every_table(tmp_path):
    path = tmp_path / "new.duckdb"
    create(path, "abc").close()
    with connect(path) as connection:
        tables = {row[0] for row in connection.execute("SHOW TABLES").fetchall()}
        assert tables == {"meta", *TABLES}
        assert digest_of(connection) == "abc"
        for name, table in TABLES.items():
            rows = connection.execute(f"DESCRIBE {name}").fetchall()
            declared = [(c.name, "VARCHAR" if c.type == "TEXT" else c.type) for c in table.columns]
            assert [(row[0], row[1]) for row in rows] == declared


def test_a_reader_reads_the_tables_and_nothing_else(tmp_path):
    path = tmp_path / "new.duckdb"
    create(path).close()
    (tmp_path / "secret.csv").write_text("a,b\n1,2\n")
    with connect(path) as connection:
        for source in ("read_csv('{}')", "read_text('{}')", "'{}'", "glob('{}')"):
            query = "SELECT * FROM " + source.format(tmp_path / "secret.csv")
            with pytest.raises(duckdb.PermissionException):
                connection.execute(query)
        with pytest.raises(duckdb.PermissionException):
            connection.execute(f"COPY trials TO '{tmp_path / 'out.csv'}'")
        with pytest.raises(duckdb.InvalidInputException, match="locked"):
            connection.execute("SET enable_external_access = true")
        frame = pd.DataFrame({"a": [1]})
        connection.register("given", frame)
        assert connection.execute("SELECT a FROM given").fetchall() == [(1,)]
    assert [file.name for file in sorted(tmp_path.iterdir())] == ["new.duckdb", "secret.csv"]


def test_every_table_has_a_total_order_and_every_column_a_meaning():
    assert len(statements()) == len(TABLES) + 1
    for table in (META, *TABLES.values()):
        assert set(table.order) <= set(table.names)
        assert len(set(table.names)) == len(table.names)
        assert all(column.meaning for column in table.columns)
        assert table.meaning
    with pytest.raises(KeyError):
        META.column("none")
    assert Column("a", "TEXT", "x", accepted=("b",)).ddl == "a TEXT CHECK (a IN ('b'))"


def test_a_database_is_not_created_over_a_file(tmp_path):
    (tmp_path / "x.duckdb").write_text("")
    with pytest.raises(StoreError, match=r"x\.duckdb: exists already"):
        create(tmp_path / "x.duckdb")
    with pytest.raises(StoreError, match=r"x\.duckdb: cannot be opened: .*") as caught:
        create(tmp_path / "none" / "x.duckdb")
    assert str(tmp_path) not in str(caught.value)


def test_what_is_no_steelyard_database(tmp_path):
    with pytest.raises(StoreError, match="there is no such database; `steelyard reproduce`"):
        connect(tmp_path / "none.duckdb")
    with pytest.raises(StoreError, match="a directory stands where a database file is expected"):
        connect(tmp_path)
    text = tmp_path / "text.duckdb"
    for content in ("hello", "", "x" * 100_000):
        text.write_text(content)
        with pytest.raises(StoreError, match=r"text\.duckdb: not a DuckDB file"):
            connect(text)
    foreign = tmp_path / "foreign.duckdb"
    duckdb.connect(str(foreign)).close()
    with pytest.raises(StoreError, match="a DuckDB file, but not one that steelyard made"):
        connect(foreign)
    with duckdb.connect(str(foreign)) as connection:
        connection.execute("CREATE TABLE meta AS SELECT 1 AS schema_version")
        connection.execute("INSERT INTO meta VALUES (1)")
    with pytest.raises(StoreError, match="not one that steelyard made"):
        connect(foreign)
    with duckdb.connect(str(foreign)) as connection:
        connection.execute("DELETE FROM meta")
        connection.execute("INSERT INTO meta VALUES (99)")
    with pytest.raises(StoreError, match="schema version 99, this steelyard reads version 1"):
        connect(foreign)


def test_one_process_holds_one_mode(tmp_path):
    path = tmp_path / "x.duckdb"
    with create(path), pytest.raises(StoreError, match="already open in this process in another"):
        connect(path)
    with connect(path), connect(path) as second:
        assert second.execute("SELECT count(*) FROM trials").fetchall() == [(0,)]


def test_an_empty_meta_has_no_digest():
    with create() as connection:
        connection.execute("DELETE FROM meta")
        assert digest_of(connection) is None


@pytest.mark.parametrize(
    ("message", "said"),
    [
        ('IO Error: Could not set lock on file "/a/x": resource busy', "locked by another process"),
        ("IO Error: being used by another process", "locked by another process"),
        ("", "cannot be opened: no reason given"),
    ],
)
def test_other_reasons(message, said):
    assert said in _why_not("x.duckdb", message)
