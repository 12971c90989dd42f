"""Steps after the last call that changes the outcome."""

from __future__ import annotations

import math

import pytest

from steelyard.analysis.last_effect import last_effect
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats.ratios import cluster_ratio_interval

EFFECTS = ["pay", "hold"]


def step(word):
    kind = "decision" if word.startswith("@") else "tool_call"
    return {"kind": kind, "name": word.strip("@!"), "error": "503" if "!" in word else None}


@pytest.fixture
def study(small_study):
    """Build a study from (arm, task, path, outcome); ``!`` marks a call that failed."""

    def build(*trials):
        return small_study(
            {"arm": arm, "task": task, "outcome": outcome, "steps": [*map(step, path.split())]}
            for arm, task, path, outcome in trials
        )

    return build


def test_counts_steps_after_the_last_successful_effect(study):
    tables = study(
        ("a", "t1", "@read check pay log log", 1),
        ("a", "t1", "hold check pay", 1),
        ("a", "t2", "check pay! pay log", 0),
        ("a", "t2", "check pay!", 0),
        ("b", "t1", "pay log", 1),
    )
    table = last_effect(tables, EFFECTS).set_index("arm")
    a = table.loc["a"]
    assert (a["trials"], a["without_effect"], a["right"]) == (4, 1, 2)
    assert (a["steps"], a["steps_after_last"]) == (5 + 3 + 4, 2 + 0 + 1)
    wanted = cluster_ratio_interval([2, 1], [8, 4])
    assert a["share_after_last"] == wanted.estimate == 0.25
    assert a["share_reason"] == wanted.reason != ""
    assert (a["stopped_early"], a["early_total"], a["n_clusters"]) == (1, 3, 2)
    assert table.loc["b", "share_after_last"] == 0.5


def test_an_arm_without_effects_has_no_share(study):
    tables = study(("a", "t1", "check pay!", 0), ("b", "t1", "pay", 1))
    row = last_effect(tables, ["pay"]).set_index("arm").loc["a"]
    assert (row["without_effect"], row["steps"], row["early_total"]) == (1, 0, 0)
    assert math.isnan(row["share_after_last"])
    assert row["share_reason"] == "no trial with an effect"


def test_one_row_for_all(study):
    tables = study(("a", "t1", "pay log", 1), ("b", "t2", "pay log log", 1))
    row = last_effect(tables, ["pay"], by=()).iloc[0]
    assert (row["steps"], row["steps_after_last"], row["trials"]) == (5, 3, 2)


def test_refused(study):
    tables = study(("a", "t1", "@read pay", 1))
    with pytest.raises(InputError, match="accepted: a list of at least one tool"):
        last_effect(tables, [])
    with pytest.raises(InputError, match="accepted: a list"):
        last_effect(tables, "pay")
    with pytest.raises(UnknownNameError, match="unknown effect 'pya'"):
        last_effect(tables, ["pya"])
    with pytest.raises(UnknownNameError, match="unknown effect 'read'"):
        last_effect(tables, ["read"])  # a decision is no call


def test_the_parity_study_has_one_step_left_after_the_outcome_is_settled(tables):
    effects = ["schedule_payment", "request_approval", "flag_exception"]
    table = last_effect(tables("plumbline_parity"), effects).set_index("arm")
    assert table["steps_after_last"].to_dict() == {"plan_execute": 384, "react": 352}
    assert table["without_effect"].to_dict() == {"plan_execute": 0, "react": 2}
