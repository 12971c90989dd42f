"""Rates: two intervals, one denominator that is always shown."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from steelyard.analysis import rates
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import clustered_wilson_interval, wilson_interval


def outcomes(task, values, **more):
    return [{"task": task, "success": value, **more} for value in values]


def only(frame):
    assert len(frame) == 1
    return frame.iloc[0]


def test_counts_and_both_intervals(small_study):
    tables = small_study(outcomes("t1", [1, 1, 1]) + outcomes("t2", [0, 0, 1]))
    row = only(rates(tables))
    plain = wilson_interval(4, 6)
    clustered = clustered_wilson_interval([1, 1, 1, 0, 0, 1], ["t1"] * 3 + ["t2"] * 3)
    assert (row["successes"], row["total"], row["n_clusters"]) == (4, 6, 2)
    assert (row["estimate"], row["low"], row["high"]) == (plain.estimate, plain.low, plain.high)
    assert (row["level"], row["method"]) == (0.95, "Wilson score")
    assert (row["clustered_low"], row["clustered_high"]) == (clustered.low, clustered.high)
    assert row["icc"] == clustered.icc
    assert row["design_effect"] == clustered.design_effect
    assert row["effective_n"] == clustered.effective_n
    assert row["clustered_reason"] == ""


def test_confidence_changes_both_intervals(small_study):
    tables = small_study(outcomes("t1", [1, 0]) + outcomes("t2", [1, 1]))
    wide, narrow = only(rates(tables, confidence=0.99)), only(rates(tables, confidence=0.5))
    for low, high in (("low", "high"), ("clustered_low", "clustered_high")):
        assert wide[low] < narrow[low] < narrow[high] < wide[high]
    with pytest.raises(InputError, match="confidence"):
        rates(tables, confidence=95)


def test_no_scored_trial_gives_no_estimate_and_the_vacuous_interval(small_study):
    tables = small_study([{"success": 1, "status": "failed"}, {"success": None}])
    row = only(rates(tables))
    assert math.isnan(row["estimate"])
    limits = [row[c] for c in ("low", "high", "clustered_low", "clustered_high")]
    assert limits == [0.0, 1.0, 0.0, 1.0]
    assert (row["intended"], row["scored"], row["excluded"], row["total"]) == (2, 0, 2, 0)
    assert row["clustered_reason"] == "no values"


def test_one_task_gives_no_clustered_interval_and_says_so(small_study):
    row = only(rates(small_study(outcomes("t1", [1, 0, 1, 1, 0]))))
    assert (row["clustered_low"], row["clustered_high"]) == (0.0, 1.0)
    assert row["clustered_reason"] == "1 cluster"
    assert row["low"] > 0


def test_all_successes_are_not_certain(small_study):
    rows = [row for task in "ABCDEFGH" for row in outcomes(task, [1] * 8)]
    row = only(rates(small_study(rows)))
    assert (row["estimate"], row["high"], row["clustered_high"]) == (1.0, 1.0, 1.0)
    assert row["clustered_low"] < row["low"] < 1


def test_bounds_give_the_worst_case_above_the_best(small_study):
    tables = small_study(
        [{"arm": arm, "success": value} for arm in "ba" for value in (1, 0, None)],
    )
    frame = rates(tables, missing="bounds")
    assert list(zip(frame["arm"], frame["case"], frame["successes"], strict=True)) == [
        ("b", "worst", 1), ("b", "best", 2), ("a", "worst", 1), ("a", "best", 2),
    ]  # fmt: skip
    assert list(frame["total"]) == [3] * 4
    assert list(frame["imputed"]) == [1] * 4


def test_grouping(small_study):
    tables = small_study(
        [
            {"arm": arm, "task": task, "perturbation": p, "success": int(p == "baseline")}
            for arm in "ab"
            for task in ("t1", "t2")
            for p in ("baseline", "fault")
        ]
    )
    assert len(rates(tables)) == 4
    assert list(rates(tables, by="task")["task"]) == ["t1", "t2"]
    assert list(rates(tables, by=("perturbation", "arm")).columns[:2]) == ["perturbation", "arm"]
    whole = only(rates(tables, by=()))
    assert (whole["successes"], whole["total"]) == (4, 8)
    by_repeat = rates(tables, by=("repeat",))
    assert list(by_repeat["repeat"]) == [0]


def test_only_cells_with_a_trial_make_a_row(small_study):
    tables = small_study([{"arm": "a", "success": 1}, {"arm": "b", "success": 1}])
    assert list(rates(tables, arm="b")["arm"]) == ["b"]


def test_populations_differ_where_the_perturbation_did_not_happen(small_study):
    fault = {"perturbation": "fault"}
    tables = small_study(
        [
            {"success": 1},
            {**fault, "success": 0, "perturbation_applied": True},
            {**fault, "success": 1, "perturbation_applied": False},
            {**fault, "success": 1},
        ]
    )
    assigned = rates(tables, perturbation="fault").iloc[0]
    applied = rates(tables, perturbation="fault", population="applied").iloc[0]
    assert (assigned["successes"], assigned["total"]) == (2, 3)
    assert (applied["successes"], applied["total"]) == (0, 1)
    assert (applied["not_applied"], applied["applied_unknown"], applied["excluded"]) == (1, 1, 2)


def test_attempts(small_study):
    tables = small_study([{"success": 1, "attempts": 2}, {"success": 1, "attempts": 1}])
    assert [only(rates(tables, attempt=a))["estimate"] for a in ("final", "first")] == [1.0, 0.5]


def test_columns_and_their_types_do_not_depend_on_the_question(small_study):
    tables = small_study(outcomes("t1", [1, 0, None]) + outcomes("t2", [1], status="failed"))
    frames = [
        rates(tables, missing=policy, population=population)
        for policy in ("exclude", "fail", "bounds", "recorded")
        for population in ("assigned", "applied")
    ]
    for frame in frames[1:]:
        assert list(frame.columns) == list(frames[0].columns)
        assert list(frame.dtypes) == list(frames[0].dtypes)


def test_the_same_trials_in_another_order_give_the_same_table(small_study):
    rng = np.random.default_rng(5)
    rows = [
        {"arm": a, "task": t, "repeat": r, "success": int(rng.random() < 0.6)}
        for a in "ab"
        for t in ("t1", "t2", "t10")
        for r in range(3)
    ]
    tables = []
    for _ in range(4):
        design = {"arms": ["a", "b"], "perturbations": ["baseline"]}
        tables.append(rates(small_study(rows, design=design), by=("arm", "task")))
        rng.shuffle(rows)
    for other in tables[1:]:
        pd.testing.assert_frame_equal(tables[0], other, check_exact=True)


def test_a_covariate_groups_besides(small_study):
    rows = [
        {"success": 1, "covariates": {"domain": "x"}},
        {"success": 0, "covariates": {"domain": "y"}},
        {"success": 1},
    ]
    tables = small_study(rows)
    found = rates(tables, by="arm", covariate="domain")
    assert list(found["domain"]) == ["NA", "x", "y"]
    assert list(found["successes"]) == [1, 1, 0]
    with pytest.raises(UnknownNameError, match="domian"):
        rates(tables, covariate="domian")
    with pytest.raises(InputError, match="name of another column"):
        rates(tables, covariate="total")


def test_the_worst_case_of_a_harmful_event_is_that_it_happened(small_study):
    rows = [{"success": 1}, {"success": 0}, {"status": "failed"}]
    tables = small_study(rows, measures={"harmful": ["success"]})
    found = rates(tables, by=(), missing="bounds")
    assert list(found["case"]) == ["worst", "best"]
    assert list(found["successes"]) == [2, 1]
