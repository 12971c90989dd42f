"""What stopping a trial somewhere would have meant: what it spares, and what it gives up."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from steelyard.analysis.stopping.places import BoolArray, FloatArray, IntArray
from steelyard.analysis.stopping.replay import Stops
from steelyard.analysis.stopping.states import States

VERDICTS: Final = (
    "correct_stop",
    "false_stop",
    "overrun_stop",
    "missed_stop",
    "unsolved_stop",
    "correct_continue",
    "unknown",
)
"""What a stop was, judged by the truth of every state up to the agent's own stop.

- ``correct_stop``: at a state that satisfies the task.
- ``false_stop``: at a state that does not, while a later one does.
- ``overrun_stop``: at a state that does not; an earlier one does, no later one.
- ``missed_stop``: no stop, though a state satisfies the task.
- ``unsolved_stop``: at some state, though none satisfies the task.
- ``correct_continue``: no stop, and no state satisfies the task.
- ``unknown``: the truth of some state is not known.
"""

CORRECT, FALSE, OVERRUN, MISSED, UNSOLVED, CONTINUED, UNKNOWN = range(7)

WORK: Final = {
    "steps": "steps",
    "tool_calls": "tool_call_count",
    "tokens": "token_usage",
    "seconds": "execution_time_seconds",
}
"""Kinds of work, and the counter that each is read from (steps are counted by their index)."""


@dataclass(frozen=True)
class Truth:
    """What the trials' states are worth, whatever the policy.

    Attributes
    ----------
    known : numpy.ndarray of bool, shape (trials,)
        The trial is replayed and the truth of each of its states is known.
    first, last : numpy.ndarray of int64, shape (trials,)
        First and last state that satisfies the task, -1 where none does.
    """

    states: States

    @cached_property
    def known(self) -> BoolArray:
        """Whether the truth of every state of a replayed trial is known."""
        blank = np.isnan(self.states.satisfied)
        unknown = np.bincount(self.states.trial[blank], minlength=len(self.states.trials)) > 0
        return self.states.replayed & (self.states.counts > 0) & ~unknown

    @cached_property
    def first(self) -> IntArray:
        """The first satisfied state of each trial, -1 where there is none."""
        return self._satisfied(np.flatnonzero(self.states.satisfied == 1.0)[::-1])

    @cached_property
    def last(self) -> IntArray:
        """The last satisfied state of each trial, -1 where there is none."""
        return self._satisfied(np.flatnonzero(self.states.satisfied == 1.0))

    @property
    def solvable(self) -> BoolArray:
        """Whether the truth is known and some state satisfies the task."""
        return self.known & (self.first >= 0)

    def _satisfied(self, places: IntArray) -> IntArray:
        found = np.full(len(self.states.trials), -1, dtype=np.int64)
        found[self.states.trial[places]] = places
        return found


@dataclass(frozen=True)
class Outcomes:
    """What one policy's stops mean, trial by trial.

    Parameters
    ----------
    states : States
    truth : Truth
    stops : Stops
    """

    states: States
    truth: Truth
    stops: Stops

    @property
    def accepted(self) -> BoolArray:
        """Whether the policy stops the trial."""
        return self.stops.state >= 0

    @cached_property
    def verdict(self) -> npt.NDArray[np.int8]:
        """Each trial's place in :data:`VERDICTS`."""
        stop, truth = self.stops.state, self.truth
        satisfied = self.at_stop(self.states.satisfied) == 1.0
        solvable = truth.first >= 0
        verdict = np.where(solvable, MISSED, CONTINUED)
        stopped = np.where(truth.last > stop, FALSE, OVERRUN)
        stopped = np.where(solvable, stopped, UNSOLVED)
        verdict = np.where(self.accepted, np.where(satisfied, CORRECT, stopped), verdict)
        return np.where(truth.known, verdict, UNKNOWN).astype(np.int8)

    @cached_property
    def satisfied_under_policy(self) -> FloatArray:
        """1 or 0 for the state in which the policy leaves the trial; NaN where not known."""
        end = np.where(self.accepted, self.stops.state, self.states.last)
        return np.where(self.truth.known, self._value(self.states.satisfied, end), np.nan)

    @cached_property
    def satisfied_at_end(self) -> FloatArray:
        """1 or 0 for the agent's own stop; NaN where not known."""
        return np.where(
            self.truth.known, self._value(self.states.satisfied, self.states.last), np.nan
        )

    def spent(self, work: str) -> FloatArray:
        """Return what the agent itself spent: steps taken, or the counter at its own stop.

        Step indexes count from 0, so the step of the own stop is one less than the steps taken.
        """
        if work == "steps":
            return np.where(self.states.replayed, self.states.own_stop + 1.0, np.nan)
        return self._value(self.states.signals[WORK[work]], self.states.own_stop_state)

    def avoided(self, work: str) -> FloatArray:
        """Return what stopping spares of one kind of work.

        The counter at the agent's own stop less the counter at the policy's, at least 0; 0 where
        the policy does not stop the trial, NaN where a counter is not recorded. A trial whose
        spending is unknown has no 0 either: only the trials that are stopped would be left out,
        and a counter that nobody recorded would have values.
        """
        if work == "steps":
            unknown = ~self.states.replayed
            spared = self.states.own_stop - self.at_stop(self.states.step)
        else:
            spent = self.spent(work)
            unknown = ~self.states.replayed | np.isnan(spent)
            spared = spent - self.at_stop(self.states.signals[WORK[work]])
        spared = np.where(self.accepted, np.maximum(spared, 0.0), 0.0)
        return np.where(unknown, np.nan, spared)

    def left(self, work: str) -> FloatArray:
        """Return what is left to do of one kind of work at each state of a replayed trial.

        The counter at the agent's own stop less the counter at the state; NaN where a counter is
        not recorded. It does not depend on the policy.
        """
        states = self.states
        if work == "steps":
            amount = states.own_stop[states.trial] - states.step
        else:
            amount = self.spent(work)[states.trial] - states.signals[WORK[work]]
        return np.asarray(amount, dtype=np.float64)[states.replayed[states.trial]]

    @cached_property
    def _is_after_stop(self) -> BoolArray:
        """Whether each state comes after the stop of its trial."""
        stop = self.stops.state[self.states.trial]
        return (stop >= 0) & (np.arange(len(stop)) > stop)

    def at_stop(self, values: FloatArray | IntArray) -> FloatArray:
        """Return the value of the state at which each trial is stopped, NaN where it is not."""
        return self._value(values, self.stops.state)

    def after_stop(self, marked: BoolArray) -> IntArray:
        """Count each trial's states after the stop that are marked; 0 where it is not stopped."""
        after = self.states.trial[marked & self._is_after_stop]
        return np.bincount(after, minlength=len(self.accepted)).astype(np.int64)

    def _value(self, values: FloatArray | IntArray, state: IntArray) -> FloatArray:
        found = np.full(len(state), np.nan)
        there = state >= 0
        found[there] = values[state[there]]
        return found
