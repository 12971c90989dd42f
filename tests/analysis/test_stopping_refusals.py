"""What a question about stopping refuses: outcomes and targets that would bend the verdicts."""

from __future__ import annotations

import pytest

from analysis.stopping_trials import stopping_study, truths
from steelyard.analysis.state_acceptance import state_acceptance
from steelyard.analysis.stopping import (
    calibrated_threshold,
    compare_policies,
    stop_points,
    stopping_summary,
    stopping_sweep,
    weight_sensitivity,
)
from steelyard.errors import InputError, UnknownNameError

PUBLISHED = {"rule": "bound", "threshold": 0.6}
GREEN_RULE = {"rule": "green"}
ASKS = {
    "points": lambda tables, **more: stop_points(tables, PUBLISHED, **more),
    "summary": lambda tables, **more: stopping_summary(tables, PUBLISHED, **more),
    "sweep": lambda tables, **more: stopping_sweep(tables, PUBLISHED, **more),
    "weights": lambda tables, **more: weight_sensitivity(tables, PUBLISHED, **more),
    "calibration": lambda tables, **more: calibrated_threshold(tables, PUBLISHED, **more),
    "comparison": lambda tables, **more: compare_policies(tables, GREEN_RULE, PUBLISHED, **more),
    "states": lambda tables, **more: state_acceptance(tables, PUBLISHED, **more),
}


@pytest.fixture
def study(small_study):
    """Two trials that say from which step they are right: one never is, and one later is."""
    states = [{"lint_passed": True}] * 3
    trials = [
        {"task": "never", "outcome": 0, "passed": 1, "graded": 0.5, "states": states},
        {
            "task": "late",
            "outcome": 1,
            "passed": 1,
            "graded": 1,
            "satisfied_from_step": 2,
            "states": states,
        },
    ]
    return stopping_study(small_study, trials, measures={"primary": "outcome"})


@pytest.mark.parametrize("ask", ASKS)
def test_an_outcome_that_the_study_does_not_have(study, ask):
    with pytest.raises(UnknownNameError, match="unknown measure 'outcom' in study small"):
        ASKS[ask](study, outcome="outcom")


@pytest.mark.parametrize("truth", ["auto", "steps", "measure", "none"])
def test_an_unknown_outcome_is_refused_whether_or_not_it_is_needed(small_study, truth):
    trial = {"outcome": 1, "satisfied_from_step": 0, "states": truths(0, 1)}
    tables = stopping_study(small_study, [trial])
    with pytest.raises(UnknownNameError, match="nope"):
        stop_points(tables, PUBLISHED, truth=truth, outcome="nope")


@pytest.mark.parametrize("outcome", [3, True, ["outcome"], b"outcome"])
def test_an_outcome_that_is_no_name(study, outcome):
    with pytest.raises(InputError, match="accepted: the name of a 0/1 measure"):
        stop_points(study, PUBLISHED, outcome=outcome)


def test_an_outcome_that_is_not_0_or_1(study):
    with pytest.raises(InputError, match=r"'graded' is 0\.5 in trial a/never/.*; an outcome is 0"):
        stop_points(study, PUBLISHED, outcome="graded")


def test_the_outcome_decides_what_a_trial_without_a_satisfied_step_is(study):
    rule = {"rule": "fixed_step", "step": 1}
    by_outcome = {
        name: stop_points(study, rule, outcome=name).set_index("task")["verdict"].to_dict()
        for name in ("outcome", "passed")
    }
    assert by_outcome["outcome"] == {"late": "false_stop", "never": "unsolved_stop"}
    assert by_outcome["passed"] == {"late": "false_stop", "never": "unknown"}


def test_truth_by_measure_needs_the_primary_measure(small_study):
    trial = {"satisfied_from_step": 0, "states": [{"lint_passed": True}]}
    tables = stopping_study(small_study, [trial], measures={"primary": "outcome"})
    with pytest.raises(UnknownNameError, match="unknown measure 'outcome'"):
        stop_points(tables, PUBLISHED, truth="measure")


@pytest.mark.parametrize("target", ["x", "0.1", None, True, [0.1], -0.1])
def test_a_target_that_is_no_rate(study, target):
    with pytest.raises(InputError, match="accepted: a rate from 0 to below 1"):
        calibrated_threshold(study, PUBLISHED, target=target)


@pytest.mark.parametrize("confidence", [None, True, "0.9", 0, 1, float("nan")])
def test_a_confidence_that_is_none(study, confidence):
    with pytest.raises(InputError, match="confidence is "):
        calibrated_threshold(study, PUBLISHED, confidence=confidence)


@pytest.mark.parametrize("factor", [10**400, True, "2", None])
def test_a_factor_that_is_no_number(study, factor):
    with pytest.raises(InputError, match=r"factors holds .*; accepted: numbers from 0"):
        weight_sensitivity(study, PUBLISHED, factors=[factor])
