"""Totals and rates of a policy's stops: what the replay of single trials does not add up to."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.event_rates import rate_row
from steelyard.analysis.names import Filters, resolve_by
from steelyard.analysis.stopping.outcomes import WORK, Outcomes, Truth
from steelyard.analysis.stopping.points import point_table
from steelyard.analysis.stopping.replay import Replay
from steelyard.analysis.stopping.states import read_states
from steelyard.analysis.stopping.tally import Group, grouped
from steelyard.errors import InputError
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy
from steelyard.stats import clustered_mean_interval
from steelyard.stats.ratios import cluster_ratio_interval

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

PolicyLike = StopPolicy | Mapping[str, Any]


def stopping_summary(
    tables: StudyTables,
    policies: PolicyLike | Sequence[PolicyLike],
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    truth: str = "auto",
    outcome: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Sum up where policies would have stopped, with intervals that take the task as unit.

    Parameters
    ----------
    tables : StudyTables
        The study.
    policies : StopPolicy or mapping, or a sequence of them
    by : str or sequence of str
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``.
    truth, outcome
        As :func:`steelyard.analysis.stopping.stop_points`.
    confidence : float, default 0.95
    n_resamples, seed : int
        Of the bootstrap over tasks behind the shares.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per policy, group, quantity and kind:

        - ``policy``, the ``by`` columns, ``quantity``, ``kind``, ``unit``;
        - ``n``: trials in the denominator; ``excluded``: trials of the group that are not;
        - ``count``, ``total``: events and opportunities of a rate, NA for other kinds;
        - ``estimate``, ``low``, ``high``, ``level``, ``method``, ``n_clusters`` (tasks),
          ``reason`` (why there are no limits; empty where there are).

        Kinds: ``rate`` (clustered Wilson), ``total``, ``mean`` (over replayed trials, never
        accepted ones with 0), ``mean_if_accepted`` (t over tasks), ``median``, ``share`` (avoided
        over spent; percentiles over resampled tasks). What is avoided is never negative, so the
        limits of totals and means are not below 0. Rates: ``accepted``, ``never_accepted``
        (of the replayed trials); ``tests_pass_at_stop``, ``required_checks_pass_at_stop``,
        ``any_regression``, ``any_quality_loss`` (of the accepted ones, gates where reported);
        ``correct_stop``, ``false_stop``, ``missed_stop`` (of the solvable ones);
        ``unsolved_stop`` (of those that no state satisfies); ``success``, ``success_of_agent``
        (of those whose truth is known: satisfied where the policy, or the agent itself, ends).
        Amounts: ``steps_avoided``, ``tool_calls_avoided``, ``tokens_avoided``,
        ``seconds_avoided``.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.stopping.stop_points`; also for no policy, or two of one
        name.
    """
    columns = resolve_by(by)
    chosen = read_policies(policies)
    states = read_states(tables, truth=truth, outcome=outcome, **filters)
    replay, worth = Replay(states), Truth(states)
    groups = grouped(tables, states.trials, columns)
    options = {"confidence": confidence, "n_resamples": n_resamples, "seed": seed}
    rows: list[dict[str, Any]] = []
    for policy in chosen:
        points = point_table(replay, Outcomes(states, worth, replay.stops(policy)))
        for group in groups:
            head = {"policy": policy.name, **group.key}
            part = points.iloc[group.members]
            rows += [head | row for row in _rates(part, group, confidence)]
            rows += [head | row for row in _amounts(part, options)]
    return pd.DataFrame(rows)[["policy", *columns, *_COLUMNS]].astype(
        {"count": "Int64", "total": "Int64"}
    )


def read_policies(policies: PolicyLike | Sequence[PolicyLike]) -> list[StopPolicy]:
    """Return policies as they were declared; at least one, no two of one name.

    Raises
    ------
    InputError
        If that is not so, or one is not valid.
    """
    several = [policies] if isinstance(policies, StopPolicy | Mapping) else policies
    if not isinstance(several, list | tuple):
        raise InputError(f"policies is {policies!r}; accepted: a policy or a list of them")
    chosen = [read_policy(policy) for policy in several]
    names = [policy.name for policy in chosen]
    if not names or len(set(names)) < len(names):
        raise InputError(f"policies are named {names}; give at least one, each with its own name")
    return chosen


_COLUMNS: Final = (
    "quantity",
    "kind",
    "unit",
    "n",
    "excluded",
    "count",
    "total",
    "estimate",
    "low",
    "high",
    "level",
    "method",
    "n_clusters",
    "reason",
)


