"""Tasks that tell arms apart, and tasks that everybody passes or nobody does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.gates import gate_values
from steelyard.analysis.names import resolve_measure

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

ALL_PASS, ALL_FAIL, TELLS = "all pass", "all fail", "tells apart"


def task_verdicts(
    tables: StudyTables, measure: str | None = None, *, committed: str | None = None
) -> pd.DataFrame:
    """Count for every task the arms that pass it, and flag those that tell no arm apart.

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        A measure of 0 and 1; the study's primary measure when absent.
    committed : str, optional
        The measure that is 1 in a trial in which something wrong was done.

    Returns
    -------
    pandas.DataFrame
        One row per task, sorted: ``task``, ``arms`` with a scored trial of it, ``passing`` (arms
        all of whose scored trials pass), ``failing`` (none of whose do), ``mixed`` (the others),
        ``share`` = passing / arms, ``flag``: ``all pass`` or ``all fail`` where every arm does, so
        that the task tells no two apart, else ``tells apart``. With ``committed``, ``committing``:
        arms that did something wrong in a trial of it.

    Raises
    ------
    UnknownNameError
        No such measure.
    InputError
        A measure is not 0 or 1.
    """
    name = resolve_measure(tables, measure)
    arms = _by_arm(tables, name)
    acts = None if committed is None else _by_arm(tables, resolve_measure(tables, committed))
    rows = []
    for task, part in arms.groupby("task", sort=True):
        passing, failing = int((part["min"] == 1.0).sum()), int((part["max"] == 0.0).sum())
        flag = ALL_PASS if passing == len(part) else ALL_FAIL if failing == len(part) else TELLS
        row: dict[str, Any] = {
            "task": str(task),
            "arms": len(part),
            "passing": passing,
            "failing": failing,
            "mixed": len(part) - passing - failing,
            "share": passing / len(part),
            "flag": flag,
        }
        if acts is not None:
            row["committing"] = int((acts.loc[acts["task"] == task, "max"] == 1.0).sum())
        rows.append(row)
    return pd.DataFrame(rows)


def _by_arm(tables: StudyTables, measure: str) -> pd.DataFrame:
    """Return the least and the largest value of every arm in every task."""
    scored = gate_values(tables, [measure]).dropna(subset="value")
    found = scored.groupby(["task", "arm"], observed=True)["value"].agg(["min", "max"])
    return found.reset_index()
