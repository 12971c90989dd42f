"""Where a policy stops each trial: all states of all trials in one pass."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from steelyard.analysis.stopping.places import BoolArray, FloatArray, IntArray
from steelyard.analysis.stopping.states import States
from steelyard.evaluators.bound.arrays import (
    CodeArray,
    ScoreArrays,
    accepted_states,
    decision_codes,
    score_arrays,
    utility_arrays,
)
from steelyard.evaluators.bound.stop_policy import StopPolicy


@dataclass(frozen=True)
class Stops:
    """Where one policy stops.

    Attributes
    ----------
    policy : StopPolicy
    state : numpy.ndarray of int64, shape (trials,)
        The state at which each trial is stopped, -1 where it runs on to the agent's own stop.
    held : numpy.ndarray of bool, shape (states,)
        Whether each state meets the policy's condition (before ``consecutive`` is asked for).
    """

    policy: StopPolicy
    state: IntArray
    held: BoolArray


@dataclass
class Replay:
    """Replays policies over the same states; what they share is computed once.

    Parameters
    ----------
    states : States
    """

    states: States
    _scores: dict[str, ScoreArrays] = field(default_factory=dict, repr=False)
    _utility: tuple[str, FloatArray] = field(default=("", np.empty(0)), repr=False)

    def scores(self, policy: StopPolicy) -> ScoreArrays:
        """Return the scores of the states under a policy's caps and its rule for missing gates."""
        key = f"{policy.normalization!r} {policy.missing_gates}"
        if key not in self._scores:
            self._scores[key] = score_arrays(
                self.states.signals, policy.normalization, policy.missing_gates
            )
        return self._scores[key]

    def utility(self, policy: StopPolicy) -> FloatArray:
        """Return the utility of each state, NaN where it is unscored."""
        key = f"{policy.normalization!r} {policy.missing_gates} {policy.weights!r}"
        if self._utility[0] != key:  # only the last is kept: a sweep asks for one again and again
            self._utility = key, utility_arrays(self.scores(policy), policy.weights)
        return self._utility[1]

    def decisions(self, policy: StopPolicy) -> CodeArray:
        """Return each state's decision code, -1 where it is unscored."""
        scores = self.scores(policy)
        return decision_codes(self.utility(policy), scores.risk, policy.criteria)

    def stops(self, policy: StopPolicy) -> Stops:
        """Return where a policy stops each trial."""
        held = self._held(policy)
        ready = held if policy.consecutive == 1 else self._in_a_row(held, policy.consecutive)
        return Stops(policy, self._first(ready), held)

    def _held(self, policy: StopPolicy) -> BoolArray:
        states = self.states
        if policy.rule == "never":
            return np.zeros(len(states.step), dtype=bool)
        if policy.rule == "oracle":
            return np.asarray(states.satisfied == 1.0)
        if policy.rule == "fixed_step":
            return states.step >= policy.step
        scores = self.scores(policy)
        if policy.rule == "green":
            return scores.green
        held = accepted_states(self.utility(policy), scores.risk, policy.criteria)
        return held & scores.green if policy.hard_gates else held

    def _first(self, ready: BoolArray) -> IntArray:
        """Return the first ready state of each trial, -1 where it has none."""
        first = np.full(len(self.states.trials), -1, dtype=np.int64)
        places = np.flatnonzero(ready)[::-1]
        # Of several values for one trial the last one assigned stays: the earliest state.
        first[self.states.trial[places]] = places
        return first

    def _in_a_row(self, held: BoolArray, times: int) -> BoolArray:
        """Tell at which states the condition has been met that many times in a row."""
        places = np.arange(len(held))
        breaks = ~held
        run = places - np.maximum.accumulate(np.where(breaks, places, -1))
        starts = (self.states.last - self.states.counts + 1)[self.states.trial]
        return np.asarray(held & (np.minimum(run, places - starts + 1) >= times))
