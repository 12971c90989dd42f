"""Decisions: arms on the same cases, detectors, scores, rare events, and cases seen before."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from analysis.audit_cases import SmallStudy, one
from steelyard.analysis.audit.provenance import held_out_cases
from steelyard.analysis.detection import detection
from steelyard.analysis.event_bounds import event_bounds
from steelyard.analysis.paired_arms import paired
from steelyard.analysis.score_discrimination import discriminate
from steelyard.errors import InputError, UnknownNameError


def cases(outcomes: dict[str, list[tuple[int, int]]]) -> list[dict[str, object]]:
    """Return trials of arms a and b from ``{task: [(value of a, value of b), ...]}``."""
    return [
        {"arm": arm, "task": task, "variant": str(number), "success": value}
        for task, pairs in outcomes.items()
        for number, pair in enumerate(pairs)
        for arm, value in zip("ab", pair, strict=True)
    ]


def test_discordant_pairs_and_both_tests(small_study: SmallStudy) -> None:
    tables = small_study(
        cases({"t": [(0, 1), (0, 1), (1, 1)], "u": [(0, 1), (0, 0)], "v": [(1, 0)]})
    )
    row = paired(tables, "a", "b").iloc[0]
    assert (row["both"], row["reference_only"], row["candidate_only"], row["neither"]) == (
        1,
        1,
        3,
        1,
    )
    assert row["p_mcnemar"] == 0.625
    assert row["difference"] == pytest.approx(2 / 6)
    # Sums over tasks are 2, 1 and -1: half of the eight sign assignments reach 2.
    assert (row["tasks"], row["tasks_differing"], row["p_sign_flip"]) == (3, 3, 0.75)
    assert row["p_adjusted"] == row["p_sign_flip"]


def test_one_case_per_task_adjusts_mcnemar(small_study: SmallStudy) -> None:
    tables = small_study(cases({f"t{n}": [(0, 1)] for n in range(6)}))
    row = paired(tables, "a", "b").iloc[0]
    assert row["p_mcnemar"] == row["p_sign_flip"] == row["p_adjusted"] == 2 / 64


def test_a_case_without_a_value_on_one_side_is_unpaired(small_study: SmallStudy) -> None:
    rows = [*cases({"t": [(0, 1), (1, 1)]}), {"arm": "a", "task": "w", "success": 1}]
    assert list(paired(small_study(rows), "a", "b")[["pairs", "unpaired"]].iloc[0]) == [2, 1]


def test_several_arms_and_strata_are_one_family(small_study: SmallStudy) -> None:
    tables = small_study(cases({"t": [(0, 1), (1, 1)], "u": [(0, 1), (0, 1)]}))
    found = paired(tables, ["a", "b"], ["a", "b"], by="task")
    assert len(found) == 4
    assert set(found["family_size"]) == {4}
    assert list(found.columns[:3]) == ["task", "reference", "candidate"]


def test_a_stratum_without_a_pair_has_no_number_and_is_no_test(small_study: SmallStudy) -> None:
    rows = [*cases({"t": [(0, 1), (1, 1)]}), {"arm": "a", "task": "w", "success": 1}]
    found = paired(small_study(rows), "a", "b", by="task").set_index("task")
    assert list(found.loc["w", ["pairs", "unpaired", "tasks"]]) == [0, 1, 0]
    numbers = ["difference", "clustered_low", "p_mcnemar", "p_sign_flip", "p_adjusted"]
    assert found.loc["w", numbers].isna().all()
    assert set(found["family_size"]) == {1}
    assert found.loc["t", "p_adjusted"] == found.loc["t", "p_sign_flip"]


def test_a_pair_that_cannot_be_is_refused(small_study: SmallStudy) -> None:
    tables = small_study(cases({"t": [(0, 1)]}))
    with pytest.raises(InputError, match="no two different arms"):
        paired(tables, "a", "a")
    with pytest.raises(InputError, match="one value each"):
        paired(tables, "a", "b", missing="bounds")
    with pytest.raises(InputError, match="do not group or filter by arm"):
        paired(tables, "a", "b", by="arm")
    with pytest.raises(UnknownNameError, match="nobody"):
        paired(tables, "a", "nobody")
    apart = small_study(
        [{"arm": "a", "task": "t", "success": 1}, {"arm": "b", "task": "u", "success": 1}],
        study="apart",
    )
    with pytest.raises(InputError, match="no case has a value for both arms"):
        paired(apart, "a", "b")


def flags(rows: list[tuple[str, int | None, int]]) -> list[dict[str, object]]:
    return [
        {"task": task, "variant": str(number), "flag": flag, "truth": truth}
        for number, (task, flag, truth) in enumerate(rows)
    ]


def test_precision_recall_and_f1(small_study: SmallStudy) -> None:
    rows = [("t", 1, 1), ("t", 1, 0), ("u", 0, 1), ("u", 1, 1), ("v", 0, 0), ("v", None, 1)]
    rows.append(("w", 1, 1))
    tables = small_study(flags(rows), measures={"primary": "flag", "others": ["truth"]})
    row = detection(tables, "flag", "truth", missing="exclude").iloc[0]
    assert list(row[["true_positives", "false_positives", "false_negatives"]]) == [3, 1, 1]
    assert (row["precision"], row["recall"], row["f1"]) == (3 / 4, 3 / 4, 6 / 8)
    assert (row["n"], row["uncounted"], row["n_clusters"]) == (6, 1, 4)
    assert row["f1_clustered_low"] <= row["f1"] <= row["f1_clustered_high"]
    failed = detection(tables, "flag", "truth", missing="fail").iloc[0]
    assert (failed["false_negatives"], failed["uncounted"]) == (2, 0)


def test_a_detector_that_never_flags_has_no_precision(small_study: SmallStudy) -> None:
    tables = small_study(
        flags([("t", 0, 1), ("u", 0, 0)]), measures={"primary": "flag", "others": ["truth"]}
    )
    row = detection(tables, "flag", "truth", by=()).iloc[0]
    assert math.isnan(row["precision"])
    assert (row["precision_low"], row["precision_high"]) == (0.0, 1.0)
    assert row["recall"] == 0.0
    with pytest.raises(InputError, match="one flag per trial"):
        detection(tables, "flag", "truth", missing="bounds")


def test_none_of_ninety_three_is_not_none(small_study: SmallStudy) -> None:
    rows = [
        {"task": f"t{number % 31}", "variant": str(number), "success": 0} for number in range(93)
    ]
    row = event_bounds(small_study(rows)).iloc[0]
    assert row["estimate"] == 0
    assert row["upper"] == pytest.approx(1 - 0.05 ** (1 / 93))
    assert (row["tasks"], row["tasks_with_event"]) == (31, 0)
    assert row["upper_over_tasks"] == pytest.approx(1 - 0.05 ** (1 / 31))


def test_bounds_refuse_what_has_no_one_answer(small_study: SmallStudy) -> None:
    tables = small_study([{"success": 1}])
    with pytest.raises(InputError, match=r"confidence is 0\.5"):
        event_bounds(tables, confidence=0.5)
    with pytest.raises(InputError, match="one bound per group"):
        event_bounds(tables, missing="bounds")
    assert event_bounds(tables).iloc[0]["upper"] == 1.0


def test_a_score_is_matched_with_the_label_of_another_arm(small_study: SmallStudy) -> None:
    rows = [
        {"arm": "a", "task": f"t{number}", "score": number / 10, "label": 0} for number in range(6)
    ] + [
        {"arm": "b", "task": f"t{number}", "score": 0, "label": int(number > 2)}
        for number in range(5)
    ]
    rows.append({"arm": "b", "task": "t5", "status": "failed", "score": 0.0, "label": 1})
    tables = small_study(rows, measures={"primary": "label", "others": ["score"]})
    row = discriminate(tables, "score", "label", arm="a", label_arm="b").iloc[0]
    assert (row["auroc"], row["n"], row["positives"], row["tied_scores"]) == (1.0, 6, 3, 0)
    complete = discriminate(
        tables, "score", "label", arm="a", label_arm="b", complete_arm="b"
    ).iloc[0]
    assert complete["n"] == 5
    with pytest.raises(InputError, match="no case has both"):
        discriminate(tables, "score", "label", arm="a", label_arm="b", task="t5", complete_arm="b")


def test_cases_seen_before_are_not_held_out(small_study: SmallStudy) -> None:
    before = small_study([{"task": "t", "success": 0}, {"task": "u", "success": 1}], "before")
    after = small_study(
        [{"task": "t", "success": 1}, {"task": "w", "success": 1}],
        "after",
        beside=before,
        info={"developed_on": ["before", "elsewhere"]},
    )
    seen = one(held_out_cases, after, "before")
    assert seen.verdict == "fail"
    assert "1/2 (50.0%) of the cases" in seen.evidence
    assert "a 50.0% there and 100.0% here" in seen.evidence
    assert one(held_out_cases, after, "elsewhere").verdict == "caution"
    assert one(held_out_cases, before).verdict == "pass"


def test_other_cases_are_held_out(small_study: SmallStudy) -> None:
    before = small_study([{"task": "t", "success": 0}], "before")
    made = {"developed_on": ["before"]}
    after = small_study([{"task": "w", "success": 1}], "after", beside=before, info=made)
    finding = one(held_out_cases, after)
    assert finding.verdict == "pass"
    assert "none of 1 cases" in finding.evidence


def test_frames_hold_no_object_that_is_not_text(small_study: SmallStudy) -> None:
    found = paired(small_study(cases({"t": [(0, 1)], "u": [(1, 1)]})), "a", "b")
    assert not any(pd.api.types.is_object_dtype(found[name]) for name in found)
