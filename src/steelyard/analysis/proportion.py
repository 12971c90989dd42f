"""A share of trials with its two intervals, as the trajectory analyses report it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import pandas as pd

from steelyard.errors import InputError
from steelyard.stats import Result, clustered_wilson_interval, wilson_interval

Compatibility: TypeAlias = Literal["plumbline"] | None
Outcome: TypeAlias = tuple[bool | None, str]


@dataclass(frozen=True)
class Proportion(Result):
    """Successes among scored trials.

    Attributes
    ----------
    intended : int
        Trials (or pairs) that the question concerns.
    excluded : int
        Those of them that could not be scored.
    successes, total : int
        The counts; total = intended - excluded.
    estimate : float
        successes / total; NaN when total is 0.
    low, high, level, method
        Wilson interval, trials as independent; [0, 1] when total is 0.
    n_clusters : int
        Tasks with a scored trial.
    clustered_low, clustered_high, clustered_reason
        The interval with the task as the unit that was sampled
        (:func:`steelyard.stats.clustered_wilson_interval`), and what it could not rest on.
    """

    intended: int
    excluded: int
    successes: int
    total: int
    estimate: float
    low: float
    high: float
    level: float
    method: str
    n_clusters: int
    clustered_low: float
    clustered_high: float
    clustered_reason: str

    @property
    def counts(self) -> tuple[int, int]:
        """(successes, total)."""
        return self.successes, self.total


def proportion(
    outcomes: Iterable[Outcome], *, confidence: float = 0.95, compatibility: Compatibility = None
) -> Proportion:
    """Count successes and give both intervals.

    Parameters
    ----------
    outcomes : iterable of (bool or None, str)
        Success, failure, or None for what could not be scored; and the task.
    confidence : float, default 0.95
        Level of both intervals.
    compatibility : {"plumbline"}, optional
        With nothing to score, report the estimate 0 in [0, 0], as Plumbline does.
    """
    listed = list(outcomes)
    scored = [(success, task) for success, task in listed if success is not None]
    successes, total = sum(success for success, _ in scored), len(scored)
    wilson = wilson_interval(successes, total, confidence)
    clustered = clustered_wilson_interval(
        [int(success) for success, _ in scored], [task for _, task in scored], confidence
    )
    nothing = total == 0 and compatibility == "plumbline"
    return Proportion(
        intended=len(listed),
        excluded=len(listed) - total,
        successes=successes,
        total=total,
        estimate=0.0 if nothing else wilson.estimate,
        low=wilson.low,
        high=0.0 if nothing else wilson.high,
        level=confidence,
        method=wilson.method,
        n_clusters=clustered.n_clusters,
        clustered_low=clustered.low,
        clustered_high=clustered.high,
        clustered_reason=clustered.reason,
    )


def proportions_by(
    column: str,
    outcomes: Iterable[tuple[str, Outcome]],
    *,
    order: Sequence[str] = (),
    confidence: float = 0.95,
    compatibility: Compatibility = None,
) -> pd.DataFrame:
    """Count successes within groups.

    Parameters
    ----------
    column : str
        Name of the column that holds the group.
    outcomes : iterable of (str, (bool or None, str))
        The group, and the outcome as in :func:`proportion`.
    order : sequence of str, optional
        Groups that it names come first, in its order; the others in order of appearance.
    confidence, compatibility
        See :func:`proportion`.

    Returns
    -------
    pandas.DataFrame
        ``column`` and the fields of :class:`Proportion`; one row per group that occurs. An empty
        input gives an empty frame with these columns.
    """
    groups: dict[str, list[Outcome]] = {name: [] for name in order}
    for group, outcome in outcomes:
        groups.setdefault(group, []).append(outcome)
    rows = [
        {
            column: group,
            **proportion(members, confidence=confidence, compatibility=compatibility).to_row(),
        }
        for group, members in groups.items()
        if members
    ]
    names = [column, *Proportion.__dataclass_fields__]
    return pd.DataFrame(rows, columns=names)


def lowest(table: pd.DataFrame, column: str, by: str) -> tuple[float, str | None]:
    """Return the lower limit and the name of the first group whose ``by`` is smallest.

    Parameters
    ----------
    table : pandas.DataFrame
        A result of :func:`proportions_by`.
    column : str
        The column that holds the group.
    by : {"low", "estimate", "clustered_low"}
        ``"low"`` gives the worst-case bound, the minimum over groups of the lower limit. It
        needs no adjustment for the number of groups: the group with the smallest true rate has
        its own limit below that rate with the stated confidence, and the minimum can only be
        lower. ``"estimate"`` gives the lower limit of the lowest point estimate, which is what
        Plumbline computes; a small group with a higher estimate can have a lower limit.

    Returns
    -------
    tuple of (float, str or None)
        (0.0, None) when no group has a scored trial: nothing is shown.
    """
    scored = table[table["total"] > 0]
    if scored.empty:
        return 0.0, None
    row = scored.iloc[int(scored[by].to_numpy().argmin())]
    return float(row["clustered_low" if by == "clustered_low" else "low"]), str(row[column])


def prefixed(proportions: Mapping[str, Proportion]) -> dict[str, Any]:
    """Return counts, estimate and limits of several proportions as columns of one row."""
    shown = ("successes", "total", "estimate", "low", "high", "clustered_low", "clustered_high")
    return {
        f"{name}_{column}": getattr(value, column)
        for name, value in proportions.items()
        for column in shown
    }


def check_compatibility(compatibility: str | None) -> None:
    """Refuse a compatibility other than ``"plumbline"`` and None."""
    if compatibility not in (None, "plumbline"):
        raise InputError(f"compatibility is {compatibility!r}; accepted are 'plumbline' and None")


def counts_of(groups: Mapping[str, int], order: Sequence[str]) -> dict[str, int]:
    """Return the counts in the order of ``order``; groups that it lacks come last, by name."""
    known = [name for name in order if name in groups]
    return {name: groups[name] for name in [*known, *sorted(set(groups) - set(known))]}
