"""To Parquet and back: the tables as files that other tools read."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from steelyard.errors import DataError, StoreError
from steelyard.store.batch import arrow_schema
from steelyard.store.connect import create
from steelyard.store.schema import SCHEMA_VERSION, TABLES

_VERSION_KEY = b"steelyard_schema_version"


def write_parquet(connection: duckdb.DuckDBPyConnection, folder: str | Path) -> list[Path]:
    """Write every table to ``<folder>/<table>.parquet``.

    Rows are sorted by the table's key, so that equal data gives equal files with one version of
    pyarrow.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        An open database.
    folder : str or pathlib.Path
        Created if it is absent; files of these names in it are replaced.

    Returns
    -------
    list of pathlib.Path
        One per table.

    Raises
    ------
    StoreError
        If the folder cannot be written.
    """
    target = Path(folder)
    written = []
    try:
        target.mkdir(parents=True, exist_ok=True)
        for name, table in TABLES.items():
            order = ", ".join(f"{column} NULLS LAST" for column in table.order)
            rows = connection.sql(f"SELECT * FROM {name} ORDER BY {order}").to_arrow_table()
            schema = arrow_schema(table).with_metadata({_VERSION_KEY: str(SCHEMA_VERSION)})
            file = target / f"{name}.parquet"
            pq.write_table(rows.cast(schema), file)
            written.append(file)
    except OSError as error:
        raise StoreError(f"{target.name}: cannot be written: {error.strerror or error}") from None
    return written


def read_parquet(
    folder: str | Path, path: str | Path = ":memory:", data_digest: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Create a database from files that `write_parquet` wrote.

    Parameters
    ----------
    folder : str or pathlib.Path
        Holds one file per table.
    path : str or pathlib.Path, default ":memory:"
        The database file to create, or memory.
    data_digest : str, optional
        Recorded in the new database.

    Returns
    -------
    duckdb.DuckDBPyConnection

    Raises
    ------
    DataError
        If a file is absent, damaged, of another schema version, has other columns, or holds
        rows that the table refuses; no database is left then.
    StoreError
        If the database file exists or cannot be written.
    """
    source = Path(folder)
    contents = {name: _read_file(source / f"{name}.parquet", name) for name in TABLES}
    connection = create(path, data_digest)
    try:
        for name, rows in contents.items():
            connection.register("incoming_rows", rows)
            connection.execute(f"INSERT INTO {name} SELECT * FROM incoming_rows")
            connection.unregister("incoming_rows")
    except duckdb.Error as error:
        connection.close()
        if str(path) != ":memory:":
            Path(path).unlink()
        raise DataError(f"{name}.parquet: the table cannot take its rows: {error}") from None
    return connection


def _read_file(file: Path, table: str) -> pa.Table:
    try:
        rows = pq.read_table(file)
    except FileNotFoundError:
        raise DataError(f"{file.name}: there is no such file") from None
    except (OSError, pa.ArrowException) as error:
        first = str(error).splitlines()[0]
        raise DataError(f"{file.name}: not a readable Parquet file: {first}") from None
    version = (rows.schema.metadata or {}).get(_VERSION_KEY, b"none").decode()
    if version != str(SCHEMA_VERSION):
        raise DataError(
            f"{file.name}: schema version {version}; this steelyard reads version {SCHEMA_VERSION}"
        )
    expected = arrow_schema(TABLES[table])
    if rows.schema.names != expected.names:
        raise DataError(f"{file.name}: columns {rows.schema.names}; expected {expected.names}")
    return rows.cast(expected)
