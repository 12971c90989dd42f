"""Counts of intended, scored and excluded trials, and the groups they are counted in."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from steelyard.analysis import select
from steelyard.analysis.denominators import COUNTS, STANDINGS, count_trials, counted_groups

TRIAL = st.fixed_dictionaries(
    {
        "arm": st.sampled_from(["a", "b"]),
        "task": st.sampled_from(["t1", "t2", "t3"]),
        "perturbation": st.sampled_from(["baseline", "fault"]),
        "status": st.sampled_from(["completed", "failed", "missing"]),
        "success": st.sampled_from([0, 1, None, float("nan")]),
        "perturbation_applied": st.sampled_from([True, False, None]),
    }
)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(TRIAL, min_size=1, max_size=12),
    st.sampled_from(["exclude", "fail", "bounds", "recorded"]),
    st.sampled_from(["assigned", "applied"]),
    st.sampled_from([(), ("arm",), ("task", "arm")]),
)
def test_counts_always_add_up(small_study, rows, policy, population, by):
    trials = select(small_study(rows), missing=policy, population=population)
    counts = count_trials(trials, by)
    assert list(counts.columns) == [*by, *COUNTS]
    assert counts["intended"].sum() == len(rows)
    assert (counts["intended"] == counts[["scored", "imputed", "excluded"]].sum(axis=1)).all()
    unscored = counts[list(STANDINGS[1:])].sum(axis=1)
    assert (counts["intended"] == counts["scored"] + unscored).all()
    groups = list(counted_groups(trials, by))
    assert [group.key for group in groups] == list(
        counts[list(by)].itertuples(index=False, name=None)
    )
    totals = [len(group.outcomes) for group in groups]
    assert totals == list(counts["scored"] + counts["imputed"])
    if policy in ("fail", "bounds") and population == "assigned":
        assert counts["excluded"].sum() == 0
    if policy in ("exclude", "recorded"):
        assert counts["imputed"].sum() == 0


def test_a_group_without_a_counted_trial_is_still_a_group(small_study):
    tables = small_study(
        [{"task": "t1", "status": "failed"}, {"task": "t2", "success": 1}, {"task": "t2"}]
    )
    groups = list(counted_groups(select(tables, "success"), ("task",)))
    assert [(g.key, list(g.outcomes), g.n_tasks) for g in groups] == [
        (("t1",), [], 1),
        (("t2",), [1.0], 1),
    ]


def test_no_trials_no_groups(small_study):
    tables = small_study([{"arm": "a", "task": "x", "s": 1}, {"arm": "b", "task": "y", "s": 1}])
    nothing = select(tables, arm="a", task="y", empty="return")
    assert list(counted_groups(nothing, ("arm",))) == []


@pytest.mark.parametrize("by", [("arm",), ()])
def test_groups_keep_their_order(small_study, by):
    rows = [{"arm": arm, "success": 1} for arm in ("z", "a")]
    trials = select(small_study(rows, design={"arms": ["z", "a"]}))
    keys = [group.key for group in counted_groups(trials, by)]
    assert keys == ([("z",), ("a",)] if by else [()])
