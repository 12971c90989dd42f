"""Contracts: what passes, what counts as spent, and what the wording of checks is worth."""

from __future__ import annotations

import pytest

from steelyard.evaluators import bound
from steelyard.evaluators.bound.vocabulary import OBSERVABLE, is_observable, is_vague


def contract(**fields: object) -> bound.StepContract:
    checks = [{"id": "a", "description": "d"}, {"id": "b", "description": "d", "required": False}]
    data = {"id": "s", "description": "d", "goal": "g", "acceptance_checks": checks}
    return bound.StepContract.read(data | fields)


def observed(**fields: object) -> bound.ExecutionEvidence:
    return bound.ExecutionEvidence.read(fields)


def record(check: str, passed: bool) -> dict[str, object]:
    return {"check_id": check, "passed": passed, "source": "s"}


def test_one_failed_record_fails_a_check():
    evidence = observed(acceptance=[record("a", True), record("a", False), record("A", True)])
    assert bound.score_contract(contract(), evidence).scores.acceptance == 0


def test_optional_checks_never_count():
    evidence = observed(acceptance=[record("a", True)])
    scored = bound.score_contract(contract(), evidence)
    assert scored.scores.acceptance == 1
    assert [r.source for r in scored.provenance["acceptance"]] == ["a", "summary", "b"]


def test_spending_beyond_a_limit_counts_as_reaching_it():
    limits = {"max_retries": 2, "max_tokens": 0}
    scored = bound.score_contract(contract(budget=limits), observed(retry_count=20))
    assert scored.scores.cost == 1  # tokens were not measured under a limit: taken as spent
    free = bound.score_contract(contract(budget={}), observed(retry_count=20))
    assert free.scores.cost == 0


def test_risk_is_at_most_one():
    risks = [{"id": name, "description": "d", "severity": 0.7} for name in "xy"]
    evidence = observed(unexpected_artifacts=["f"], rollback_available=False)
    scored = bound.score_contract(contract(risk_checks=risks), evidence)
    assert scored.scores.risk == 1
    assert sum(r.contribution for r in scored.provenance["risk"][:-1]) == pytest.approx(3.4)


@pytest.mark.parametrize(
    ("text", "observable"),
    [
        ("exit_code_0", True),
        ("returnsNothing", False),  # capitals inside a word do not split it
        ("prétrue", True),  # an accented letter does
        ("EXIT-code", True),
        ("exit0", False),
        ("accept", False),
        ("", False),
    ],
)
def test_observable_words(text, observable):
    assert is_observable(text) is observable
    assert len(OBSERVABLE) == 82


@pytest.mark.parametrize(
    ("text", "vague"),
    [("  All Good ", True), ("implemented", True), ("ten chars!", False), ("nine char", True)],
)
def test_vague_descriptions(text, vague):
    assert is_vague(text) is vague


def test_warnings_of_a_step_in_their_order():
    checks = [{"id": "x", "description": "ok"}] * 2 + [
        {"id": f"n{i}", "description": "looks nice to users"} for i in range(14)
    ]
    report = bound.step_quality(contract(acceptance_checks=checks))
    assert [warning.to_dict() for warning in report.warnings] == [
        {"step": "s", "code": "vague_checks", "count": 2},
        {"step": "s", "code": "duplicate_ids", "ids": ["x"]},
        {"step": "s", "code": "no_observable_check"},
        {"step": "s", "code": "oversized", "count": 16, "limit": 15},
    ]
    assert report.measurable_ratio == 0


def test_a_contract_emptied_after_validation_has_one_warning():
    step = contract()
    step.acceptance_checks = []
    report = bound.step_quality(step)
    assert [warning.code for warning in report.warnings] == ["no_acceptance_checks"]
    assert report.measurable_ratio == 0


def test_plans_are_ordered_as_their_files_would_be():
    plan = bound.BoundPlan(goal="g", steps=[contract()])
    found = bound.corpus_quality({"a": plan, "a-b": plan, "B": plan})
    assert [finding.name for finding in found.findings] == ["B", "a-b", "a"]
    assert found.to_text().startswith("3 plans, 3 with warnings, 0.000")
