"""Trials of real agents as rows: a database that every analysis can read, and that grows.

A run's trials are rows before any agent is started. A finished trial is one transaction, so that a
run which is killed keeps what was paid for, and the same command goes on where it stopped.

A trial has a row in ``measures`` for every gate that applies to its scenario: NULL where the gate
was not evaluated (there was no answer to compare), no row where it does not apply (``verify_pair``
of a bundle that answers no request, canaries where none was laid out). A trial whose agent's
sandbox could not start has neither: it is missing, with the reason, until it is run again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import duckdb
from pydantic import ValidationError

from steelyard.errors import StoreError, shown_file
from steelyard.harness.handoff.manual_trials import ManualTrial, TrialRecord
from steelyard.harness.handoff.storable import storable
from steelyard.harness.planned_database import make_database, why_not_written
from steelyard.store.connect import connect
from steelyard.store.declaration import Declaration
from steelyard.store.rows import add_rows, add_study
from steelyard.store.tables import study_names

STUDY = "handoff_manual"
PASSED = "passed"
DIFFERENCES = ["substance_differs", "wording_differs"]
"""Of `import_differences`; a 1 is no pass, and so they are no gates."""


def check_database(path: Path) -> None:
    """Refuse a file that trials cannot be added to, without writing to it.

    Parameters
    ----------
    path : pathlib.Path
        A file that does not exist is accepted.

    Raises
    ------
    StoreError
        It is no database of steelyard's, holds no study of this kind, or is in use.
    """
    if not path.exists() and not path.is_symlink():
        return
    if not path.is_file():
        raise StoreError(f"{shown_file(path)}: is no regular file; give a DuckDB file or a new one")
    connection = connect(path)
    try:
        _read_design(connection, path)
    finally:
        connection.close()


class ManualDatabase:
    """A database of hand-run trials, open for writing by this process alone.

    Parameters
    ----------
    path : pathlib.Path
        Made if it does not exist. Trials are added to one that holds the study
        ``handoff_manual``; any other is refused and left as it was.
    planned : sequence of ManualTrial
        Each is a row from now on, missing until it is recorded.

    Raises
    ------
    StoreError
        See `check_database`, and if it cannot be written.
    """

    def __init__(self, path: Path, planned: Sequence[ManualTrial]) -> None:
        check_database(path)
        if not path.exists():
            make_database(path, lambda connection: add_study(connection, _new_design(planned)))
        self._path = path
        self._connection = connect(path, read_only=False)
        try:
            self._design = _read_design(self._connection, path)
            with _Transaction(self._connection, path):
                self._declare([trial.stratum.arm for trial in planned], ())
                _add_planned(self._connection, planned)
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with suppress(duckdb.Error):  # a full disk: the log holds every transaction
            self._connection.close()

    def results(self) -> dict[str, bool]:
        """Return whether each trial with a result passed, by its id."""
        rows = self._connection.execute(
            "SELECT trial_id, coalesce(value, 0) = 1 FROM trials LEFT JOIN ("
            "SELECT * FROM measures WHERE measure = ?) USING (study, trial_id) "
            "WHERE study = ? AND status != 'missing'",
            [PASSED, STUDY],
        ).fetchall()
        return dict(rows)

    def record(self, trial: ManualTrial, record: TrialRecord) -> None:
        """Write what came of a planned trial, all its rows or none.

        Raises
        ------
        StoreError
            If they cannot be written (a full disk).
        """
        trial_id = trial.key.trial_id
        with _Transaction(self._connection, self._path):
            self._connection.execute(
                "UPDATE trials SET status = ?, attempts = coalesce(attempts, 0) + 1, wall_ms = ?, "
                "error = ? WHERE study = ? AND trial_id = ? AND status = 'missing'",
                [
                    "completed" if record.blocked is None else "missing",
                    record.seconds * 1000.0 if record.blocked is None else None,
                    None if record.blocked is None else f"environment blocked: {record.blocked}",
                    STUDY,
                    trial_id,
                ],
            )
            if record.blocked is None:
                self._declare((), record.gates)
                for table, rows in _rows(trial, record).items():
                    named = ({"study": STUDY, "trial_id": trial_id, **row} for row in rows)
                    add_rows(self._connection, table, named)

    def _declare(self, arms: Iterable[str], gates: Iterable[str]) -> None:
        """Add to the declaration what it lacks: arms as they come, gates sorted."""
        design = self._design.design
        every_arm = tuple(dict.fromkeys((*design.arms, *arms)))
        measures = self._design.measures
        new = set(gates)
        every_gate = tuple(sorted({*measures.others, *new}))
        # A file of a version that knew no differences declares none.
        harmful = tuple(sorted({*measures.harmful, *(new & set(DIFFERENCES))}))
        told = (design.arms, measures.others, measures.harmful)
        if (every_arm, every_gate, harmful) == told:
            return
        self._design = self._design.model_copy(
            update={
                "design": design.model_copy(update={"arms": every_arm}),
                "measures": measures.model_copy(update={"others": every_gate, "harmful": harmful}),
            }
        )
        self._connection.execute(
            "UPDATE studies SET design = ? WHERE study = ?", [self._design.to_json(), STUDY]
        )


class _Transaction:
    """All statements within or none; a failure to write is said in the user's terms."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def __enter__(self) -> None:
        self._connection.execute("BEGIN")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self._connection.execute("COMMIT")
                return
        except duckdb.Error as failure:
            error = failure
        with suppress(duckdb.Error):
            self._connection.execute("ROLLBACK")
        if isinstance(error, duckdb.Error):
            raise StoreError(why_not_written(self._path, error)) from None


