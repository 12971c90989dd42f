"""How much a policy's stops depend on each weight."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import numpy as np
import pandas as pd

from steelyard.analysis.names import Filters
from steelyard.analysis.stopping.outcomes import Outcomes, Truth
from steelyard.analysis.stopping.replay import Replay
from steelyard.analysis.stopping.states import read_states
from steelyard.analysis.stopping.tally import Tallies, grouped
from steelyard.errors import InputError
from steelyard.evaluators.bound import DIMENSIONS
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy
from steelyard.stats.checks import check_open_unit
from steelyard.stats.ratios import cluster_draws

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

FACTORS: Final = (0.0, 0.5, 0.8, 1.25, 2.0)
"""What each weight is multiplied by."""

QUANTITIES: Final = ("accepted", "false_stop", "missed_stop", "success", "steps")
"""Rates, and the share of steps avoided, whose change is reported."""


def weight_sensitivity(
    tables: StudyTables,
    policy: StopPolicy | Mapping[str, Any],
    *,
    factors: Sequence[float] = FACTORS,
    truth: str = "auto",
    outcome: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Change one weight at a time and say which stops move.

    Parameters
    ----------
    tables : StudyTables
        The study.
    policy : StopPolicy or mapping
        Of the rule ``bound``.
    factors : sequence of float
        Each weight is multiplied by each of these, the others stay.
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
        The policy as it is (``dimension`` is ``none``), then one row per dimension and factor:
        ``dimension``, ``factor``, ``weight``; ``trials`` (replayed), ``stops_moved`` (trials
        that stop elsewhere, or no longer), ``stops_moved_rate``, ``decisions_flipped_rate`` (of
        the scored states); ``accepted``, ``false_stop``, ``missed_stop``, ``success`` (rates) and
        ``steps_share``, each with ``..._change`` from the policy as it is and the limits
        ``..._change_low``, ``..._change_high`` over resampled tasks (NaN where no task differs);
        ``level``, ``n_clusters``, ``n_resamples``, ``seed``. Influence is 0 in every state, so
        its weight moves nothing; the rows say so.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.stopping.stop_points`; for another rule, or factors that are
        no finite numbers from 0.
    """
    base = read_policy(policy)
    if base.rule != "bound":
        raise InputError(f"weights belong to the rule 'bound', not {base.rule!r}")
    if not isinstance(factors, list | tuple) or not factors:
        raise InputError(f"factors is {factors!r}; accepted: a list of numbers from 0")
    varied = _varied(base, factors)
    states = read_states(tables, truth=truth, outcome=outcome, **filters)
    replay, worth = Replay(states), Truth(states)
    outcomes = [Outcomes(states, worth, replay.stops(one)) for _, _, one in varied]
    group = grouped(tables, states.trials, ())[0]
    tallies = Tallies.of(outcomes, group)
    changes = _changes(tallies, check_open_unit("confidence", confidence), n_resamples, seed)
    rows = [
        {"dimension": dimension, "factor": factor}
        | {"weight": getattr(one.weights, dimension, np.nan)}
        | _moved(replay, outcomes[0], outcomes[place])
        | changes[place]
        for place, (dimension, factor, one) in enumerate(varied)
    ]
    return pd.DataFrame(rows).assign(
        level=confidence, n_clusters=len(group.tasks), n_resamples=n_resamples, seed=seed
    )


def _varied(base: StopPolicy, factors: Sequence[float]) -> list[tuple[str, float, StopPolicy]]:
    """Return the policy as it is, then with each weight times each factor."""
    weights = base.weights.model_dump()
    varied = [("none", 1.0, base)]
    for dimension in DIMENSIONS:
        for factor in factors:
            number = _number(factor)
            changed = weights | {dimension: weights[dimension] * number}
            varied.append((dimension, number, base.changed(weights=changed)))
    return varied


def _number(factor: Any) -> float:
    if isinstance(factor, bool) or not isinstance(factor, int | float):
        raise InputError(f"factors holds {factor!r}; accepted: numbers from 0")
    try:
        return float(factor)
    except OverflowError:
        raise InputError(
            "factors holds an integer beyond every double; accepted: numbers from 0"
        ) from None


def _moved(replay: Replay, base: Outcomes, other: Outcomes) -> dict[str, Any]:
    trials = int(base.states.replayed.sum())
    moved = int((base.stops.state != other.stops.state).sum())
    scored = replay.scores(base.stops.policy).gates > 0
    before, after = (replay.decisions(one.stops.policy)[scored] for one in (base, other))
    return {
        "trials": trials,
        "stops_moved": moved,
        "stops_moved_rate": moved / trials,
        "decisions_flipped_rate": float(np.mean(before != after)) if scored.any() else np.nan,
    }


def _changes(
    tallies: Tallies, confidence: float, n_resamples: int, seed: int
) -> list[dict[str, float]]:
    """Return each policy's quantities, and their changes from the first policy."""
    draws = cluster_draws(len(tallies.group.tasks), n_resamples, seed)
    tail = (1.0 - confidence) / 2.0
    rows: list[dict[str, float]] = [{} for _ in tallies.sums["replayed"]]
    for quantity in QUANTITIES:
        name = "steps_share" if quantity == "steps" else quantity
        above, _ = tallies.parts(quantity)
        estimates = tallies.estimates(quantity)
        # Both sides have the same draws: the change is paired.
        drawn = tallies.resampled(quantity, draws)
        drawn = drawn[~np.isnan(drawn).any(axis=1)]
        for place, row in enumerate(rows):
            low = high = np.nan
            if len(drawn) and len(above[0]) > 1 and not np.array_equal(above[0], above[place]):
                low, high = np.quantile(drawn[:, place] - drawn[:, 0], [tail, 1.0 - tail])
            row[name] = float(estimates[place])
            row[f"{name}_change"] = float(estimates[place] - estimates[0])
            row[f"{name}_change_low"], row[f"{name}_change_high"] = float(low), float(high)
    return rows
