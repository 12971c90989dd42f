"""A policy at many thresholds: what it saves against how often it stops too early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.event_rates import rate_row
from steelyard.analysis.names import Filters, resolve_by
from steelyard.analysis.stopping.outcomes import WORK, Outcomes, Truth
from steelyard.analysis.stopping.places import BoolArray, FloatArray
from steelyard.analysis.stopping.replay import Replay
from steelyard.analysis.stopping.states import read_states
from steelyard.analysis.stopping.tally import Tallies, grouped
from steelyard.errors import InputError
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy
from steelyard.stats.ratios import cluster_draws
from steelyard.stats.simultaneous import simultaneous_level

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

THRESHOLDS: Final = tuple(round(0.05 * place, 2) for place in range(21))
"""0, 0.05, ... 1: the default grid."""

REFERENCES: Final = ("oracle", "never", "green")
"""The rules that a sweep is held against by default."""

PolicyLike = StopPolicy | Mapping[str, Any]


def stopping_sweep(
    tables: StudyTables,
    policy: PolicyLike,
    *,
    thresholds: Sequence[float] | None = None,
    references: Sequence[str | PolicyLike] = REFERENCES,
    by: str | Sequence[str] = (),
    truth: str = "auto",
    outcome: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Replay a policy at many thresholds, beside rules that bracket it.

    A low threshold saves much and stops many trials too early; a high one does neither. The
    oracle stops at the first state that satisfies the task: only false stops, and stops of trials
    that never satisfy it, save more. Never stopping saves nothing and stops nothing.

    Rates are over trials: false, missed and correct stops over the solvable ones (some state up
    to the agent's own stop satisfies the task), of which they are the three parts; unsolved stops
    over the trials that no state of satisfies. Shares are over all replayed trials, of the work
    that the agents spent.

    Parameters
    ----------
    tables : StudyTables
        The study.
    policy : StopPolicy or mapping
        Of the rule ``bound``; its own threshold is replaced.
    thresholds : sequence of float, optional
        0 or more; :data:`THRESHOLDS` when absent.
    references : sequence of str, mapping or StopPolicy
        Rules by name, or whole policies.
    by : str or sequence of str, default ()
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``.
    truth, outcome
        As :func:`steelyard.analysis.stopping.stop_points`.
    confidence : float, default 0.95
    n_resamples, seed : int
        Of the bootstrap over tasks.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group and setting, thresholds first: the ``by`` columns, ``setting``
        (``threshold`` or ``reference``), ``policy``, ``threshold`` (NaN for references),
        ``trials`` (replayed), ``solvable``, ``n_clusters`` (tasks), ``accepted_rate``,
        ``false_stop_rate``, ``missed_stop_rate``, ``correct_stop_rate``, ``unsolved_stop_rate``,
        ``success_rate``, ``steps_share``, ``tool_calls_share``, ``tokens_share``,
        ``seconds_share``; limits ``false_stop_low`` to ``success_high`` (Wilson, task as
        cluster), ``steps_low``, ``steps_high`` (percentiles over resampled tasks), each pointwise;
        ``false_stop_band_low`` to ``steps_band_high``: limits that hold at all thresholds of the
        group together; ``band_level``: the pointwise level they are taken at; ``on_front``: no
        other threshold saves at least as many steps with at most as many false stops;
        ``level``, ``n_resamples``, ``seed``. NaN where a rate has no denominator, where one task
        gives no spread, and for the limits of what oracle and never do by definition; and for the
        limits of false stops and of savings where the setting stops no trial, of which the trials
        tell nothing.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.stopping.stop_points`; for a policy of another rule, or an
        empty or repeated list of thresholds.
    """
    columns = resolve_by(by)
    swept = at_thresholds(read_policy(policy), thresholds)
    beside = [read_policy({"rule": one} if isinstance(one, str) else one) for one in references]
    states = read_states(tables, truth=truth, outcome=outcome, **filters)
    replay, worth = Replay(states), Truth(states)
    outcomes = [Outcomes(states, worth, replay.stops(one)) for one in (*swept, *beside)]
    settings: dict[str, Any] = {
        "setting": ["threshold"] * len(swept) + ["reference"] * len(beside),
        "policy": [one.name for one in (*swept, *beside)],
        "threshold": [one.threshold for one in swept] + [np.nan] * len(beside),
        "level": confidence,
        "n_resamples": n_resamples,
        "seed": seed,
    }
    parts = []
    for group in grouped(tables, states.trials, columns):
        counted = Tallies.of(outcomes, group)
        part = _group_table(counted, len(swept), confidence, n_resamples, seed)
        parts.append(_without_limits(part, [*swept, *beside]).assign(**settings, **group.key))
    return pd.concat(parts, ignore_index=True)[[*columns, *_COLUMNS]]


_COLUMNS: Final = (
    "setting",
    "policy",
    "threshold",
    "trials",
    "solvable",
    "n_clusters",
    "accepted_rate",
    "false_stop_rate",
    "false_stop_low",
    "false_stop_high",
    "false_stop_band_low",
    "false_stop_band_high",
    "missed_stop_rate",
    "missed_stop_low",
    "missed_stop_high",
    "correct_stop_rate",
    "unsolved_stop_rate",
    "success_rate",
    "success_low",
    "success_high",
    *(f"{work}_share" for work in WORK),
    "steps_low",
    "steps_high",
    "steps_band_low",
    "steps_band_high",
    "band_level",
    "on_front",
    "level",
    "n_resamples",
    "seed",
)

