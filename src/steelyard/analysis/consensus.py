"""Consensus: step by step, what the trials of a task have in common and where they part.

All trials of a task are aligned into common columns. The most frequent path is the reference; of
each of its steps the table says how often a group of trials makes it, leaves it out, does another
thing in its place, or adds something after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.behaviour import Behaviours, read_behaviours
from steelyard.analysis.consensus_alignment import BEFORE_FIRST, TaskAlignment, align_tasks
from steelyard.analysis.event_rates import RATE_COLUMNS, rate_row
from steelyard.analysis.names import Filters, resolve_by, sort_by_design
from steelyard.analysis.trajectories import PathKind
from steelyard.stats.alignment import OPERATIONS
from steelyard.stats.checks import check_open_unit
from steelyard.trials.paths import FailedCalls

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

DIVERGED = "diverged"
EVENTS = (*OPERATIONS, DIVERGED)
Integers = npt.NDArray[np.int64]


def consensus(
    tables: StudyTables,
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    reference_arm: str | None = None,
    missing: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Estimate, for each step of each task's reference path, how often trials follow it.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    by : str or sequence of str
        Groups within a task, among ``arm``, ``perturbation``, ``variant``, ``repeat``; the task
        is always one. An empty sequence gives all trials of a task together.
    path : {"effect", "full"}
        Tool calls alone, or decisions as well.
    failed_calls : {"exclude", "include"}
        By default a call that ended in an error is no step of the path, so a correct retry stays
        on it.
    reference_arm : str, optional
        Whose most frequent path is the reference; of all trials where absent. Between equally
        frequent paths the one with the fewest edits to all, then the smallest.
    missing : {"exclude", "recorded"}, optional
        The study's declared policy when absent.
    confidence : float, default 0.95
        Level of the intervals.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several. Only
        trials that pass take part in the alignment and in the choice of the reference.

    Returns
    -------
    pandas.DataFrame
        One row per task, reference step, group and event:

        - ``task``; ``step`` (position in the reference, -1 for the place before the first),
          ``kind`` and ``name`` of the reference step (empty before the first); the ``by`` columns;
        - ``event``: ``match``, ``substitute`` (another call in its place), ``skipped``, ``extra``
          (at least one further call after it and before the next step) or ``diverged`` (any but a
          match). Before the first step only ``extra`` and ``diverged`` exist;
        - ``intended``, ``excluded``: trials of the group in this task;
        - ``calls``: for ``extra`` the number of further calls, else equal to ``count``;
        - ``got``: for ``substitute`` and ``extra``, the name most often found instead (then the
          smallest); else empty;
        - ``count``, ``total`` (scored trials), ``estimate``, ``low``, ``high``, ``level``,
          ``method``: trials with the event, Wilson interval with trials as independent;
        - ``n_clusters``, ``clustered_low``, ``clustered_high``, ``clustered_reason``: the
          interval with the perturbation variant as cluster. Within one task the task cannot be
          the cluster; what was sampled are the variants, and repeats of one variant resemble each
          other. [0, 1] with one variant.

    Raises
    ------
    InputError
        No steps, no trial left, an unknown option, paths too long to align.
    UnknownNameError
        A filter value or arm of which the study has no trial.

    Notes
    -----
    See :func:`steelyard.stats.multiple_alignment.multiple_alignment` for the algorithm. A call
    made at another place than in the reference is skipped here and extra there. The reference is
    estimated from the same trials, which the intervals do not account for: they are about the
    rate of leaving this path.
    """
    check_open_unit("confidence", confidence)
    groups = [column for column in resolve_by(by) if column != "task"]
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **filters
    )
    cells = _cells(behaviours, groups)
    rows: list[dict[str, Any]] = []
    for aligned in align_tasks(tables, behaviours, reference_arm):
        rows += _task_rows(aligned, groups, cells, confidence)
    columns = ["task", "step", "kind", "name", *groups, "event", "intended", "excluded", "calls"]
    frame = pd.DataFrame(rows, columns=[*columns, "got", *RATE_COLUMNS])
    order = {event: place for place, event in enumerate(EVENTS)}
    frame = frame.sort_values("event", key=lambda column: column.map(order), kind="stable")
    return sort_by_design(tables, frame, ["task", "step", *groups])


def _cells(behaviours: Behaviours, groups: Sequence[str]) -> dict[tuple[str, ...], tuple[int, int]]:
    """Return the numbers of intended and excluded trials of each task and group."""
    trials = behaviours.trials
    excluded = trials["path"].lt(0)
    counted = trials.assign(excluded=excluded).groupby(["task", *groups], sort=False)["excluded"]
    sizes = counted.agg(["size", "sum"])
    keys = [key if isinstance(key, tuple) else (key,) for key in sizes.index]
    return {
        key: (int(size), int(out))
        for key, size, out in zip(keys, sizes["size"], sizes["sum"], strict=True)
    }


