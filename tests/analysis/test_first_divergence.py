"""Failures by the first step at which trials part from the successful path."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from steelyard.analysis import (
    behaviour_shift,
    consensus,
    first_divergence,
    similarity,
    step_rates,
)
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import clustered_wilson_interval, wilson_interval


def trials(outcomes: list[tuple[str, int]], **columns) -> list[dict]:
    return [
        {"steps": [{"name": name} for name in path.split()], "success": success, **columns}
        for path, success in outcomes
    ]


def table_of(frame: pd.DataFrame) -> dict:
    return {
        (row.operation, row.expected, row.got): (row.failures, row.successes)
        for row in frame.itertuples()
    }


MADE = trials(
    [
        ("check pay", 1),
        ("check pay", 1),
        ("check pay", 0),
        ("pay", 0),
        ("pay", 1),
        ("hold pay", 0),
        ("check pay log", 1),
        ("ask check pay", 0),
    ]
)


def test_first_operation_decides(small_study):
    frame = first_divergence(small_study(MADE))
    assert table_of(frame) == {
        ("none", "", ""): (1, 2),
        ("skipped", "check", ""): (1, 1),
        ("substitute", "check", "hold"): (1, 0),
        ("extra", "pay", "log"): (0, 1),
        ("extra", "", "ask"): (1, 0),
    }
    steps = frame.set_index("operation")["step"]
    assert steps["skipped"] == 0
    assert pd.isna(steps["none"])
    assert set(frame.loc[frame["operation"] == "extra", "step"]) == {-1, 1}


def test_shares_and_rates(small_study):
    frame = first_divergence(small_study(MADE))
    assert frame["group_failures"].eq(4).all()
    assert frame["share"].sum() == pytest.approx(1)
    row = frame[frame["operation"] == "skipped"].iloc[0]
    share, rate = wilson_interval(1, 4), wilson_interval(1, 2)
    assert (row["share_low"], row["share_high"]) == (share.low, share.high)
    assert (row["low"], row["high"]) == (rate.low, rate.high)
    assert row["count"] == row["failures"]


def test_interval_has_the_task_as_cluster(small_study):
    made = [t for task in "tuv" for t in trials([("a b", 1), ("a b", 1), ("a", 0)], task=task)]
    made += trials([("a", 1), ("a", 1)], task="v") + trials([("a b", 1)] * 3, task="v")
    frame = first_divergence(small_study(made))
    row = frame[frame["operation"] == "skipped"].iloc[0]
    expected = clustered_wilson_interval([1, 1, 1, 0, 0], list("tuvvv"))
    assert (row["clustered_low"], row["clustered_high"]) == (expected.low, expected.high)
    assert row["tasks"] == 3


def test_reference_is_the_successful_path(small_study):
    made = trials([("a b", 1), ("a c", 0), ("a c", 0), ("a c", 0)])
    frame = first_divergence(small_study(made))
    assert table_of(frame) == {("substitute", "b", "c"): (3, 0), ("none", "", ""): (0, 1)}
    assert set(frame["references"]) == {"successful"}


def test_task_without_a_success(small_study):
    made = trials([("a b", 0), ("a b", 0), ("a", 0)]) + trials([("a b", 1), ("a", 0)], task="u")
    frame = first_divergence(small_study(made)).set_index("operation")
    assert frame.loc["none", "references"] == "mixed"
    assert (frame.loc["none", "failures"], frame.loc["none", "successes"]) == (2, 1)
    by_task = first_divergence(small_study(made), by=("task",))
    assert dict(zip(by_task["task"], by_task["references"], strict=True)) == {
        "t": "all",
        "u": "successful",
    }


def test_steps_that_differ_between_tasks(small_study):
    made = trials([("a b", 1), ("a", 0)]) + trials([("x a b", 1), ("x a", 0)], task="u")
    row = first_divergence(small_study(made)).set_index("operation").loc["skipped"]
    assert pd.isna(row["step"])
    assert (row["failures"], row["tasks"]) == (2, 2)
    by_task = first_divergence(small_study(made), by=("task",)).set_index(["task", "operation"])
    assert by_task.loc[("t", "skipped"), "step"] == 1
    assert by_task.loc[("u", "skipped"), "step"] == 2


def test_group_without_a_failure(small_study):
    frame = first_divergence(small_study(trials([("a", 1), ("a", 1), ("b", 1)])))
    assert frame["share"].isna().all()
    assert frame["share_low"].eq(0).all()
    assert frame["estimate"].eq(0).all()


def test_one_trial_without_a_step(small_study):
    row = first_divergence(
        small_study([*trials([("", 0)]), *trials([("a", 1)], task="u")]), by="task"
    )
    assert list(row["operation"]) == ["none", "none"]
    assert list(row["failures"]) == [1, 0]


def test_excluded_trials_are_counted(small_study):
    made = [*trials([("a", 1)]), *trials([("b", 0)], status="missing")]
    row = first_divergence(small_study(made), by=()).iloc[0]
    assert (row["intended"], row["excluded"], row["total"]) == (2, 1, 1)


def test_order_of_rows_plays_no_part(small_study):
    made = [{**trial, "repeat": i} for i, trial in enumerate(MADE)]
    first = first_divergence(small_study(made))
    order = np.random.default_rng(2).permutation(len(made))
    again = first_divergence(small_study([made[i] for i in order]))
    pd.testing.assert_frame_equal(first, again)


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"measure": "grade"}, UnknownNameError, "grade"),
        ({"by": "step"}, InputError, "cannot group by 'step'"),
        ({"confidence": 2}, InputError, "confidence"),
        ({"arm": "nobody"}, UnknownNameError, "nobody"),
    ],
)
def test_refusals(small_study, options, kind, words):
    with pytest.raises(kind, match=words):
        first_divergence(small_study(MADE), **options)


def test_too_long_names_the_task(small_study):
    made = trials([(" ".join(["a"] * 40_000), 1), (" ".join(["b"] * 40_000), 0)])
    with pytest.raises(InputError, match="task t: its trials cannot be aligned"):
        first_divergence(small_study(made))


def test_parity_study(tables):
    """All failures of the executor begin at a call that its fault took away."""
    frame = first_divergence(tables("plumbline_parity"))
    executor = frame[(frame["arm"] == "plan_execute") & (frame["failures"] > 0)]
    assert dict(zip(executor["expected"], executor["failures"], strict=True)) == {
        "match_purchase_order": 6,
        "check_duplicate": 3,
        "check_vendor_status": 3,
    }
    assert set(executor["operation"]) == {"skipped"}
    react = frame[frame["arm"] == "react"].set_index("expected")
    assert list(react.loc["flag_exception", ["failures", "total"]]) == [2, 2]
    # a vendor check that never succeeded led to no wrong outcome
    assert list(react.loc["check_vendor_status", ["failures", "total"]]) == [0, 18]
    # with failed calls on the path: the vendor check asked twice did no harm in 269 trials
    included = first_divergence(tables("plumbline_parity"), failed_calls="include")
    extra = included[included["operation"] == "extra"].iloc[0]
    assert (extra["got"], extra["failures"], extra["total"]) == ("check_vendor_status", 0, 269)
    assert not math.isnan(extra["estimate"])


@pytest.mark.parametrize(
    "question", [consensus, step_rates, similarity, behaviour_shift, first_divergence]
)
def test_trials_of_which_none_ran_are_refused_by_name(tables, question):
    # The 30 trials that the parity study never ran: there is no path to compare.
    choice = {"arm": "react", "task": "INV-7009", "perturbation": "tool_fault"}
    if question is behaviour_shift:
        choice |= {"perturbation": ["decoy_tools", "tool_fault"], "reference": "decoy_tools"}
    with pytest.raises(InputError, match=r"none of the .* trials that pass the filters"):
        question(tables("plumbline_parity"), **choice)