_LIMITS: Final = tuple(name for name in _COLUMNS if name.endswith(("_low", "_high")))


def at_thresholds(policy: StopPolicy, thresholds: Sequence[float] | None) -> list[StopPolicy]:
    """Return a policy of the rule ``bound`` at each threshold, which are sorted.

    Raises
    ------
    InputError
        For another rule, and for thresholds that are none, repeated, negative or not finite.
    """
    if policy.rule != "bound":
        raise InputError(f"a sweep varies the threshold of the rule 'bound', not {policy.rule!r}")
    grid = THRESHOLDS if thresholds is None else thresholds
    if not isinstance(grid, list | tuple) or not grid:
        raise InputError(f"thresholds is {grid!r}; accepted: a list of numbers from 0")
    policies = [policy.changed(threshold=value) for value in grid]
    values = [one.threshold for one in policies]
    if len(set(values)) < len(values):
        raise InputError(f"thresholds names one twice: {list(grid)}")
    return sorted(policies, key=lambda one: one.threshold)


def _group_table(
    tallies: Tallies, swept: int, confidence: float, n_resamples: int, seed: int
) -> pd.DataFrame:
    tasks = len(tallies.group.tasks)
    draws = cluster_draws(tasks, n_resamples, seed)
    table: dict[str, Any] = {
        "trials": tallies.sums["replayed"].sum(axis=1).astype(int),
        "solvable": tallies.sums["solvable"].sum(axis=1).astype(int),
        "n_clusters": tasks,
    }
    for rate in ("accepted", "false_stop", "missed_stop", "correct_stop", "unsolved_stop"):
        table[f"{rate}_rate"] = tallies.estimates(rate)
    table["success_rate"] = tallies.estimates("success")
    for rate in ("false_stop", "missed_stop", "success"):
        table[f"{rate}_low"], table[f"{rate}_high"] = _rate_limits(tallies, rate, confidence)
    for work in WORK:
        table[f"{work}_share"] = tallies.estimates(work)
    shares = tallies.resampled("steps", draws)
    rates = tallies.resampled("false_stop", draws)
    curves = np.hstack([shares[:, :swept], rates[:, :swept]])
    estimates = np.hstack([table["steps_share"][:swept], table["false_stop_rate"][:swept]])
    together = simultaneous_level(estimates, curves, confidence)
    for name, level in (("", confidence), ("_band", together)):
        table[f"steps{name}_low"], table[f"steps{name}_high"] = _share_limits(shares, level, tasks)
    band = _rate_limits(tallies, "false_stop", together)
    table["false_stop_band_low"], table["false_stop_band_high"] = band
    table["band_level"] = together
    front = _front(table["steps_share"][:swept], table["false_stop_rate"][:swept])
    table["on_front"] = np.append(front, np.zeros(len(shares[0]) - swept, dtype=bool))
    return pd.DataFrame(table)


def _without_limits(table: pd.DataFrame, policies: Sequence[StopPolicy]) -> pd.DataFrame:
    """Blank the limits of what a rule does by definition, and of stops where there are none."""
    rules = pd.Series([policy.rule for policy in policies])
    errors = [name for name in _LIMITS if name.startswith(("false", "missed"))]
    shares = [name for name in _LIMITS if name.startswith("steps")]
    table.loc[rules.isin(["oracle", "never"]), errors] = np.nan
    table.loc[rules.eq("never"), shares] = np.nan
    false_stops = [name for name in errors if name.startswith("false")]
    table.loc[~(table["accepted_rate"] > 0), [*false_stops, *shares]] = np.nan
    return table


def _rate_limits(tallies: Tallies, rate: str, level: float) -> tuple[FloatArray, FloatArray]:
    """Return clustered Wilson limits of each policy's rate."""
    rows = [rate_row(events, chances, level) for events, chances in tallies.counts(rate)]
    low = np.array([row["clustered_low"] if row["total"] else np.nan for row in rows])
    high = np.array([row["clustered_high"] if row["total"] else np.nan for row in rows])
    return low, high


def _share_limits(resampled: FloatArray, level: float, tasks: int) -> tuple[FloatArray, FloatArray]:
    """Return percentile limits of each policy's share; NaN where one task gives no spread."""
    policies = resampled.shape[1]
    if tasks < 2:
        return np.full(policies, np.nan), np.full(policies, np.nan)
    tail = (1.0 - level) / 2.0
    defined = resampled[~np.isnan(resampled).any(axis=1)]
    if not len(defined):
        return np.full(policies, np.nan), np.full(policies, np.nan)
    low, high = np.quantile(defined, [tail, 1.0 - tail], axis=0)
    return low, high


def _front(shares: FloatArray, rates: FloatArray) -> BoolArray:
    """Tell which settings no other one beats in savings and false stops."""
    more = (shares[:, None] >= shares) & (rates[:, None] <= rates)
    better = more & ((shares[:, None] > shares) | (rates[:, None] < rates))
    front: BoolArray = ~better.any(axis=0) & ~np.isnan(shares) & ~np.isnan(rates)
    return front
