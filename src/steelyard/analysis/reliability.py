"""Reliability over repeats: the chance that all, or at least one, of k attempts succeed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.names import (
    Filters,
    resolve_by,
    resolve_measure,
    resolve_policy,
    sort_by_design,
)
from steelyard.analysis.selection import COUNTS, cases, count_trials, groups, select
from steelyard.errors import InputError
from steelyard.stats import (
    clustered_mean_interval,
    clustered_wilson_interval,
    pass_at_k,
    pass_at_k_per_task,
    pass_hat_k,
    pass_hat_k_per_task,
)

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


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
        Largest k; the largest number of counted trials of any task of the group when absent.
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
        :func:`steelyard.analysis.selection.count_trials`, and

        - ``k``; ``tasks_used``: tasks with at least k counted trials; ``tasks_total``: tasks of
          the group, those without any counted trial included;
        - ``pass_hat_k`` with ``low`` and ``high``; ``pass_at_k`` with ``pass_at_low`` and
          ``pass_at_high``: mean over the tasks used of the unbiased per-task estimate, and its
          t interval over tasks cut to [0, 1]. Where every task has 0 or every task has 1, the
          spread is not estimable and the limits are those of one attempt per task (Wilson, t
          quantile); with one task, or equal estimates between 0 and 1, they are [0, 1];
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
    parts = []
    for case, chosen in cases(trials, policy):
        counts = count_trials(chosen, columns)
        for position, (_, group) in enumerate(groups(chosen, columns)):
            rows = pd.DataFrame(_curve(group, k_max, confidence))
            head = counts.iloc[[position] * len(rows)].reset_index(drop=True)
            parts.append(head.join(rows).assign(case=case))
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(measure=name, missing_policy=policy, population=population)
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


def _curve(group: pd.DataFrame, k_max: int | None, confidence: float) -> list[dict[str, Any]]:
    """Return one row per k for one group."""
    by_task = group.groupby("task")["value"].agg(["sum", "count"])
    successes, totals = (by_task[c].to_numpy().astype(np.int64) for c in ("sum", "count"))
    tasks = by_task.index.to_numpy(dtype=object)
    rows = []
    for k in range(1, (k_max or max(int(totals.max()), 1)) + 1):
        every, any_ = pass_hat_k(successes, totals, k), pass_at_k(successes, totals, k)
        every_limits = _limits(pass_hat_k_per_task(successes, totals, k), tasks, confidence)
        any_limits = _limits(pass_at_k_per_task(successes, totals, k), tasks, confidence)
        rows.append(
            {
                "k": k,
                "tasks_used": every.tasks_used,
                "tasks_total": every.tasks_total,
                "pass_hat_k": every.estimate,
                "low": every_limits[0],
                "high": every_limits[1],
                "pass_at_k": any_.estimate,
                "pass_at_low": any_limits[0],
                "pass_at_high": any_limits[1],
                "level": confidence,
                "reason": _reason(every.tasks_used, every.tasks_total, k, every_limits[2]),
            }
        )
    return rows


def _limits(shares: np.ndarray, tasks: np.ndarray, confidence: float) -> tuple[float, float, str]:
    """Return the limits of a mean over tasks, and why there are none."""
    used = ~np.isnan(shares)
    values, ids = shares[used], tasks[used]
    if len(values) > 1 and values.min() == values.max() and values[0] in (0.0, 1.0):
        whole = clustered_wilson_interval(values, ids, confidence)
        return whole.low, whole.high, ""
    mean = clustered_mean_interval(values, ids, confidence)
    if mean.reason:
        return 0.0, 1.0, mean.reason
    return max(mean.low, 0.0), min(mean.high, 1.0), ""


def _reason(used: int, total: int, k: int, no_interval: str) -> str:
    if used == 0:
        return f"no task has {k} counted trials"
    parts = [f"{used} of {total} tasks have {k} counted trials"] if used < total else []
    if no_interval:
        parts.append(f"no interval: {no_interval}")
    return "; ".join(parts)
