"""Rows on their way into a table: column-wise, with the place each came from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import duckdb
import pyarrow as pa

from steelyard.errors import DataError, StoreError
from steelyard.store.table_definition import Table

_ARROW = {
    "TEXT": pa.string(),
    "JSON": pa.string(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "DOUBLE": pa.float64(),
    "BOOLEAN": pa.bool_(),
}


def arrow_schema(table: Table) -> pa.Schema:
    """Return a table's columns as Arrow types."""
    return pa.schema([(column.name, _ARROW[column.type]) for column in table.columns])


class Batch:
    """Rows for one table.

    Parameters
    ----------
    table : Table
        Where they will go.

    Attributes
    ----------
    columns : dict of str to list
        Every column of the table; equal lengths. None is NULL, NaN is NaN.
    places : list of str
        Where each row came from, for messages.
    """

    def __init__(self, table: Table) -> None:
        self.table = table
        self.columns: dict[str, list[Any]] = {name: [] for name in table.names}
        self.places: list[str] = []

    def __len__(self) -> int:
        return len(self.places)

    def extend(self, values: Mapping[str, Sequence[Any]], places: Sequence[str]) -> None:
        """Add rows; columns that ``values`` lacks are NULL.

        Raises
        ------
        DataError
            If a required column is NULL or blank, or holds a value it does not accept.
        """
        for name in self.table.names:
            column = list(values.get(name, [None] * len(places)))
            self._check(name, column, places)
            self.columns[name].extend(column)
        self.places.extend(places)

    def check_keys(self) -> None:
        """Refuse two rows with one key; the message names the places of both.

        Raises
        ------
        DataError
        """
        if not self.table.key:
            return
        keys = zip(*(self.columns[name] for name in self.table.key), strict=True)
        first: dict[tuple[Any, ...], int] = {}
        for row, key in enumerate(keys):
            earlier = first.setdefault(key, row)
            if earlier != row:
                named = ", ".join(
                    f"{name} {value!r}" for name, value in zip(self.table.key, key, strict=True)
                )
                raise DataError(
                    f"{self.places[earlier]} and {self.places[row]} are both the row of "
                    f"{self.table.name} with {named}; keep one of them"
                )

    def insert(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Write the rows, sorted, in one statement.

        Raises
        ------
        StoreError
            If a row with the same key is there already, or the database cannot be written.
        """
        if not self.places:
            return
        # from_pandas=False: NaN stays NaN, only None becomes NULL.
        arrow = pa.table(
            [
                pa.array(self.columns[field.name], type=field.type, from_pandas=False)
                for field in arrow_schema(self.table)
            ],
            schema=arrow_schema(self.table),
        )
        connection.register("incoming_rows", arrow)
        try:
            self._refuse_present(connection)
            # In sort order, so that the same data gives the same file whatever order it came in.
            connection.execute(
                f"INSERT INTO {self.table.name} SELECT * FROM incoming_rows "
                f"ORDER BY {', '.join(self.table.order)}"
            )
        except duckdb.Error as error:
            raise StoreError(f"table {self.table.name} cannot take rows: {error}") from None
        finally:
            connection.unregister("incoming_rows")

    def _refuse_present(self, connection: duckdb.DuckDBPyConnection) -> None:
        if not self.table.key:
            return
        keys = ", ".join(self.table.key)
        present = connection.execute(
            f"SELECT {keys} FROM incoming_rows SEMI JOIN {self.table.name} USING ({keys}) "
            f"ORDER BY {keys} LIMIT 1"
        ).fetchall()
        for row in present:
            named = ", ".join(f"{n} {v!r}" for n, v in zip(self.table.key, row, strict=True))
            raise StoreError(f"table {self.table.name} already holds the row with {named}")

    def _check(self, name: str, column: list[Any], places: Sequence[str]) -> None:
        rules = self.table.column(name)
        if rules.required and (None in column or "" in column):
            index = next(i for i, value in enumerate(column) if value is None or value == "")
            raise DataError(f"{places[index]}: {self.table.name}.{name} is blank; it needs a value")
        if rules.accepted and not set(column) <= {*rules.accepted, None}:
            index = next(i for i, v in enumerate(column) if v not in {*rules.accepted, None})
            raise DataError(
                f"{places[index]}: {self.table.name}.{name} is {column[index]!r}; "
                f"accepted: {', '.join(rules.accepted)}"
            )
