"""A threshold chosen from data, and its error on tasks it was not chosen on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.event_rates import rate_row
from steelyard.analysis.names import Filters
from steelyard.analysis.stopping.outcomes import Outcomes, Truth
from steelyard.analysis.stopping.places import FloatArray
from steelyard.analysis.stopping.replay import Replay
from steelyard.analysis.stopping.states import read_states
from steelyard.analysis.stopping.sweep import at_thresholds
from steelyard.analysis.stopping.tally import Tallies, grouped, quotient
from steelyard.errors import InputError
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy
from steelyard.stats.checks import check_open_unit

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

CHOOSE_BY: Final = ("estimate", "upper_limit")
_NEVER = "no threshold of the grid meets the target: the trials run on"


def calibrated_threshold(
    tables: StudyTables,
    policy: StopPolicy | Mapping[str, Any],
    *,
    target: float = 0.05,
    choose_by: str = "estimate",
    thresholds: Sequence[float] | None = None,
    truth: str = "auto",
    outcome: str | None = None,
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Choose the threshold that saves most within a false-stop rate, leaving one task out in turn.

    A threshold chosen on some tasks looks better on them than on new ones. So for each task the
    threshold is chosen on all the others and judged on that task alone; the held-out errors of
    all tasks together estimate what a chosen threshold does on a new task. Beside them stands the
    apparent error of the threshold chosen and judged on the same tasks.

    Parameters
    ----------
    tables : StudyTables
        The study; at least two tasks with a solvable trial.
    policy : StopPolicy or mapping
        Of the rule ``bound``; its own threshold is replaced.
    target : float, default 0.05
        Largest false-stop rate, of the solvable trials, that is accepted in choosing.
    choose_by : {"estimate", "upper_limit"}
        What is held to the target: the rate on the other tasks, or the upper limit of its
        interval (clustered Wilson at ``confidence``), which is the cautious choice.
    thresholds : sequence of float, optional
        The grid; see :data:`steelyard.analysis.stopping.sweep.THRESHOLDS`.
    truth, outcome
        As :func:`steelyard.analysis.stopping.stop_points`.
    confidence : float, default 0.95
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per task (``part`` is ``task``), then ``held_out`` and ``apparent``: ``part``,
        ``task`` (empty for the two), ``threshold`` (chosen without the task; infinite where none
        meets the target, so that no trial is stopped; NaN for ``held_out``), ``threshold_low``,
        ``threshold_high`` (range over the tasks), ``training_false_stop_rate``, ``solvable``,
        ``false_stops``, ``false_stop_rate``, ``low``, ``high`` (clustered Wilson; NaN for single
        tasks), ``missed_stop_rate``, ``steps_share``, ``target``, ``choose_by``, ``level``,
        ``n_clusters``, ``note``. Of thresholds that save equally many steps the highest is
        chosen.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.stopping.stop_points`; for a target outside [0, 1), an
        unknown ``choose_by``, or fewer than two tasks with a solvable trial.
    """
    numeric = isinstance(target, int | float) and not isinstance(target, bool)
    if not numeric or not 0 <= target < 1:
        raise InputError(f"target is {target!r}; accepted: a rate from 0 to below 1")
    if choose_by not in CHOOSE_BY:
        raise InputError(f"choose_by is {choose_by!r}; accepted: {', '.join(CHOOSE_BY)}")
    level = check_open_unit("confidence", confidence)
    swept = at_thresholds(read_policy(policy), thresholds)
    states = read_states(tables, truth=truth, outcome=outcome, **filters)
    replay, worth = Replay(states), Truth(states)
    outcomes = [Outcomes(states, worth, replay.stops(one)) for one in swept]
    # The last policy stops nothing; it is what is left where no threshold meets the target.
    never = read_policy({"rule": "never"})
    outcomes.append(Outcomes(states, worth, replay.stops(never)))
    tallies = Tallies.of(outcomes, grouped(tables, states.trials, ())[0])
    if int((tallies.sums["solvable"][0] > 0).sum()) < 2:
        raise InputError(
            f"study {tables.study}: fewer than two tasks have a solvable trial; a threshold "
            "cannot be judged on a task it was not chosen on"
        )
    values = np.array([one.threshold for one in swept] + [math.inf])
    limit = level if choose_by == "upper_limit" else None
    return _table(tallies, values, target, limit, level).assign(
        target=target, choose_by=choose_by, level=level
    )[list(_COLUMNS)]


