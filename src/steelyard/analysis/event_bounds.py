"""How rare an event must be, given how often it was seen: also where it was seen 0 times."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import pandas as pd

from steelyard.analysis.denominators import strata
from steelyard.analysis.names import Filters, resolve_by, resolve_policy, sort_by_design
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import clopper_pearson_interval
from steelyard.stats.checks import check_number

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


def event_bounds(
    tables: StudyTables,
    measure: str | None = None,
    *,
    by: str | Sequence[str] = ("arm",),
    missing: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Bound an event's probability from above: 0 of 93 is not 0.

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        1 where the event happened; the study's primary measure when absent.
    by : str or sequence of str, default "arm"
    missing : {"exclude", "fail", "recorded"}, optional
        Note that ``fail`` counts a trial without a value as one without the event. The study's
        declared policy when absent.
    confidence : float, default 0.95
        One-sided: the bound lies above the probability in at least this share of samples.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group: the ``by`` columns, ``measure``, ``missing_policy``, ``events``,
        ``total``, ``excluded``, ``estimate``, ``upper`` (exact, trials as independent),
        ``tasks``, ``tasks_with_event`` and ``upper_over_tasks``: the exact bound, with each task
        as one observation, on the probability that a task shows the event at all. That is no less
        than the probability that a trial does. ``level``.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.select`, for the policy ``bounds``, and for a confidence that
        is no number above 0.5 and below 1.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26:404-413. With 0 of n the bound is
    1 - (1 - confidence)^(1/n), about 3/n at 95 % (Hanley and Lippman-Hand 1983, JAMA 249:1743).
    """
    columns, policy = resolve_by(by), resolve_policy(tables, missing)
    if policy == "bounds":
        raise InputError("one bound per group; accepted policies: exclude, fail, recorded")
    confidence = check_number("confidence", confidence)
    if not 0.5 < confidence < 1:
        raise InputError(f"confidence is {confidence}; accepted: above 0.5 and below 1")
    trials = select(tables, measure, policy, **filters)
    name = tables.design.measures.primary if measure is None else measure
    rows = [
        place | {"measure": name, "missing_policy": policy} | _bounded(part, confidence)
        for place, part in strata(trials, columns)
    ]
    return sort_by_design(tables, pd.DataFrame(rows), columns)


def _bounded(part: pd.DataFrame, confidence: float) -> dict[str, Any]:
    scored = part.dropna(subset=["value"])
    events, total = int(scored["value"].sum()), len(scored)
    by_task = scored.groupby("task")["value"].max()
    with_event, tasks = int(by_task.sum()), len(by_task)
    return {
        "events": events,
        "total": total,
        "excluded": len(part) - total,
        "estimate": events / total if total else float("nan"),
        "upper": _upper(events, total, confidence),
        "tasks": tasks,
        "tasks_with_event": with_event,
        "upper_over_tasks": _upper(with_event, tasks, confidence),
        "level": confidence,
    }


def _upper(events: int, total: int, confidence: float) -> float:
    """Return the one-sided limit: the upper one of a two-sided interval with both tails' error."""
    return float(clopper_pearson_interval(events, total, 2 * confidence - 1).high)
