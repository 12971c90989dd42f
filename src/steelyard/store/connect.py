"""Opening a database, and saying clearly why one cannot be opened."""

from __future__ import annotations

import re
from pathlib import Path

import duckdb

from steelyard.errors import StoreError, shown_file
from steelyard.store.schema import SCHEMA_VERSION, statements

_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    # DuckDB adds floats in the order in which threads deliver them; one thread gives one sum.
    "threads": 1,
    # Everything we use is built in; nothing is fetched from the network.
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}
_READING = {
    **_CONFIG,
    # A question is SQL that anyone may have written: it reads the tables and no other file, and
    # cannot allow itself more.
    "enable_external_access": "false",
    "lock_configuration": "true",
}
_HOLDER = re.compile(r"held in (?P<program>.*?) \(PID (?P<pid>\d+)\)")


def connect(path: str | Path, *, read_only: bool = True) -> duckdb.DuckDBPyConnection:
    """Open an existing steelyard database.

    Parameters
    ----------
    path : str or pathlib.Path
        The file.
    read_only : bool, default True
        Readers share a file; a writer has it alone. What a reader asks can neither read another
        file nor change a setting.

    Returns
    -------
    duckdb.DuckDBPyConnection
        The caller closes it.

    Raises
    ------
    StoreError
        If the file is absent, a directory, locked by another process (the message names its PID
        and what to do), open in this process in the other mode, no DuckDB file, a DuckDB file
        that is not steelyard's, or of another schema version.
    """
    file, shown = Path(path), shown_file(path)
    if file.is_dir():
        raise StoreError(f"{shown}: a directory stands where a database file is expected")
    if not file.exists():
        raise StoreError(f"{shown}: there is no such database; `steelyard reproduce` builds it")
    config = _READING if read_only else _CONFIG
    try:
        connection = duckdb.connect(str(file), read_only=read_only, config=config)
    except duckdb.Error as error:
        raise StoreError(_why_not(shown, str(error))) from None
    try:
        _check_schema(connection, shown)
    except StoreError:
        connection.close()
        raise
    return connection


def create(
    path: str | Path = ":memory:", data_digest: str | None = None
) -> duckdb.DuckDBPyConnection:
    """Create an empty database with all tables.

    Parameters
    ----------
    path : str or pathlib.Path, default ":memory:"
        A file that does not exist yet, or memory.
    data_digest : str, optional
        What it is built from; see `steelyard.store.build`.

    Returns
    -------
    duckdb.DuckDBPyConnection

    Raises
    ------
    StoreError
        If the file exists or cannot be written.
    """
    if str(path) != ":memory:" and Path(path).exists():
        raise StoreError(f"{Path(path).name}: exists already; a database is not overwritten")
    try:
        connection = duckdb.connect(str(path), config=_CONFIG)
    except duckdb.Error as error:
        raise StoreError(_why_not(Path(path).name, str(error))) from None
    connection.execute("BEGIN")  # one transaction, so that the disk is waited for once
    for statement in statements():
        connection.execute(statement)
    connection.execute("INSERT INTO meta VALUES (?, ?)", [SCHEMA_VERSION, data_digest])
    connection.execute("COMMIT")
    return connection


def digest_of(connection: duckdb.DuckDBPyConnection) -> str | None:
    """Return what the database was built from, as recorded when it was created."""
    rows = connection.execute("SELECT data_digest FROM meta").fetchall()
    return rows[0][0] if rows else None


def _check_schema(connection: duckdb.DuckDBPyConnection, name: str) -> None:
    try:
        rows = connection.execute("SELECT schema_version FROM meta").fetchall()
    except duckdb.Error:
        rows = []
    if len(rows) != 1:
        raise StoreError(f"{name}: a DuckDB file, but not one that steelyard made")
    if rows[0][0] != SCHEMA_VERSION:
        raise StoreError(
            f"{name}: its tables have schema version {rows[0][0]}, this steelyard reads version "
            f"{SCHEMA_VERSION}; delete the file and build it again"
        )


def _why_not(name: str, message: str) -> str:
    holder = _HOLDER.search(message)
    if holder:
        program = Path(holder["program"]).name
        return (
            f"{name}: locked by process {holder['pid']} ({program}), which has it open for "
            f"writing; close the database there (in a notebook: connection.close(), or restart "
            f"the kernel), or end process {holder['pid']}, then try again"
        )
    if "Could not set lock" in message or "being used by another process" in message:
        return f"{name}: locked by another process; close the database there, then try again"
    if "different configuration" in message:
        return (
            f"{name}: already open in this process in another mode (read-only or writing); close "
            "that connection first"
        )
    if "not a valid DuckDB database file" in message:
        return f"{name}: not a DuckDB file"
    first = message.splitlines()[0] if message else "no reason given"
    without_folder = re.sub(r'"[^"]*/', '"', first)
    return f"{name}: cannot be opened: {without_folder}"
