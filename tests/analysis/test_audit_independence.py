"""The audit's checks of what counts as one observation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis.audit_cases import SmallStudy, one, rate_claim, run, verdicts
from steelyard.analysis.audit.independence import clustering, published_intervals
from steelyard.analysis.audit.repeats import (
    error_over_repeats,
    exchangeable_repeats,
    identical_repeats,
)
from steelyard.store.tables import StudyTables


def blocks(successes: list[int], repeats: int, **more: Any) -> list[dict[str, Any]]:
    """Return ``repeats`` trials per task, of which the given number succeed, failures first."""
    return [
        {"task": f"t{task}", "success": int(repeat >= repeats - wins), **more}
        for task, wins in enumerate(successes)
        for repeat in range(repeats)
    ]


# ---- clustering


@pytest.mark.parametrize(
    ("successes", "effect", "verdict"),
    [
        ([2, 2, 2, 2, 2, 2], "0.00", "pass"),  # the tasks agree more than chance would let them
        ([3, 2, 2, 2, 2, 1, 1, 3], "0.57", "pass"),
        ([4, 3, 3, 2, 2, 1, 1, 0], "1.71", "caution"),
        ([4, 4, 4, 0, 0, 0], "4.80", "fail"),
    ],
)
def test_design_effects(
    successes: list[int], effect: str, verdict: str, small_study: SmallStudy
) -> None:
    finding = one(clustering, small_study(blocks(successes, 4)))
    assert f"design effect {effect}" in finding.evidence
    assert finding.verdict == verdict


def test_a_rate_of_one_has_no_design_effect(small_study: SmallStudy) -> None:
    finding = one(clustering, small_study(blocks([4, 4, 4], 4)))
    assert finding.verdict == "caution"
    assert "not identified (all values are equal)" in finding.evidence


def test_tau_bench_has_a_naive_standard_error(tables: Callable[[str], StudyTables]) -> None:
    finding = one(clustering, tables("tau_bench_airline"))
    assert finding.verdict == "fail"
    for number in ("ICC 0.405", "design effect 2.24", "0.0522 clustered", "0.0349 naive"):
        assert number in finding.evidence


# ---- published intervals


def interval(claim: str, low: float, high: float, wins: int, total: int) -> dict[str, Any]:
    return rate_claim(claim, wins, total, low=low, high=high)


def test_an_interval_narrower_than_the_clustered_one_fails(small_study: SmallStudy) -> None:
    claims = [interval("narrow", 0.45, 0.55, 12, 24), interval("wide", 0.0, 1.0, 12, 24)]
    tables = small_study(blocks([4, 4, 4, 0, 0, 0], 4), claims=claims)
    finding = one(published_intervals, tables)
    assert finding.verdict == "fail"
    assert "1 of 2, and 0 more" in finding.evidence
    assert "worst: narrow, published [0.450, 0.550]" in finding.evidence


def test_a_narrow_interval_of_a_perfect_rate_asks_for_caution(small_study: SmallStudy) -> None:
    claims = [interval("perfect", 0.99, 1.0, 24, 24)]
    tables = small_study(blocks([4] * 6, 4), claims=claims)
    finding = one(published_intervals, tables)
    assert finding.verdict == "caution"
    assert "0 of 1, and 1 more" in finding.evidence


def test_a_wide_interval_passes(small_study: SmallStudy) -> None:
    claims = [
        interval("wide", 0.0, 1.0, 12, 24),
        rate_claim("one task", 4, 4, scope="task:t0", low=0.9),
    ]
    tables = small_study(blocks([2] * 6, 4), claims=claims)
    assert one(published_intervals, tables).verdict == "pass"


def test_without_intervals_there_is_nothing_to_compare(small_study: SmallStudy) -> None:
    tables = small_study(blocks([2], 4), claims=[rate_claim("x", 2, 4, low=None, high=None)])
    assert one(published_intervals, tables).verdict == "pass"
    lonely = small_study(blocks([2], 4), study="lonely", claims=[rate_claim("x", 2, 4)])
    finding = one(published_intervals, lonely)
    assert finding.evidence == "no published interval can be set beside a clustered one"


def test_the_retry_study_publishes_narrow_intervals(
    tables: Callable[[str], StudyTables],
) -> None:
    found = verdicts(published_intervals, tables("plumbline_retry"))
    assert found == {"plan_execute": "caution", "react": "fail"}


# ---- identical repeats


STEPS = [{"name": "pay", "arguments": {"amount": 1}}]


def copies(cells: int, different: int = 0, **more: Any) -> list[dict[str, Any]]:
    """Return two repeats of each cell; in the last ``different`` cells they are not alike."""
    return [
        {"task": f"t{cell}", "success": int(not (repeat and cell >= cells - different)), **more}
        for cell in range(cells)
        for repeat in range(2)
    ]


def test_copies_with_identical_steps_fail(small_study: SmallStudy) -> None:
    claims = [rate_claim("rate", 20, 20, scope="baseline"), rate_claim("cells", 10, 10)]
    tables = small_study(copies(10, steps=STEPS), claims=claims)
    finding = one(identical_repeats, tables)
    assert finding.verdict == "fail"
    assert "10/10 (100.0%) repeated cells are identical in outcome, steps" in finding.evidence
    assert "20 trials, 10 distinct results" in finding.evidence
    assert "1 published rate count each copy (rate: n = 20, 10 cells)" in finding.evidence


def test_copies_of_a_declared_deterministic_arm_fail(small_study: SmallStudy) -> None:
    design = {"deterministic_arms": ["a"]}
    finding = one(identical_repeats, small_study(copies(10, state={"paid": True}), design=design))
    assert finding.verdict == "fail"
    assert finding.evidence.endswith("declared deterministic")
    assert "identical in outcome, state" in finding.evidence


@pytest.mark.parametrize(("different", "verdict"), [(0, "caution"), (2, "caution"), (3, "pass")])
def test_equal_outcomes_may_be_a_consistent_agent(
    different: int, verdict: str, small_study: SmallStudy
) -> None:
    finding = one(identical_repeats, small_study(copies(10, different)))
    assert finding.verdict == verdict
    assert f"{10 - different}/10" in finding.evidence


def test_without_repeats_there_are_no_copies(small_study: SmallStudy) -> None:
    finding = one(identical_repeats, small_study([{"task": "t1", "success": 1}]))
    assert (finding.verdict, "was repeated" in finding.evidence) == ("pass", True)


def test_the_executor_repeats_itself(tables: Callable[[str], StudyTables]) -> None:
    found = {f.subject: f for f in run(identical_repeats, tables("plumbline_parity"))}
    assert found["plan_execute"].verdict == "fail"
    assert "160/160 (100.0%)" in found["plan_execute"].evidence
    assert "tool_fault" not in found["plan_execute"].evidence
    assert "n = 64, 32 cells" in found["plan_execute"].evidence
    assert found["react"].verdict == "pass"


# ---- exchangeable repeats


def test_a_change_between_repeats_fails(small_study: SmallStudy) -> None:
    rows = [
        {"task": f"t{task}", "repeat": repeat, "success": repeat}
        for task in range(8)
        for repeat in range(2)
    ]
    finding = one(exchangeable_repeats, small_study(rows))
    assert finding.verdict == "fail"
    assert "earlier repeats 0/8 (0.0%), later repeats 8/8 (100.0%)" in finding.evidence
    assert "exact test within 8 tasks" in finding.evidence


def test_repeats_that_agree_pass(small_study: SmallStudy) -> None:
    assert one(exchangeable_repeats, small_study(copies(10))).verdict == "pass"


def test_the_middle_repeat_belongs_to_neither_half(small_study: SmallStudy) -> None:
    rows = [
        {"task": f"t{task}", "repeat": repeat, "success": int(repeat > 0)}
        for task in range(8)
        for repeat in range(3)
    ]
    assert "earlier repeats 0/8" in one(exchangeable_repeats, small_study(rows)).evidence


def test_single_trials_have_no_order(small_study: SmallStudy) -> None:
    finding = one(exchangeable_repeats, small_study([{"task": "t1", "success": 1}]))
    assert finding.evidence == "no cell was repeated with a 0/1 outcome"


def test_the_parity_study_changes_between_repeats(tables: Callable[[str], StudyTables]) -> None:
    finding = one(exchangeable_repeats, tables("plumbline_parity"), "plan_execute, tool_fault")
    assert finding.verdict == "fail"
    assert "20/32 (62.5%), later repeats 32/32 (100.0%)" in finding.evidence


# ---- error over repeats


def spread_claim(value: float, **more: Any) -> dict[str, Any]:
    what = {"measure": "success", "statistic": "standard_error_over_repeats"}
    return {"claim": "sem", "arm": "a", "value": value, **what, **more}


def test_a_published_error_over_repeats_fails_beside_a_larger_one(
    small_study: SmallStudy,
) -> None:
    tables = small_study(blocks([4, 4, 4, 0, 0, 0], 4), claims=[spread_claim(0.0)])
    finding = one(error_over_repeats, tables)
    assert finding.verdict == "fail"
    assert "published ± 0 over repeats" in finding.evidence
    assert "0.00 points over 4 repeats" in finding.evidence
    assert "the repeats agree in 6/6 (100.0%)" in finding.evidence


def test_it_passes_where_the_tasks_agree(small_study: SmallStudy) -> None:
    tables = small_study(copies(6), claims=[spread_claim(0.0)])
    assert one(error_over_repeats, tables).verdict == "pass"


def test_one_variant_has_an_error_of_its_own(small_study: SmallStudy) -> None:
    rows = [*blocks([2, 0], 2, variant="low"), *blocks([1, 1], 2, variant="high")]
    rows = [{**row, "task": f"{row['task']}{row['variant']}"} for row in rows]
    claims = [
        spread_claim(0.0, scope="variant:low"),
        spread_claim(0.0, claim="?", scope="variant:no"),
    ]
    found = {f.subject: f for f in run(error_over_repeats, small_study(rows, claims=claims))}
    assert "over 2 tasks" in found["sem"].evidence
    assert found["?"].verdict == "caution"


def test_an_unpublished_error_over_repeats_asks_for_caution(small_study: SmallStudy) -> None:
    assert one(error_over_repeats, small_study(blocks([4, 4, 0, 0], 4))).verdict == "caution"


def test_one_repeat_has_no_spread(small_study: SmallStudy) -> None:
    finding = one(error_over_repeats, small_study(blocks([1, 0], 1)))
    assert finding.verdict == "pass"


def test_mle_bench_publishes_plus_minus_nothing(tables: Callable[[str], StudyTables]) -> None:
    found = {f.subject: f for f in run(error_over_repeats, tables("mle_bench_famou"))}
    high = found["mle.high.sem"]
    assert high.verdict == "fail"
    assert "published ± 0 over repeats" in high.evidence
    assert "12.60 points over 15 tasks" in high.evidence
    assert "agree in 15/15" in high.evidence
    assert {finding.verdict for finding in found.values()} == {"fail"}
