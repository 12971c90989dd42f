"""What a repeat is worth: how often repeats agree, and which error their spread describes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.denominators import (
    COUNTS,
    Counted,
    cases,
    count_trials,
    counted_groups,
)
from steelyard.analysis.names import (
    Filters,
    resolve_by,
    resolve_filters,
    resolve_measure,
    resolve_policy,
    sort_by_design,
)
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import intraclass_correlation, mean_and_sem_over_repeats

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

UNITS: Final = {
    "variant": ["arm", "task", "perturbation", "variant"],
    "task": ["arm", "task", "perturbation"],
}
"""What counts as "the same trial again": the same variant, or the same task and perturbation."""

FACETS: Final = ("outcome", "state", "steps")


def repeat_agreement(
    tables: StudyTables,
    measure: str | None = None,
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    unit: str = "variant",
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Count the cells of the design whose repeats came out identical.

    An arm that plans deterministically gives the same trial again and again. Its repeats are
    copies and not observations, and an interval that counts them as independent is too narrow by
    construction. A cell is one condition that ran at least twice; its trials are compared in
    their outcome, in the terminal state, and in their steps (kind, name, arguments and error of
    each), as far as the tables hold them.

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        The outcome to compare; the study's primary measure when absent.
    by : str or sequence of str
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``.
    unit : {"variant", "task"}
        ``variant``: a cell is arm x task x perturbation x variant, and its trials are repeats.
        ``task``: a cell is arm x task x perturbation, so that the variants of a perturbation are
        compared too.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group with a completed trial, in the study's order:

        - the ``by`` columns, ``measure`` and ``unit``;
        - ``cells``: cells with at least two completed trials; ``trials``: trials in them;
        - ``outcome_known``, ``state_known``, ``steps_known``: cells in which that is recorded for
          every trial; ``outcome_identical``, ``state_identical``, ``steps_identical``: those in
          which it is the same for all trials;
        - ``identical``: cells that are the same in everything that is known (at least one thing);
        - ``distinct_results``: different combinations of outcome, state and steps, added up over
          the cells; equal to ``cells`` when every repeat is a copy, to ``trials`` when none is;
        - ``icc``: intraclass correlation of the outcome within cells, NaN where undefined;
        - ``reason``: why nothing can be said (``no cell was repeated``), else empty.

    Raises
    ------
    UnknownNameError, InputError
        A name that the study does not hold, an unknown column or unit, or no completed trial.
    """
    columns = resolve_by(by)
    if unit not in UNITS:
        raise InputError(f"unit is {unit!r}; accepted: {', '.join(UNITS)}")
    name = resolve_measure(tables, measure)
    trials = _fetch_results(tables, name, resolve_filters(tables, filters))
    if trials.empty:
        raise InputError(f"study {tables.study}: no completed trial with the filters given")
    trials = sort_by_design(tables, trials, (*columns, "trial_id"))
    # A cell never crosses a group, so that the groups' counts add up to the total.
    cells = trials.groupby(list(dict.fromkeys([*UNITS[unit], *columns])), sort=False)
    group = pd.Series(0, index=trials.index)
    if columns:
        group = trials.groupby(list(columns), sort=False).ngroup()
    counts = _agreement(trials, cells.ngroup().to_numpy())
    group_of_cell = group[cells.head(1).index].to_numpy()
    table = trials.loc[~group.duplicated(), list(columns)].reset_index(drop=True)
    table = table.assign(measure=name, unit=unit).join(counts.groupby(group_of_cell).sum())
    repeated = cells["trial_id"].transform("size").ge(2)
    table["icc"] = [
        _icc(trials[repeated & group.eq(which)], UNITS[unit]) for which in range(len(table))
    ]
    return table.assign(reason=np.where(table["cells"] > 0, "", "no cell was repeated"))


