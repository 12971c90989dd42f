"""Similarities of the trials of one task with each other, each pair of distinct paths once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment import AlignmentBatch, Scoring, align_pairs, encode
from steelyard.trials.paths import Path

if TYPE_CHECKING:
    import pandas as pd

Definition: TypeAlias = Literal["levenshtein", "alignment_score"]
DEFINITIONS = ("levenshtein", "alignment_score")
LARGEST_TASK = 5_000
"""Trials of one task; their similarities take 8 bytes a pair, 200 MB."""


def check_definition(definition: str) -> None:
    """Refuse a definition that is none of :data:`DEFINITIONS`."""
    if definition not in DEFINITIONS:
        raise InputError(f"definition is {definition!r}; accepted: {', '.join(DEFINITIONS)}")


def task_similarities(
    trials: pd.DataFrame, paths: Sequence[Path], definition: Definition
) -> dict[str, tuple[pd.DataFrame, npt.NDArray[np.float64]]]:
    """Return the trials of each task with the matrix of their similarities.

    Parameters
    ----------
    trials : pandas.DataFrame
        With ``task`` and ``path``, the position of a path in ``paths``.
    paths : sequence of Path
    definition : {"levenshtein", "alignment_score"}
        See :func:`steelyard.analysis.similarity`.

    Returns
    -------
    dict of str to (pandas.DataFrame, numpy.ndarray of float64, shape (n, n))
        Tasks in their order as text; the trials in the order given.

    Raises
    ------
    InputError
        Paths too long to align, or a task of more than 5,000 trials.
    """
    check_definition(definition)
    groups = {str(task): members for task, members in trials.groupby("task", sort=True)}
    distinct: dict[str, npt.NDArray[np.int64]] = {}
    pairs: list[npt.NDArray[np.int64]] = []
    for task, members in groups.items():
        if len(members) > LARGEST_TASK:
            raise InputError(
                f"task {task} has {len(members):,} trials; at most {LARGEST_TASK:,} of a task are "
                "compared with each other, so narrow the filters"
            )
        own = distinct[task] = np.unique(members["path"].to_numpy())
        pairs.append(np.stack(np.meshgrid(own, own, indexing="ij"), axis=-1).reshape(-1, 2))
    joined = np.concatenate(pairs) if pairs else np.zeros((0, 2), dtype=np.int64)
    # Both directions of a pair have one similarity; align the one that is sorted.
    values = _values(align_pairs(encode(list(paths)), np.sort(joined, axis=1)), definition)
    found, start = {}, 0
    for task, members in groups.items():
        size = len(distinct[task])
        table = values[start : start + size * size].reshape(size, size)
        start += size * size
        rows = np.searchsorted(distinct[task], members["path"].to_numpy())
        found[task] = (members, table[np.ix_(rows, rows)])
    return found


def _values(batch: AlignmentBatch, definition: Definition) -> npt.NDArray[np.float64]:
    if definition == "levenshtein":
        return batch.similarity
    longest = np.maximum(batch.reference_lengths, batch.candidate_lengths)[batch.index]
    best = Scoring().match * np.maximum(longest, 1)
    return np.where(longest > 0, batch.scores / best, 1.0)
