"""Similarity: how much the trials of one task resemble each other, by outcome and by arm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.behaviour import read_behaviours, with_outcomes
from steelyard.analysis.names import Filters, resolve_measure
from steelyard.analysis.pair_similarity import Definition, check_definition, task_similarities
from steelyard.analysis.trajectories import PathKind
from steelyard.stats import clustered_mean_interval
from steelyard.stats.checks import check_open_unit
from steelyard.trials.paths import FailedCalls

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

OUTCOMES = ("all", "success-success", "success-failure", "failure-failure")
ARMS = ("all", "same arm", "across arms")
QUANTILES = {"minimum": 0.0, "q25": 0.25, "median": 0.5, "q75": 0.75, "maximum": 1.0}
COLUMNS = (
    "arms",
    "outcomes",
    "measure",
    "definition",
    "tasks",
    "pairs",
    "both_empty",
    "mean",
    "low",
    "high",
    "level",
    "method",
    "reason",
    "task_mean",
    "task_low",
    "task_high",
    *QUANTILES,
    "intended",
    "scored",
    "excluded",
)


def similarity(
    tables: StudyTables,
    measure: str | None = None,
    *,
    definition: Definition = "levenshtein",
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    missing: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Summarise the similarity of pairs of trials of one task, in classes.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    measure : str, optional
        The 0/1 measure that tells success from failure; the study's primary one when absent.
    definition : {"levenshtein", "alignment_score"}
        ``levenshtein``: 1 - edits / length of the longer path, in [0, 1]. ``alignment_score``:
        score of the best alignment (match 2, mismatch -1, gap -2) over the score of the longer
        path with itself, in [-1, 1]; it punishes a gap more than a replacement. In both, two
        empty paths have similarity 1: nothing was compared (``both_empty`` counts such pairs).
    path, failed_calls, missing
        See :func:`steelyard.analysis.consensus`.
    confidence : float, default 0.95
        Level of the intervals.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per class of pairs. A class without a pair has a row with NaN; ``same arm`` and
        ``across arms`` are left out where only one arm has trials.

        - ``arms`` (``all``, ``same arm``, ``across arms``), ``outcomes`` (``all``,
          ``success-success``, ``success-failure``, ``failure-failure``), ``measure``,
          ``definition``;
        - ``tasks``, ``pairs``, ``both_empty``: counts;
        - ``mean``: over all pairs, so that a task weighs by its pairs; ``low``, ``high``,
          ``level``, ``method``: t interval with the task as cluster, cut to the range
          of the similarity; NaN with a ``reason``;
        - ``task_mean``, ``task_low``, ``task_high``: the mean over tasks of the task's mean, so
          that every task weighs the same, and its t interval;
        - ``minimum``, ``q25``, ``median``, ``q75``, ``maximum``: over pairs;
        - ``intended``, ``scored``, ``excluded``: trials.

    Raises
    ------
    InputError
        No steps, no trial left, an unknown option, a measure that is not 0/1.
    UnknownNameError
        A measure or a filter value that the study does not hold.

    Notes
    -----
    Pairs of different tasks are never compared. The classes lie in different tasks (a task that
    is always solved has only success-success pairs), so their means differ for two reasons;
    :func:`steelyard.analysis.similarity_test` compares classes within tasks.
    """
    check_definition(definition)
    level = check_open_unit("confidence", confidence)
    name = resolve_measure(tables, measure)
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **filters
    )
    trials = with_outcomes(tables, behaviours, name, **filters)
    empty = np.array([not path for path in behaviours.paths])
    pairs = _pairs(task_similarities(trials, behaviours.paths, definition), empty)
    several = len(set(trials["arm"])) > 1
    least = 0.0 if definition == "levenshtein" else -1.0
    rows = []
    for arms in ARMS if several else ARMS[:1]:
        for outcomes in OUTCOMES:
            chosen = pairs
            if arms != "all":
                chosen = chosen[chosen["same_arm"] == (arms == "same arm")]
            if outcomes != "all":
                chosen = chosen[chosen["successes"] == 3 - OUTCOMES.index(outcomes)]
            rows.append({"arms": arms, "outcomes": outcomes, **_summary(chosen, level, least)})
    intended = len(behaviours.trials)
    return pd.DataFrame(rows).assign(
        measure=name,
        definition=definition,
        intended=intended,
        scored=len(trials),
        excluded=intended - len(trials),
    )[list(COLUMNS)]


def _pairs(
    similarities: dict[str, tuple[pd.DataFrame, npt.NDArray[np.float64]]],
    empty: npt.NDArray[np.bool_],
) -> pd.DataFrame:
    """Return every unordered pair of trials of one task."""
    parts = []
    for task, (trials, matrix) in similarities.items():
        first, second = np.triu_indices(len(trials), k=1)
        arm, outcome = trials["arm"].to_numpy(), trials["outcome"].to_numpy()
        bare = empty[trials["path"].to_numpy()]
        parts.append(
            pd.DataFrame(
                {
                    "task": task,
                    "value": matrix[first, second],
                    "successes": outcome[first] + outcome[second],
                    "same_arm": arm[first] == arm[second],
                    "both_empty": bare[first] & bare[second],
                }
            )
        )
    columns = ["task", "value", "successes", "same_arm", "both_empty"]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _summary(pairs: pd.DataFrame, level: float, least: float) -> dict[str, Any]:
    """Return counts, both means with intervals, and quantiles of one class of pairs.

    Limits are cut to what a similarity can be: ``least`` to 1.
    """
    values = pairs["value"].to_numpy(dtype=np.float64)
    over_pairs = clustered_mean_interval(values, pairs["task"], level)
    # Rounded sums depend on the order of the pairs; sorted, they do not.
    ordered = pairs.sort_values(["task", "value"])
    means = ordered.groupby("task", sort=True)["value"].mean()
    over_tasks = clustered_mean_interval(means.to_numpy(), list(means.index), level)
    quantiles = (
        np.quantile(values, list(QUANTILES.values())) if len(values) else [np.nan] * len(QUANTILES)
    )
    return {
        "tasks": over_pairs.n_clusters,
        "pairs": len(values),
        "both_empty": int(pairs["both_empty"].sum()),
        "mean": over_pairs.estimate,
        "low": _cut(over_pairs.low, least),
        "high": _cut(over_pairs.high, least),
        "level": level,
        "method": over_pairs.method,
        "reason": over_pairs.reason,
        "task_mean": over_tasks.estimate,
        "task_low": _cut(over_tasks.low, least),
        "task_high": _cut(over_tasks.high, least),
        **{name: float(q) for name, q in zip(QUANTILES, quantiles, strict=True)},
    }


def _cut(limit: float, least: float) -> float:
    return float(np.clip(limit, least, 1.0))  # NaN stays NaN
