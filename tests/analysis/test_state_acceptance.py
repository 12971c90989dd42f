"""Which states a policy accepts, by gates and step."""

from __future__ import annotations

import math

import pytest

from analysis.stopping_trials import GREEN, RED, stopping_study
from steelyard.analysis.state_acceptance import state_acceptance
from steelyard.errors import InputError
from steelyard.stats import clustered_wilson_interval

POLICY = {"threshold": 0.4}
UNTYPED = {name: value for name, value in GREEN.items() if name != "type_check_passed"}


@pytest.fixture
def study(small_study):
    late = GREEN | {"retry_count": 5, "tool_call_count": 50}
    nearly = GREEN | {"lint_passed": False, "satisfied": False}
    return stopping_study(
        small_study,
        [
            {
                "task": "t1",
                "outcome": 1,
                "states": [
                    RED | {"satisfied": False},
                    GREEN | {"satisfied": True},
                    {"step_index": 7} | late | {"satisfied": True},
                ],
            },
            {
                "task": "t2",
                "outcome": 0,
                "states": [nearly, UNTYPED | {"retry_count": 3, "satisfied": False}],
            },
            {"task": "t2", "outcome": 0, "states": [{"satisfied": False}, nearly]},
        ],
    )


def test_every_scored_state_is_in_one_group(study):
    table = state_acceptance(study, POLICY, steps=[0, 5])
    keys = ["green", "gates", "from_step"]
    assert table[keys].to_numpy().tolist() == [
        [False, 4, 0],
        [True, 3, 0],
        [True, 4, 0],
        [True, 4, 5],
    ]
    red, untyped, green, late = (row for _, row in table.iterrows())
    assert (red["states"], red["trials"], red["count"]) == (3, 3, 2)
    assert (red["satisfied"], red["satisfied_known"], red["to_step"]) == (0, 3, 4)
    wanted = clustered_wilson_interval([0, 1, 1], ["t1", "t2", "t2"])
    assert (red["clustered_low"], red["clustered_high"]) == (wanted.low, wanted.high)
    # A = (3/3)(3/4), R = (1 - A)/1, C = (3/5 + 0)/2
    assert untyped["mean_acceptance"] == 0.75
    assert untyped["mean_cost"] == 0.3
    assert untyped["count"] == 0
    assert untyped["mean_utility"] == pytest.approx(0.75 - 0.25 - 0.3)
    assert (green["count"], green["total"], green["satisfied"]) == (1, 1, 1)
    assert (late["count"], late["mean_cost"], math.isnan(late["to_step"])) == (0, 1.0, True)


def test_the_policy_decides(study):
    left_out = state_acceptance(study, POLICY | {"missing_gates": "left_out"})
    assert left_out.query("gates == 3")["count"].tolist() == [1]
    hard = state_acceptance(study, POLICY | {"hard_gates": True, "consecutive": 2})
    assert hard.query("not green")["count"].tolist() == [0]
    assert hard.query("green and gates == 4")["count"].tolist() == [1, 0]


@pytest.mark.parametrize("steps", [[], [1, 5], [0, 5, 5], [0, 5.0], "0", [0, True]])
def test_groups_of_steps_rise_from_0(study, steps):
    with pytest.raises(InputError, match="accepted: whole numbers that rise from 0"):
        state_acceptance(study, POLICY, steps=steps)


def test_another_rule_accepts_nothing(study):
    with pytest.raises(InputError, match="by the rule 'bound', not by 'green'"):
        state_acceptance(study, {"rule": "green"})
