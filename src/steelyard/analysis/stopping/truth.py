"""Whether a state satisfies the task: ground truth that a policy cannot see.

Without it one can only say how much a policy would have cut off, not whether that was work or
waste.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd

from steelyard.analysis.names import resolve_measure
from steelyard.analysis.stopping.places import (
    FloatArray,
    IntArray,
    ObjectArray,
    place_keys,
    trial_places,
)
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

SOURCES: Final = ("auto", "steps", "measure", "none")

SATISFIED_FROM: Final = "satisfied_from_step"
"""The measure that gives the first step from which on the task is satisfied."""

_FIELD = "satisfied"
_WRONG = 2.0


def read_truth(
    tables: StudyTables,
    trial_ids: pd.Series,
    trial: IntArray,
    step: IntArray,
    problem: ObjectArray,
    *,
    source: str = "auto",
    outcome: str | None = None,
) -> FloatArray:
    """Return whether each state satisfies the task.

    Parameters
    ----------
    tables : StudyTables
        The study.
    trial_ids : pandas.Series
        The trials in question.
    trial, step : numpy.ndarray of int64, shape (n,)
        The states, sorted; ``trial`` holds places in ``trial_ids``.
    problem : numpy.ndarray of object, shape (trials,)
        Why a trial cannot be replayed; filled in where a recorded truth is neither true nor false.
    source : {"auto", "steps", "measure", "none"}
        ``steps``: the field ``satisfied`` of the ``output`` of the step with the state's index.
        ``measure``: true from the step ``satisfied_from_step`` on; false throughout where that
        measure has no value and the outcome is 0; else not known. ``auto``: steps where any step
        has the field, else the measure where it exists, else none.
    outcome : str, optional
        The 0/1 measure of the agent's own result; the study's primary measure when absent.

    Returns
    -------
    numpy.ndarray of float64, shape (n,)
        1, 0, or NaN where it is not known.

    Raises
    ------
    InputError
        For an unknown source, one of which the study holds nothing, or an ``outcome`` that is no
        name or whose values are not 0 and 1.
    UnknownNameError
        For an ``outcome`` that no trial of the study has, whether or not the source needs it;
        under ``measure`` also where the primary measure is needed and there is none.
    """
    if source not in SOURCES:
        raise InputError(f"truth is {source!r}; accepted: {', '.join(SOURCES)}")
    if outcome is not None:
        _check_outcome(tables, outcome)
    satisfied = np.full(len(step), np.nan)
    if source == "none":
        return satisfied
    if source in ("auto", "steps") and _from_steps(
        tables, trial_ids, place_keys(trial, step), problem, satisfied
    ):
        return satisfied
    if source == "steps":
        raise InputError(
            f"study {tables.study}: no step's output has a field {_FIELD!r}; other sources of "
            "truth: measure, none"
        )
    first = _measured(tables, trial_ids, SATISFIED_FROM)
    if source in ("auto", "measure") and first is not None:
        name = tables.design.measures.primary if outcome is None else outcome
        if source == "measure":
            resolve_measure(tables, name)
        results = _measured(tables, trial_ids, name)
        failed = np.zeros(len(trial_ids), dtype=bool) if results is None else results == 0
        known = ~np.isnan(first[trial])
        satisfied[known] = (step >= first[trial])[known]
        satisfied[~known & failed[trial]] = 0.0
        return satisfied
    if source == "measure":
        raise InputError(
            f"study {tables.study}: no trial has the measure {SATISFIED_FROM!r}; other sources "
            "of truth: steps, none"
        )
    return satisfied


def _check_outcome(tables: StudyTables, outcome: str) -> None:
    """Refuse an outcome that was asked for and says of no trial that it failed or succeeded."""
    if not isinstance(outcome, str):
        raise InputError(f"outcome is {outcome!r}; accepted: the name of a 0/1 measure")
    resolve_measure(tables, outcome)
    query = """
        SELECT trial_id, value FROM measures
        WHERE study = ? AND measure = ? AND value NOT IN (0, 1) ORDER BY trial_id LIMIT 1
    """
    wrong = tables.connection.cursor().execute(query, [tables.study, outcome]).fetchone()
    if wrong is not None:
        raise InputError(
            f"study {tables.study}: the measure {outcome!r} is {wrong[1]:g} in trial {wrong[0]}; "
            "an outcome is 0 or 1"
        )


def _from_steps(
    tables: StudyTables,
    trial_ids: pd.Series,
    keys: IntArray,
    problem: ObjectArray,
    satisfied: FloatArray,
) -> bool:
    """Fill in what the steps say; return whether they say anything."""
    query = f"""
        SELECT p.place, CAST(s.step_index AS BIGINT) AS step_index,
               CAST(json_extract(s.output, '$.{_FIELD}') AS VARCHAR) AS said,
               CASE said WHEN 'true' THEN 1.0 WHEN 'false' THEN 0.0 WHEN 'null' THEN NULL
                    ELSE {_WRONG} END AS satisfied
        FROM steps s JOIN trial_places p USING (trial_id)
        WHERE s.study = ? AND said IS NOT NULL
        ORDER BY p.place, s.step_index
    """
    with trial_places(tables, trial_ids) as connection:
        rows = connection.sql(query, params=[tables.study]).to_arrow_table()
    if not rows.num_rows:
        return False
    places, steps = (rows.column(name).to_numpy() for name in ("place", "step_index"))
    values = rows.column("satisfied").to_numpy(zero_copy_only=False).astype(float)
    for row in np.flatnonzero(values == _WRONG)[::-1]:
        said = rows.column("said")[int(row)].as_py()
        problem[places[row]] = f"{_FIELD} is {said} at step {steps[row]}; accepted: true or false"
    wanted = place_keys(places, steps)
    at = np.searchsorted(keys, wanted)
    found = at < len(keys)
    found[found] = keys[at[found]] == wanted[found]
    satisfied[at[found]] = np.where(values[found] == _WRONG, np.nan, values[found])
    return True


def _measured(tables: StudyTables, trial_ids: pd.Series, measure: str) -> FloatArray | None:
    """Return a measure of each trial, NaN where it has none; None if no trial has a row."""
    query = "SELECT trial_id, value FROM measures WHERE study = ? AND measure = ?"
    rows = tables.connection.execute(query, [tables.study, measure]).df()
    if rows.empty:
        return None
    values = rows.set_index("trial_id")["value"].astype(float)
    return np.asarray(values.reindex(trial_ids), dtype=float)
