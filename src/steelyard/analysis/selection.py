"""The one place where an analysis chooses its trials and says which of them count.

Every analysis asks the same three questions of the tables before it computes anything: which
trials does the question concern (names and filters), who belongs to the population (as assigned,
or only where the perturbation really took place), and what becomes of a trial without a usable
value (the missing policy). The answers are columns of one table, so that each row of a result can
state how many trials were intended, how many were scored, and how many its denominator leaves out.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.names import (
    DIMENSIONS,
    Filters,
    resolve_filters,
    resolve_measure,
    resolve_policy,
    sort_by_design,
)
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

POPULATIONS: Final = ("assigned", "applied")
ATTEMPTS: Final = ("final", "first")
_CASE: Final = ("task", "perturbation", "variant")


def select(
    tables: StudyTables,
    measure: str | None = None,
    missing: str | None = None,
    population: str = "assigned",
    *,
    threshold: float | None = None,
    attempt: str = "final",
    binary: bool = True,
    empty: str = "refuse",
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Return the trials that a question concerns, one row each, with the value that counts.

    A trial concerns the question when it passes the filters and the measure applies to it. A
    completed trial without a row for the measure is one to which the measure does not apply (an
    approval rule on an invoice that needs no approval); it is not listed. A trial that failed or
    never ran has no row either, but it was meant to be measured: it is listed when the measure
    applies to other trials of its arm and task, or when no trial of the task completed, unless
    other arms completed the very same case and the measure applies to none of them.

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        Name of the measure; the study's primary measure when absent.
    missing : {"exclude", "fail", "bounds", "recorded"}, optional
        What becomes of a trial without a score; the study's declared policy when absent.
        ``exclude`` leaves it out of the denominator. ``fail`` counts it as 0. ``bounds`` counts
        it as 0 in the column ``value`` and as 1 in the column ``best``. ``recorded`` takes
        whatever value the table holds, whatever the trial's status; it exists to reproduce
        published figures that scored trials which had crashed.
    population : {"assigned", "applied"}
        ``assigned``: every trial of the condition (intention to treat). ``applied``: only the
        trials whose perturbation is known to have taken place; the trials of the baseline, where
        there is nothing to apply, all belong to it.
    threshold : float, optional
        Turns a graded measure into success: 1 where the value is at least the threshold.
    attempt : {"final", "first"}
        Which attempt a retried trial is judged by. ``final``: the value in the table. ``first``:
        a trial that took more than one attempt counts as 0, because its first one did not
        succeed.
    binary : bool, default True
        Refuse values other than 0 and 1. An analysis of a graded measure passes False.
    empty : {"refuse", "return"}
        What to do when no trial is left. A comparison returns the empty table, because one of
        its two sides may lack a condition.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several. Where
        none is given for a column, the study's declared scope holds.

    Returns
    -------
    pandas.DataFrame
        Columns ``trial_id``, ``arm``, ``task``, ``perturbation``, ``variant`` (text), ``repeat``
        (int), ``status``, ``attempts`` (NA where unknown), ``perturbation_applied`` (boolean,
        NA where unknown), ``recorded`` (float, the value in the table, NaN where it holds none),
        ``standing``, ``value`` and ``best`` (float, NaN where the denominator leaves the trial
        out; they differ only under ``bounds``). ``standing`` is one of: ``scored`` (the value
        comes from the table), ``failed`` (ran and errored), ``missing`` (never ran),
        ``unmeasured`` (completed, but blank or NaN), ``not_applied`` and ``applied_unknown``
        (outside the applied population).
        Rows are in the study's order of arms and perturbations, then by task, variant, repeat.

    Raises
    ------
    UnknownNameError
        A measure or a filter value that the study does not hold.
    InputError
        An unknown policy, population or filter; a value that is neither 0 nor 1 (the message
        names the trial); or no trial at all.
    """
    measure = resolve_measure(tables, measure)
    policy = resolve_policy(tables, missing)
    if population not in POPULATIONS:
        raise InputError(f"population is {population!r}; accepted: {', '.join(POPULATIONS)}")
    if attempt not in ATTEMPTS:
        raise InputError(f"attempt is {attempt!r}; accepted: {', '.join(ATTEMPTS)}")
    chosen = resolve_filters(tables, filters)
    trials = fetch_trials(tables, chosen, measure)
    trials = trials[_is_concerned(tables, measure, trials)]
    if trials.empty and empty == "refuse":
        raise InputError(_nothing_selected(tables.study, measure, chosen))
    trials = sort_by_design(tables, trials, DIMENSIONS)
    trials["standing"] = _standing(tables, trials, policy, population)
    outcome = _outcome(trials, measure, threshold, binary)
    if attempt == "first":
        retried = trials["attempts"].gt(1).fillna(False).to_numpy(dtype=bool)
        outcome = np.where(retried & ~np.isnan(outcome), 0.0, outcome)
    trials["value"], trials["best"] = _count(outcome, trials["standing"], policy)
    return trials.drop(columns="has_row")


