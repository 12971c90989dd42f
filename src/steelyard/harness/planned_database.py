"""Making the database of a run: the whole plan as rows, or no file at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import duckdb

from steelyard.errors import StoreError
from steelyard.harness.study import RunnableStudy
from steelyard.harness.trial import PlannedTrial
from steelyard.store.batch import Batch
from steelyard.store.connect import create
from steelyard.store.rows import add_rows, add_study
from steelyard.store.schema import TABLES
from steelyard.trials.ids import PARTS

VARIANT = "variant_meta"
"""The covariate that holds a variant's meta as JSON text."""

PLAN_CHUNK = 5_000


def plan_database(
    path: Path,
    study: RunnableStudy,
    trials: Iterable[PlannedTrial],
    skipped: Iterable[dict[str, Any]] = (),
) -> None:
    """Make the database of a run with every trial as a missing row.

    Parameters
    ----------
    path : pathlib.Path
        The file to make; its folder is made if it is absent.
    study : RunnableStudy
    trials : iterable of PlannedTrial
    skipped : iterable of dict
        Rows of ``skipped_rows``: variants that a perturbation discarded.

    Raises
    ------
    StoreError
        If it cannot be written. A file that another run made in the meantime is left as it is.
    """

    def fill(connection: duckdb.DuckDBPyConnection) -> None:
        add_study(connection, study.declaration)
        add_rows(connection, "skipped_rows", skipped)
        planned = iter(trials)
        while chunk := list(islice(planned, PLAN_CHUNK)):
            _add_plan(connection, study.id, chunk)

    make_database(path, fill)


def make_database(path: Path, fill: Callable[[duckdb.DuckDBPyConnection], None]) -> None:
    """Make a database that has its name only when everything is in it.

    Parameters
    ----------
    path : pathlib.Path
        The file to make; its folder is made if it is absent.
    fill : callable
        Adds the rows, within one transaction.

    Raises
    ------
    StoreError
        If it cannot be written. A file that another run made in the meantime is left as it is.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"{path.parent.name}: cannot be made: {error.strerror}") from None
    _clear_leftovers(path)
    beside = path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")
    try:
        connection = create(beside)
        try:
            connection.execute("BEGIN")
            fill(connection)
            connection.execute("COMMIT")
            # Closing does the same, but says nothing when the disk is full; the log stays behind.
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        _move_into_place(beside, path)
    except duckdb.Error as error:
        raise StoreError(why_not_written(path, error, "nothing was written")) from None
    except StoreError as error:
        raise StoreError(str(error).replace(beside.name, path.name)) from None
    finally:
        for leftover in (beside, beside.with_name(beside.name + ".wal")):
            with suppress(OSError):
                leftover.unlink()


def _add_plan(
    connection: duckdb.DuckDBPyConnection, study: str, chunk: Sequence[PlannedTrial]
) -> None:
    ids = [trial.key.trial_id for trial in chunk]
    planned = Batch(TABLES["trials"])
    planned.extend(
        {
            "study": [study] * len(ids),
            "trial_id": ids,
            **{part: [getattr(trial.key, part) for trial in chunk] for part in PARTS},
            "status": ["missing"] * len(ids),
            "seed": [trial.seed for trial in chunk],
        },
        ids,
    )
    planned.insert(connection)
    made = [(name, trial.meta) for name, trial in zip(ids, chunk, strict=True)]
    made = [(name, meta) for name, meta in made if meta != "{}"]
    variants = Batch(TABLES["covariates"])
    variants.extend(
        {
            "study": [study] * len(made),
            "trial_id": [name for name, _ in made],
            "name": [VARIANT] * len(made),
            "value": [meta for _, meta in made],
        },
        [name for name, _ in made],
    )
    variants.insert(connection)


def _move_into_place(beside: Path, path: Path) -> None:
    """Give the finished file its name unless there is one: then another run was quicker."""
    try:
        os.link(beside, path)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            beside.rename(path)


def _clear_leftovers(path: Path) -> None:
    """Delete what planning left that was killed: files beside the database, of a process that was.

    Another process may be planning the same study right now; its file is left alone.
    """
    for leftover in path.parent.glob(f".{path.name}.*-*"):
        process = leftover.name.removeprefix(f".{path.name}.").partition("-")[0]
        if process.isdigit() and not _is_alive(int(process)):
            leftover.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it belongs to another user
        return True
    return True


def why_not_written(
    path: Path, error: duckdb.Error, left: str = "the trials written so far are kept"
) -> str:
    """Return the message for a database that could not be written, with what is left of it."""
    text = str(error)
    if "No space left" in text or ("disk" in text.lower() and "full" in text.lower()):
        return (
            f"{path.name}: the disk is full; {left}. Free some space and run the same command "
            "again: it goes on where it stopped"
        )
    first = text.splitlines()[0].replace(str(path.parent), "").strip()
    return f"{path.name}: cannot be written: {first}"
