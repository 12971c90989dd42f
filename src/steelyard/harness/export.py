"""From a run's database to committed evidence: ``data/<source>/`` as the loader reads it.

The files are sorted, and hold nothing that depends on when, where or by how many workers the trials
were run, unless times are asked for. The same trials give the same bytes.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb

from steelyard.errors import StoreError
from steelyard.store.connect import connect
from steelyard.store.schema import TABLES

COLUMNS_TOML = Path(__file__).with_name("exported_columns.toml")
"""The description of the exported files, copied beside them."""

FILES = {
    "trials": "trials.csv",
    "steps": "steps.csv.gz",
    "states": "states.csv",
    "measures": "measures.csv",
    "violations": "violations.csv",
    "signals": "signals.csv",
    "covariates": "covariates.csv",
}
"""The file of each table. Steps are by far the largest; the others stay readable in a diff.

Where the folder's own ``columns.toml`` describes a file with ``.gz`` at the end, it is packed too.
"""

_PAGE = 10_000


def export_run(database: Path, folder: Path, *, times: bool = False) -> list[Path]:
    """Write a run's tables as CSV files with the ``columns.toml`` that describes them.

    Parameters
    ----------
    database : pathlib.Path
        Of one run.
    folder : pathlib.Path
        ``data/<source>``; made if it is absent. Files of these names are replaced. A
        ``columns.toml`` that is there decides by their names which of them are packed.
    times : bool, default False
        Whether to keep ``wall_ms``. It is a measurement and differs from run to run.

    Returns
    -------
    list of pathlib.Path
        The files; a ``columns.toml`` that was there already is kept.

    Raises
    ------
    StoreError
        If the database cannot be read (a run has it open) or the folder not be written.
    """
    connection = connect(database)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        written = []
        for table, name in _names(folder / "columns.toml").items():
            target = folder / name
            _replace(target, _packed(target, _csv(connection, table, times)))
            written.append(target)
        description = folder / "columns.toml"
        if not description.exists():  # one that was added to, for claims say, is kept
            _replace(description, COLUMNS_TOML.read_bytes())
    except OSError as error:
        raise StoreError(f"{folder.name}: cannot be written: {error.strerror or error}") from None
    finally:
        connection.close()
    return [*written, description]


def _names(description: Path) -> dict[str, str]:
    """Return the file of each table, packed where the folder's description says so."""
    text = description.read_text(encoding="utf-8") if description.exists() else ""
    return {
        table: f"{name}.gz" if f'[files."{name}.gz"]' in text else name
        for table, name in FILES.items()
    }


def _csv(connection: duckdb.DuckDBPyConnection, table: str, times: bool) -> bytes:
    """Return a table as CSV; blank is NULL."""
    schema = TABLES[table]
    names = [name for name in schema.names if name != "study"]
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(names)
    shown = ["NULL" if name == "wall_ms" and not times else name for name in names]
    order = ", ".join(f"{name} NULLS FIRST" for name in schema.order if name != "study")
    cursor = connection.execute(f"SELECT {', '.join(shown)} FROM {table} ORDER BY {order}")
    for row in _pages(cursor):
        writer.writerow([_cell(value) for value in row])
    return out.getvalue().encode()


def _pages(cursor: duckdb.DuckDBPyConnection) -> Iterator[Sequence[Any]]:
    while rows := cursor.fetchmany(_PAGE):
        yield from rows


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float):
        whole = math.isfinite(value) and value.is_integer() and abs(value) < 2**53
        return str(int(value)) if whole else repr(value)
    return value


def _packed(target: Path, content: bytes) -> bytes:
    # mtime=0: the archive does not say when it was made.
    return gzip.compress(content, 9, mtime=0) if target.suffix == ".gz" else content


def _replace(target: Path, content: bytes) -> None:
    """Write a file beside its place and move it there, so that a reader finds one or the other."""
    beside = target.with_name(f".{target.name}.new")
    try:
        beside.write_bytes(content)
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
