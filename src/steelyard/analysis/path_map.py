"""The distinct paths of each task: which trials took them, and how alike they are.

Trials of a task that took the same path are one row here, so that a task of a hundred trials is
described by the handful of things that were done in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.behaviour import read_behaviours
from steelyard.analysis.names import Filters, sort_by_design
from steelyard.analysis.pair_similarity import Definition, task_similarities
from steelyard.analysis.trajectories import PathKind
from steelyard.trials.paths import FailedCalls, Path

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


@dataclass(frozen=True, eq=False)
class PathMap:
    """The paths of each task.

    Attributes
    ----------
    paths : pandas.DataFrame
        One row per task and distinct path: ``task``, ``path`` (its number, 1 for the one that
        most trials of the task took, then the smaller one), ``steps`` (their names), ``length``
        and ``trials``.
    trials : pandas.DataFrame
        One row per task, arm, perturbation and path that was taken there: ``task``, ``arm``,
        ``perturbation``, ``path``, ``trials``. Tasks as text, arms and perturbations in the
        study's order.
    similarities : pandas.DataFrame
        One row per task and pair of its paths, a path with itself included: ``task``, ``path``,
        ``other`` (not smaller than ``path``), ``similarity``.
    """

    paths: pd.DataFrame = field(repr=False)
    trials: pd.DataFrame = field(repr=False)
    similarities: pd.DataFrame = field(repr=False)


def path_map(
    tables: StudyTables,
    *,
    definition: Definition = "levenshtein",
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    missing: str | None = None,
    **filters: Unpack[Filters],
) -> PathMap:
    """Return the distinct paths of each task, the trials that took them and their similarities.

    Parameters
    ----------
    tables, definition, path, failed_calls, missing, **filters
        See :func:`steelyard.analysis.similarity`.

    Returns
    -------
    PathMap

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.similarity`.
    """
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **filters
    )
    trials = behaviours.scored.rename(columns={"path": "place"})
    paths = _numbered(trials, behaviours.paths)
    cells = ["task", "arm", "perturbation", "path"]
    taken = trials.merge(paths[["task", "place", "path"]], on=["task", "place"])
    counts = taken.groupby(cells).size().rename("trials").reset_index()
    return PathMap(
        paths=paths[["task", "path", "steps", "length", "trials"]],
        trials=sort_by_design(tables, counts, cells),
        similarities=_similarities(paths, behaviours.paths, definition),
    )


def _numbered(trials: pd.DataFrame, paths: Sequence[Path]) -> pd.DataFrame:
    """Return the distinct paths of each task with their numbers, and ``place`` in ``paths``."""
    counts = trials.groupby(["task", "place"]).size().rename("trials").reset_index()
    counts = counts.sort_values(
        ["task", "trials", "place"], ascending=[True, False, True], ignore_index=True
    )
    steps = [paths[place] for place in counts["place"]]
    return counts.assign(
        path=counts.groupby("task", sort=False).cumcount() + 1,
        steps=[" > ".join(name for _, name in path) for path in steps],
        length=[len(path) for path in steps],
    )


def _similarities(
    numbered: pd.DataFrame, paths: Sequence[Path], definition: Definition
) -> pd.DataFrame:
    """Return the upper triangle of each task's similarities in long form."""
    # `task_similarities` reads trials; one trial for each distinct path gives those of the paths.
    one_each = numbered.rename(columns={"path": "number"}).rename(columns={"place": "path"})
    parts = [pd.DataFrame({"task": [], "path": [], "other": [], "similarity": []})]
    for task, (members, matrix) in task_similarities(one_each, paths, definition).items():
        numbers = members["number"].to_numpy()
        first, second = np.triu_indices(len(numbers))
        parts.append(
            pd.DataFrame(
                {
                    "task": task,
                    "path": numbers[first],
                    "other": numbers[second],
                    "similarity": matrix[first, second],
                }
            )
        )
    return pd.concat(parts[1:] or parts, ignore_index=True)
