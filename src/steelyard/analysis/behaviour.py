"""The path of every trial, read at once: what the analyses over many trials start from.

:func:`steelyard.analysis.trajectories.read_trials` gives whole trials, with arguments and
outputs. Most questions about behaviour need the names of the steps alone, and need them for every
trial of a study; here they come out of one query, each distinct path once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.names import DIMENSIONS, Filters, resolve_filters, sort_by_design
from steelyard.analysis.selection import fetch_trials, select
from steelyard.analysis.trajectories import PathKind, population
from steelyard.errors import DataError, InputError
from steelyard.trials.model import Step
from steelyard.trials.paths import FailedCalls, Path, check_failed_calls

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

KINDS_ON_PATH = {"effect": ("tool_call",), "full": ("tool_call", "decision")}


@dataclass(frozen=True, eq=False)
class Behaviours:
    """What the trials of a study did.

    Attributes
    ----------
    trials : pandas.DataFrame
        ``trial_id``, ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``, ``status`` and
        ``path``: the position of the trial's path in ``paths``, -1 where the trial is not scored.
        In the study's order of arms and perturbations, then by task, variant and repeat.
    paths : tuple of Path
        The distinct paths, sorted.
    missing_policy : str
    """

    trials: pd.DataFrame
    paths: tuple[Path, ...]
    missing_policy: str

    @property
    def scored(self) -> pd.DataFrame:
        """The trials that have a path (possibly an empty one)."""
        return self.trials[self.trials["path"] >= 0]


def read_behaviours(
    tables: StudyTables,
    *,
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    missing: str | None = None,
    **filters: Unpack[Filters],
) -> Behaviours:
    """Read the paths of a study's trials.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    path : {"effect", "full"}
        Tool calls alone, or decisions as well. Arms that decide in different ways share no full
        path, so the effect path is what compares them.
    failed_calls : {"exclude", "include"}
        Whether a call that ended in an error is part of the path.
    missing : {"exclude", "recorded"}, optional
        The study's declared policy when absent; see
        :func:`steelyard.analysis.trajectories.population`.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several; the
        study's declared scope where none is given.

    Returns
    -------
    Behaviours

    Raises
    ------
    InputError
        The study holds no steps; an unknown option; filters that leave no trial with a path.
    UnknownNameError
        A filter value of which the study has no trial.
    DataError
        A step that has no name.
    """
    if path not in KINDS_ON_PATH:
        raise InputError(f"path is {path!r}; accepted are 'effect' (tool calls) and 'full'")
    check_failed_calls(failed_calls)
    policy = tables.design.missing.policy if missing is None else missing
    population((), policy)  # refuses a policy that no trajectory can follow
    _require_steps(tables)
    trials = fetch_trials(tables, resolve_filters(tables, filters))
    if trials.empty:
        raise InputError(f"study {tables.study}: no trial passes the filters; widen them")
    trials = sort_by_design(tables, trials, DIMENSIONS)
    found = _paths(tables, path, failed_calls)
    statuses = ("completed",) if policy == "exclude" else ("completed", "failed")
    scored = trials["status"].isin(statuses)
    if not scored.any():
        raise InputError(
            f"study {tables.study}: none of the {len(trials)} trials that pass the filters ran to "
            f"its end (missing policy {policy!r}), so there is no path; widen the filters"
        )
    taken = [
        found.get(name, ()) if counts else None
        for name, counts in zip(trials["trial_id"], scored, strict=True)
    ]
    distinct = sorted({path for path in taken if path is not None})
    place = {path: i for i, path in enumerate(distinct)}
    numbers = [-1 if path is None else place[path] for path in taken]
    columns = ["trial_id", *DIMENSIONS, "status"]
    return Behaviours(
        trials[columns].assign(path=np.array(numbers, dtype=np.int64)), tuple(distinct), policy
    )


def with_outcomes(
    tables: StudyTables,
    behaviours: Behaviours,
    measure: str | None,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Return the scored trials that have an outcome, with it in a column ``outcome`` (0 or 1).

    Parameters
    ----------
    tables : StudyTables
        The study.
    behaviours : Behaviours
        Of the same filters.
    measure : str, optional
        A 0/1 measure; the study's primary one when absent.
    **filters
        As for :func:`read_behaviours`.

    Raises
    ------
    UnknownNameError, InputError
        See :func:`steelyard.analysis.selection.select`.
    """
    chosen = select(tables, measure, behaviours.missing_policy, **filters)
    outcome = chosen.set_index("trial_id")["value"].dropna().astype(np.int64)
    trials = behaviours.scored
    trials = trials[trials["trial_id"].isin(outcome.index)]
    if trials.empty:
        raise InputError(
            f"study {tables.study}: none of the {len(behaviours.trials)} trials that pass the "
            "filters has both a path and an outcome; widen the filters"
        )
    return trials.assign(outcome=outcome.loc[trials["trial_id"]].to_numpy()).reset_index(drop=True)


def _require_steps(tables: StudyTables) -> None:
    query = "SELECT count(*) FROM (SELECT 1 FROM steps WHERE study = ? LIMIT 1)"
    if not tables.connection.execute(query, [tables.study]).fetchall()[0][0]:
        raise InputError(
            f"study {tables.study} holds no steps, so its trajectories cannot be compared; only "
            "its outcomes are recorded"
        )


def _paths(tables: StudyTables, path: PathKind, failed_calls: FailedCalls) -> dict[str, Path]:
    """Return the path of every trial that has a step on it, by trial id."""
    query = f"""
        SELECT trial_id, kind, name FROM steps
        WHERE study = ? AND list_contains(?, kind)
              {"AND error IS NULL" if failed_calls == "exclude" else ""}
        ORDER BY trial_id, step_index
    """
    values: list[Any] = [tables.study, list(KINDS_ON_PATH[path])]
    rows = tables.connection.execute(query, values).fetchall()
    checked: dict[tuple[str, str], tuple[str, str]] = {}
    paths: dict[str, list[tuple[str, str]]] = {}
    for trial_id, kind, name in rows:
        token = checked.get((kind, name))
        if token is None:
            token = checked[kind, name] = _token(tables.study, trial_id, kind, name)
        paths.setdefault(trial_id, []).append(token)
    return {trial_id: tuple(steps) for trial_id, steps in paths.items()}


def _token(study: str, trial_id: str, kind: str, name: str) -> tuple[str, str]:
    """Return kind and name as they stand in a path; a step must accept them."""
    try:
        Step(kind, name)
    except InputError as error:
        raise DataError(f"{study}, trial {trial_id}: {error}") from None
    return kind, name
