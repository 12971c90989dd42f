"""The database of a run: every trial is planned as a row first, and filled when it is finished.

The file appears under its name only when the whole plan is in it. From then on each transaction
fills some finished trials, all their rows or none, so that a run which is killed at any moment
leaves whole trials and missing ones, and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
import pyarrow as pa

from steelyard.errors import StoreError
from steelyard.harness.finished_rows import ROW_SCHEMAS, finished_rows
from steelyard.harness.planned_database import VARIANT, why_not_written
from steelyard.harness.study import RunnableStudy
from steelyard.harness.trial import FinishedTrial, PlannedTrial
from steelyard.store.connect import connect
from steelyard.store.declaration import Declaration
from steelyard.trials.ids import TrialKey

PAGE = 5_000
MEMORY_LIMIT = "256MB"
"""Of DuckDB's own buffers: a run of 50,000 trials needs no more of them than one of 1,000."""

_BLOCK = "task, perturbation, variant, repeat, arm"
_UNREADABLE_LOG = "while replaying WAL file"  # in DuckDB's words
_open_here: set[Path] = set()


class RunDatabase:
    """A run's database, open for writing by this process alone.

    Parameters
    ----------
    path : pathlib.Path
        Must exist; `plan_database` makes it.
    study : RunnableStudy

    Attributes
    ----------
    connection : duckdb.DuckDBPyConnection
    damaged_log : pathlib.Path or None
        Where a write-ahead log that could not be read was set aside.

    Raises
    ------
    StoreError
        If another run has it open (with the PID), it holds another study, or it was planned with
        another design.
    """

    def __init__(self, path: Path, study: RunnableStudy) -> None:
        self.path = path.resolve()
        self.study = study.id
        if self.path in _open_here:
            raise StoreError(
                f"{path.name}: a run in this process ({os.getpid()}) is filling it already"
            )
        self.connection, self.damaged_log = _connect(self.path)
        try:
            _check_plan(self.connection, study, path.name)
            self.connection.execute(f"SET memory_limit = '{MEMORY_LIMIT}'")
        except BaseException:
            self.connection.close()
            raise
        _open_here.add(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Write everything to the file proper and let go of it."""
        _open_here.discard(self.path)
        with suppress(duckdb.Error):  # a full disk: the log holds every transaction
            self.connection.close()

    def missing(self, arms: Sequence[str]) -> Iterator[PlannedTrial]:
        """Yield the trials of these arms that are still missing, in blocks.

        The arms take turns within each task, perturbation, variant and repeat, so that whatever
        drifts during a run (a model behind an address, the load of the machine) meets all alike.
        Trials are read in pages; one that stays missing is not yielded twice.
        """
        after: tuple[Any, ...] = ("", "", "", -1, "")
        while True:
            cells: dict[tuple[str, ...], TrialKey] = {}
            rows = self.connection.execute(
                f"""
                SELECT {_BLOCK}, seed, covariates.value
                FROM trials LEFT JOIN covariates
                  ON covariates.study = trials.study AND covariates.trial_id = trials.trial_id
                  AND covariates.name = ?
                WHERE trials.study = ? AND status = 'missing' AND arm IN (SELECT unnest(?))
                  AND ({_BLOCK}) > (?, ?, ?, ?, ?)
                ORDER BY {_BLOCK} LIMIT {PAGE}
                """,
                [VARIANT, self.study, list(arms), *after],
            ).fetchall()
            for task, perturbation, variant, repeat, arm, seed, meta in rows:
                cell = (arm, task, perturbation, variant)
                if cell not in cells:
                    cells[cell] = TrialKey(*cell, repeat)
                yield PlannedTrial(cells[cell].repeated(repeat), seed, meta or "{}")
            if len(rows) < PAGE:
                return
            after = rows[-1][:5]

    def counts(self) -> dict[str, int]:
        """Return the number of trials by status; every status is there."""
        found = self.connection.execute(
            "SELECT status, count(*) FROM trials WHERE study = ? GROUP BY status", [self.study]
        ).fetchall()
        return {"completed": 0, "failed": 0, "missing": 0} | dict(found)

    def by_arm(self) -> list[tuple[str, int, int, int, int, float | None]]:
        """Return arm, planned, completed, failed, missing and cost, sorted by arm."""
        return self.connection.execute(
            """
            SELECT arm, count(*), count(*) FILTER (status = 'completed'),
                   count(*) FILTER (status = 'failed'), count(*) FILTER (status = 'missing'),
                   sum(cost_usd)
            FROM trials WHERE study = ? GROUP BY arm ORDER BY arm
            """,
            [self.study],
        ).fetchall()

    def without_result(self) -> list[tuple[str, str | None]]:
        """Return the trials that are missing and why, where one was tried; sorted by trial."""
        return self.connection.execute(
            "SELECT trial_id, error FROM trials WHERE study = ? AND status = 'missing' "
            "ORDER BY trial_id",
            [self.study],
        ).fetchall()

    def record(self, finished: Sequence[FinishedTrial]) -> None:
        """Fill finished trials in one transaction.

        Raises
        ------
        StoreError
            If they cannot be written (a full disk); none of them is then.
        """
        rows = finished_rows(self.study, finished)
        try:
            self.connection.execute("BEGIN")
            for table, columns in rows.items():
                self._write(table, columns)
            self.connection.execute("COMMIT")
        except duckdb.Error as error:
            with suppress(duckdb.Error):
                self.connection.execute("ROLLBACK")
            raise StoreError(why_not_written(self.path, error)) from None

    def _write(self, table: str, columns: dict[str, list[Any]]) -> None:
        schema = ROW_SCHEMAS[table]
        # from_pandas=False: NaN stays NaN, only None becomes NULL.
        incoming = pa.table(
            [pa.array(columns[f.name], type=f.type, from_pandas=False) for f in schema],
            schema=schema,
        )
        if not incoming.num_rows:
            return
        self.connection.register("incoming_rows", incoming)
        try:
            if table == "trials":
                filled = [name for name in schema.names if name not in ("study", "trial_id")]
                self.connection.execute(
                    f"UPDATE trials SET {', '.join(f'{n} = incoming_rows.{n}' for n in filled)} "
                    "FROM incoming_rows WHERE trials.study = incoming_rows.study "
                    "AND trials.trial_id = incoming_rows.trial_id AND trials.status = 'missing'"
                )
            else:
                self.connection.execute(f"INSERT INTO {table} SELECT * FROM incoming_rows")
        finally:
            self.connection.unregister("incoming_rows")


def _connect(path: Path) -> tuple[duckdb.DuckDBPyConnection, Path | None]:
    """Open a run's database, also after its write-ahead log was damaged.

    DuckDB itself drops a transaction that was cut off at the end of the log. A log that it cannot
    read at all is set aside: its trials are missing then and run again.
    """
    try:
        return connect(path, read_only=False), None
    except StoreError as error:
        log = path.with_name(path.name + ".wal")
        # The name is taken out: a file called WAL.duckdb that another run has open has no damaged
        # log, and that run needs the one it has.
        if not log.exists() or _UNREADABLE_LOG not in str(error).replace(path.name, ""):
            raise
        aside = log.with_name(log.name + ".damaged")
        log.replace(aside)
        return connect(path, read_only=False), aside


def _check_plan(connection: duckdb.DuckDBPyConnection, study: RunnableStudy, name: str) -> None:
    """Refuse a database whose plan is another one; take over what does not touch the plan."""
    rows = connection.execute("SELECT study, design FROM studies").fetchall()
    if [row[0] for row in rows] != [study.id]:
        held = ", ".join(row[0] for row in rows) or "no study"
        raise StoreError(f"{name}: holds {held}, not {study.id}; give the run another database")
    planned = Declaration.from_json(rows[0][1])
    now = study.declaration
    if (planned.run, planned.design) != (now.run, now.design):
        raise StoreError(
            f"{name}: was planned with another [run] or [design] section than study.toml has now; "
            "restore the section to resume, or move the database away to begin anew"
        )
    if planned != now:
        row = now.row()
        columns = [column for column in row if column != "study"]
        connection.execute(
            f"UPDATE studies SET {', '.join(f'{column} = ?' for column in columns)} "
            "WHERE study = ?",
            [*(row[column] for column in columns), study.id],
        )