def seeds(
    tables: StudyTables,
    measure: str | None = None,
    *,
    by: str | Sequence[str] = ("arm",),
    missing: str | None = None,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Set the error over repeats beside the error over tasks.

    A benchmark that is run with three seeds is often reported as mean ± standard error of the
    three results. That error answers "how far would another run over these very tasks be from
    this one"; it shrinks to 0 when the agent is consistent, and says nothing about other tasks.
    The standard error over tasks answers "how far would this be from the result on another
    sample of such tasks".

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        Any measure with values on one scale; the study's primary measure when absent.
    by : str or sequence of str
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``.
    missing : {"exclude", "fail", "bounds", "recorded"}, optional
        Missing policy, see :func:`steelyard.analysis.selection.select`.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group (and case), in the study's order: the ``by`` columns, ``measure``,
        ``missing_policy``, ``case``, the counts of
        :func:`steelyard.analysis.denominators.count_trials`, and

        - ``mean_over_repeats`` (every repeat weighs the same), its
          ``standard_error_over_repeats`` (standard deviation of the repeats' means / √repeats,
          NaN with one repeat) and ``n_repeats``;
        - ``mean_over_tasks`` (every task weighs the same), its ``standard_error_over_tasks``
          (standard deviation of the tasks' means / √tasks, NaN with one task) and ``n_tasks``;
        - ``balanced``: every task has every repeat, so that the two means are one;
        - ``tasks_agreeing``: tasks with at least two counted trials, all of the same value;
        - ``reason``: why a standard error is absent, else empty.

    Raises
    ------
    UnknownNameError, InputError
        As :func:`steelyard.analysis.selection.select`; also for ``repeat`` in ``by``.
    """
    columns = resolve_by(by)
    if "repeat" in columns:
        raise InputError("cannot group by 'repeat' here: the spread over repeats is the question")
    name, policy = resolve_measure(tables, measure), resolve_policy(tables, missing)
    trials = select(tables, name, policy, binary=False, **filters)
    parts = []
    for case, chosen in cases(trials, policy):
        spread = pd.DataFrame([_spread(group) for group in counted_groups(chosen, columns)])
        parts.append(count_trials(chosen, columns).join(spread).assign(case=case))
    table = pd.concat(parts, ignore_index=True).assign(measure=name, missing_policy=policy)
    shown = [*columns, "measure", "missing_policy", "case", *COUNTS, *spread.columns]
    return sort_by_design(tables, table, columns)[shown]


def _fetch_results(
    tables: StudyTables, measure: str, chosen: dict[str, list[str] | list[int]]
) -> pd.DataFrame:
    """Return the completed trials with their outcome, state and a digest of their steps."""
    clauses = ["t.study = ?", "t.status = 'completed'"]
    values: list[object] = [tables.study, measure, tables.study]
    for column, names in chosen.items():
        clauses.append(f"list_contains(?, t.{column})")
        values.append(names)
    query = f"""
        WITH paths AS (
            SELECT trial_id, md5(CAST(to_json(list(
                       struct_pack(kind, name, arguments, error) ORDER BY step_index
                   )) AS VARCHAR)) AS steps
            FROM steps WHERE study = ? GROUP BY trial_id
        )
        SELECT t.trial_id, t.arm, t.task, t.perturbation, t.variant, t.repeat,
               m.value AS outcome, CAST(s.state AS VARCHAR) AS state, p.steps
        FROM trials t
        LEFT JOIN measures m
               ON m.study = t.study AND m.trial_id = t.trial_id AND m.measure = ?
        LEFT JOIN states s ON s.study = t.study AND s.trial_id = t.trial_id
        LEFT JOIN paths p ON p.trial_id = t.trial_id
        WHERE {" AND ".join(clauses)}
    """
    return tables.connection.execute(query, values).df()


def _agreement(trials: pd.DataFrame, cell: npt.NDArray[Any]) -> pd.DataFrame:
    """Return what is known and what agrees in each cell; all 0 for one that was not repeated."""
    # Codes in place of texts: -1 is unknown, equal codes are equal results.
    codes = trials[list(FACETS)].apply(lambda column: pd.factorize(column)[0])
    lowest, highest = codes.groupby(cell).min(), codes.groupby(cell).max()
    known = lowest.ge(0)
    same = known & lowest.eq(highest)
    size = np.bincount(cell)
    counts = pd.DataFrame({"cells": 1, "trials": size}, index=known.index)
    for facet in FACETS:
        counts[f"{facet}_known"] = known[facet].astype(int)
        counts[f"{facet}_identical"] = same[facet].astype(int)
    counts["identical"] = ((same | ~known).all(axis=1) & known.any(axis=1)).astype(int)
    counts["distinct_results"] = codes.assign(cell=cell).drop_duplicates()["cell"].value_counts()
    return counts.mul(size >= 2, axis=0)


def _icc(repeated: pd.DataFrame, cells: list[str]) -> float:
    """Return the intraclass correlation of the outcome within repeated cells."""
    measured = repeated[repeated["outcome"].notna()]
    if measured.empty:
        return float("nan")
    names = measured.groupby(cells, sort=False).ngroup()
    return intraclass_correlation(measured["outcome"].to_numpy(dtype=float), names.to_numpy())


def _spread(group: Counted) -> dict[str, Any]:
    """Return both means of one group with their standard errors."""
    counted = pd.DataFrame({"task": group.tasks, "repeat": group.repeats, "value": group.outcomes})
    # One number per task and repeat: several variants of a task belong to one repeat of it.
    cells = counted.groupby(["task", "repeat"], as_index=False)["value"].mean()
    summary = mean_and_sem_over_repeats(
        cells["value"].to_numpy(), cells["task"].to_numpy(), cells["repeat"].to_numpy()
    )
    row: dict[str, Any] = summary.to_row()
    by_task = counted.groupby("task")["value"].agg(["min", "max", "size"])
    agreeing = by_task["size"].ge(2) & by_task["min"].eq(by_task["max"])
    reason = row.pop("reason")
    row.pop("n")
    return row | {"tasks_agreeing": int(agreeing.sum()), "reason": reason}