_COLUMNS: Final = (
    "part",
    "task",
    "threshold",
    "threshold_low",
    "threshold_high",
    "training_false_stop_rate",
    "solvable",
    "false_stops",
    "false_stop_rate",
    "low",
    "high",
    "missed_stop_rate",
    "steps_share",
    "target",
    "choose_by",
    "level",
    "n_clusters",
    "note",
)


def _table(
    tallies: Tallies, values: FloatArray, target: float, limit: float | None, confidence: float
) -> pd.DataFrame:
    tasks = tallies.group.tasks
    every = np.ones(len(tasks), dtype=bool)
    rows, chosen = [], []
    for place, task in enumerate(tasks):
        others = every.copy()
        others[place] = False
        policy, training = _choose(tallies, others, target, limit)
        chosen.append(policy)
        rows.append(
            {"part": "task", "task": task, "threshold": values[policy]}
            | {"threshold_low": values[policy], "threshold_high": values[policy]}
            | {"training_false_stop_rate": training}
            | _judged(tallies, np.array([policy]), np.array([place]), None)
            | {"note": _NEVER if np.isinf(values[policy]) else ""}
        )
    spread = values[chosen]
    rows.append(
        {"part": "held_out", "task": "", "threshold": np.nan}
        | {"threshold_low": spread.min(), "threshold_high": spread.max()}
        | {"training_false_stop_rate": np.nan}
        | _judged(tallies, np.array(chosen), np.arange(len(tasks)), confidence)
        | {"note": "each task judged by the threshold chosen without it"}
    )
    policy, training = _choose(tallies, every, target, limit)
    rows.append(
        {"part": "apparent", "task": "", "threshold": values[policy]}
        | {"threshold_low": values[policy], "threshold_high": values[policy]}
        | {"training_false_stop_rate": training}
        | _judged(tallies, np.full(len(tasks), policy), np.arange(len(tasks)), confidence)
        | {"note": "chosen and judged on the same tasks: too good for new ones"}
    )
    return pd.DataFrame(rows)


def _choose(tallies: Tallies, tasks: Any, target: float, limit: float | None) -> tuple[int, float]:
    """Return the policy that saves most steps within the target on some tasks, and its rate.

    The last policy is the one that never stops; it is taken where no other meets the target.
    """
    false, solvable = (part[:, tasks] for part in tallies.parts("false_stop"))
    avoided = tallies.parts("steps")[0][:, tasks].sum(axis=1)
    rates = quotient(false.sum(axis=1), solvable.sum(axis=1))
    held = rates
    if limit is not None:
        counts = zip(false.astype(np.int64), solvable.astype(np.int64), strict=True)
        held = np.array([rate_row(*pair, limit)["clustered_high"] for pair in counts])
    within = np.flatnonzero(~(held[:-1] > target))
    if not len(within):
        return len(rates) - 1, float(rates[-1])
    best = within[avoided[within] == avoided[within].max()].max()
    return int(best), float(rates[best])


def _judged(
    tallies: Tallies, policies: Any, tasks: Any, confidence: float | None
) -> dict[str, Any]:
    """Return the errors and savings of tasks, each under its own policy."""
    sums = {name: part[policies, tasks] for name, part in tallies.sums.items()}
    solvable, false = sums["solvable"], sums["false_stop"]
    found: dict[str, Any] = {
        "solvable": int(solvable.sum()),
        "false_stops": int(false.sum()),
        "false_stop_rate": _ratio(false, solvable),
        "low": np.nan,
        "high": np.nan,
        "missed_stop_rate": _ratio(sums["missed_stop"], solvable),
        "steps_share": _ratio(sums["steps_avoided"], sums["steps_spent"]),
        "n_clusters": int((solvable > 0).sum()),
    }
    if confidence is not None:
        row = rate_row(false.astype(np.int64), solvable.astype(np.int64), confidence)
        found |= {"low": row["clustered_low"], "high": row["clustered_high"]}
    return found


def _ratio(above: FloatArray, below: FloatArray) -> float:
    return float(quotient(np.array(above.sum()), np.array(below.sum())))
