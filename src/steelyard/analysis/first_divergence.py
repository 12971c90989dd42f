"""Failures by the step at which a trial first left the path of the successful ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.behaviour import read_behaviours, with_outcomes
from steelyard.analysis.event_rates import RATE_COLUMNS, rate_row
from steelyard.analysis.names import Filters, resolve_by, resolve_measure, sort_by_design
from steelyard.analysis.trajectories import PathKind
from steelyard.errors import InputError
from steelyard.stats import wilson_interval
from steelyard.stats.alignment import align
from steelyard.stats.checks import check_open_unit
from steelyard.stats.multiple_alignment import central_sequence
from steelyard.trials.paths import FailedCalls, Path

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

NO_DIVERGENCE = "none"
BEFORE_FIRST = -1
_KEY = ("operation", "expected", "got")


def first_divergence(
    tables: StudyTables,
    measure: str | None = None,
    *,
    by: str | Sequence[str] = ("arm",),
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    missing: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Decompose failures by the first step at which trials leave the successful path.

    The reference of a task is the path that its successful trials took most often, whichever
    their arm or perturbation. Each trial is aligned with it; what counts is the first operation
    that is not a match.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    measure : str, optional
        The 0/1 measure that tells success from failure; the study's primary one when absent.
    by : str or sequence of str
        Groups, among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``.
    path, failed_calls, missing, confidence, **filters
        See :func:`steelyard.analysis.consensus`.

    Returns
    -------
    pandas.DataFrame
        One row per group and first divergence, within a group by falling number of failures:

        - the ``by`` columns; ``operation`` (``substitute``, ``skipped``, ``extra``, or ``none``
          for trials on the path), ``expected`` and ``got`` (names; empty where there is none, and
          for ``extra`` the expected name is the step before);
        - ``step``: the reference step, -1 before the first; NA where tasks pooled in the row
          differ in it, and for ``none``;
        - ``tasks``: in which it occurs; ``references``: ``successful``, ``all`` (no trial of the
          task succeeded, so all of them set the reference) or ``mixed``;
        - ``failures``, ``successes``: trials with this first divergence;
        - ``group_failures``: failures of the group; ``share``, ``share_low``, ``share_high``: the
          part of them with this first divergence, Wilson interval. Shares of a group add up to 1,
          and are NaN without a failure;
        - ``count`` (equal to ``failures``), ``total``, ``estimate``, ``low``, ``high``,
          ``level``, ``method``, ``n_clusters``, ``clustered_low``, ``clustered_high``,
          ``clustered_reason``: rate of failure given this divergence, with both intervals, the
          task as cluster;
        - ``intended``, ``excluded``: trials of the group.

    Raises
    ------
    InputError
        No steps, no trial left, an unknown option, a measure that is not 0/1, paths too long.
    UnknownNameError
        A measure or a filter value that the study does not hold.

    Notes
    -----
    Failures under ``none`` are those that the names of the steps do not explain: look at their
    arguments. The successful trials set the reference, so that a trial on it is more likely to be
    one of them, above all in a task with few successes; the table describes where failures part,
    and a low rate under ``none`` is no evidence of its own.
    """
    level = check_open_unit("confidence", confidence)
    groups = list(resolve_by(by))
    name = resolve_measure(tables, measure)
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **filters
    )
    trials = with_outcomes(tables, behaviours, name, **filters)
    found = _divergences(trials, behaviours.paths)
    intended = behaviours.trials
    rows: list[dict[str, Any]] = []
    for key, members in _split(found, groups):
        mine = intended
        for column, value in zip(groups, key, strict=True):
            mine = mine[mine[column] == value]
        sizes = {"intended": len(mine), "excluded": len(mine) - len(members)}
        label = dict(zip(groups, key, strict=True))
        rows += [{**label, **row, **sizes} for row in _group_rows(members, level)]
    frame = pd.DataFrame(rows, columns=[*groups, *_COLUMNS])
    frame = frame.astype({"step": "Int64"})
    falling = frame.assign(_failures=-frame["failures"], _successes=-frame["successes"])
    order = ["_failures", "_successes", "_place", *_KEY]
    falling["_place"] = frame["step"].fillna(np.iinfo(np.int64).max)
    sorted_rows = falling.sort_values(order, kind="stable")
    return sort_by_design(tables, sorted_rows, groups)[[*groups, *_COLUMNS]]


_COLUMNS = (
    "step",
    *_KEY,
    "tasks",
    "references",
    "failures",
    "successes",
    "group_failures",
    "share",
    "share_low",
    "share_high",
    *RATE_COLUMNS,
    "intended",
    "excluded",
)


def _split(
    trials: pd.DataFrame, columns: Sequence[str]
) -> list[tuple[tuple[Hashable, ...], pd.DataFrame]]:
    if not columns:
        return [((), trials)]
    return [(key, members) for key, members in trials.groupby(list(columns), sort=True)]


def _divergences(trials: pd.DataFrame, paths: Sequence[Path]) -> pd.DataFrame:
    """Add to each trial its first divergence and what set the reference of its task."""
    parts = []
    for task, members in trials.groupby("task", sort=True):
        winners = members[members["outcome"] == 1]
        setting = winners if len(winners) else members
        numbers, counts = np.unique(setting["path"].to_numpy(), return_counts=True)
        try:
            central = central_sequence([paths[number] for number in numbers], counts)
            reference = paths[numbers[central]]
            first = {n: _first(reference, paths[n]) for n in sorted(set(members["path"]))}
        except InputError as error:
            raise InputError(f"task {task}: its trials cannot be aligned: {error}") from None
        rows = [first[number] for number in members["path"]]
        located = pd.DataFrame(rows, columns=["step", *_KEY], index=members.index)
        source = "successful" if len(winners) else "all"
        parts.append(members.join(located).assign(references=source))
    return pd.concat(parts).sort_index()


def _first(reference: Path, path: Path) -> tuple[int | None, str, str, str]:
    """Return step, operation, expected and got of the first operation that is no match."""
    for operation, i, j in align(reference, path).script:
        if operation != "match":
            return (
                BEFORE_FIRST if i is None else i,
                operation,
                "" if i is None else reference[i][1],
                "" if j is None else path[j][1],
            )
    return None, NO_DIVERGENCE, "", ""


def _group_rows(trials: pd.DataFrame, level: float) -> list[dict[str, Any]]:
    """Return the rows of one group."""
    failures = int(trials["outcome"].eq(0).sum())
    rows = []
    for key, members in trials.groupby(list(_KEY), sort=True):
        failed = members["outcome"].eq(0)
        per_task = failed.groupby(members["task"], sort=True).agg(["sum", "size"])
        count = int(failed.sum())
        share = wilson_interval(count, failures, level)
        steps, references = set(members["step"].dropna()), sorted(set(members["references"]))
        rows.append(
            {
                **dict(zip(_KEY, key, strict=True)),
                "step": int(steps.pop()) if len(steps) == 1 else None,
                "tasks": len(per_task),
                "references": references[0] if len(references) == 1 else "mixed",
                "failures": count,
                "successes": len(members) - count,
                "group_failures": failures,
                "share": share.estimate,
                "share_low": share.low,
                "share_high": share.high,
                **rate_row(
                    per_task["sum"].to_numpy(dtype=np.int64),
                    per_task["size"].to_numpy(dtype=np.int64),
                    level,
                ),
            }
        )
    return rows
