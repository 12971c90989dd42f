"""The states of a study's trials, read from the tables in one pass: signals, own stop, truth.

A state is what a step left behind: one row of ``signals``. A trial that cannot be replayed says
why and holds no other up.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, Unpack

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from steelyard.analysis.names import Filters, resolve_filters
from steelyard.analysis.stopping.faults import find_faults, has_fault
from steelyard.analysis.stopping.places import (
    BoolArray,
    FloatArray,
    IntArray,
    ObjectArray,
    place_keys,
)
from steelyard.analysis.stopping.truth import read_truth
from steelyard.errors import InputError
from steelyard.evaluators.bound import SIGNAL_NAMES
from steelyard.store.schema import SIGNALS

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

OWN_STOP: Final = "actual_stop_step"
"""The measure that says at which step the agent itself stopped."""

TRIAL_COLUMNS: Final = (
    "trial_id",
    "arm",
    "task",
    "perturbation",
    "variant",
    "repeat",
    "status",
)
"""What the answers say of a trial before they say where it stops."""


@dataclass(frozen=True)
class States:
    """The states of the trials that a question concerns, up to each agent's own stop.

    Attributes
    ----------
    trials : pandas.DataFrame
        One row per trial, sorted by id: ``trial_id``, ``arm``, ``task``,
        ``perturbation``, ``variant``, ``repeat``, ``status``.
    own_stop : numpy.ndarray of float64, shape (trials,)
        Step index of each agent's own stop, NaN where unknown.
    problem : numpy.ndarray of object, shape (trials,)
        Why each trial cannot be replayed; the empty text where it can.
    trial : numpy.ndarray of int64, shape (n,)
        The trial of each state, as a place in ``trials``; never falls.
    step : numpy.ndarray of int64, shape (n,)
        Step index; rises within a trial.
    signals : dict of str to numpy.ndarray of float64, shape (n,)
        By name; NaN where a signal was not reported.
    satisfied : numpy.ndarray of float64, shape (n,)
        1 where the state satisfies the task, 0 where not, NaN where that is not known.
    """

    trials: pd.DataFrame
    own_stop: FloatArray
    problem: ObjectArray
    trial: IntArray
    step: IntArray
    signals: dict[str, FloatArray]
    satisfied: FloatArray

    @cached_property
    def counts(self) -> IntArray:
        """States of each trial."""
        return np.bincount(self.trial, minlength=len(self.trials)).astype(np.int64)

    @cached_property
    def last(self) -> IntArray:
        """The place of each trial's last state, -1 where it has none."""
        return np.where(self.counts > 0, np.cumsum(self.counts) - 1, -1)

    @cached_property
    def own_stop_state(self) -> IntArray:
        """The place of the state at which each agent stopped, -1 where there is none."""
        if not len(self.step):
            return self.last
        found = (self.last >= 0) & (self.step[self.last] == self.own_stop)
        return np.where(found, self.last, -1)

    @cached_property
    def replayed(self) -> BoolArray:
        """Whether each trial could be replayed."""
        return np.asarray(self.problem == "", dtype=bool)


def read_states(
    tables: StudyTables,
    *,
    truth: str = "auto",
    outcome: str | None = None,
    **filters: Unpack[Filters],
) -> States:
    """Read the states of the trials that pass the filters.

    States after the agent's own stop are no part of what a policy could have shortened; they are
    left out. The agent's own stop is the measure ``actual_stop_step``; a trial without a row of it
    stopped at its last state, and one whose value is NULL stopped nobody knows where.

    Parameters
    ----------
    tables : StudyTables
        The study.
    truth : {"auto", "steps", "measure", "none"}
        Where a state's truth is found, see :func:`steelyard.analysis.stopping.truth.read_truth`.
    outcome : str, optional
        The 0/1 measure of the agent's own result; the study's primary measure when absent.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    States

    Raises
    ------
    InputError
        If no trial passes the filters, or none of those has a state that can be replayed (the
        message says why the first of them cannot).
    UnknownNameError
        As :func:`steelyard.analysis.names.resolve_filters`.
    """
    trials, measured, is_measured = _read_trials(tables, resolve_filters(tables, filters))
    if trials.empty:
        raise InputError(f"study {tables.study}: no trial passes the filters; widen them")
    trial, step, signals, faulty = _read_signals(tables, trials["trial_id"])
    ends = _ends(trial, step, len(trials))
    own_stop = np.where(is_measured, measured, ends)
    problem = _problems(trial, own_stop)
    if faulty:
        for place, said in find_faults(tables, trials["trial_id"]):
            problem[place] = said
    satisfied = read_truth(
        tables, trials["trial_id"], trial, step, problem, source=truth, outcome=outcome
    )
    replayable = problem == ""
    if not replayable.any():
        raise InputError(
            f"study {tables.study}: no trial can be replayed; {trials['trial_id'].iloc[0]}: "
            f"{problem[0]}"
        )
    if not replayable.all() or (ends > own_stop).any():
        kept = replayable[trial] & ~(step > own_stop[trial])
        trial, step, satisfied = trial[kept], step[kept], satisfied[kept]
        signals = {name: column[kept] for name, column in signals.items()}
    return States(trials, own_stop, problem, trial, step, signals, satisfied)


