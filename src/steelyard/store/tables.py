"""One study's tables, as every analysis receives them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from steelyard.errors import UnknownNameError
from steelyard.store.declaration import Declaration
from steelyard.store.schema import TABLES

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StudyTables:
    """A study within an open database.

    Parameters
    ----------
    connection : duckdb.DuckDBPyConnection
        The database.
    study : str
        The study's id.

    Raises
    ------
    UnknownNameError
        If the database does not hold the study.

    Examples
    --------
    >>> tables = StudyTables(connection, "plumbline_retry")        # doctest: +SKIP
    >>> tables.frame("trials").groupby("arm").size()               # doctest: +SKIP
    """

    connection: duckdb.DuckDBPyConnection
    study: str
    _frames: dict[str, pd.DataFrame] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = study_names(self.connection)
        if self.study not in known:
            raise UnknownNameError("study", str(self.study), known)

    @cached_property
    def design(self) -> Declaration:
        """The study's declaration, as it was when the database was built."""
        return Declaration.from_json(str(self.info["design"]))

    @cached_property
    def info(self) -> dict[str, Any]:
        """The study's row of the table ``studies``."""
        query = "SELECT * FROM studies WHERE study = ?"
        cursor = self.connection.execute(query, [self.study])
        names = [column[0] for column in cursor.description]
        return dict(zip(names, cursor.fetchall()[0], strict=True))

    def frame(self, table: str) -> pd.DataFrame:
        """Return the study's rows of one table.

        Parameters
        ----------
        table : str
            Name of a table of `steelyard.store.schema`.

        Returns
        -------
        pandas.DataFrame
            The table's columns in their order, sorted by its key (by all columns where it has
            none), so that equal data gives equal frames. Whole numbers that may be NULL are
            ``Int64``, booleans ``boolean``, text is pandas' text type with its missing value.
            In ``measures`` NULL and NaN both read as NaN; the additional column ``measured`` is
            False for NULL. The frame is the caller's to change.

        Raises
        ------
        UnknownNameError
            If there is no such table.
        """
        if table not in TABLES:
            raise UnknownNameError("table", str(table), TABLES, "the schema")
        if table not in self._frames:
            self._frames[table] = self._read(table)
        return self._frames[table].copy()

    def _read(self, table: str) -> pd.DataFrame:
        import pandas as pd  # here, so that opening a study stays quick

        schema = TABLES[table]
        extra = ", value IS NOT NULL AS measured" if table == "measures" else ""
        order = ", ".join(f"{name} NULLS LAST" for name in schema.order)
        rows = self.connection.sql(
            f"SELECT *{extra} FROM {table} WHERE study = ? ORDER BY {order}", params=[self.study]
        ).to_arrow_table()
        # By way of Arrow: pandas alone would read a NULL among whole numbers as NaN, and with it
        # all of them as floats, which hold a large seed only approximately.
        nullable = {
            pa.int32(): pd.Int64Dtype(),
            pa.int64(): pd.Int64Dtype(),
            pa.bool_(): pd.BooleanDtype(),
        }
        frame: pd.DataFrame = rows.to_pandas(types_mapper=nullable.get)
        required = {
            column.name: "int64"
            for column in schema.columns
            if column.required and column.type in ("INTEGER", "BIGINT")
        }
        if extra:
            required["measured"] = "bool"
        return frame.astype(required)


def study_names(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """Return the ids of the studies of a database, sorted."""
    rows = connection.execute("SELECT study FROM studies ORDER BY study").fetchall()
    return [row[0] for row in rows]
