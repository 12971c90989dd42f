"""Certified bounds: the true minimum, Plumbline's published definition, and what is left out."""

from __future__ import annotations

import pandas as pd
import pytest

from steelyard.analysis import certify, rates
from steelyard.analysis.certificate import grade
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import wilson_interval


def study(small_study, cells, **more):
    """``cells``: perturbation to (successes, total), trials spread over four tasks."""
    return small_study(
        [
            {"perturbation": name, "task": f"t{i % 4}", "success": int(i < successes), **more}
            for name, (successes, total) in cells.items()
            for i in range(total)
        ],
        design={"perturbations": list(cells)},
    )


def test_the_minimum_is_not_the_limit_of_the_lowest_rate(small_study):
    # Three clean trials have the lowest limit and the highest rate.
    tables = study(small_study, {"baseline": (60, 64), "rare": (3, 3)})
    found = certify(tables, "a")
    assert (found.bound, found.worst_perturbation) == (wilson_interval(3, 3).low, "rare")
    assert found.plumbline_bound == wilson_interval(60, 64).low
    assert (found.plumbline_worst, found.plumbline_grade) == ("baseline", "B")
    assert found.grade == "F"
    assert found.clustered_worst == "rare"
    assert found.clustered_bound < found.bound


def test_ties_take_the_first_perturbation_of_the_design(small_study):
    tables = study(small_study, {"baseline": (8, 8), "p": (8, 8)})
    found = certify(tables, "a")
    assert (found.worst_perturbation, found.plumbline_worst) == ("baseline", "baseline")


def test_a_perturbation_without_a_scored_trial_is_named(small_study):
    rows = [{"success": 1} for _ in range(8)]
    rows += [{"perturbation": "p", "status": "failed"} for _ in range(8)]
    found = certify(small_study(rows), "a", "success")
    assert found.bound == wilson_interval(8, 8).low
    assert found.bound_as_intended == 0.0
    assert found.unscored_perturbations == ("p",)
    assert "no scored trial under p" in found.reason
    assert "1 cluster" in found.reason
    assert (found.intended, found.scored, found.excluded) == (16, 8, 8)
    # Counted as failures, the perturbation has a limit, and it is 0.
    failed = certify(small_study(rows), "a", "success", missing="fail")
    assert (failed.bound, failed.worst_perturbation, failed.scored) == (0.0, "p", 8)
    assert failed.unscored_perturbations == ()


def test_nothing_scored(small_study):
    found = certify(small_study([{"success": None}]), "a")
    assert (found.bound, found.grade, found.worst_perturbation) == (0.0, "", "")  # no finding, no F
    assert (found.clustered_bound, found.plumbline_bound) == (0.0, 0.0)
    assert found.reason == "no scored trial"


def test_a_declared_perturbation_that_the_arm_never_met_is_named(small_study):
    rows = [{"task": t, "success": 1} for t in ("t1", "t2")]
    rows += [{"arm": "b", "perturbation": "p", "task": "t1", "success": 1}]
    tables = small_study(rows)
    assert certify(tables, "a").reason == "the arm has no trial under p"
    assert certify(tables, "a", perturbation="baseline").reason == ""


def test_bounds_take_the_worst_case(small_study):
    rows = [{"success": 1} for _ in range(7)] + [{"success": None}]
    found = certify(small_study(rows), "a", missing="bounds")
    assert found.bound == wilson_interval(7, 8).low
    assert list(found.perturbations["case"]) == ["worst"]


def test_the_rates_behind_it(small_study):
    tables = study(small_study, {"baseline": (6, 8), "p": (8, 8)})
    found = certify(tables, "a", confidence=0.9)
    expected = rates(tables, by="perturbation", arm="a", confidence=0.9)
    pd.testing.assert_frame_equal(found.perturbations, expected)
    assert found.level == 0.9


def test_one_row(small_study):
    found = certify(study(small_study, {"baseline": (6, 8)}), "a")
    row = found.to_row()
    assert "perturbations" not in row
    assert row["unscored_perturbations"] == ""
    assert found.to_frame().to_dict("records") == [row]
    assert found == certify(study(small_study, {"baseline": (6, 8)}), "a")


def test_filters_and_unknown_arm(small_study):
    tables = study(small_study, {"baseline": (6, 8), "p": (8, 8)})
    assert certify(tables, "a", perturbation="p").worst_perturbation == "p"
    with pytest.raises(UnknownNameError, match=r"unknown arm 'A'.*'a'"):
        certify(tables, "A")


@pytest.mark.parametrize(
    ("bound", "letter"),
    [
        (1.0, "A"), (0.95, "A"), (0.949999, "B"), (0.85, "B"), (0.849, "C"),
        (0.70, "C"), (0.69, "D"), (0.50, "D"), (0.499, "F"), (0.0, "F"),
    ],
)  # fmt: skip
def test_grades(bound, letter):
    assert grade(bound) == letter


def test_an_event_that_should_not_happen_is_not_certified(small_study):
    rows = [{"success": 1, "perturbation": p} for p in ("baseline", "noise")]
    tables = small_study(rows, measures={"harmful": ["success"]})
    with pytest.raises(InputError, match="a lower bound certifies nothing"):
        certify(tables, "a")
