"""What is refused says which field, which value and what is accepted."""

from __future__ import annotations

import math

import pytest

from steelyard.errors import SteelyardError
from steelyard.evaluators import bound

SCORES = {"acceptance": 0.5, "influence": 0.0, "risk": 0.1, "cost": 0.1}


@pytest.mark.parametrize("name", bound.DIMENSIONS)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1.5, "high", None, [1]])
def test_scores_out_of_range(name, value):
    with pytest.raises(bound.ModelError, match=name) as caught:
        bound.EvaluationScores.read(SCORES | {name: value})
    assert [place for place, _ in caught.value.fields] == [name]


@pytest.mark.parametrize("value", [math.nan, -0.1, "much"])
def test_weights_and_thresholds_out_of_range(value):
    with pytest.raises(bound.ModelError, match=r"weights\.cost is .*; threshold is|threshold is"):
        bound.BoundCriteria.read({"threshold": value, "weights": {"cost": value}})


def test_every_fault_is_named_in_the_order_of_the_fields():
    with pytest.raises(bound.ModelError) as caught:
        bound.BoundCriteria.read({"retry_margin": -1, "weights": {"harm": 1}, "limit": 3})
    assert [place for place, _ in caught.value.fields] == [
        "threshold",
        "retry_margin",
        "weights.harm",
        "limit",
    ]
    assert "threshold is missing" in str(caught.value)
    assert "limit is not a field of it" in str(caught.value)


def test_contradictory_weights_say_what_to_do():
    data = {"threshold": 0.6, "weight": 1, "weights": {"acceptance": 2}}
    with pytest.raises(bound.ModelError, match="give weights alone"):
        bound.BoundCriteria.read(data)


def test_the_older_weight_leaves_the_given_weights_alone():
    weights = bound.BoundWeights()
    criteria = bound.BoundCriteria(threshold=0.6, weight=2, weights=weights)
    assert criteria.weights.acceptance == criteria.weight == 2
    assert weights.acceptance == 1


def test_a_count_that_no_double_holds():
    with pytest.raises(bound.ModelError, match="larger than any double"):
        bound.CodingWorkflowSignals.read({"retry_count": 10**400})


@pytest.mark.parametrize(
    "value", [10**5000, -(10**5000), [10**5000]], ids=["large", "small", "in a list"]
)
def test_a_number_that_python_does_not_print(value):
    with pytest.raises(bound.ModelError, match="retry_count is a value of too many digits"):
        bound.CodingWorkflowSignals.read({"retry_count": value})


@pytest.mark.parametrize("text", ["", "  ", "\t", "\u00a0"])
def test_blank_texts(text):
    with pytest.raises(bound.ModelError, match="the text is blank"):
        bound.Action.read({"description": text, "goal": "g"})
    assert bound.Action(description="\u200b", goal=" g ").goal == " g "


@pytest.mark.parametrize(
    ("indexes", "fault"),
    [
        ([], "steps is empty"),
        ([1, 0], r"steps\[1\]\.step_index is 0 after 1"),
        ([0, 2, 2], r"steps\[2\]\.step_index is 2 after 2"),
    ],
)
def test_trajectories_that_cannot_be_replayed_safely(indexes, fault):
    steps = [{"step_index": index, "signals": {"lint_passed": True}} for index in indexes]
    trajectory = bound.AgentTrajectory.read({"task_id": "t", "steps": steps})
    with pytest.raises(SteelyardError, match=fault):
        bound.check_trajectory(trajectory)


def test_a_step_without_evidence_is_named():
    steps = [{"step_index": 0, "signals": {"lint_passed": True}}, {"step_index": 7, "signals": {}}]
    trajectory = bound.AgentTrajectory.read({"task_id": "t", "steps": steps})
    with pytest.raises(bound.EvidenceError, match=r"steps\[1\] \(step_index 7\)"):
        bound.run_experiment(trajectory, bound.BoundCriteria(threshold=0.6))


def test_a_result_with_weights_cannot_be_read_back():
    # The published rule: the dump holds the older weight beside weights that are not all 1.
    criteria = bound.BoundCriteria(threshold=0.6, weights={"risk": 2})
    with pytest.raises(bound.ModelError, match="older name"):
        bound.BoundCriteria.read(criteria.model_dump())
