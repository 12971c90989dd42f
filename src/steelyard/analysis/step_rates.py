"""Rates of single calls over all tasks: how often an agent drops, replaces or adds a call."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.behaviour import read_behaviours
from steelyard.analysis.consensus_alignment import TaskAlignment, align_tasks
from steelyard.analysis.event_rates import RATE_COLUMNS, rate_row
from steelyard.analysis.names import Filters, resolve_by, sort_by_design
from steelyard.analysis.trajectories import PathKind
from steelyard.stats import clustered_difference, family_size, holm, sign_flip, task_differences
from steelyard.stats.checks import check_open_unit
from steelyard.trials.paths import FailedCalls, Path

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

Integers = npt.NDArray[np.int64]
Rates = tuple[tuple[int, float], ...]
EVENTS = ("match", "substitute", "skipped", "dropped", "extra")
DIFFERENCE_COLUMNS = (
    "baseline_estimate",
    "difference",
    "difference_low",
    "difference_high",
    "difference_tasks",
    "difference_reason",
    "p_value",
    "p_adjusted",
    "family_size",
)


def step_rates(
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
    """Estimate, over all tasks, how often each call is made, dropped, replaced or added.

    Parameters
    ----------
    tables, path, failed_calls, reference_arm, missing, confidence, **filters
        See :func:`steelyard.analysis.consensus`, whose alignments and references are used.
    by : str or sequence of str
        Groups, among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``.

    Returns
    -------
    pandas.DataFrame
        One row per call, group and event; calls in the order of their kind and name:

        - ``kind``, ``name``: the call; the ``by`` columns;
        - ``event``: of the steps of the references that are this call, one for each trial:
          ``match`` (made), ``substitute`` (another call in its place), ``skipped`` (nothing in
          its place), ``dropped`` (one of these two). Of the trials: ``extra`` (made at least once
          where the reference has none);
        - ``intended``, ``excluded``: trials of the group;
        - ``calls``: for ``extra`` the number of added calls, else equal to ``count``;
        - ``count``, ``total``, ``estimate``, ``low``, ``high``, ``level``, ``method``,
          ``n_clusters``, ``clustered_low``, ``clustered_high``, ``clustered_reason``: rate with
          both intervals, the task as cluster. ``total`` is 0 where no reference of the group has
          the call;
        - ``baseline_estimate``, ``difference``, ``difference_low``, ``difference_high``,
          ``difference_tasks``, ``difference_reason``: the mean over shared tasks of the
          difference from the first perturbation of the study, every task with the same weight,
          with its t interval over tasks (:func:`steelyard.stats.clustered_difference`);
          ``p_value``: sign-flip test of the tasks' differences, ``p_adjusted``: Holm over the
          ``family_size`` tests of one event in one group other than the perturbation. NaN where
          ``by`` has no perturbation, at the baseline itself, where no task is shared, and for a
          p-value also where the event happened never, or always, on both sides: such a test could
          not have come out in any other way, and does not count in the family (Tarone 1990,
          Biometrics 46:515-522).

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.consensus`.

    Notes
    -----
    A call made at another place than in the reference is skipped there and extra here.
    """
    check_open_unit("confidence", confidence)
    groups = list(resolve_by(by))
    behaviours = read_behaviours(
        tables, path=path, failed_calls=failed_calls, missing=missing, **filters
    )
    events = _count_events(align_tasks(tables, behaviours, reference_arm), behaviours.paths)
    trials = behaviours.trials.assign(excluded=behaviours.trials["path"] < 0)
    parts = trials.groupby(groups, sort=False) if groups else [((), trials)]
    cells = {key: _cell(events, members) for key, members in parts}
    rows = [
        {
            "kind": kind,
            "name": name,
            **dict(zip(groups, key, strict=True)),
            "event": event,
            **cell.sizes,
            "calls": int(cell.calls[event][call]),
            **rate_row(cell.counts[event][:, call], cell.totals[event][:, call], confidence),
            **_difference(cell, _baseline(tables, cells, groups, key), event, call, confidence),
        }
        for key, cell in cells.items()
        for call, (kind, name) in enumerate(events.calls)
        for event in EVENTS
    ]
    frame = sort_by_design(
        tables, pd.DataFrame(rows, columns=_columns(groups)), ["kind", "name", *groups]
    )
    return _with_adjusted(frame, [*(name for name in groups if name != "perturbation"), "event"])


def _columns(groups: Sequence[str]) -> list[str]:
    head = ["kind", "name", *groups, "event", "intended", "excluded", "calls"]
    return [*head, *RATE_COLUMNS, *DIFFERENCE_COLUMNS]


@dataclass(frozen=True, eq=False)
class _Events:
    """What every scored trial did with every call; arrays of shape (trials, calls)."""

    calls: tuple[tuple[str, str], ...]
    trial_ids: pd.Index
    tasks: Integers
    steps: Integers
    counts: dict[str, Integers]


def _count_events(tasks: Iterable[TaskAlignment], paths: Sequence[Path]) -> _Events:
    calls = tuple(sorted({token for path in paths for token in path}))
    place = {token: i for i, token in enumerate(calls)}
    names: list[str] = []
    codes, steps = [np.zeros(0, dtype=np.int64)], [np.zeros((0, len(calls)), dtype=np.int64)]
    counts = {event: [np.zeros((0, len(calls)), dtype=np.int64)] for event in EVENTS}
    for code, aligned in enumerate(tasks):
        rows = aligned.trials["row"].to_numpy()
        names += aligned.trials["trial_id"].tolist()
        codes.append(np.full(len(rows), code))
        of_step = np.array([place[token] for token in aligned.reference], dtype=np.int64)
        each = np.bincount(of_step, minlength=len(calls))
        steps.append(np.tile(each, (len(rows), 1)))
        for event, found in _path_events(aligned, of_step, place).items():
            counts[event].append(found[rows])
    joined = {event: np.concatenate(parts) for event, parts in counts.items()}
    return _Events(calls, pd.Index(names), np.concatenate(codes), np.concatenate(steps), joined)


def _path_events(
    aligned: TaskAlignment, of_step: Integers, place: dict[tuple[str, str], int]
) -> dict[str, Integers]:
    """Count the events of each distinct path and call; shape (paths, calls)."""
    counts = {e: np.zeros((len(aligned.paths), len(place)), dtype=np.int64) for e in EVENTS}
    for event in ("match", "substitute", "skipped"):
        np.add.at(counts[event].T, of_step, aligned.counts(event)[:, 1:].T)
    counts["dropped"] = counts["substitute"] + counts["skipped"]
    for row, _, token in aligned.names("extra"):
        counts["extra"][row, place[token]] += 1
    return counts


@dataclass(frozen=True, eq=False)
class _Cell:
    """One group: events and opportunities of shape (tasks, calls), and calls in all."""

    sizes: dict[str, int]
    calls: dict[str, Integers]
    counts: dict[str, Integers]
    totals: dict[str, Integers]


def _cell(events: _Events, members: pd.DataFrame) -> _Cell:
    rows = events.trial_ids.get_indexer(pd.Index(members.loc[~members["excluded"], "trial_id"]))
    tasks, shape = events.tasks[rows], (int(events.tasks.max(initial=-1)) + 1, len(events.calls))
    calls, counts, totals = {}, {}, {}
    for event in EVENTS:
        made = events.counts[event][rows]
        calls[event] = made.sum(axis=0)
        once = event == "extra"  # a trial adds a call or does not, however often
        counts[event], totals[event] = np.zeros((2, *shape), dtype=np.int64)
        np.add.at(counts[event], tasks, np.minimum(made, 1) if once else made)
        np.add.at(totals[event], tasks, np.ones_like(made) if once else events.steps[rows])
    sizes = {"intended": len(members), "excluded": int(members["excluded"].sum())}
    return _Cell(sizes, calls, counts, totals)


def _baseline(
    tables: StudyTables,
    cells: Mapping[tuple[Any, ...], _Cell],
    groups: Sequence[str],
    key: tuple[Any, ...],
) -> _Cell | None:
    """Return the group that differs from this one by the perturbation alone, if there is one."""
    if "perturbation" not in groups:
        return None
    place, first = groups.index("perturbation"), tables.design.design.perturbations[0]
    return None if key[place] == first else cells.get((*key[:place], first, *key[place + 1 :]))


def _difference(
    cell: _Cell, baseline: _Cell | None, event: str, call: int, confidence: float
) -> dict[str, Any]:
    """Return the difference from the baseline over the tasks that both have."""
    if baseline is None:
        return _NONE
    sides = [_task_rates(side, event, call) for side in (baseline, cell)]
    total = int(baseline.totals[event][:, call].sum())
    made = int(baseline.counts[event][:, call].sum())
    estimate = made / total if total else math.nan
    return {"baseline_estimate": estimate, **_compared(sides[0], sides[1], confidence)}


def _task_rates(cell: _Cell, event: str, call: int) -> Rates:
    """Return the rate of each task in which there was an opportunity."""
    counts, totals = cell.counts[event][:, call].tolist(), cell.totals[event][:, call].tolist()
    pairs = enumerate(zip(counts, totals, strict=True))
    return tuple((task, s / n) for task, (s, n) in pairs if n)


_NONE: dict[str, Any] = {
    "baseline_estimate": math.nan,
    "difference": math.nan,
    "difference_low": math.nan,
    "difference_high": math.nan,
    "difference_tasks": 0,
    "difference_reason": "no baseline",
    "p_value": math.nan,
}


@lru_cache(maxsize=4_096)
def _compared(reference: Rates, candidate: Rates, confidence: float) -> dict[str, Any]:
    """Compare the rates of tasks; most of a table are all zero, so equal ones are kept."""
    a, b = ([rate for _, rate in side] for side in (reference, candidate))
    tasks_a, tasks_b = ([task for task, _ in side] for side in (reference, candidate))
    found = clustered_difference(a, tasks_a, b, tasks_b, confidence)
    each = task_differences(a, tasks_a, b, tasks_b).differences
    decided = len(set(a) | set(b)) == 1 and set(a) <= {0.0, 1.0}  # no labelling could differ
    return {
        "difference": found.estimate,
        "difference_low": found.low,
        "difference_high": found.high,
        "difference_tasks": found.n_clusters,
        "difference_reason": found.reason,
        "p_value": math.nan if decided or not len(each) else sign_flip(each).p_value,
    }


def _with_adjusted(frame: pd.DataFrame, families: Sequence[str]) -> pd.DataFrame:
    """Add Holm's adjusted p-values within each family."""
    adjusted, sizes = np.full(len(frame), np.nan), np.zeros(len(frame), dtype=np.int64)
    for _, members in frame.groupby(list(families), sort=False):
        places = members.index.to_numpy()
        adjusted[places] = holm(members["p_value"])
        sizes[places] = family_size(members["p_value"])
    return frame.assign(p_adjusted=adjusted, family_size=sizes)
