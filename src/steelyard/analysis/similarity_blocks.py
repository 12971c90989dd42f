"""What the tests on similarities share: blocks of trials, one row of results, Holm's adjustment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.stats import clustered_mean_interval, family_size, holm
from steelyard.stats.blocked_permutation import Alternative, blocked_permutation, pair_contrasts
from steelyard.stats.pair_blocks import Contrast

TEST_COLUMNS = (
    "tasks",
    "trials",
    "difference",
    "low",
    "high",
    "level",
    "interval_reason",
    "p_value",
    "p_adjusted",
    "family_size",
    "alternative",
    "method",
    "exact",
    "n_resamples",
    "seed",
    "reason",
)
Block = tuple[str, npt.NDArray[np.float64], npt.NDArray[np.int64]]
Matrices = dict[str, tuple[pd.DataFrame, npt.NDArray[np.float64]]]


@dataclass(frozen=True)
class PermutationOptions:
    """Level of the interval, draws and seed of a Monte-Carlo test."""

    level: float
    n_resamples: int
    seed: int


def split_blocks(
    matrices: Matrices,
    columns: Sequence[str],
    label: Callable[[pd.DataFrame], npt.NDArray[np.int64]],
) -> list[Block]:
    """Split each task by further columns; return task, similarities and labels of each block."""
    blocks: list[Block] = []
    for task, (trials, matrix) in matrices.items():
        placed = trials.assign(place=np.arange(len(trials)))
        groups = placed.groupby(list(columns), sort=True) if columns else [((), placed)]
        for _, members in groups:
            places = members["place"].to_numpy()
            blocks.append((task, matrix[np.ix_(places, places)], label(members)))
    return blocks


def tested_row(
    blocks: Sequence[Block],
    contrast: Contrast,
    alternative: Alternative,
    options: PermutationOptions,
) -> dict[str, Any]:
    """Return the difference with its interval over tasks, and the test."""
    matrices, labels = [matrix for _, matrix, _ in blocks], [marks for _, _, marks in blocks]
    each = pair_contrasts(matrices, labels, contrast)
    made = ~np.isnan(each)
    tasks = [task for (task, _, _), counts in zip(blocks, made, strict=True) if counts]
    interval = clustered_mean_interval(each[made], tasks, options.level)
    test = blocked_permutation(
        matrices,
        labels,
        contrast,
        alternative=alternative,
        n_resamples=options.n_resamples,
        seed=options.seed,
    )
    return {
        "tasks": interval.n_clusters,
        "trials": test.n,
        "difference": test.statistic,
        "low": interval.low,
        "high": interval.high,
        "level": options.level,
        "interval_reason": interval.reason,
        "p_value": test.p_value,
        "alternative": alternative,
        "method": test.method,
        "exact": test.exact,
        "n_resamples": test.n_resamples,
        "seed": test.seed,
        "reason": test.reason,
    }


def with_adjusted(frame: pd.DataFrame, families: Sequence[str]) -> pd.DataFrame:
    """Add Holm's adjusted p-values within each family."""
    groups = frame.groupby(list(families), sort=False) if families else [((), frame)]
    adjusted, sizes = np.full(len(frame), np.nan), np.zeros(len(frame), dtype=np.int64)
    for _, members in groups:
        places = members.index.to_numpy()
        adjusted[places] = holm(members["p_value"])
        sizes[places] = family_size(members["p_value"])
    frame = frame.assign(p_adjusted=adjusted, family_size=sizes)
    return frame.astype({"n_resamples": "Int64", "seed": "Int64"})