def _read_trials(
    tables: StudyTables, chosen: dict[str, list[str] | list[int]]
) -> tuple[pd.DataFrame, FloatArray, BoolArray]:
    """Return the trials that pass the filters, their own stop as measured, and whether it is.

    They come in the order in which the tables are written, so that the states need no sorting.
    """
    clauses = ["t.study = ?", *(f"list_contains(?, t.{column})" for column in chosen)]
    query = f"""
        SELECT {_DESCRIBED}, m.value AS recorded, m.trial_id IS NOT NULL AS has_row
        FROM trials t
        LEFT JOIN measures m
               ON m.study = t.study AND m.trial_id = t.trial_id AND m.measure = ?
        WHERE {" AND ".join(clauses)} ORDER BY t.trial_id
    """
    values = [OWN_STOP, tables.study, *chosen.values()]
    rows = tables.connection.cursor().sql(query, params=values).to_arrow_table()
    is_measured = np.asarray(rows.column("has_row").to_numpy(), dtype=bool)
    trials: pd.DataFrame = rows.select(TRIAL_COLUMNS).to_pandas()
    return trials, _doubles(rows.column("recorded")), is_measured


_DESCRIBED: Final = ", ".join(
    f"CAST(t.{name} AS BIGINT) AS {name}" if name == "repeat" else f"t.{name}"
    for name in TRIAL_COLUMNS
)


def _read_signals(
    tables: StudyTables, trial_ids: pd.Series
) -> tuple[IntArray, IntArray, dict[str, FloatArray], bool]:
    """Return the states' trials, steps and signals, sorted, and whether any value is wrong."""
    query = f"SELECT trial_id, step_index, {_SELECTED} FROM signals WHERE study = ?"
    rows = tables.connection.cursor().sql(query, params=[tables.study]).to_arrow_table()
    ids = rows.column("trial_id").combine_chunks().dictionary_encode()
    # Not joined in the database: that takes longer than to read the rows.
    found = pc.index_in(ids.dictionary, value_set=pa.array(trial_ids.tolist(), type=pa.string()))
    places = pc.fill_null(found, -1).to_numpy(zero_copy_only=False).astype(np.int64)
    trial = places[ids.indices.to_numpy()] if len(places) else np.empty(0, dtype=np.int64)
    if (places < 0).any():
        rows, trial = rows.filter(pa.array(trial >= 0)), trial[trial >= 0]
    step = rows.column("step_index").to_numpy().astype(np.int64)
    signals = {name: _doubles(rows.column(name)) for name in SIGNAL_NAMES}
    faulty = has_fault(rows, signals | {"step_index": step})
    keys = place_keys(trial, step)
    if not (keys[1:] > keys[:-1]).all():  # not as the loader writes them
        order = np.argsort(keys, kind="stable")
        trial, step = trial[order], step[order]
        signals = {name: column[order] for name, column in signals.items()}
    return trial, step, signals, faulty


_SELECTED: Final = ", ".join(
    # Arrow turns truth values into objects, which is slow.
    f"CAST({name} AS TINYINT) AS {name}" if SIGNALS.column(name).type == "BOOLEAN" else name
    for name in SIGNAL_NAMES
)


def _doubles(column: pa.ChunkedArray) -> FloatArray:
    """Return a column as doubles, NULL as NaN."""
    values: FloatArray = column.to_numpy().astype(np.float64, copy=False)
    return values


def _ends(trial: IntArray, step: IntArray, trials: int) -> FloatArray:
    """Return the step of each trial's last state, NaN where it has none."""
    counts = np.bincount(trial, minlength=trials)
    ends = np.full(trials, np.nan)
    ends[counts > 0] = step[np.cumsum(counts)[counts > 0] - 1]
    return ends


def _problems(trial: IntArray, own_stop: FloatArray) -> ObjectArray:
    """Return for each trial what its states and its own stop lack; the empty text for nothing."""
    counts = np.bincount(trial, minlength=len(own_stop))
    problems = np.where(counts > 0, "", "the trial has no signals").astype(object)
    wrong = (own_stop < 0) | (own_stop != np.floor(own_stop)) | np.isinf(own_stop)
    for place in np.flatnonzero(wrong & ~np.isnan(own_stop)).tolist():
        said = f"{own_stop[place]:g}"
        problems[place] = f"{OWN_STOP} is {said}; accepted: the index of a step, from 0"
    return problems
