"""Where a policy would have stopped each trial, and what that would have meant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.names import DIMENSIONS, Filters, design_order
from steelyard.analysis.stopping.outcomes import VERDICTS, WORK, Outcomes, Truth
from steelyard.analysis.stopping.places import BoolArray, FloatArray, IntArray
from steelyard.analysis.stopping.replay import Replay
from steelyard.analysis.stopping.states import TRIAL_COLUMNS, States, read_states
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


def stop_points(
    tables: StudyTables,
    policy: StopPolicy | Mapping[str, Any],
    *,
    truth: str = "auto",
    outcome: str | None = None,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Replay a policy over recorded trials and say where it would have stopped each.

    The replay is counterfactual: what the agent did up to a state does not depend on the policy,
    so the state is what the policy would have left. States after the agent's own stop are left
    out: a policy cannot shorten what the agent had ended.

    Parameters
    ----------
    tables : StudyTables
        The study; its ``signals`` hold a row per state.
    policy : StopPolicy or mapping
        See :class:`steelyard.evaluators.bound.stop_policy.StopPolicy`.
    truth : {"auto", "steps", "measure", "none"}
        Where a state's truth is found, see :func:`steelyard.analysis.stopping.truth.read_truth`.
    outcome : str, optional
        The 0/1 measure of the agent's own result; the study's primary measure when absent.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per trial, in the study's order:

        - ``trial_id``, ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``, ``status``,
          ``policy`` (its name);
        - ``states`` up to the agent's own stop, ``unscored_states`` (no gate reported; such a
          state is never accepted), ``actual_stop`` (step index of the agent's own stop, NA where
          unknown);
        - ``accepted``, ``stop_step`` (NA where never), ``score_at_stop`` (utility; NaN for rules
          without one);
        - ``steps_avoided``, ``tool_calls_avoided``, ``tokens_avoided``, ``seconds_avoided``:
          counter at the agent's own stop less counter at the policy's, at least 0; 0 where the
          policy never stops, NaN where a counter is not recorded, also there. ``..._spent``: the
          agent's own totals (steps: index of its stop plus 1);
        - ``tests_pass_at_stop``, ``required_checks_pass_at_stop``: NA where not reported;
        - ``regressions_after_accept``: later states that do not meet the policy's condition,
          whatever the cause; ``quality_losses_after_accept``: later states whose acceptance score
          is below that at the stop; ``recovered``: whether the last state's is not (NA where
          nothing was lost);
        - ``first_satisfied``: step index of the first state that satisfies the task (NA where
          none does or it is not known); ``satisfied_at_stop``, ``satisfied_at_end`` (the agent's
          own stop), ``satisfied_under_policy`` (the policy's stop, else the agent's own);
          ``verdict``, see :data:`steelyard.analysis.stopping.outcomes.VERDICTS`;
          ``steps_after_first_satisfied``: steps taken after it under the policy, NA where the
          policy stops before it;
        - ``problem``: why the trial cannot be replayed; every answer of such a trial is missing.

    Raises
    ------
    InputError
        For a policy that is not valid, or when no trial can be replayed.
    UnknownNameError
        For a filter value that the study does not hold.
    """
    read = read_policy(policy)
    states = read_states(tables, truth=truth, outcome=outcome, **filters)
    replay = Replay(states)
    outcomes = Outcomes(states, Truth(states), replay.stops(read))
    return point_table(replay, outcomes, design_order(tables, states.trials, DIMENSIONS))


