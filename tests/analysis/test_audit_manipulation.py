"""The audit's checks of the experiment: did it happen, and alike on both sides?"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from analysis.audit_cases import SmallStudy, difference_claim, one, run, verdicts
from steelyard.analysis.audit.comparability import arms_of_other_studies, confounded_comparisons
from steelyard.analysis.audit.manipulation import (
    perturbation_applied,
    perturbation_applied_by_repeat,
)
from steelyard.store.tables import StudyTables


def faulted(applied: list[bool | None], arm: str = "a", **more: Any) -> list[dict[str, Any]]:
    """Return trials under ``fault``, one per entry, after one baseline trial of the arm."""
    rows: list[dict[str, Any]] = [{"arm": arm, "task": "t", "success": 1}]
    return rows + [
        {
            "arm": arm,
            "task": f"t{index}",
            "perturbation": "fault",
            "perturbation_applied": met,
            "success": int(not met),
            **more,
        }
        for index, met in enumerate(applied)
    ]


# ---- applied, by arm


@pytest.mark.parametrize(
    ("applied", "verdict"),
    [
        ([True] * 20, "pass"),
        ([True] * 19 + [False], "pass"),
        ([True] * 9 + [False], "caution"),
        ([False] * 5, "fail"),
        ([None] * 5, "caution"),
    ],
)
def test_a_perturbation_must_have_happened(
    applied: list[bool | None], verdict: str, small_study: SmallStudy
) -> None:
    finding = one(perturbation_applied, small_study(faulted(applied)))
    assert finding.verdict == verdict
    if None in applied:
        assert "unknown: not recorded for any of 5 trials (a)" in finding.evidence


def test_unrecorded_trials_are_counted_beside_recorded_ones(small_study: SmallStudy) -> None:
    finding = one(perturbation_applied, small_study(faulted([True, None])))
    assert "1/1 (100.0%)" in finding.evidence
    assert "not recorded for 1 other" in finding.evidence


def test_without_perturbations_there_is_nothing_to_apply(small_study: SmallStudy) -> None:
    finding = one(perturbation_applied, small_study([{"success": 1}]))
    assert (finding.verdict, finding.subject) == ("pass", "all trials")


def test_the_fault_never_reached_the_second_arm(tables: Callable[[str], StudyTables]) -> None:
    found = {f.subject: f for f in run(perturbation_applied, tables("plumbline_parity"))}
    assert found["tool_fault, react"].verdict == "fail"
    assert "0/56 (0.0%)" in found["tool_fault, react"].evidence
    assert found["tool_fault, plan_execute"].verdict == "caution"
    unknown = found["paraphrase, distractor, decoy_tools, sampling"]
    assert (unknown.verdict, "unknown" in unknown.evidence) == ("caution", True)


# ---- applied, by repeat


def test_a_fault_that_fires_once_misses_the_second_repeat(small_study: SmallStudy) -> None:
    rows = faulted([True] * 8, repeat=0) + faulted([False] * 8, repeat=1)[1:]
    found = verdicts(perturbation_applied_by_repeat, small_study(rows))
    assert found == {"fault, a, repeat 0": "pass", "fault, a, repeat 1": "fail"}


def test_one_repeat_is_left_to_the_check_by_arm(small_study: SmallStudy) -> None:
    finding = one(perturbation_applied_by_repeat, small_study(faulted([False] * 3)))
    assert finding.verdict == "pass"
    assert "more than one repeat" in finding.evidence


def test_the_fault_never_reached_the_second_repeat(tables: Callable[[str], StudyTables]) -> None:
    found = {f.subject: f for f in run(perturbation_applied_by_repeat, tables("plumbline_parity"))}
    assert found["tool_fault, plan_execute, repeat 0"].verdict == "pass"
    assert "32/32" in found["tool_fault, plan_execute, repeat 0"].evidence
    assert found["tool_fault, plan_execute, repeat 1"].verdict == "fail"
    assert "0/32 (0.0%)" in found["tool_fault, plan_execute, repeat 1"].evidence


# ---- confounded comparisons


COMPARISON = {
    "name": "b against a",
    "measure": "success",
    "reference": "a",
    "candidate": "b",
    "margin": 0.1,
}


def compared(
    small_study: SmallStudy, a: list[bool | None], b: list[bool | None], **more: Any
) -> StudyTables:
    return small_study(faulted(a) + faulted(b, "b"), comparisons=[COMPARISON], **more)


def test_arms_that_met_the_same_can_be_compared(small_study: SmallStudy) -> None:
    finding = one(confounded_comparisons, compared(small_study, [True] * 9, [True] * 9))
    assert finding.verdict == "pass"
    assert finding.subject == "fault: b against a, success"


def test_arms_that_met_different_things_cannot(small_study: SmallStudy) -> None:
    half = [True] * 8 + [False] * 8
    finding = one(confounded_comparisons, compared(small_study, half, [False] * 16))
    assert finding.verdict == "fail"
    assert "a met it in 8/16 (50.0%)" in finding.evidence
    assert "succeeded in 0/8 (0.0%) of the trials that met it, 8/8 (100.0%)" in finding.evidence


def test_one_arm_that_never_met_it_is_enough(small_study: SmallStudy) -> None:
    # Too few trials for a small p-value; the shares 0 and 1/2 differ all the same.
    finding = one(confounded_comparisons, compared(small_study, [True, False], [False, False]))
    assert finding.verdict == "fail"


def test_a_side_without_a_record_asks_for_caution(small_study: SmallStudy) -> None:
    tables = compared(small_study, [True] * 4, [None] * 4)
    finding = one(confounded_comparisons, tables)
    assert finding.verdict == "caution"
    assert "no record for b" in finding.evidence
    neither = compared(small_study, [None] * 4, [None] * 4, study="neither")
    assert one(confounded_comparisons, neither).verdict == "caution"


def test_a_known_side_that_half_met_it_fails_beside_an_unknown_one(
    small_study: SmallStudy,
) -> None:
    tables = compared(small_study, [True, False] * 4, [None] * 8)
    assert one(confounded_comparisons, tables).verdict == "fail"


def test_published_comparisons_are_read_from_the_claims(small_study: SmallStudy) -> None:
    rows = faulted([True] * 9) + faulted([False] * 9, "b")
    claims = [
        difference_claim("d", 0.2, scope="fault"),
        difference_claim("overall", 0.2),
        difference_claim("unread", 0.2, scope="fault", arm="a"),
        difference_claim("self", 0.2, scope="fault", arm="a|a"),
    ]
    assert one(confounded_comparisons, small_study(rows, claims=claims)).verdict == "fail"
    # The same comparison declared and published is one comparison.
    both = small_study(rows, study="both", claims=claims, comparisons=[COMPARISON])
    assert one(confounded_comparisons, both).verdict == "fail"


def test_no_comparison_passes(small_study: SmallStudy) -> None:
    finding = one(confounded_comparisons, small_study(faulted([True])))
    assert finding.verdict == "pass"


def test_the_headline_of_the_parity_study_is_confounded(
    tables: Callable[[str], StudyTables],
) -> None:
    finding = one(
        confounded_comparisons,
        tables("plumbline_parity"),
        "tool_fault: react against plan_execute, outcome_correct",
    )
    assert finding.verdict == "fail"
    assert "plan_execute met it in 32/64 (50.0%)" in finding.evidence
    assert "20/32 (62.5%) of the trials that met it, 32/32 (100.0%)" in finding.evidence
    assert "react met it in 0/56 (0.0%)" in finding.evidence


def test_the_retry_study_learns_it_from_the_study_it_compares_with(
    tables: Callable[[str], StudyTables],
) -> None:
    finding = one(
        confounded_comparisons,
        tables("plumbline_retry"),
        "tool_fault: react against plumbline_parity:plan_execute",
    )
    assert finding.verdict == "fail"
    assert "plumbline_parity:plan_execute met it in 32/64 (50.0%)" in finding.evidence


# ---- arms of other studies


def test_an_arm_of_another_study_asks_for_caution(small_study: SmallStudy) -> None:
    first = small_study(faulted([True]), study="one")
    comparison = {**COMPARISON, "reference": "one:a"}
    second = small_study(
        faulted([True, True], "b"), study="two", beside=first, comparisons=[comparison]
    )
    finding = one(arms_of_other_studies, second)
    assert finding.verdict == "caution"
    assert "arms of one and two; they share 2 of 3 cells" in finding.evidence
    assert one(arms_of_other_studies, first).verdict == "pass"


def test_a_comparison_with_a_study_that_is_not_loaded_asks_for_caution(
    small_study: SmallStudy,
) -> None:
    comparison = {**COMPARISON, "reference": "elsewhere:a"}
    tables = small_study(faulted([True], "b"), comparisons=[comparison])
    finding = one(arms_of_other_studies, tables)
    assert finding.evidence == "this database does not hold both arms"
    assert one(confounded_comparisons, tables).verdict == "pass"


def test_the_claim_of_an_arm_against_itself_means_the_declared_study(
    tables: Callable[[str], StudyTables],
) -> None:
    found = verdicts(arms_of_other_studies, tables("plumbline_retry"))
    label = "plan_execute against plumbline_parity:plan_execute, outcome_correct"
    assert found[label] == "caution"