def _read_design(connection: duckdb.DuckDBPyConnection, path: Path) -> Declaration:
    names = study_names(connection)
    if STUDY not in names:
        held = ", ".join(names) or "no study"
        raise StoreError(
            f"{shown_file(path)}: holds {held} and not {STUDY}; give a file of its own to the "
            "trials of agents that are run by hand"
        )
    row = connection.execute("SELECT design FROM studies WHERE study = ?", [STUDY]).fetchone()
    try:
        return Declaration.from_json(str(row[0] if row else ""))
    except ValidationError:
        raise StoreError(
            f"{shown_file(path)}: the declaration of {STUDY} cannot be read; give another file"
        ) from None


def _new_design(planned: Sequence[ManualTrial]) -> Declaration:
    return Declaration.model_validate(
        {
            "study": {
                "id": STUDY,
                "title": "Handoff conformance of agents that were run by hand",
                "question": "Which gates does each agent pass?",
                "origin": "run",
                "source": "steelyard handoff, on this machine",
                "licence": "not stated",
            },
            "data": {"source": STUDY},
            "design": {
                "arms": list(dict.fromkeys(trial.stratum.arm for trial in planned)),
                "perturbations": list(dict.fromkeys(trial.key.perturbation for trial in planned)),
            },
            "measures": {"primary": PASSED, "others": DIFFERENCES, "harmful": DIFFERENCES},
            "missing": {
                "policy": "exclude",
                "reason": "an agent whose sandbox could not start has shown nothing",
            },
        }
    )


def _add_planned(connection: duckdb.DuckDBPyConnection, planned: Sequence[ManualTrial]) -> None:
    """Add a missing row for every trial that has none."""
    present = connection.execute("SELECT trial_id FROM trials WHERE study = ?", [STUDY]).fetchall()
    known = {row[0] for row in present}
    keys = [trial.key for trial in planned if trial.key.trial_id not in known]
    add_rows(
        connection,
        "trials",
        [
            {
                "study": STUDY,
                "arm": key.arm,
                "task": key.task,
                "perturbation": key.perturbation,
                "variant": key.variant,
                "repeat": key.repeat,
                "status": "missing",
            }
            for key in keys
        ],
    )


def _rows(trial: ManualTrial, record: TrialRecord) -> dict[str, list[dict[str, Any]]]:
    values = {PASSED: record.passed, **record.gates}
    facts = trial.stratum.covariates | record.prompts
    return {
        "states": [{"state": storable(record.report)}],
        "measures": [
            {"measure": name, "value": None if value is None else float(value)}
            for name, value in values.items()
        ],
        "covariates": [{"name": name, "value": value} for name, value in facts.items()],
    }
