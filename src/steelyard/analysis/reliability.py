"""Reliability over repeats: the chance that all, or at least one, of k attempts succeed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.denominators import (
    COUNTS,
    Counted,
    cases,
    count_trials,
    counted_groups,
)
from steelyard.analysis.names import (
    Filters,
    name_success,
    resolve_by,
    resolve_measure,
    resolve_policy,
    sort_by_design,
)
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import (
    MeanInterval,
    clustered_mean_interval,
    clustered_wilson_interval,
    pass_at_k_per_task,
    pass_hat_k_per_task,
)

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

DEFAULT_K_MAX: Final = 10
"""Where a curve ends unless more is asked for: further out it rests on a few long-run tasks."""


def reliability(
    tables: StudyTables,
    measure: str | None = None,
    k_max: int | None = None,
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    missing: str | None = None,
    population: str = "assigned",
    confidence: float = 0.95,
    threshold: float | None = None,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Estimate pass^k and pass@k, the chance that all or any of k attempts at a task succeed.

    Within a group, all counted trials of a task are taken as exchangeable attempts at it, the
    variants of a perturbation included; each task weighs the same. A task with fewer than k
    counted trials cannot say anything about k attempts and leaves the estimate, so every row
    states how many of the tasks it rests on.

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        A 0/1 measure; the study's primary measure when absent.
    k_max : int, optional
        Largest k; when absent, the largest number of counted trials of any task of the group,
        but at most 10.
    by : str or sequence of str
        Columns among ``arm``, ``perturbation``, ``variant`` that make the groups.
    missing : {"exclude", "fail", "bounds", "recorded"}, optional
        Missing policy, see :func:`steelyard.analysis.selection.select`.
    population : {"assigned", "applied"}
        As assigned, or only the trials whose perturbation is known to have happened.
    confidence : float
        Level of the intervals, strictly between 0 and 1.
    threshold : float, optional
        Success means a value of at least this.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group (and case) and k, in the study's order: the ``by`` columns, ``measure``,
        ``missing_policy``, ``population``, ``case``, the counts of
        :func:`steelyard.analysis.denominators.count_trials`, and

        - ``k``; ``tasks_used``: tasks with at least k counted trials; ``tasks_total``: tasks of
          the group, those without any counted trial included;
        - ``pass_hat_k`` with ``low`` and ``high``; ``pass_at_k`` with ``pass_at_low`` and
          ``pass_at_high``: mean over the tasks used of the unbiased per-task estimate, and its
          t interval over tasks cut to [0, 1]. Where every task has 0 or every task has 1, the
          spread is not estimable and the limits are those of one attempt per task (Wilson, t
          quantile), which no other estimates of as many tasks exceed; with one task, or equal
          estimates between 0 and 1, they are [0, 1];
        - ``level``;
        - ``reason``: how many tasks are too short for this k, or why there is no interval; else
          empty.

    Raises
    ------
    UnknownNameError, InputError
        As :func:`steelyard.analysis.selection.select`; also for a ``k_max`` below 1 and for
        ``task`` or ``repeat`` in ``by``.
    """
    columns = resolve_by(by)
    if {"task", "repeat"} & set(columns):
        raise InputError("reliability is about the repeats of tasks; group by neither")
    if k_max is not None and (isinstance(k_max, bool) or int(k_max) != k_max or k_max < 1):
        raise InputError(f"k_max is {k_max!r}; accepted: an integer of at least 1")
    name, policy = resolve_measure(tables, measure), resolve_policy(tables, missing)
    trials = select(tables, name, policy, population, threshold=threshold, **filters)
    rows = []
    for case, chosen in cases(trials, policy):
        heads = count_trials(chosen, columns).to_dict("records")
        for head, group in zip(heads, counted_groups(chosen, columns), strict=True):
            rows += [{**head, **row, "case": case} for row in _curve(group, k_max, confidence)]
    table = pd.DataFrame(rows)
    table = table.assign(
        measure=name_success(name, threshold), missing_policy=policy, population=population
    )
    return sort_by_design(tables, table, columns)[[*columns, *_COLUMNS]]


_COLUMNS = (
    "measure",
    "missing_policy",
    "population",
    "case",
    *COUNTS,
    "k",
    "tasks_used",
    "tasks_total",
    "pass_hat_k",
    "low",
    "high",
    "pass_at_k",
    "pass_at_low",
    "pass_at_high",
    "level",
    "reason",
)


def _curve(group: Counted, k_max: int | None, confidence: float) -> list[dict[str, Any]]:
    """Return one row per k for one group."""
    tasks, positions = np.unique(group.tasks.astype(object), return_inverse=True)
    totals = np.bincount(positions, minlength=len(tasks))
    successes = np.bincount(positions[group.outcomes == 1.0], minlength=len(tasks))
    longest = int(totals.max(initial=1))
    rows = []
    for k in range(1, (k_max or min(longest, DEFAULT_K_MAX)) + 1):
        every = _mean(pass_hat_k_per_task(successes, totals, k), tasks, confidence)
        any_ = _mean(pass_at_k_per_task(successes, totals, k), tasks, confidence)
        used = int((totals >= k).sum())
        rows.append(
            {
                "k": k,
                "tasks_used": used,
                "tasks_total": group.n_tasks,
                "pass_hat_k": every.estimate,
                "low": every.low,
                "high": every.high,
                "pass_at_k": any_.estimate,
                "pass_at_low": any_.low,
                "pass_at_high": any_.high,
                "level": confidence,
                "reason": _reason(used, group.n_tasks, k, every.reason),
            }
        )
    return rows


def _mean(
    shares: npt.NDArray[np.float64], tasks: npt.NDArray[Any], confidence: float
) -> MeanInterval:
    """Return the mean over the tasks that have one, its limits within [0, 1].

    As for a rate, no lower limit lies above that of as many tasks that all succeed, and no upper
    limit below that of as many that all fail: a few tasks that differ little do not show that
    there are no others.
    """
    used = ~np.isnan(shares)
    values, ids = shares[used], tasks[used]
    mean = clustered_mean_interval(values, ids, confidence)
    if not mean.reason:
        furthest = clustered_wilson_interval(np.ones(len(values)), ids, confidence).low
        low, high = min(mean.low, furthest), max(mean.high, 1.0 - furthest)
        return replace(mean, low=max(low, 0.0), high=min(high, 1.0))
    if len(values) > 1 and values[0] in (0.0, 1.0):
        whole = clustered_wilson_interval(values, ids, confidence)
        return replace(mean, low=whole.low, high=whole.high, reason="")
    return replace(mean, low=0.0, high=1.0)


def _reason(used: int, total: int, k: int, no_interval: str) -> str:
    if used == 0:
        return f"no task has {k} counted trials"
    parts = [f"{used} of {total} tasks have {k} counted trials"] if used < total else []
    if no_interval:
        parts.append(f"no interval: {no_interval}")
    return "; ".join(parts)
