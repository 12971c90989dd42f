"""What the trials do not tell has no number: unrecorded counters, thresholds that stop nothing."""

from __future__ import annotations

import math

import pytest

from analysis.stopping_trials import GREEN, RED, stopping_study
from steelyard.analysis.stopping import compare_policies, stop_points, stopping_sweep

GREEN_RULE = {"rule": "green"}
PUBLISHED = {"rule": "bound", "threshold": 0.6}
FEW = {"n_resamples": 200, "seed": 1}


@pytest.fixture
def study(small_study):
    """Three tasks: one that is stopped, one that never is, one whose seconds are unknown."""
    counted = [{"tool_call_count": 3 * n, "execution_time_seconds": 5.0 * n} for n in range(3)]
    seen = [{"satisfied": False}, {"satisfied": True}, {"satisfied": True}]
    states = [known | count for known, count in zip(seen, counted, strict=True)]
    green = [RED | states[0], GREEN | states[1], GREEN | states[2]]
    red = [RED | state for state in states]
    unknown = [{k: v for k, v in state.items() if "seconds" not in k} for state in red]
    return stopping_study(
        small_study,
        [
            {"task": "stopped", "outcome": 1, "states": green},
            {"task": "runs", "outcome": 1, "states": red},
            {"task": "unknown", "outcome": 1, "states": unknown},
        ],
    )


def test_a_trial_of_unknown_spending_avoids_an_unknown_part_of_it(study):
    points = stop_points(study, GREEN_RULE).set_index("task")
    assert points["tokens_avoided"].isna().all()
    assert points["seconds_avoided"].dropna().to_dict() == {"stopped": 5.0, "runs": 0.0}
    assert points["steps_avoided"].to_dict() == {"stopped": 1, "runs": 0, "unknown": 0}


def test_a_counter_that_no_state_recorded_is_no_comparison(study):
    table = compare_policies(study, GREEN_RULE, PUBLISHED).set_index("quantity")
    tokens = table.loc["tokens_avoided"]
    assert (tokens["pairs"], tokens["unpaired"]) == (0, 3)
    numbers = ["reference_value", "candidate_value", "difference", "p_sign_flip", "p_adjusted"]
    assert tokens[numbers].isna().all()
    assert table.loc["seconds_avoided", "pairs"] == 2
    assert (table["family_size"] == 7).all()


def test_a_threshold_that_stops_nothing_has_no_interval_of_false_stops(study):
    table = stopping_sweep(study, PUBLISHED, thresholds=[0.6, 5.0], **FEW).set_index("policy")
    limits = ["false_stop_low", "false_stop_high", "false_stop_band_low", "false_stop_band_high"]
    assert table.loc["bound T=0.6", limits].notna().all()
    nothing = table.loc["bound T=5"]
    assert (nothing["accepted_rate"], nothing["false_stop_rate"], nothing["steps_share"]) == (
        0,
    ) * 3
    assert nothing[limits].isna().all()
    assert nothing[["steps_low", "steps_high", "steps_band_low"]].isna().all()
    assert not math.isnan(nothing["missed_stop_low"])
