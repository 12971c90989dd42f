"""When could a trial have stopped? After the last call that changes its outcome.

Traces of tool calls hold no scores to stop by, but they say which calls change the state that the
outcome is read from. What a trial does after the last such call cannot change its outcome: that is
the oracle's stop. A rule that can be followed while the agent works, stopping at the first such
call, is held against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.behaviour import read_behaviours, with_outcomes
from steelyard.analysis.event_rates import rate_row
from steelyard.analysis.names import Filters, resolve_by, sort_by_design
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats.ratios import cluster_ratio_interval

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

COLUMNS = (
    "trials",
    "without_effect",
    "right",
    "steps",
    "steps_after_last",
    "share_after_last",
    "share_low",
    "share_high",
    "share_reason",
    "stopped_early",
    "early_total",
    "early_rate",
    "early_low",
    "early_high",
    "n_clusters",
    "level",
    "n_resamples",
    "seed",
)


def last_effect(
    tables: StudyTables,
    effects: Sequence[str],
    *,
    by: str | Sequence[str] = ("arm",),
    outcome: str | None = None,
    missing: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Count the steps after the last call that changes the outcome.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    effects : sequence of str
        The tools whose successful call changes what the outcome is read from. A call that ended in
        an error changes nothing.
    by : str or sequence of str, default ("arm",)
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``.
    outcome : str, optional
        A 0/1 measure; the study's primary one when absent.
    missing : {"exclude", "recorded"}, optional
        The study's declared policy when absent.
    confidence : float, default 0.95
    n_resamples, seed : int
        Of the bootstrap over tasks.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group, in the study's order: the ``by`` columns and

        - ``trials`` with steps and an outcome; ``without_effect``: those that make no such call,
          for which no stop is known; ``right``: with outcome 1;
        - over the others: ``steps`` in all, ``steps_after_last``: those after the last effect;
          ``share_after_last`` with ``share_low``, ``share_high`` (tasks resampled; NaN with
          ``share_reason`` where that says nothing);
        - a rule that stops at the first effect: ``stopped_early`` of ``early_total`` trials have
          another effect after it; ``early_rate`` with its Wilson interval, the task as cluster;
        - ``n_clusters`` (tasks), ``level``, ``n_resamples``, ``seed``.

    Raises
    ------
    InputError
        The study holds no steps, no effect is named, or no trial has both steps and an outcome.
    UnknownNameError
        An effect that no step of the study has.
    """
    groups = list(resolve_by(by))
    behaviours = read_behaviours(tables, path="full", missing=missing, **filters)
    steps = _marked(tables, effects)
    trials = with_outcomes(tables, behaviours, outcome, **filters)
    placed = trials.merge(_places(steps), on="trial_id", how="left")
    settings = (confidence, n_resamples, seed)
    rows = []
    for key, part in placed.groupby(groups, sort=False) if groups else [((), placed)]:
        rows.append({**dict(zip(groups, key, strict=True)), **_row(part, *settings)})
    return sort_by_design(tables, pd.DataFrame(rows, columns=[*groups, *COLUMNS]), groups)


def _marked(tables: StudyTables, effects: Sequence[str]) -> pd.DataFrame:
    """Return the steps with a column that tells the effects."""
    if isinstance(effects, str) or not len(effects):
        raise InputError(f"effects is {effects!r}; accepted: a list of at least one tool")
    steps = tables.frame("steps")
    known = sorted(set(steps.loc[steps["kind"].eq("tool_call"), "name"]))
    for name in effects:
        if name not in known:
            raise UnknownNameError("effect", str(name), known, "the tools that are called")
    effect = steps["kind"].eq("tool_call") & steps["name"].isin(list(effects))
    return steps.assign(effect=effect & steps["error"].isna())


def _places(steps: pd.DataFrame) -> pd.DataFrame:
    """Return, by trial: steps, effects, and the steps after the last one."""
    ordered = steps.sort_values(["trial_id", "step_index"], kind="stable")
    place = ordered.groupby("trial_id").cumcount()
    last = place.where(ordered["effect"]).groupby(ordered["trial_id"]).max()
    found = ordered.groupby("trial_id").agg(steps=("name", "size"), effects=("effect", "sum"))
    return found.assign(after=found["steps"] - 1 - last).reset_index()


def _integers(column: pd.Series) -> npt.NDArray[np.int64]:
    return np.asarray(column, dtype=np.int64)


def _row(part: pd.DataFrame, confidence: float, n_resamples: int, seed: int) -> dict[str, Any]:
    acting = part[part["effects"].gt(0)]
    tasks = acting.groupby("task", sort=True)
    steps, after = tasks["steps"].sum(), tasks["after"].sum()
    row: dict[str, Any] = {
        "trials": len(part),
        "without_effect": len(part) - len(acting),
        "right": int(part["outcome"].sum()),
        "steps": int(steps.sum()),
        "steps_after_last": int(after.sum()),
        "n_clusters": len(steps),
        "level": confidence,
        "n_resamples": n_resamples,
        "seed": seed,
    }
    again = acting["effects"].gt(1).groupby(acting["task"], sort=True).sum()
    early = rate_row(_integers(again), _integers(tasks.size()), confidence)
    row |= {"stopped_early": early["count"], "early_total": early["total"]}
    row |= {"early_rate": early["estimate"]}
    row |= {"early_low": early["clustered_low"], "early_high": early["clustered_high"]}
    if acting.empty:
        nothing = dict.fromkeys(("share_after_last", "share_low", "share_high"), np.nan)
        return row | nothing | {"share_reason": "no trial with an effect"}
    share = cluster_ratio_interval(
        after.to_numpy(float), steps.to_numpy(float), confidence, n_resamples, seed
    )
    row |= {"share_after_last": share.estimate, "share_low": share.low, "share_high": share.high}
    return row | {"share_reason": share.reason}
