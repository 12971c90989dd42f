"""The pins against the claims: nothing mistyped, nothing lost, nothing asked at another place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from steelyard.analysis.estimands import FIGURES
from steelyard.report.pin_file import ABOUT_THE_TABLES, Group, Pin, Pins, read_pins
from steelyard.store.tables import StudyTables

ROOT = Path(__file__).resolve().parents[2]
STUDIES = sorted(path.parent.name for path in (ROOT / "experiments").glob("*/pins.toml"))


def read(study: str) -> Pins:
    return read_pins(ROOT / "experiments" / study / "pins.toml")


@pytest.fixture
def claims(study: str, tables: Callable[[str], StudyTables]) -> dict[str, dict[str, Any]]:
    frame = tables(study).frame("claims").astype(object)
    rows = frame.where(frame.notna(), None).to_dict("records")
    return {row["claim"]: row for row in rows}


def of_claims(pins: Pins) -> list[tuple[Group, Pin]]:
    return [(g, p) for g, p in pins.pinned() if not p.id.startswith(ABOUT_THE_TABLES)]


@pytest.mark.parametrize("study", STUDIES)
def test_every_claim_stands_in_exactly_one_list(study: str, claims: dict[str, Any]) -> None:
    ids = [name for name in read(study).ids() if not name.startswith(ABOUT_THE_TABLES)]
    assert sorted(ids) == sorted(claims)


@pytest.mark.parametrize("study", STUDIES)
def test_printed_figures_are_those_of_the_claims(study: str, claims: dict[str, Any]) -> None:
    for _, pin in of_claims(read(study)):
        claim = claims[pin.id]
        printed = {name: claim[name] for name in FIGURES if claim[name] is not None}
        assert pin.figures() == printed, pin.id


@pytest.mark.parametrize("study", STUDIES)
def test_sources_are_those_of_the_claims(study: str, claims: dict[str, Any]) -> None:
    for group, pin in of_claims(read(study)):
        assert (pin.source or group.source) == claims[pin.id]["source"], pin.id


@pytest.mark.parametrize("study", STUDIES)
def test_parameters_ask_about_the_claims_arm_place_and_measure(
    study: str, claims: dict[str, Any], tables: Callable[[str], StudyTables]
) -> None:
    arms = tables(study).design.design.arms
    perturbations = tables(study).design.design.perturbations
    for group, pin in of_claims(read(study)):
        claim, asked = claims[pin.id], group.parameters | pin.parameters
        if "claim" in asked:  # arithmetic of the printed number itself
            assert asked["claim"] == pin.id
            continue
        if claim["statistic"] == "incumbent_self_consistency":
            assert asked["incumbent"] == claim["arm"], pin.id
        elif asked_arm(asked) is None and claim["arm"] != "all":
            # Asked over all arms, which is the claim's own where there is one arm only.
            assert arms == (claim["arm"],), pin.id
        else:
            assert asked_arm(asked) in (None, claim["arm"]), pin.id
        if "missing" in asked:
            assert asked["missing"] == claim["missing_policy"], pin.id
        if "measure" in asked and claim["measure"]:
            assert asked["measure"] == claim["measure"], pin.id
        if claim["statistic"] != "worst_perturbation":
            assert asked_place(asked) == claimed_place(claim, perturbations), pin.id


def asked_arm(asked: dict[str, Any]) -> str | None:
    for first, second in (("reference", "candidate"), ("incumbent", "replacement")):
        if first in asked:
            names = [asked[side].rpartition(":")[2] for side in (first, second)]
            return "|".join(names)
    return asked.get("arm")


def asked_place(asked: dict[str, Any]) -> dict[str, Any]:
    columns = ("perturbation", "task", "variant", "repeat")
    place = {column: asked[column] for column in columns if column in asked}
    return place | asked.get("covariates", {})


def claimed_place(claim: dict[str, Any], perturbations: tuple[str, ...]) -> dict[str, Any]:
    """Read a scope: ``overall``, ``tool_fault``, ``task:INV-7002``, ``tool_fault repeat:0``."""
    if claim["scope"].startswith("invariant:"):
        return {}
    place: dict[str, Any] = {}
    for part in claim["scope"].split(" "):
        kind, colon, name = part.partition(":")
        if part in perturbations:
            place["perturbation"] = part
        elif colon:
            place[kind] = int(name) if kind == "repeat" else name
    return place


@pytest.mark.parametrize("study", STUDIES)
def test_divergences_and_rules_are_asked_for_as_noted(study: str, claims: dict[str, Any]) -> None:
    for group, pin in of_claims(read(study)):
        note, asked = claims[pin.id]["note"] or "", group.parameters | pin.parameters
        if "kind" in asked:
            wanted = (
                f"kind={asked['kind']}; step_index={asked['step_index']}; "
                f"expected={asked['expected']}; got={asked['got']}; severity={asked['severity']}"
            )
            assert note == wanted, pin.id
        if "rule" in asked:
            assert note == f"{asked['rule']}; severity={asked['severity']}", pin.id
        if asked.get("k"):
            assert f"k={asked['k']};" in note, pin.id


@pytest.mark.parametrize("study", STUDIES)
def test_pins_read_well(study: str) -> None:
    text = (ROOT / "experiments" / study / "pins.toml").read_text(encoding="utf-8")
    assert text.startswith("#")
    assert text.endswith("\n")
    assert "\r" not in text
    for group in read(study).group:
        assert group.reason
        assert len({pin.id for pin in group.pins}) == len(group.pins)


@pytest.mark.parametrize("study", STUDIES)
def test_evidence_is_pinned_as_precisely_as_it_was_printed(study: str) -> None:
    for group, pin in of_claims(read(study)):
        if pin.evidence is not None:
            assert set(pin.evidence.figures()) == set(pin.figures()), pin.id
            assert pin.evidence.figures() != pin.figures(), pin.id
            assert group.why or pin.why, pin.id


def test_a_frame_of_results_can_be_written(tables: Callable[[str], StudyTables]) -> None:
    from steelyard.report.pins import check_pins

    results = check_pins(tables("mle_bench_famou"), read("mle_bench_famou"))
    frame = pd.DataFrame([result.to_row() for result in results])
    assert list(frame["status"].unique()) == ["reproduced"]
    assert frame["computed_value"].notna().all()
