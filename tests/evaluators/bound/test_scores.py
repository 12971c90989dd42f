"""Scores and decisions where the vectors do not look: exact sums, ties, provenance that adds up."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.evaluators import bound
from steelyard.evaluators.bound.model import capped
from steelyard.evaluators.bound.summation import RowSums, compensated_mean, compensated_sum

ACTION = bound.Action(description="a", goal="b")
SHARES = st.floats(0, 1) | st.sampled_from([0.0, 0.1, 0.3, 1.0])


def decided(acceptance: float, threshold: float, risk: float = 0.0, **criteria: object) -> str:
    scores = bound.EvaluationScores(acceptance=acceptance, influence=0, risk=risk, cost=0)
    weights = {"risk": 0.0}
    held = bound.BoundCriteria.read({"threshold": threshold, "weights": weights, **criteria})
    return bound.evaluate(ACTION, scores, held).decision


@given(st.lists(st.floats(-1e6, 1e6), max_size=12))
def test_compensated_sum_is_as_good_as_the_exact_one(values):
    exact = math.fsum(values)
    size = math.fsum(map(abs, values))
    assert abs(compensated_sum(values) - exact) <= 2**-52 * abs(exact) + 2**-100 * size


@given(st.lists(st.lists(st.none() | SHARES, min_size=3, max_size=3), min_size=1, max_size=8))
def test_sums_of_many_rows_have_the_bits_of_one_rows_sum(rows):
    import numpy as np

    sums = RowSums(len(rows))
    for column in zip(*rows, strict=True):
        present = np.array([value is not None for value in column])
        sums.add(np.array([math.nan if value is None else value for value in column]), present)
    for row, mean in zip(rows, sums.means().tolist(), strict=True):
        values = [value for value in row if value is not None]
        assert (mean == compensated_mean(values)) if values else math.isnan(mean)


def test_decisions_at_exact_ties():
    assert decided(0.6, 0.6) == "ACCEPT"
    assert decided(0.5, 0.6) == "RETRY"
    assert decided(0.3, 0.4) == "REPLAN"  # 0.4 - 0.3 is more than 0.1 in doubles
    assert decided(1.0, 0.6, risk=0.8) == "ROLLBACK"  # whatever the weight of risk
    assert decided(1.0, 0.0, rollback_risk_threshold=0) == "ROLLBACK"


def test_a_utility_that_is_not_a_number_replans():
    scores = bound.EvaluationScores(acceptance=0, influence=0, risk=0, cost=0)
    criteria = bound.BoundCriteria(threshold=0.5, weights={"acceptance": math.inf})
    result = bound.evaluate(ACTION, scores, criteria)
    assert math.isnan(result.score)
    assert result.decision == "REPLAN"


@given(
    tests=st.none() | SHARES,
    checks=st.none() | SHARES,
    lint=st.none() | st.booleans(),
    tokens=st.none() | st.integers(0, 10**6),
    files=st.none() | st.integers(0, 40),
    removed=st.none() | st.integers(0, 3),
    retries=st.integers(0, 9),
)
def test_scores_are_what_their_records_add_up_to(
    *, tests, checks, lint, tokens, files, removed, retries
):
    signals = bound.CodingWorkflowSignals(
        test_pass_rate=tests,
        required_checks_passed=checks,
        lint_passed=lint,
        token_usage=tokens,
        files_changed=files,
        tests_removed=removed,
        retry_count=retries,
    )
    if tests is None and checks is None and lint is None:
        with pytest.raises(bound.EvidenceError, match="test_pass_rate"):
            bound.score_workflow(signals)
        return
    scored = bound.score_workflow(signals)
    *gates, breadth = scored.provenance["acceptance"]
    total = sum(record.contribution for record in gates) * breadth.contribution
    assert scored.scores.acceptance == pytest.approx(total)
    for dimension in ("risk", "cost"):
        total = sum(record.contribution for record in scored.provenance[dimension])
        assert getattr(scored.scores, dimension) == pytest.approx(total)


def test_an_unreported_gate_costs_what_a_failed_one_costs():
    # A weakness of the published rule, kept because its figures rest on it.
    silent = bound.score_workflow(bound.CodingWorkflowSignals(test_pass_rate=1))
    failing = bound.score_workflow(
        bound.CodingWorkflowSignals(
            test_pass_rate=1, required_checks_passed=0, lint_passed=False, type_check_passed=False
        )
    )
    assert silent.scores.acceptance == failing.scores.acceptance == 0.25


def test_cost_of_infinite_time_over_infinite_time_is_refused():
    limits = bound.WorkflowNormalization(max_expected_runtime_seconds=math.inf)
    signals = bound.CodingWorkflowSignals(lint_passed=True, execution_time_seconds=math.inf)
    with pytest.raises(bound.ModelError, match="cost is nan"):
        bound.score_workflow(signals, limits)
    assert capped(3.0, math.inf) == 0.0
    assert capped(0, 0) == 0.0
    assert capped(1, 0) == 1.0


def test_steering_text_gives_every_number_and_is_short():
    scores = bound.EvaluationScores(acceptance=0.125, influence=-0.001, risk=0.9, cost=0)
    result = bound.evaluate(ACTION, scores, bound.BoundCriteria(threshold=math.inf))
    text = bound.steering_text(result)
    assert "Decision: ROLLBACK" in text
    assert "(1.00 * 0.12) + (1.00 * -0.00) - (1.00 * 0.90) - (1.00 * 0.00)" in text
    assert "T = inf" in text
    assert len(text.split()) < 150
