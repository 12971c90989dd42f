"""A system of record in memory: made once, copied for each trial, gone with it.

A trial must not see what another one wrote, so each gets a database of its own. Building the
tables anew would cost more than the trial, so the finished database is copied byte for byte.
"""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from steelyard.harness.tools import ToolError

Row = dict[str, Any]


def amount_of(value: Any) -> float:
    """Return an amount of money that was given as an argument; ToolError unless it is a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise ToolError(f"bad arguments: {value!r} is no amount; accepted are numbers")
    return value


class Template:
    """A filled database that trials take their copies of.

    Parameters
    ----------
    schema : str
        The CREATE TABLE statements.
    rows : mapping of str to sequence of tuple
        The rows of each table that is not empty, columns in the order of the schema.
    """

    def __init__(self, schema: str, rows: Mapping[str, Sequence[tuple[Any, ...]]]) -> None:
        connection = sqlite3.connect(":memory:")
        connection.executescript(schema)
        for table, members in rows.items():
            marks = ", ".join("?" * len(members[0]))
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", members)
        connection.commit()
        self._image = connection.serialize()
        connection.close()

    def copy(self) -> Records:
        """Return a fresh copy that nobody else writes to."""
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.deserialize(self._image)
        connection.row_factory = sqlite3.Row
        return Records(connection)


class Records:
    """One trial's system of record; made by `Template.copy`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def rows(self, query: str, *values: Any) -> list[Row]:
        """Return the rows of a query; ToolError for a value that no column can hold."""
        return [dict(row) for row in self._execute(query, values)]

    def row(self, query: str, *values: Any) -> Row | None:
        """Return the first row of a query, or None."""
        found = self._execute(query, values).fetchone()
        return None if found is None else dict(found)

    def value(self, query: str, *values: Any) -> Any:
        """Return the first column of the first row of a query that always has one."""
        return self._execute(query, values).fetchone()[0]

    def found(self, kind: str, query: str, key: Any) -> Row:
        """Return the row with a key; ToolError "not found" when there is none."""
        row = self.row(query, key)
        if row is None:
            raise ToolError(f"not found: {kind} {key!r}")
        return row

    def insert(self, table: str, **columns: Any) -> int:
        """Add a row and return its number within the table, from 1."""
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        values = tuple(columns.values())
        return int(
            self._execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", values).lastrowid or 0
        )

    def close(self) -> None:
        """Free the memory now instead of when the garbage collector comes by."""
        self._connection.close()

    def _execute(self, query: str, values: Iterable[Any]) -> sqlite3.Cursor:
        try:
            return self._connection.execute(query, tuple(values))
        except (sqlite3.Error, OverflowError) as error:
            # a list where an id belongs, a number beyond 64 bits: the caller's mistake
            raise ToolError(f"bad arguments: {error}") from error