def point_table(replay: Replay, outcomes: Outcomes, order: IntArray | None = None) -> pd.DataFrame:
    """Return the table of :func:`stop_points` for one policy of a replay.

    Parameters
    ----------
    replay : Replay
    outcomes : Outcomes
    order : numpy.ndarray of int64, shape (trials,), optional
        The rows' places in the states' trials; by trial id when absent.
    """
    states, policy = outcomes.states, outcomes.stops.policy
    scores = replay.scores(policy)
    scored_rule = policy.rule == "bound"
    utility = replay.utility(policy) if scored_rule else np.full(len(states.step), np.nan)
    unscored = np.bincount(states.trial[scores.gates == 0], minlength=len(states.trials))
    # Arrays, for Series would be aligned one by one.
    columns: dict[str, Any] = {name: states.trials[name].array for name in TRIAL_COLUMNS}
    columns |= {
        "policy": np.full(len(states.trials), policy.name, dtype=object),
        "states": states.counts,
        "unscored_states": unscored.astype(np.int64),
        "actual_stop": _whole(states.own_stop),
        "accepted": _known(outcomes.accepted, states.replayed),
        "stop_step": _whole(outcomes.at_stop(states.step)),
        "score_at_stop": outcomes.at_stop(utility),
        **{f"{work}_avoided": outcomes.avoided(work) for work in WORK},
        **{f"{work}_spent": outcomes.spent(work) for work in WORK},
        **_gates(outcomes),
        **_losses(outcomes, scores.acceptance),
        **_truth(outcomes),
        "problem": states.problem,
    }
    if order is not None:
        columns = {name: values[order] for name, values in columns.items()}
    # All columns at once: adding them one by one costs more than the replay of a small study.
    return pd.DataFrame(columns)


def _gates(outcomes: Outcomes) -> dict[str, Any]:
    signals = outcomes.states.signals
    found = {}
    for column, name in (
        ("tests_pass_at_stop", "test_pass_rate"),
        ("required_checks_pass_at_stop", "required_checks_passed"),
    ):
        value = outcomes.at_stop(signals[name])
        found[column] = _known(value >= 1.0, ~np.isnan(value))
    return found


def _losses(outcomes: Outcomes, acceptance: FloatArray) -> dict[str, Any]:
    states, replayed = outcomes.states, outcomes.states.replayed
    at_stop = outcomes.at_stop(acceptance)
    below = acceptance < at_stop[states.trial]
    lost = outcomes.after_stop(below)
    ended_below = np.zeros(len(lost), dtype=bool)
    there = states.last >= 0
    ended_below[there] = below[states.last[there]]
    regressions = outcomes.after_stop(~outcomes.stops.held).astype(float)
    return {
        "regressions_after_accept": _whole(np.where(replayed, regressions, np.nan)),
        "quality_losses_after_accept": _whole(np.where(replayed, lost.astype(float), np.nan)),
        "recovered": _known(~ended_below, lost > 0),
    }


def _truth(outcomes: Outcomes) -> dict[str, Any]:
    states, truth = outcomes.states, outcomes.truth
    first = np.where(truth.solvable, _steps_of(states, truth.first), np.nan)
    end = np.where(outcomes.accepted, outcomes.at_stop(states.step), states.own_stop)
    late = np.where(end >= first, end - first, np.nan)
    at_stop = np.where(truth.known, outcomes.at_stop(states.satisfied), np.nan)
    judged = {
        "satisfied_at_stop": at_stop,
        "satisfied_at_end": outcomes.satisfied_at_end,
        "satisfied_under_policy": outcomes.satisfied_under_policy,
    }
    return {
        "first_satisfied": _whole(first),
        **{name: _known(value == 1.0, ~np.isnan(value)) for name, value in judged.items()},
        "verdict": np.array(VERDICTS, dtype=object)[outcomes.verdict],
        "steps_after_first_satisfied": _whole(late),
    }


def _steps_of(states: States, places: Any) -> FloatArray:
    steps = np.full(len(places), np.nan)
    there = places >= 0
    steps[there] = states.step[places[there]]
    return steps


def _whole(values: FloatArray) -> Any:
    """Return whole numbers, NA where there is none."""
    blank = np.isnan(values)
    return pd.arrays.IntegerArray(np.where(blank, 0, values).astype(np.int64), blank)


def _known(values: BoolArray, known: BoolArray) -> Any:
    """Return truth values, NA where they are not known."""
    return pd.arrays.BooleanArray(values.copy(), ~known)
