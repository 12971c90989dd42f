"""Every pinned number of every study, one test each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from steelyard.analysis.evidence import Evidence
from steelyard.report.pin_file import Group, Pin, Pins, read_pins
from steelyard.report.pins import check_pin, check_pins, count_statuses
from steelyard.store.tables import StudyTables

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted(path.parent.name for path in (ROOT / "experiments").glob("*/pins.toml"))
PINS = {study: read_pins(ROOT / "experiments" / study / "pins.toml") for study in STUDIES}
PINNED = [
    pytest.param(study, group, pin, id=f"{study}-{pin.id}")
    for study, pins in PINS.items()
    for group, pin in pins.pinned()
]


@pytest.fixture(scope="module")
def evidence(tables: Callable[[str], StudyTables]) -> Callable[[str], Evidence]:
    """Keep one set of tables per study, so that each analysis runs once for all its pins."""
    kept: dict[str, Evidence] = {}
    return lambda study: kept.setdefault(study, Evidence(tables(study)))


@pytest.mark.parametrize(("study", "group", "pin"), PINNED)
def test_pin(study: str, group: Group, pin: Pin, evidence: Callable[[str], Evidence]) -> None:
    result = check_pin(evidence(study), group, pin)
    assert result.message == ""
    assert result.status == group.status
    assert result.tolerance <= 0.5, "a tolerance wider than half a point pins nothing"


def test_every_study_has_pins() -> None:
    declared = {path.parent.name for path in (ROOT / "experiments").glob("*/study.toml")}
    assert set(STUDIES) == declared


@pytest.mark.parametrize("study", STUDIES)
def test_the_file_names_its_study(study: str) -> None:
    assert PINS[study].study == study


def test_well_over_nine_hundred_numbers_come_out(tables: Callable[[str], StudyTables]) -> None:
    study = "tau_bench_airline"
    counts = count_statuses(check_pins(tables(study), PINS[study]))
    assert counts == {"reproduced": 14, "disputed": 0, "not determinable": 0, "failed": 0}
    pinned = sum(len(list(pins.pinned())) for pins in PINS.values())
    assert pinned > 1000


def test_disputes_are_few_and_known() -> None:
    disputed = {
        pin.id
        for pins in PINS.values()
        for group, pin in pins.pinned()
        if group.status == "disputed"
    }
    # 7 certificates print 0/0, 4 count no errors after dropping them; bounds, grades and worst
    # perturbations that are not the minimum make the rest.
    assert len(disputed) == 26
    assert {name for name in disputed if name.endswith(".outcome")} == {
        "det.cert030.guarded.outcome",
        "det.cert030.plan_execute.outcome",
        "det.cert030.react.outcome",
        "par.cert030.plan_execute.outcome",
        "par.cert030.react.outcome",
        "ret.cert030.plan_execute.outcome",
        "ret.cert030.react.outcome",
    }


def undetermined(pins: Pins) -> list[str]:
    return [name for entry in pins.not_determinable for name in entry.ids]


def test_what_is_not_determinable_has_a_reason_and_no_pin() -> None:
    for pins in PINS.values():
        pinned = {pin.id for _, pin in pins.pinned()}
        assert not pinned & set(undetermined(pins))
        assert all(len(entry.reason.split()) > 4 for entry in pins.not_determinable)
