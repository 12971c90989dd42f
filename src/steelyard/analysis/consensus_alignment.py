"""The multiple alignment of the trials of each task, as the analyses of consensus read it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.behaviour import Behaviours
from steelyard.analysis.names import resolve_arm
from steelyard.errors import InputError
from steelyard.stats.alignment import OPERATIONS
from steelyard.stats.multiple_alignment import (
    MultipleAlignment,
    central_sequence,
    multiple_alignment,
)
from steelyard.trials.paths import Path

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

BEFORE_FIRST = -1
Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TaskAlignment:
    """All trials of one task in common columns.

    Attributes
    ----------
    task : str
    trials : pandas.DataFrame
        The scored trials, with ``row``: which of the distinct paths a trial took.
    paths : tuple of Path
        The distinct paths, sorted.
    alignment : MultipleAlignment
        Their alignment; ``paths[alignment.reference]`` is the reference.
    """

    task: str
    trials: pd.DataFrame
    paths: tuple[Path, ...]
    alignment: MultipleAlignment

    @property
    def reference(self) -> Path:
        """The path that the others are read against."""
        return self.paths[self.alignment.reference]

    def counts(self, operation: str) -> Counts:
        """Count an operation per path and reference step.

        Parameters
        ----------
        operation : {"match", "substitute", "skipped", "extra"}

        Returns
        -------
        numpy.ndarray of int64, shape (paths, steps + 1)
            Column 0 is the place before the first step; an extra call belongs to the step before
            it.
        """
        made = self.alignment.operations == OPERATIONS.index(operation)
        counts = np.zeros((len(self.paths), len(self.reference) + 1), dtype=np.int64)
        np.add.at(counts.T, self.alignment.step + 1, made.T.astype(np.int64))
        return counts

    def names(self, operation: str) -> list[tuple[int, int, tuple[str, str]]]:
        """Return (row, step, what the path has there) for every cell with that operation."""
        rows, columns = np.nonzero(self.alignment.operations == OPERATIONS.index(operation))
        at = self.alignment.positions[rows, columns].tolist()
        steps = self.alignment.step[columns].tolist()
        return [
            (row, step, self.paths[row][position] if position >= 0 else ("", ""))
            for row, step, position in zip(rows.tolist(), steps, at, strict=True)
        ]


def align_tasks(
    tables: StudyTables, behaviours: Behaviours, reference_arm: str | None = None
) -> Iterator[TaskAlignment]:
    """Align the trials of each task, tasks in their order as text.

    Parameters
    ----------
    tables : StudyTables
        The study.
    behaviours : Behaviours
        The paths of its trials.
    reference_arm : str, optional
        The reference is the most frequent path of this arm's trials. A task without one, and
        every task where no arm is named, takes it from all trials.

    Raises
    ------
    UnknownNameError
        An arm of which the study has no trial.
    InputError
        Paths too long to align; the message names the task.
    """
    if reference_arm is not None:
        resolve_arm(tables, reference_arm)
    for task, trials in behaviours.scored.groupby("task", sort=True):
        yield _align_task(str(task), trials, behaviours.paths, reference_arm)


def _align_task(
    task: str, trials: pd.DataFrame, paths: tuple[Path, ...], reference_arm: str | None
) -> TaskAlignment:
    numbers, rows, weights = np.unique(
        trials["path"].to_numpy(), return_inverse=True, return_counts=True
    )
    distinct = tuple(paths[number] for number in numbers.tolist())
    setting = weights
    if reference_arm is not None:
        own = np.bincount(rows[trials["arm"].eq(reference_arm)], minlength=len(distinct))
        setting = own if own.any() else weights
    candidates = np.flatnonzero(setting)
    try:
        central = central_sequence([distinct[i] for i in candidates], setting[candidates])
        alignment = multiple_alignment(distinct, weights, int(candidates[central]))
    except InputError as error:
        raise InputError(f"task {task}: its trials cannot be aligned: {error}") from None
    return TaskAlignment(task, trials.assign(row=rows), distinct, alignment)
