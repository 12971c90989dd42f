"""The audit's checks of bounds and differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis.audit_cases import (
    SmallStudy,
    difference_claim,
    one,
    rate_claim,
    run,
    trials,
    verdicts,
)
from steelyard.analysis.audit.certificates import bound_beside_its_parts, bound_is_the_minimum
from steelyard.analysis.audit.differences import (
    monte_carlo_p_values,
    multiplicity,
    no_difference,
)
from steelyard.store.tables import StudyTables

BOUND = {"measure": "success", "missing_policy": "exclude", "arm": "a", "scope": "worst"}


def bound_claim(claim: str, value: float, **more: Any) -> dict[str, Any]:
    return {"claim": claim, **BOUND, "statistic": "certified_bound", "value": value, **more}


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """Baseline 9/10 (lower limit 0.5958), fault 2/2 (0.3424): the rates order the other way."""
    return [
        *trials({"a": (9, 10)}),
        *trials({"a": (2, 2)}, perturbation="fault"),
    ]


# ---- bounds


def test_the_minimum_passes(rows: list[dict[str, Any]], small_study: SmallStudy) -> None:
    claims = [
        bound_claim("bound", 0.3424),
        {"claim": "grade", **BOUND, "statistic": "grade", "text": "F"},
        {"claim": "worst", **BOUND, "statistic": "worst_perturbation", "text": "fault"},
    ]
    finding = one(bound_is_the_minimum, small_study(rows, claims=claims))
    assert finding.verdict == "pass"
    assert finding.evidence.startswith("1 certificate print")


def test_another_number_fails_and_both_are_given(
    rows: list[dict[str, Any]], small_study: SmallStudy
) -> None:
    claims = [
        bound_claim("bound", 0.5958),
        {"claim": "grade", **BOUND, "statistic": "grade", "text": "D"},
        {"claim": "worst", **BOUND, "statistic": "worst_perturbation", "text": "baseline"},
        bound_claim("pair", 0.1, arm="a|b"),
    ]
    finding = one(bound_is_the_minimum, small_study(rows, claims=claims))
    assert finding.verdict == "fail"
    assert "published bound 0.5958, grade D, worst baseline" in finding.evidence
    assert "minimum 0.3424 (fault, grade F)" in finding.evidence
    assert "lower limit of the lowest rate 0.5958 (baseline, grade D)" in finding.evidence


def test_a_perturbation_without_a_trial_asks_for_caution(
    rows: list[dict[str, Any]], small_study: SmallStudy
) -> None:
    lost = [*rows, *trials({"a": (0, 2)}, perturbation="outage", status="failed")]
    finding = one(bound_is_the_minimum, small_study(lost, claims=[bound_claim("bound", 0.3424)]))
    assert finding.verdict == "caution"
    assert "no scored trial under outage" in finding.evidence


def test_no_bound_passes(rows: list[dict[str, Any]], small_study: SmallStudy) -> None:
    assert (
        one(bound_is_the_minimum, small_study(rows)).evidence == "no certified bound was published"
    )
    assert one(bound_beside_its_parts, small_study(rows, "b")).evidence == "no bound was published"


@pytest.mark.parametrize(("value", "verdict"), [(0.3424, "pass"), (0.5958, "fail")])
def test_a_bound_agrees_with_the_limits_beside_it(
    value: float, verdict: str, rows: list[dict[str, Any]], small_study: SmallStudy
) -> None:
    claims = [
        bound_claim("bound", value),
        rate_claim("baseline", 9, 10, scope="baseline", low=0.5958),
        rate_claim("fault", 2, 2, scope="fault", low=0.3424),
        bound_claim("elsewhere", 0.9, source="another page"),
    ]
    finding = one(bound_beside_its_parts, small_study(rows, claims=claims))
    assert finding.verdict == verdict
    if verdict == "fail":
        assert "published 0.5958; the same file gives 0.3424 for fault (2/2)" in finding.evidence


def test_published_bounds_are_not_minima(tables: Callable[[str], StudyTables]) -> None:
    parity = run(bound_is_the_minimum, tables("plumbline_parity"))
    failed = [f for f in parity if f.verdict == "fail"]
    assert len(failed) == 3
    assert all("published bound 0.9434" in f.evidence for f in failed)
    assert all("minimum 0.9358 (tool_fault, grade B)" in f.evidence for f in failed)
    determinism = run(bound_is_the_minimum, tables("plumbline_determinism"))
    assert any("minimum 0.7009 (decoy_tools, grade C)" in f.evidence for f in determinism)
    found = verdicts(bound_beside_its_parts, tables("plumbline_retry"))
    assert found["ret.parity.retirement_bound"] == "fail"


# ---- no difference


def compared(
    small_study: SmallStudy, a: tuple[int, int], b: tuple[int, int], p_value: float, **more: Any
) -> StudyTables:
    claims = [difference_claim("d", p_value)]
    return small_study([*trials({"a": a, "b": b})], claims=claims, **more)


def test_not_significant_is_not_the_same(small_study: SmallStudy) -> None:
    finding = one(no_difference, compared(small_study, (18, 20), (19, 20), 0.6))
    assert finding.verdict == "fail"
    assert (
        "within a margin of 5 points (default) 0 equivalent, 1 not shown to be" in finding.evidence
    )
    assert "18/20 against 19/20, published p = 0.6" in finding.evidence


def test_enough_trials_show_equivalence(small_study: SmallStudy) -> None:
    comparison = {"name": "b", "measure": "success", "reference": "a", "candidate": "b"}
    tables = compared(
        small_study, (190, 200), (190, 200), 1.0, comparisons=[{**comparison, "margin": 0.2}]
    )
    finding = one(no_difference, tables)
    assert finding.verdict == "pass"
    assert "20 points (declared) 1 equivalent" in finding.evidence


def test_the_margin_of_another_measure_is_better_than_none(small_study: SmallStudy) -> None:
    comparison = {"name": "b", "measure": "score", "reference": "a", "candidate": "b"}
    rows = [{**row, "score": 1.0} for row in trials({"a": (18, 20), "b": (19, 20)})]
    tables = small_study(
        rows,
        claims=[difference_claim("d", 0.6)],
        comparisons=[{**comparison, "margin": 0.15}],
        measures={"primary": "success", "others": ["score"]},
    )
    assert "15 points (declared)" in one(no_difference, tables).evidence


def test_significant_differences_are_no_claim_of_sameness(small_study: SmallStudy) -> None:
    finding = one(no_difference, compared(small_study, (0, 20), (20, 20), 0.001))
    assert finding.verdict == "pass"
    assert finding.evidence.startswith("none of 1 published difference")


def test_a_difference_that_cannot_be_read_is_left_aside(small_study: SmallStudy) -> None:
    claims = [
        difference_claim("no arms", 0.6, arm="a"),
        difference_claim("elsewhere", 0.6, scope="nowhere"),
        difference_claim("nobody", 0.6, arm="a|nobody"),
    ]
    tables = small_study([*trials({"a": (1, 2), "b": (1, 2)})], claims=claims)
    assert {f.verdict for f in run(no_difference, tables)} == {"caution"}


def test_indistinguishable_is_not_what_the_retry_study_shows(
    tables: Callable[[str], StudyTables],
) -> None:
    finding = one(no_difference, tables("plumbline_retry"), "outcome_correct, README")
    assert finding.verdict == "fail"
    assert "within a margin of 5 points (declared) 0 equivalent" in finding.evidence
    assert "64/64 against 55/56, published p = 0.46" in finding.evidence


# ---- shuffled p-values


def test_the_exact_p_value_passes(small_study: SmallStudy) -> None:
    finding = one(monte_carlo_p_values, compared(small_study, (6, 6), (0, 6), 0.0021645))
    assert finding.verdict == "pass"
    assert "1 of 1 published p-value are the exact ones" in finding.evidence


def test_a_shuffled_one_asks_for_caution(small_study: SmallStudy) -> None:
    finding = one(monte_carlo_p_values, compared(small_study, (6, 6), (0, 6), 0.0024))
    assert finding.verdict == "caution"
    assert "d (published 0.0024, exact 0.00216)" in finding.evidence


@pytest.mark.parametrize("p_value", [0.2, 0.01])
def test_no_draw_of_the_exact_value_fails(p_value: float, small_study: SmallStudy) -> None:
    finding = one(monte_carlo_p_values, compared(small_study, (6, 6), (0, 6), p_value))
    assert finding.verdict == "fail"
    assert "no draw of the exact value: d" in finding.evidence


def test_p_values_without_counts_ask_for_caution(small_study: SmallStudy) -> None:
    tables = small_study([*trials({"a": (1, 2)})], claims=[difference_claim("d", 0.5, arm="a")])
    assert one(monte_carlo_p_values, tables).verdict == "caution"


def test_no_p_values_pass(small_study: SmallStudy) -> None:
    tables = small_study([*trials({"a": (1, 2)})])
    assert one(monte_carlo_p_values, tables).verdict == "pass"
    assert one(multiplicity, tables).verdict == "pass"


def test_published_shuffles_scatter_around_the_exact_values(
    tables: Callable[[str], StudyTables],
) -> None:
    for study in ("plumbline_determinism", "plumbline_parity", "plumbline_retry"):
        found = run(monte_carlo_p_values, tables(study))
        assert {f.verdict for f in found} == {"caution"}, study
    readme = one(monte_carlo_p_values, tables("plumbline_retry"), "README")
    assert "readme.naive_to_retry (published 0.0005, exact 0.000277)" in readme.evidence


# ---- multiplicity


def family(small_study: SmallStudy, *p_values: float) -> StudyTables:
    claims = [difference_claim(f"d{index}", p) for index, p in enumerate(p_values)]
    return small_study([*trials({"a": (1, 2), "b": (1, 2)})], claims=claims)


def test_findings_that_survive_holm_pass(small_study: SmallStudy) -> None:
    finding = one(multiplicity, family(small_study, 0.001, 0.01, 0.5))
    assert finding.verdict == "pass"
    assert finding.evidence == "3 p-values, 2 below 0.05, 2 of them after Holm's adjustment"


def test_findings_that_do_not_ask_for_caution(small_study: SmallStudy) -> None:
    finding = one(multiplicity, family(small_study, 0.001, 0.03, 0.04))
    assert finding.verdict == "caution"
    assert "1 of them after Holm's adjustment; not any more: d1 (p = 0.06)" in finding.evidence


def test_the_retry_study_loses_a_finding(tables: Callable[[str], StudyTables]) -> None:
    finding = one(multiplicity, tables("plumbline_retry"), "comparison.json")
    assert finding.verdict == "caution"
    assert "distractor.diff (p = 0.083)" in finding.evidence
