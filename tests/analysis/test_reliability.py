"""pass^k and pass@k over tasks."""

from __future__ import annotations

import math

import pytest

from steelyard.analysis import reliability
from steelyard.analysis.reliability import DEFAULT_K_MAX
from steelyard.errors import InputError
from steelyard.stats import clustered_mean_interval, clustered_wilson_interval


def study(small_study, tasks, **sections):
    rows = [{"task": task, "success": value} for task, values in tasks.items() for value in values]
    return small_study(rows, **sections)


def test_unbiased_estimates(small_study):
    tables = study(small_study, {"A": [1, 1, 1, 0], "B": [0, 0, 0, 1], "C": [1, 1, 1, 1]})
    frame = reliability(tables)
    assert list(frame["k"]) == [1, 2, 3, 4]
    assert list(frame["pass_hat_k"]) == pytest.approx(
        [(3 / 4 + 1 / 4 + 1) / 3, (3 / 6 + 0 + 1) / 3, (1 / 4 + 0 + 1) / 3, 1 / 3]
    )
    assert list(frame["pass_at_k"]) == pytest.approx(
        [(3 / 4 + 1 / 4 + 1) / 3, (1 + 3 / 6 + 1) / 3, (1 + 3 / 4 + 1) / 3, 1]
    )
    assert list(frame["tasks_used"]) == [3] * 4
    assert list(frame["reason"]) == [""] * 4


def test_the_interval_is_over_tasks(small_study):
    tables = study(small_study, {"A": [1, 1, 0], "B": [0, 1, 0], "C": [1, 1, 1], "D": [0, 0, 0]})
    row = reliability(tables, confidence=0.8).iloc[0]
    expected = clustered_mean_interval([2 / 3, 1 / 3, 1, 0], list("ABCD"), 0.8)
    assert (row["low"], row["high"]) == (max(expected.low, 0), min(expected.high, 1))
    assert row["level"] == 0.8


def test_a_task_with_too_few_trials_is_left_out_and_counted(small_study):
    tables = study(small_study, {"A": [1, 1, 1, 1], "B": [1, 1, 1, None]})
    last = reliability(tables).iloc[-1]
    assert (last["k"], last["pass_hat_k"]) == (4, 1.0)
    assert (last["tasks_used"], last["tasks_total"]) == (1, 2)
    assert last["reason"] == "1 of 2 tasks have 4 counted trials; no interval: 1 cluster"
    assert (last["low"], last["high"]) == (0.0, 1.0)


def test_more_attempts_than_any_task_has(small_study):
    last = reliability(study(small_study, {"A": [1, 1], "B": [1, 0]}), k_max=3).iloc[-1]
    assert math.isnan(last["pass_hat_k"])
    assert math.isnan(last["pass_at_k"])
    assert (last["low"], last["high"], last["tasks_used"]) == (0.0, 1.0, 0)
    assert last["reason"] == "no task has 3 counted trials"


def test_tasks_that_all_always_succeed_leave_doubt(small_study):
    row = reliability(study(small_study, {task: [1, 1] for task in "ABCDE"}), k_max=1).iloc[0]
    whole = clustered_wilson_interval([1] * 5, list("ABCDE"))
    assert (row["pass_hat_k"], row["low"], row["high"]) == (1.0, whole.low, 1.0)
    assert 0 < row["low"] < 1


def test_no_estimates_support_more_than_perfect_ones(small_study):
    many = [1] * 23
    tasks = {"A": [*many, 0], **{name: [*many, 1] for name in "BCDE"}}
    row = reliability(study(small_study, tasks), k_max=1).iloc[0]
    perfect = reliability(study(small_study, {name: [1] * 24 for name in "ABCDE"}), k_max=1)
    shares = [23 / 24, 1, 1, 1, 1]
    assert clustered_mean_interval(shares, list("ABCDE")).low > perfect["low"].iloc[0]
    assert row["low"] == perfect["low"].iloc[0]
    mirrored = {name: [1 - value for value in values] for name, values in tasks.items()}
    low = reliability(study(small_study, mirrored), k_max=1).iloc[0]
    assert low["high"] == pytest.approx(1 - row["low"])


def test_tasks_that_agree_between_0_and_1_give_no_interval(small_study):
    row = reliability(study(small_study, {"A": [1, 0], "B": [0, 1]}), k_max=1).iloc[0]
    assert (row["pass_hat_k"], row["low"], row["high"]) == (0.5, 0.0, 1.0)
    assert row["reason"].startswith("no interval: ")


def test_unscored_group_has_a_row(small_study):
    frame = reliability(small_study([{"success": None}, {"arm": "b", "success": 1}]))
    row = frame.iloc[0]
    assert (row["k"], row["tasks_used"], row["tasks_total"], row["excluded"]) == (1, 0, 1, 1)


def test_policies_change_the_trials_of_a_task(small_study):
    tables = study(small_study, {"A": [1, None], "B": [1, 1]})
    assert reliability(tables, missing="fail").iloc[1]["pass_hat_k"] == 0.5
    frame = reliability(tables, missing="bounds")
    assert list(frame["case"]) == ["worst", "worst", "best", "best"]
    assert list(frame["pass_hat_k"]) == [0.75, 0.5, 1.0, 1.0]


def test_long_curves_end_at_ten_unless_asked(small_study):
    tables = study(small_study, {"A": [1] * 12, "B": [0] * 12})
    assert reliability(tables)["k"].max() == DEFAULT_K_MAX == 10
    assert reliability(tables, k_max=12)["k"].max() == 12


@pytest.mark.parametrize("k_max", [0, -1, 1.5, True])
def test_bad_k_is_refused(small_study, k_max):
    with pytest.raises(InputError, match="k_max"):
        reliability(study(small_study, {"A": [1]}), k_max=k_max)


@pytest.mark.parametrize("by", ["task", "repeat"])
def test_tasks_and_repeats_are_no_groups(small_study, by):
    with pytest.raises(InputError, match="group by neither"):
        reliability(study(small_study, {"A": [1]}), by=by)
