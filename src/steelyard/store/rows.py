"""Adding rows from Python: what a harness, an importer or a test has in its hands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from numbers import Integral, Real
from typing import Any

import duckdb

from steelyard.errors import DataError, InputError, UnknownNameError
from steelyard.store.batch import Batch
from steelyard.store.declaration import Declaration
from steelyard.store.schema import TABLES
from steelyard.store.table_definition import Column
from steelyard.trials.ids import PARTS, TrialKey, read_ids
from steelyard.trials.strict_json import canonical_dumps

_RANGES = {"INTEGER": 2**31, "BIGINT": 2**63}


def add_study(connection: duckdb.DuckDBPyConnection, declaration: Declaration) -> None:
    """Add a study's own row.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Open for writing.
    declaration : Declaration

    Raises
    ------
    StoreError
        If the study is there already.
    """
    batch = Batch(TABLES["studies"])
    batch.extend({name: [value] for name, value in declaration.row().items()}, [declaration.id])
    batch.insert(connection)


def add_rows(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Iterable[Mapping[str, Any]]
) -> int:
    """Add rows to a table, all or none.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        Open for writing.
    table : str
        Name of a table.
    rows : iterable of mapping
        Column name to value. An absent column is NULL. JSON columns take Python values (None is
        NULL). Of ``trials``, ``trial_id`` may be left out: it is composed of the five parts,
        which may be integers in the source, but not a number and a text that print alike.

    Returns
    -------
    int
        How many rows were added.

    Raises
    ------
    UnknownNameError
        If there is no such table or column.
    DataError
        If a value does not fit its column, a required one is absent, or two rows have one key.
    InputError
        If an id cannot be one.
    StoreError
        If a row with that key is in the database already; then no row is added.
    """
    if table not in TABLES:
        raise UnknownNameError("table", table, TABLES, "the schema")
    schema = TABLES[table]
    listed = [dict(row) for row in rows]
    for row in listed:
        for name in row:
            if name not in schema.names:
                raise UnknownNameError("column", str(name), schema.names, f"table {table}")
    if table == "trials":
        _complete_trials(listed)
    places = [f"{table}[{index}]" for index in range(len(listed))]
    batch = Batch(schema)
    columns = {
        column.name: [
            _value(row.get(column.name), column, place)
            for row, place in zip(listed, places, strict=True)
        ]
        for column in schema.columns
    }
    batch.extend(columns, places)
    batch.check_keys()
    batch.insert(connection)
    return len(batch)


def _complete_trials(rows: list[dict[str, Any]]) -> None:
    """Read the parts as ids, and compose or check the trial ids."""
    for part in PARTS[:-1]:
        present = [row for row in rows if row.get(part) is not None]
        for row, text in zip(
            present, read_ids((row[part] for row in present), f"trials.{part}"), strict=True
        ):
            row[part] = text
    for index, row in enumerate(rows):
        absent = [part for part in PARTS if row.get(part) is None]
        if absent:
            raise DataError(f"trials[{index}]: {', '.join(absent)} is missing")
        key = TrialKey(*(row[part] for part in PARTS))
        if row.setdefault("trial_id", key.trial_id) != key.trial_id:
            raise DataError(
                f"trials[{index}]: trial_id is {row['trial_id']!r}, but its parts give "
                f"{key.trial_id!r}"
            )


def _value(value: Any, column: Column, place: str) -> Any:
    if value is None:
        return None
    where = f"{place}.{column.name}"
    if column.type == "JSON":
        try:
            return canonical_dumps(value)
        except InputError as error:
            raise DataError(f"{where}: {error}") from None
    fits = {
        "TEXT": isinstance(value, str),
        "BOOLEAN": isinstance(value, bool),
        "DOUBLE": isinstance(value, Real),
        "INTEGER": isinstance(value, Integral) and not isinstance(value, bool),
        "BIGINT": isinstance(value, Integral) and not isinstance(value, bool),
    }
    if not fits[column.type]:
        raise DataError(f"{where} is {value!r}; a {column.type} column does not take that")
    limit = _RANGES.get(column.type)
    if limit is not None and not -limit <= value < limit:
        raise DataError(f"{where} is {value}, outside the range of a {column.type}")
    return float(value) if column.type == "DOUBLE" else value