def _task_rows(
    aligned: TaskAlignment,
    groups: Sequence[str],
    cells: dict[tuple[str, ...], tuple[int, int]],
    confidence: float,
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one task."""
    counts = {operation: aligned.counts(operation) for operation in OPERATIONS}
    got = {operation: _got(aligned, operation) for operation in ("substitute", "extra")}
    events = {name: (count > 0).astype(np.int64) for name, count in counts.items()}
    events[DIVERGED] = np.maximum.reduce([events[name] for name in OPERATIONS[1:]])
    counts[DIVERGED] = events[DIVERGED]
    labels = [("", ""), *aligned.reference]
    for key, (intended, excluded) in cells.items():
        if key[0] != aligned.task:
            continue
        members, clusters, sizes = _members(aligned, groups, key[1:])
        for event, happened in events.items():
            per_cluster = np.zeros((len(sizes), len(labels)), dtype=np.int64)
            np.add.at(per_cluster, clusters, happened[members])
            calls = counts[event][members].sum(axis=0).tolist()
            for column, (kind, name) in enumerate(labels):
                if column == 0 and event not in ("extra", DIVERGED):
                    continue
                yield {
                    "task": aligned.task,
                    "step": column + BEFORE_FIRST,
                    "kind": kind,
                    "name": name,
                    **dict(zip(groups, key[1:], strict=True)),
                    "event": event,
                    "intended": intended,
                    "excluded": excluded,
                    "calls": calls[column],
                    "got": _most_frequent(got.get(event, {}).get(column - 1, []), members),
                    **rate_row(per_cluster[:, column], sizes, confidence),
                }


def _members(
    aligned: TaskAlignment, groups: Sequence[str], key: tuple[str, ...]
) -> tuple[Integers, Integers, Integers]:
    """Return, for the trials of one group: their paths, their clusters, the clusters' sizes."""
    trials = aligned.trials
    inside = np.ones(len(trials), dtype=bool)
    for column, value in zip(groups, key, strict=True):
        inside &= trials[column].to_numpy() == value
    chosen = trials[inside]
    variants = chosen["perturbation"].str.cat(chosen["variant"], sep="\0")
    clusters, names = pd.factorize(variants, sort=True)
    sizes = np.bincount(clusters, minlength=len(names)).astype(np.int64)
    return chosen["row"].to_numpy(), clusters, sizes


def _got(aligned: TaskAlignment, operation: str) -> dict[int, list[tuple[int, str]]]:
    """Return, by step, which path has which other name there."""
    found: dict[int, list[tuple[int, str]]] = {}
    for row, step, (_, name) in aligned.names(operation):
        found.setdefault(step, []).append((row, name))
    return found


def _most_frequent(candidates: list[tuple[int, str]], members: Integers) -> str:
    """Return the name that most trials have, then the smallest; empty where none has one."""
    totals: dict[str, int] = {}
    for row, name in candidates:
        made = int(np.count_nonzero(members == row))
        if made:
            totals[name] = totals.get(name, 0) + made
    return min(totals, key=lambda name: (-totals[name], name)) if totals else ""


def aligned_steps(
    tables: StudyTables,
    *,
    path: PathKind = "effect",
    failed_calls: FailedCalls = "exclude",
    reference_arm: str | None = None,
    missing: str | None = None,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Return every scored trial laid out in the columns of its task's multiple alignment.

    Parameters
    ----------
    tables, path, failed_calls, reference_arm, missing, **filters
        See :func:`consensus`.

    Returns
    -------
    pandas.DataFrame
        One row per trial and column, trials in the study's order within a task:

        - ``task``, ``arm``, ``perturbation``, ``variant``, ``repeat``, ``trial_id``;
        - ``column``: position in the alignment; ``step``: the reference step (for an inserted
          column the one before it, -1 before the first); ``inserted``: whether the reference has
          nothing in this column;
        - ``expected``: name of the reference step, empty where inserted; ``got``: name of the
          trial's step, empty where it has none;
        - ``operation``: ``match``, ``substitute``, ``skipped``, ``extra``, or empty where neither
          has a step.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`consensus`.
    """
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **filters
    )
    parts = [_layout(aligned) for aligned in align_tasks(tables, behaviours, reference_arm)]
    names = ["task", "arm", "perturbation", "variant", "repeat", "trial_id", *_LAYOUT]
    return pd.concat(parts, ignore_index=True)[names] if parts else pd.DataFrame(columns=names)


_LAYOUT = ("column", "step", "inserted", "expected", "got", "operation")


def _layout(aligned: TaskAlignment) -> pd.DataFrame:
    """Return the rows of one task."""
    found = aligned.alignment
    expected = [
        "" if i else aligned.reference[s][1]
        for s, i in zip(found.step, found.inserted, strict=True)
    ]
    words = np.array([*OPERATIONS, ""], dtype=object)
    per_path = pd.concat(
        [
            pd.DataFrame(
                {
                    "row": row,
                    "column": np.arange(len(found.step)),
                    "step": found.step,
                    "inserted": found.inserted,
                    "expected": expected,
                    "got": [path[p][1] if p >= 0 else "" for p in found.positions[row]],
                    "operation": words[found.operations[row]],
                }
            )
            for row, path in enumerate(aligned.paths)
        ],
        ignore_index=True,
    )
    order = aligned.trials.assign(place=np.arange(len(aligned.trials)))
    rows = order.merge(per_path, on="row")
    return rows.sort_values(["place", "column"]).reset_index(drop=True)
