"""Finding the trial that a user names, and all that the tables hold about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from steelyard.errors import InputError, UnknownNameError
from steelyard.store import StudyTables, study_names
from steelyard.study import Study, open_connection


class TrialFinder:
    """The trials of a project, by id.

    Parameters
    ----------
    root, database : Path, optional
        As for :func:`steelyard.open`.
    """

    def __init__(self, root: Path | None, database: Path | None) -> None:
        self._connection = open_connection(root=root, database=database)
        self._studies = study_names(self._connection)

    def find(self, name: str, study: str | None = None) -> tuple[Study, str]:
        """Return the study that holds a trial, and the trial's id.

        Parameters
        ----------
        name : str
            A trial id, or ``study:trial_id``.
        study : str, optional
            The study to look in when the name does not say it.

        Raises
        ------
        UnknownNameError
            No such study or trial; the message lists the nearest.
        InputError
            Several studies have such a trial.
        """
        prefix, colon, rest = name.partition(":")
        if colon and prefix in self._studies:
            study, name = prefix, rest
        if study is not None:
            opened = Study(StudyTables(self._connection, study))
            self._check(name, opened.frame("trials")["trial_id"].tolist(), f"study {study}")
            return opened, name
        query = "SELECT study FROM trials WHERE trial_id = ? ORDER BY study"
        holders = [row[0] for row in self._connection.execute(query, [name]).fetchall()]
        if len(holders) > 1:
            raise InputError(
                f"trial {name!r} is in {', '.join(holders)}; say which: --study {holders[0]}, or "
                f"{holders[0]}:{name}"
            )
        if not holders:
            every = self._connection.execute("SELECT DISTINCT trial_id FROM trials").fetchall()
            self._check(name, [row[0] for row in every], "any study")
        return Study(StudyTables(self._connection, holders[0])), name

    @staticmethod
    def _check(name: str, known: Sequence[str], where: str) -> None:
        if name not in set(known):
            raise UnknownNameError("trial", name, known, where)


def record(study: Study, trial_id: str) -> dict[str, Any]:
    """Return all that the tables hold about one trial, as JSON can hold it.

    Parameters
    ----------
    study : Study
        The study.
    trial_id : str
        One of its trials.

    Returns
    -------
    dict
        The trial's row, ``steps`` (None where the study has none), ``state``, ``measures`` (by
        name; NaN where not measured) and ``violations``.
    """
    import json

    from steelyard.analysis.trajectories import read_trial
    from steelyard.report.tables import records
    from steelyard.trials.tokens import arguments_text

    def of(table: str) -> list[dict[str, Any]]:
        frame = study.frame(table)
        return records(frame[frame["trial_id"] == trial_id])

    steps = None
    if not study.frame("steps").empty:
        steps = [
            {
                "kind": step.kind,
                "name": step.name,
                "arguments": arguments_text(step.arguments),
                "error": step.error,
            }
            for step in read_trial(study.tables, trial_id).steps
        ]
    row = {name: _absent_is_none(value) for name, value in of("trials")[0].items()}
    states = of("states")
    return {
        **row,
        "steps": steps,
        "state": json.loads(states[0]["state"]) if states else None,
        "measures": {measure["measure"]: measure["value"] for measure in of("measures")},
        "violations": of("violations"),
    }


def _absent_is_none(value: Any) -> Any:
    import pandas as pd

    return None if value is None or pd.isna(value) else value
