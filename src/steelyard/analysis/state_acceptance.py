"""Which states a stop policy accepts, by what the gates say and how far the work has gone.

A rate of stops does not say why a policy stops or goes on. Here every state is held against the
policy by itself: those with every reported gate green and those without, by the number of gates
that were reported and by the step. Three weaknesses of a sum of scores become visible in one
table: unfinished states that are accepted, finished ones that are refused because they come late,
and finished ones that are refused because a gate was not reported.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.analysis.event_rates import RATE_COLUMNS, rate_row
from steelyard.analysis.names import Filters
from steelyard.analysis.stopping.replay import Replay
from steelyard.analysis.stopping.states import read_states
from steelyard.errors import InputError
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy
from steelyard.stats.checks import check_open_unit

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

STEPS = (0, 5, 10, 20)
"""Where the groups of steps begin; the last has no end."""

COLUMNS = (
    "green",
    "gates",
    "from_step",
    "to_step",
    "states",
    "trials",
    "satisfied",
    "satisfied_known",
    *RATE_COLUMNS,
    "mean_acceptance",
    "mean_risk",
    "mean_cost",
    "mean_utility",
)


def state_acceptance(
    tables: StudyTables,
    policy: StopPolicy | Mapping[str, Any],
    *,
    steps: Sequence[int] = STEPS,
    truth: str = "auto",
    outcome: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Count the states that a policy accepts.

    Parameters
    ----------
    tables : StudyTables
        The study; its ``signals`` hold a row per state.
    policy : StopPolicy or mapping
        Of the rule ``bound``; ``consecutive`` plays no part.
    steps : sequence of int, default (0, 5, 10, 20)
        Where the groups of steps begin, rising from 0; the last has no end.
    truth, outcome
        As :func:`steelyard.analysis.stopping.stop_points`.
    confidence : float, default 0.95
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group that has states: ``green`` (every reported gate passes), ``gates`` (how
        many of the four are reported), ``from_step`` and ``to_step`` (the last of the group; NaN
        for the group without end); ``states`` and the ``trials`` they are of; ``satisfied`` of
        ``satisfied_known`` states satisfy the task; ``count`` to ``clustered_reason``: accepted
        states, with the intervals of :func:`steelyard.analysis.event_rates.rate_row`, the task as
        cluster; ``mean_acceptance``, ``mean_risk``, ``mean_cost`` and ``mean_utility`` of the
        states.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.stopping.stop_points`; for a policy of another rule, and for
        groups of steps that do not rise from 0.
    """
    level = check_open_unit("confidence", confidence)
    begins = _checked(steps)
    read = read_policy(policy)
    if read.rule != "bound":
        raise InputError(f"states are accepted by the rule 'bound', not by {read.rule!r}")
    replay = Replay(read_states(tables, truth=truth, outcome=outcome, **filters))
    frame = _states(replay, read, begins)
    keys = ["green", "gates", "from_step"]
    rows = [
        dict(zip(keys, key, strict=True)) | _row(part, begins, level)
        for key, part in frame.groupby(keys, sort=True)
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _checked(steps: Sequence[int]) -> npt.NDArray[np.int64]:
    whole = isinstance(steps, list | tuple) and all(type(step) is int for step in steps)
    if not whole or not steps or steps[0] != 0 or list(steps) != sorted(set(steps)):
        raise InputError(f"steps is {steps!r}; accepted: whole numbers that rise from 0")
    return np.array(steps, dtype=np.int64)


def _states(replay: Replay, policy: StopPolicy, begins: npt.NDArray[np.int64]) -> pd.DataFrame:
    """Return one row per scored state."""
    states, scores = replay.states, replay.scores(policy)
    trials = states.trials
    frame = pd.DataFrame(
        {
            "trial_id": trials["trial_id"].to_numpy()[states.trial],
            "task": trials["task"].to_numpy()[states.trial],
            "green": scores.green,
            "gates": scores.gates.astype(np.int64),
            "from_step": begins[np.searchsorted(begins, states.step, side="right") - 1],
            "accepted": replay.stops(policy.changed(consecutive=1)).held,
            "satisfied": states.satisfied,
            "acceptance": scores.acceptance,
            "risk": scores.risk,
            "cost": scores.cost,
            "utility": replay.utility(policy),
        }
    )
    return frame[frame["gates"].gt(0)]


def _row(part: pd.DataFrame, begins: npt.NDArray[np.int64], level: float) -> dict[str, Any]:
    tasks = part.groupby("task", sort=True)["accepted"]
    counts = np.asarray(tasks.sum(), dtype=np.int64)
    totals = np.asarray(tasks.size(), dtype=np.int64)
    later = begins[begins > part["from_step"].iloc[0]]
    row: dict[str, Any] = {
        "to_step": float(later[0] - 1) if len(later) else math.nan,
        "states": len(part),
        "trials": part["trial_id"].nunique(),
        "satisfied": int(part["satisfied"].sum()),
        "satisfied_known": int(part["satisfied"].notna().sum()),
        **rate_row(counts, totals, level),
    }
    for name in ("acceptance", "risk", "cost", "utility"):
        values = part[name].to_numpy()
        row[f"mean_{name}"] = math.fsum(values) / len(values)
    return row
