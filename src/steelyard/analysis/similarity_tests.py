"""Does behaviour go with the outcome: similarities within and between outcomes, tested.

Outcomes are exchanged among the trials of one task. What makes the trials of one task alike, and
those of another not, is then the same under every exchange, and plays no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import pandas as pd

from steelyard.analysis.behaviour import read_behaviours, with_outcomes
from steelyard.analysis.names import Filters, resolve_by, resolve_measure
from steelyard.analysis.pair_similarity import Definition, check_definition, task_similarities
from steelyard.analysis.similarity_blocks import (
    TEST_COLUMNS,
    PermutationOptions,
    split_blocks,
    tested_row,
    with_adjusted,
)
from steelyard.analysis.trajectories import PathKind
from steelyard.stats.checks import check_open_unit
from steelyard.stats.pair_blocks import Contrast
from steelyard.trials.paths import FailedCalls

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

OUTCOME_CONTRASTS: dict[str, Contrast] = {
    "success-success minus success-failure": "ones-mixed",
    "failure-failure minus success-failure": "zeros-mixed",
    "success-success minus failure-failure": "ones-zeros",
}


def similarity_test(
    tables: StudyTables,
    measure: str | None = None,
    *,
    within: str | Sequence[str] = ("task",),
    definition: Definition = "levenshtein",
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    missing: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 9_999,
    seed: int = 0,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Test whether trials with one outcome resemble each other more than trials with two.

    Parameters
    ----------
    tables, measure, definition, path, failed_calls, missing, confidence, **filters
        See :func:`steelyard.analysis.similarity`.
    within : str or sequence of str, default ``("task",)``
        Outcomes are exchanged, and pairs formed, within these columns; the task is always among
        them. With ``("task", "arm")`` a difference between arms in both outcomes and paths cannot
        show as one between outcomes.
    n_resamples : int, default 9,999
        Draws, where the exact distribution is out of reach.
    seed : int, default 0

    Returns
    -------
    pandas.DataFrame
        One row per contrast:

        - ``contrast``: ``success-success minus success-failure``, ``failure-failure minus
          success-failure`` or ``success-success minus failure-failure``; ``measure``,
          ``definition``, ``within`` (joined by commas);
        - ``tasks``, ``trials``: those that enter it, because they hold both classes of pairs;
        - ``difference``: mean over blocks of the difference of mean similarities; ``low``,
          ``high``, ``level``: t interval with the task as cluster, NaN with an
          ``interval_reason``;
        - ``p_value``: two-sided permutation test; ``p_adjusted``: Holm over the
          ``family_size`` contrasts that could be tested; ``alternative``, ``method``, ``exact``,
          ``n_resamples``, ``seed`` (missing where exact); ``reason`` where there is no test (the
          p-value is then NaN).

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.similarity`.

    Notes
    -----
    See :func:`steelyard.stats.blocked_permutation.blocked_permutation`.
    """
    check_definition(definition)
    options = PermutationOptions(check_open_unit("confidence", confidence), n_resamples, seed)
    columns = [column for column in resolve_by(within) if column != "task"]
    name = resolve_measure(tables, measure)
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **filters
    )
    trials = with_outcomes(tables, behaviours, name, **filters)
    blocks = split_blocks(
        task_similarities(trials, behaviours.paths, definition),
        columns,
        lambda members: members["outcome"].to_numpy(),
    )
    rows = [
        {"contrast": label, **tested_row(blocks, contrast, "two-sided", options)}
        for label, contrast in OUTCOME_CONTRASTS.items()
    ]
    frame = with_adjusted(pd.DataFrame(rows), [])
    frame = frame.assign(measure=name, definition=definition, within=", ".join(["task", *columns]))
    return frame[["contrast", "measure", "definition", "within", *TEST_COLUMNS]]
