"""Which trials without a value a measure was meant for, where cases of one task differ."""

from __future__ import annotations

from steelyard.analysis import select


def test_a_case_to_which_the_measure_applies_for_nobody_is_not_intended(small_study):
    # Variant 1 must not be judged: arm b completed it and has no row. Arm a failed in both.
    tables = small_study(
        [
            {"arm": "a", "variant": "0", "status": "failed"},
            {"arm": "a", "variant": "1", "status": "failed"},
            {"arm": "a", "variant": "2", "success": 1},
            {"arm": "b", "variant": "0", "success": 1},
            {"arm": "b", "variant": "1"},
        ]
    )
    chosen = select(tables, "success", "fail", arm="a")
    assert list(chosen["variant"]) == ["0", "2"]
    assert list(chosen["value"]) == [0.0, 1.0]


def test_a_case_that_nobody_completed_follows_its_task(small_study):
    tables = small_study(
        [
            {"arm": "a", "variant": "0", "status": "failed"},
            {"arm": "a", "variant": "2", "success": 1},
        ]
    )
    assert list(select(tables, "success", "fail")["variant"]) == ["0", "2"]
