import pytest

from report import walks
from steelyard.analysis.failed_calls import COLUMNS, failed_calls
from steelyard.analysis.path_map import path_map
from steelyard.errors import InputError


def test_paths_are_numbered_by_how_many_trials_took_them(small_study):
    found = path_map(walks.study(small_study))
    third = found.paths[found.paths["task"] == "t3"]
    assert list(third["steps"]) == ["look > check > pay", "look > check > hold", "look > pay"]
    assert list(third["path"]) == [1, 2, 3]
    assert list(third["trials"]) == [5, 2, 1]
    assert list(third["length"]) == [3, 3, 2]


def test_every_scored_trial_is_counted_once(small_study):
    found = path_map(walks.study(small_study))
    assert found.trials["trials"].sum() == found.paths["trials"].sum() == 24
    cells = found.trials[found.trials["task"] == "t1"]
    assert list(cells["arm"]) == ["old", "old", "old", "new", "new"]
    assert list(cells["perturbation"]) == ["baseline", "fault", "fault", "baseline", "fault"]
    assert list(cells["path"]) == [1, 1, 2, 1, 1]


def test_similarities_are_those_of_the_paths(small_study):
    found = path_map(walks.study(small_study)).similarities
    third = found[found["task"] == "t3"].set_index(["path", "other"])["similarity"]
    assert third.to_dict() == pytest.approx(
        {(1, 1): 1, (1, 2): 2 / 3, (1, 3): 2 / 3, (2, 2): 1, (2, 3): 1 / 3, (3, 3): 1}
    )


def test_order_of_insertion_changes_nothing(small_study):
    first = path_map(walks.study(small_study))
    again = path_map(walks.study(small_study, seed=3))
    for name in ("paths", "trials", "similarities"):
        assert getattr(first, name).equals(getattr(again, name))


def test_without_a_scored_trial_there_is_no_map(small_study):
    rows = [{"status": "missing"}, {"task": "u", "status": "failed", "steps": walks.steps("a")}]
    with pytest.raises(InputError, match=r"none of the 2 trials .* so there is no path"):
        path_map(small_study([r | {"success": None} for r in rows]))


def test_a_study_without_steps_is_refused(small_study):
    with pytest.raises(InputError, match="holds no steps"):
        path_map(small_study([{"success": 1}]))


def test_failed_calls_are_counted_by_arm_and_tool(small_study):
    found = failed_calls(walks.study(small_study)).to_dict("records")
    assert [tuple(row[name] for name in COLUMNS) for row in found] == [
        ("old", "check", 12, 3, 3, 12, 1, "check not found"),
        ("new", "check", 24, 12, 12, 12, 1, "check not found"),
    ]


def test_no_failed_call_no_row(small_study):
    found = failed_calls(small_study([{"success": 1, "steps": walks.steps("a")}]))
    assert found.empty
    assert list(found.columns) == list(COLUMNS)