def fetch_trials(
    tables: StudyTables, chosen: dict[str, list[str] | list[int]], measure: str | None = None
) -> pd.DataFrame:
    """Return the trials that pass the filters, with their value of a measure if one is named.

    Parameters
    ----------
    tables : StudyTables
        The study.
    chosen : dict
        Checked filters, from :func:`steelyard.analysis.names.resolve_filters`.
    measure : str, optional
        The measure whose value is wanted.

    Returns
    -------
    pandas.DataFrame
        The columns of :func:`select` up to ``recorded``, and ``has_row``: whether the table has
        a row for the trial and the measure. In no particular order.
    """
    clauses = ["t.study = ?"]
    values: list[object] = [measure, tables.study]
    for column, names in chosen.items():
        clauses.append(f"list_contains(?, t.{column})")
        values.append(names)
    query = f"""
        SELECT t.trial_id, t.arm, t.task, t.perturbation, t.variant, t.repeat, t.status,
               t.attempts, t.perturbation_applied,
               m.value AS recorded, m.trial_id IS NOT NULL AS has_row
        FROM trials t
        LEFT JOIN measures m
               ON m.study = t.study AND m.trial_id = t.trial_id AND m.measure = ?
        WHERE {" AND ".join(clauses)}
    """
    trials = tables.connection.execute(query, values).df()
    return trials.astype(
        {
            "repeat": "int64",
            "attempts": "Int64",
            "perturbation_applied": "boolean",
            "recorded": "float64",
            "has_row": "bool",
        }
    )


def _is_concerned(tables: StudyTables, measure: str, trials: pd.DataFrame) -> pd.Series:
    """Tell which trials the measure applies to (see :func:`select`)."""
    has_row = trials["has_row"]
    if bool(has_row.all()):
        return has_row
    applies = _where_it_applies(tables, measure, ("arm", "task"))
    by_task = applies.groupby("task", as_index=False)[["applies", "ran"]].any()
    cells = applies.merge(by_task, on="task", suffixes=("", "_task"))
    # The nearest evidence decides: the arm's own trials of the task, else anyone's.
    elsewhere = cells["applies_task"] | ~cells["ran_task"]
    cells["concerned"] = cells["applies"] | (~cells["ran"] & elsewhere)
    by_case = _where_it_applies(tables, measure, _CASE)
    by_case["refuted"] = by_case["ran"] & ~by_case["applies"]
    concerned = _looked_up(cells, ("arm", "task"), "concerned", trials)
    refuted = _looked_up(by_case, _CASE, "refuted", trials)
    return has_row | (trials["status"].ne("completed") & concerned & ~refuted)


def _where_it_applies(tables: StudyTables, measure: str, columns: tuple[str, ...]) -> pd.DataFrame:
    """Tell for each cell whether a trial has a row of the measure, and whether one completed."""
    cell = ", ".join(f"t.{column}" for column in columns)
    query = f"""
        SELECT {cell}, bool_or(m.trial_id IS NOT NULL) AS applies,
               bool_or(t.status = 'completed') AS ran
        FROM trials t
        LEFT JOIN measures m
               ON m.study = t.study AND m.trial_id = t.trial_id AND m.measure = ?
        WHERE t.study = ? GROUP BY {cell}
    """
    return tables.connection.execute(query, [measure, tables.study]).df()


def _looked_up(
    cells: pd.DataFrame, columns: tuple[str, ...], what: str, trials: pd.DataFrame
) -> np.ndarray:
    """Return a cell's truth value for each trial."""
    known = cells.set_index(list(columns))[what]
    keys = pd.MultiIndex.from_frame(trials[list(columns)])
    return np.asarray(known.reindex(keys), dtype=bool)


def _standing(
    tables: StudyTables, trials: pd.DataFrame, policy: str, population: str
) -> np.ndarray:
    status = trials["status"].to_numpy()
    blank = trials["recorded"].isna().to_numpy()
    standing = np.where(blank, "unmeasured", "scored").astype(object)
    if policy == "recorded":
        standing[blank & (status == "failed")] = "failed"
        standing[blank & (status == "missing")] = "missing"
    else:
        standing[status == "failed"] = "failed"
        standing[status == "missing"] = "missing"
    if population == "applied":
        perturbed = trials["perturbation"].ne(tables.design.design.perturbations[0]).to_numpy()
        applied = trials["perturbation_applied"]
        unknown = applied.isna().to_numpy()
        standing[perturbed & unknown] = "applied_unknown"
        standing[perturbed & ~applied.fillna(True).to_numpy(dtype=bool)] = "not_applied"
    return standing


def _outcome(
    trials: pd.DataFrame, measure: str, threshold: float | None, binary: bool
) -> np.ndarray:
    """Return the value of each scored trial, NaN for the others."""
    scored = trials["standing"].eq("scored").to_numpy()
    outcome = np.where(scored, trials["recorded"].to_numpy(dtype=float), np.nan)
    if threshold is not None:
        if not math.isfinite(threshold):
            raise InputError(f"threshold is {threshold}; accepted: a finite number")
        return np.where(scored, (outcome >= threshold).astype(float), np.nan)
    wrong = scored & (outcome != 0.0) & (outcome != 1.0)
    if binary and wrong.any():
        row = trials.iloc[int(np.flatnonzero(wrong)[0])]
        raise InputError(
            f"measure {measure!r} of trial {row['trial_id']!r} is {row['recorded']}; a rate needs "
            "0 or 1 (pass threshold=... to count values of at least that as successes)"
        )
    return outcome


def _count(outcome: np.ndarray, standing: pd.Series, policy: str) -> tuple[np.ndarray, np.ndarray]:
    """Apply the missing policy: the value that counts, and the best case of it."""
    if policy in ("exclude", "recorded"):
        return outcome, outcome
    # Who is outside the applied population is not missing from it: no policy brings it back.
    inside = ~standing.isin(["not_applied", "applied_unknown"]).to_numpy()
    unscored = inside & np.isnan(outcome)
    worst = np.where(unscored, 0.0, outcome)
    return worst, np.where(unscored, 1.0, outcome) if policy == "bounds" else worst


def _nothing_selected(study: str, measure: str, chosen: dict[str, list[str] | list[int]]) -> str:
    asked = ", ".join(f"{column} {names}" for column, names in chosen.items())
    where = f" with {asked}" if asked else ""
    return f"study {study}: measure {measure!r} applies to no trial{where}; widen the filters"