def _of_verdicts(wanted: Sequence[str], among: Sequence[str]) -> _Events:
    def events(points: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
        return points["verdict"].isin(wanted), points["verdict"].isin(among)

    return events


def _of_truth(column: str) -> _Events:
    def events(points: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
        value = points[column]
        return value.fillna(value=False), value.notna()

    return events


def _of_stops(column: str) -> _Events:
    def events(points: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
        value = points[column]
        stopped = points["accepted"].fillna(value=False)
        return value.gt(0).fillna(value=False), stopped & value.notna()

    return events


_Events = Callable[[pd.DataFrame], tuple[pd.Series, pd.Series]]
_SOLVABLE: Final = ("correct_stop", "false_stop", "overrun_stop", "missed_stop")
_UNSOLVABLE: Final = ("unsolved_stop", "correct_continue")
_EVENTS: Final[dict[str, _Events]] = {
    "accepted": _of_truth("accepted"),
    "never_accepted": lambda points: (
        ~points["accepted"].fillna(value=True),
        points["accepted"].notna(),
    ),
    "tests_pass_at_stop": _of_truth("tests_pass_at_stop"),
    "required_checks_pass_at_stop": _of_truth("required_checks_pass_at_stop"),
    "any_regression": _of_stops("regressions_after_accept"),
    "any_quality_loss": _of_stops("quality_losses_after_accept"),
    "correct_stop": _of_verdicts(["correct_stop"], _SOLVABLE),
    "false_stop": _of_verdicts(["false_stop"], _SOLVABLE),
    "missed_stop": _of_verdicts(["missed_stop", "overrun_stop"], _SOLVABLE),
    "unsolved_stop": _of_verdicts(["unsolved_stop"], _UNSOLVABLE),
    "success": _of_truth("satisfied_under_policy"),
    "success_of_agent": _of_truth("satisfied_at_end"),
}


def _rates(points: pd.DataFrame, group: Group, confidence: float) -> Iterator[dict[str, Any]]:
    for quantity, events in _EVENTS.items():
        happened, possible = (np.asarray(one, dtype=bool) for one in events(points))
        tasks = len(group.tasks)
        counts = np.bincount(group.codes[happened & possible], minlength=tasks)
        totals = np.bincount(group.codes[possible], minlength=tasks)
        found = rate_row(counts, totals, confidence)
        yield {
            "quantity": quantity,
            "kind": "rate",
            "unit": "trials",
            "n": found["total"],
            "excluded": len(points) - found["total"],
            "count": found["count"],
            "total": found["total"],
            "estimate": found["estimate"],
            "low": found["clustered_low"],
            "high": found["clustered_high"],
            "level": confidence,
            "method": "Wilson score, task as cluster",
            "n_clusters": found["n_clusters"],
            "reason": found["clustered_reason"],
        }


def _amounts(points: pd.DataFrame, options: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for work in WORK:
        avoided = points[f"{work}_avoided"]
        known = points[avoided.notna()]
        accepted = known[known["accepted"].fillna(value=False)]
        head = {"quantity": f"{work}_avoided", "unit": work.replace("_", " ")}
        for found in (
            *_total_and_means(known, accepted, f"{work}_avoided", options["confidence"]),
            _median(known[f"{work}_avoided"]),
            _share(known, work, options),
        ):
            yield (
                head
                | {
                    "excluded": len(points) - found["n"],
                    "count": pd.NA,
                    "total": pd.NA,
                    "level": options["confidence"],
                }
                | found
            )


def _total_and_means(
    known: pd.DataFrame, accepted: pd.DataFrame, column: str, confidence: float
) -> Iterable[dict[str, Any]]:
    over_all = clustered_mean_interval(known[column], known["task"], confidence)
    stopped = clustered_mean_interval(accepted[column], accepted["task"], confidence)
    kinds = {"total": over_all, "mean": over_all, "mean_if_accepted": stopped}
    for kind, found in kinds.items():
        times = found.n if kind == "total" else 1
        total = math.fsum(known[column])
        yield {
            "kind": kind,
            "n": found.n,
            "estimate": total if kind == "total" else found.estimate,
            "low": max(times * found.low, 0.0),  # the t interval does not know the border
            "high": times * found.high,
            "method": found.method,
            "n_clusters": found.n_clusters,
            "reason": found.reason,
        }


def _median(values: pd.Series) -> dict[str, Any]:
    return {
        "kind": "median",
        "n": len(values),
        "estimate": float(np.median(values)) if len(values) else math.nan,
        "low": math.nan,
        "high": math.nan,
        "method": "median",
        "n_clusters": 0,
        "reason": "no limits are computed for a median",
    }


def _share(known: pd.DataFrame, work: str, options: Mapping[str, Any]) -> dict[str, Any]:
    both = known[known[f"{work}_spent"].notna()]
    sums = both.groupby("task", sort=True)[[f"{work}_avoided", f"{work}_spent"]].agg(math.fsum)
    avoided, spent = (sums[column].to_numpy(dtype=float) for column in sums)
    found = cluster_ratio_interval(avoided, spent, **options)
    return {
        "kind": "share",
        "n": len(both),
        "estimate": found.estimate,
        "low": found.low,
        "high": found.high,
        "method": found.method,
        "n_clusters": found.n_clusters,
        "reason": found.reason,
    }
