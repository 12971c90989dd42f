"""The policy over arrays gives the bits of the policy state by state."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from steelyard.evaluators import bound
from steelyard.evaluators.bound.workflow import GATES

SHARES = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.3, 0.7, 1.0])
FLAGS = st.none() | st.booleans()
COUNTS = st.none() | st.integers(0, 60)
SPENT = st.integers(0, 10**6)
STATES = st.fixed_dictionaries(
    {
        "test_pass_rate": SHARES,
        "required_checks_passed": SHARES,
        "lint_passed": FLAGS,
        "type_check_passed": FLAGS,
        "retry_count": st.integers(0, 9),
        "tool_call_count": st.integers(0, 90),
        "token_usage": st.none() | SPENT,
        "execution_time_seconds": st.none() | st.floats(0, 1e5),
        "files_changed": COUNTS,
        "unexpected_files_changed": COUNTS,
        "rollback_available": FLAGS,
        "tests_removed": COUNTS,
        "tests_modified": COUNTS,
    }
)
LIMITS = st.builds(
    bound.WorkflowNormalization,
    max_expected_retries=st.integers(0, 6),
    max_expected_tool_calls=st.integers(0, 60),
    max_expected_tokens=st.just(0) | SPENT,
    max_expected_runtime_seconds=st.floats(0, 5000) | st.just(math.inf),
)
WEIGHTS = st.builds(bound.BoundWeights, **dict.fromkeys(bound.DIMENSIONS, st.floats(0, 3)))


def columns(states):
    return {
        name: np.array(
            [math.nan if state[name] is None else float(state[name]) for state in states]
        )
        for name in states[0]
    }


@given(
    states=st.lists(STATES, min_size=1, max_size=6),
    limits=LIMITS,
    weights=WEIGHTS,
    threshold=st.floats(0, 2) | st.sampled_from([0.0, 0.6]),
)
def test_bits(states, limits, weights, threshold):
    criteria = bound.BoundCriteria(threshold=threshold, weights=weights)
    scores = bound.score_arrays(columns(states), limits)
    utility = bound.utility_arrays(scores, weights)
    codes = bound.decision_codes(utility, scores.risk, criteria)
    accepted = bound.accepted_states(utility, scores.risk, criteria)
    action = bound.Action(description="a", goal="b")
    for place, state in enumerate(states):
        if all(state[name] is None for name in GATES):
            assert codes[place] == -1
            assert not accepted[place]
            assert math.isnan(utility[place])
            continue
        signals = bound.CodingWorkflowSignals(**state)
        result = bound.evaluate_workflow(action, signals, criteria, limits)
        for name in bound.DIMENSIONS:
            assert getattr(scores, name)[place] == getattr(result.scores, name)
        assert utility[place] == result.score
        assert bound.DECISIONS[codes[place]] == result.decision
        assert accepted[place] == (result.decision == "ACCEPT")


def test_no_state_at_all():
    empty = dict.fromkeys(columns([dict.fromkeys(bound.SIGNAL_NAMES)]), np.empty(0))
    assert len(bound.score_arrays(empty)) == 0


def test_gates_that_are_left_out():
    states = columns([dict.fromkeys(bound.SIGNAL_NAMES) | {"lint_passed": True}])
    assert bound.score_arrays(states).acceptance.tolist() == [0.25]
    fair = bound.score_arrays(states, missing_gates="left_out")
    assert fair.acceptance.tolist() == [1.0]
    assert fair.green.tolist() == [True]
    assert fair.gates.tolist() == [1]
