"""The policy over arrays: scores, utilities and decisions of many states in one pass.

The numbers are the bits that :mod:`steelyard.evaluators.bound.workflow` and
:mod:`steelyard.evaluators.bound.policy` give state by state; a test holds them to that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal

import numpy as np
import numpy.typing as npt

from steelyard.evaluators.bound.models import BoundCriteria, BoundWeights
from steelyard.evaluators.bound.signals import WorkflowNormalization
from steelyard.evaluators.bound.summation import BoolArray, FloatArray, RowSums
from steelyard.evaluators.bound.workflow import (
    GATES,
    LARGE_CHANGE,
    MANY_MODIFIED_TESTS,
    MODIFIED_TESTS_RISK,
)

CodeArray = npt.NDArray[np.int8]
MissingGates = Literal["failed", "left_out"]

ACCEPT, RETRY, REPLAN, ROLLBACK = range(4)
"""Places in :data:`steelyard.evaluators.bound.DECISIONS`."""

UNSCORED = -1
"""Code of a state that reported no gate."""

CHUNK = 1 << 14
"""States scored at a time; a chunk's arrays stay in the processor's cache."""


@dataclass(frozen=True)
class ScoreArrays:
    """Scores of states; every array has one element per state.

    Attributes
    ----------
    acceptance : numpy.ndarray of float64
        NaN where no gate was reported; then ``risk`` is NaN too.
    influence, risk, cost : numpy.ndarray of float64
    gates : numpy.ndarray of int8
        Reported gates, of four.
    green : numpy.ndarray of bool
        Whether a gate was reported and every reported gate is full.
    """

    acceptance: FloatArray
    influence: FloatArray
    risk: FloatArray
    cost: FloatArray
    gates: CodeArray
    green: BoolArray

    def __len__(self) -> int:
        """Return the number of states."""
        return len(self.acceptance)

    def part(self, states: slice) -> ScoreArrays:
        """Return some of the states; writing into them writes into these."""
        return ScoreArrays(*(getattr(self, field.name)[states] for field in fields(self)))


def score_arrays(
    signals: Mapping[str, FloatArray],
    normalization: WorkflowNormalization | None = None,
    missing_gates: MissingGates = "failed",
) -> ScoreArrays:
    """Score states by their signals.

    Parameters
    ----------
    signals : mapping of str to numpy.ndarray of float64, shape (n,)
        By the names of :data:`steelyard.evaluators.bound.SIGNAL_NAMES` without ``tests_added``,
        which no score uses; truth values are 0 and 1, NaN is "not reported". Values are within
        their ranges and finite. Retries and tool calls that were not reported are 0, as in BOUND.
    normalization : WorkflowNormalization, optional
    missing_gates : {"failed", "left_out"}
        ``failed`` is BOUND's rule: the mean of the reported gates times reported/4.
        ``left_out`` is that mean alone.

    Returns
    -------
    ScoreArrays
        Influence is 0: no signal says anything about it.
    """
    limits = normalization or WorkflowNormalization()
    states = len(signals[GATES[0]])
    scores = ScoreArrays(
        acceptance=np.empty(states),
        influence=np.zeros(states),
        risk=np.empty(states),
        cost=np.empty(states),
        gates=np.empty(states, dtype=np.int8),
        green=np.empty(states, dtype=bool),
    )
    for start in range(0, states, CHUNK):
        chunk = slice(start, start + CHUNK)
        reported = {name: column[chunk] for name, column in signals.items()}
        _score(reported, limits, missing_gates, scores.part(chunk))
    return scores


def utility_arrays(scores: ScoreArrays, weights: BoundWeights) -> FloatArray:
    """Return the utility of each state; NaN where it is unscored."""
    benefit = weights.acceptance * scores.acceptance + weights.influence * scores.influence
    utility: FloatArray = benefit - weights.risk * scores.risk - weights.cost * scores.cost
    return utility


def decision_codes(utility: FloatArray, risk: FloatArray, criteria: BoundCriteria) -> CodeArray:
    """Return each state's decision as a place in ``DECISIONS``, -1 where it is unscored.

    Parameters
    ----------
    utility, risk : numpy.ndarray of float64, shape (n,)
        ``risk`` is NaN where a state is unscored.
    criteria : BoundCriteria

    Returns
    -------
    numpy.ndarray of int8, shape (n,)
    """
    codes = np.full(len(utility), REPLAN, dtype=np.int8)
    codes[criteria.threshold - utility <= criteria.retry_margin] = RETRY
    codes[utility >= criteria.threshold] = ACCEPT
    codes[risk >= criteria.rollback_risk_threshold] = ROLLBACK
    codes[np.isnan(risk)] = UNSCORED
    return codes


def accepted_states(utility: FloatArray, risk: FloatArray, criteria: BoundCriteria) -> BoolArray:
    """Return whether each state is accepted: all of the decision that a stop depends on."""
    accepted: BoolArray = utility >= criteria.threshold
    accepted &= risk < criteria.rollback_risk_threshold
    return accepted


def _score(
    signals: Mapping[str, FloatArray],
    limits: WorkflowNormalization,
    missing_gates: MissingGates,
    scores: ScoreArrays,
) -> None:
    """Write the scores of some states, but for influence, which no signal says anything about."""
    gates = RowSums(len(scores))
    scores.green[:] = True
    for name in GATES:
        gates.add(signals[name], ~np.isnan(signals[name]))
        np.logical_and(scores.green, ~(signals[name] < 1.0), out=scores.green)
    np.logical_and(scores.green, gates.terms > 0, out=scores.green)
    scores.gates[:] = gates.terms
    acceptance = gates.means()
    if missing_gates == "failed":
        acceptance *= gates.terms / len(GATES)
    scores.acceptance[:] = acceptance
    scores.risk[:] = _risk(signals, acceptance)
    scores.cost[:] = _cost(signals, limits)


def _risk(signals: Mapping[str, FloatArray], acceptance: FloatArray) -> FloatArray:
    unexpected, undoable = signals["unexpected_files_changed"], signals["rollback_available"]
    changed, removed, modified = (
        signals["files_changed"],
        signals["tests_removed"],
        signals["tests_modified"],
    )
    share = np.minimum(modified / MANY_MODIFIED_TESTS, 1.0) * MODIFIED_TESTS_RISK
    risks = RowSums(len(acceptance))
    risks.add((unexpected > 0).astype(np.float64), ~np.isnan(unexpected))
    risks.add((undoable == 0).astype(np.float64), ~np.isnan(undoable))
    risks.add(np.minimum(changed / LARGE_CHANGE, 1.0), ~np.isnan(changed))
    risks.add((removed > 0).astype(np.float64), ~np.isnan(removed))
    risks.add(share, ~np.isnan(modified))
    risks.add(1.0 - acceptance)
    return risks.means()


def _cost(signals: Mapping[str, FloatArray], limits: WorkflowNormalization) -> FloatArray:
    costs = RowSums(len(signals["retry_count"]))
    for name, limit in (
        ("retry_count", limits.max_expected_retries),
        ("tool_call_count", limits.max_expected_tool_calls),
    ):
        costs.add(_capped(np.fmax(signals[name], 0.0), limit))  # not reported is none
    for name, most in (
        ("token_usage", limits.max_expected_tokens),
        ("execution_time_seconds", limits.max_expected_runtime_seconds),
    ):
        costs.add(_capped(signals[name], most), ~np.isnan(signals[name]))
    return costs.means()


def _capped(values: FloatArray, limit: float) -> FloatArray:
    if limit <= 0:
        return (values > 0).astype(np.float64)
    return np.minimum(values / limit, 1.0)
