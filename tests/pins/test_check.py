"""How a pin is judged, and what a broken pins.toml says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from steelyard.errors import StudyError, UnknownNameError
from steelyard.report.pin_file import Pins, read_pins
from steelyard.report.pins import STATUSES, check_pins, count_statuses
from steelyard.store.tables import StudyTables

RATE = {
    "name": "a rate",
    "estimand": "rate",
    "parameters": {"measure": "success", "missing": "exclude", "arm": "a"},
    "tolerance": 0.0005,
    "reason": "printed to three decimals",
    "source": "a page",
}
TRIALS = [{"task": "t1", "success": 1}, {"task": "t2", "success": 1}, {"task": "t3", "success": 0}]


def pins(*numbers: dict[str, Any], **group: Any) -> Pins:
    return Pins.model_validate(
        {"study": "small", "group": [{**RATE, **group, "pins": list(numbers)}]}
    )


@pytest.fixture
def tables(small_study: Callable[..., StudyTables]) -> StudyTables:
    return small_study(TRIALS)


def test_a_number_within_its_rounding_is_reproduced(tables: StudyTables) -> None:
    (result,) = check_pins(tables, pins({"id": "x", "successes": 2, "total": 3, "value": 0.667}))
    assert result.status == "reproduced"
    assert result.computed["value"] == pytest.approx(2 / 3)
    assert result.printed == {"successes": 2, "total": 3, "value": 0.667}
    assert result.to_row()["computed_total"] == 3
    assert result.to_row()["low"] is None


def test_half_a_unit_of_the_last_place_is_within(tables: StudyTables) -> None:
    edge = 2 / 3 + 0.0005
    assert check_pins(tables, pins({"id": "x", "value": edge}))[0].status == "reproduced"
    beyond = 2 / 3 + 0.000501
    assert check_pins(tables, pins({"id": "x", "value": beyond}))[0].status == "failed"


def test_a_failed_pin_gives_both_numbers(tables: StudyTables) -> None:
    (result,) = check_pins(tables, pins({"id": "x", "successes": 3, "total": 3, "value": 1.0}))
    assert result.status == "failed"
    assert "successes is pinned as 3 and computed as 2" in result.message
    assert "value is pinned as 1.0 and computed as 0.666" in result.message
    assert "tolerance 0.0005" in result.message


def test_counts_have_no_tolerance(tables: StudyTables) -> None:
    assert check_pins(tables, pins({"id": "x", "total": 4}, tolerance=5.0))[0].status == "failed"


def test_an_estimand_that_cannot_be_computed_fails_with_its_reason(tables: StudyTables) -> None:
    (result,) = check_pins(tables, pins({"id": "x", "total": 3, "parameters": {"arm": "nobody"}}))
    assert result.status == "failed"
    assert "nobody" in result.message


def test_a_figure_that_the_estimand_does_not_give_fails(tables: StudyTables) -> None:
    assert check_pins(tables, pins({"id": "x", "p_value": 0.5}))[0].status == "failed"


def test_several_estimands_must_agree(tables: StudyTables) -> None:
    number = {"id": "x", "value": 3.0}
    both = {"estimand": ["trial_count", "level_count"], "tolerance": 0.0}
    agreeing = pins(number, **both, parameters={})
    (result,) = check_pins(tables, agreeing)
    assert result.status == "failed"
    assert "level_count" in result.message
    assert "trial_count:" not in result.message


def disputed(**changes: Any) -> Pins:
    group = {"status": "disputed", "why": "it is not so", **changes}
    number = {"id": "x", "value": 1.0, "evidence": {"value": 0.667}}
    return pins(number, **group)


def test_a_dispute_stands_when_the_evidence_is_as_pinned_and_differs(tables: StudyTables) -> None:
    (result,) = check_pins(tables, disputed())
    assert result.status == "disputed"
    assert result.reason == "it is not so"
    assert result.computed["value"] == pytest.approx(2 / 3)


def test_a_dispute_fails_when_the_evidence_changes(tables: StudyTables) -> None:
    number = {"id": "x", "value": 1.0, "evidence": {"value": 0.5}}
    (result,) = check_pins(tables, pins(number, status="disputed", why="it is not so"))
    assert result.status == "failed"


def test_a_dispute_without_a_difference_fails(tables: StudyTables) -> None:
    number = {"id": "x", "value": 0.667, "evidence": {"value": 0.667}}
    (result,) = check_pins(tables, pins(number, status="disputed", why="it is not so"))
    assert result.status == "failed"
    assert "no dispute" in result.message


def test_the_printed_number_must_come_out_the_way_the_group_says(
    small_study: Callable[..., StudyTables],
) -> None:
    crashed = {"task": "t3", "status": "failed", "success": 0}
    tables = small_study([*TRIALS[:2], crashed])
    number = {"id": "x", "value": 0.667, "evidence": {"value": 1.0}}
    right = pins(number, status="disputed", why="errors", printed_with={"missing": "recorded"})
    assert check_pins(tables, right)[0].status == "disputed"
    wrong = pins(number, status="disputed", why="errors", printed_with={"missing": "exclude"})
    assert "as printed: value" in check_pins(tables, wrong)[0].message
    unknown = pins(number, status="disputed", why="errors", printed_with={"missing": "sometimes"})
    assert check_pins(tables, unknown)[0].message.startswith("as printed: missing policy")


def test_not_determinable_numbers_are_listed_with_their_reason(tables: StudyTables) -> None:
    file = Pins.model_validate(
        {"study": "small", "not_determinable": [{"reason": "no costs here", "ids": ["c"]}]}
    )
    (result,) = check_pins(tables, file)
    assert (result.status, result.reason) == ("not determinable", "no costs here")
    assert count_statuses([result]) == dict.fromkeys(STATUSES, 0) | {"not determinable": 1}


def test_single_pins_can_be_chosen(tables: StudyTables) -> None:
    two = pins({"id": "x", "total": 3}, {"id": "y", "total": 9})
    assert [result.id for result in check_pins(tables, two, ["x"])] == ["x"]
    with pytest.raises(UnknownNameError, match="pin 'z'"):
        check_pins(tables, two, ["z"])


TOML = """
study = "small"
[[group]]
name = "a rate"
estimand = "rate"
reason = "printed to three decimals"
source = "a page"
pins = [
  { id = "x", total = 3 },
]
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("total = 3", "totals = 3", "unknown key"),
        ("total = 3", "total = -3", "accepted is 0 or more"),
        ("total = 3", "p_value = 1.5", "accepted is 1 or less"),
        (", total = 3", "", "prints no figure"),
        ("total = 3", 'total = 3, why = "because"', "is not disputed"),
        ('source = "a page"', 'source = "a page"\nstatus = "disputed"', "needs evidence and why"),
        ('source = "a page"', 'source = "a page"\nwhy = "because"', "belong to disputed groups"),
        ("  { id", '  { id = "x", total = 2 },\n  { id', "pinned twice: x"),
        ('reason = "printed to three decimals"\n', "", "is missing"),
        ("[[group]]", "[[groups]]", "unknown key"),
    ],
)
def test_a_broken_file_is_refused_with_its_name(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "pins.toml"
    path.write_text(TOML.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(StudyError, match=message) as caught:
        read_pins(path, "experiments/small/pins.toml")
    assert "experiments/small/pins.toml" in str(caught.value)


def test_a_whole_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "pins.toml"
    path.write_text(TOML, encoding="utf-8")
    assert read_pins(path).ids() == ["x"]
