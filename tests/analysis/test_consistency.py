"""Consistency of one arm, by our definitions and by the published ones."""

from __future__ import annotations

import itertools
import math

import pytest

from analysis.trajectory_trials import trial
from steelyard.analysis import consistency
from steelyard.analysis.consistency import consistency_of_trials
from steelyard.analysis.divergence import find_group
from steelyard.errors import InputError, UnknownNameError

PAID, HELD = {"paid": True}, {"paid": False}


def numbered(*trials):
    """Give the trials of each condition different repeats."""
    seen, made = {}, []
    for given in trials:
        cell = (given.key.arm, given.key.task, given.key.perturbation, given.key.variant)
        seen[cell] = seen.get(cell, -1) + 1
        key = type(given.key)(*cell, repeat=seen[cell])
        made.append(type(given)(key, given.status, given.steps, given.study, given.state))
    return made


def test_four_questions():
    result = consistency_of_trials(
        numbered(
            trial("check pay", state=PAID, pay={"n": 1}),
            trial("check pay", state=PAID, pay={"n": 1}),
            trial("pay", state=PAID),
            trial("check pay", state=HELD, pay={"n": 2}, perturbation="fault"),
            trial("check pay check", state=PAID, perturbation="fault"),
        )
    )
    assert result.structural.counts == (3, 5)
    assert result.self_consistency.counts == (2, 3)
    assert result.argument.counts == (2, 3)
    assert result.outcome.counts == (4, 5)
    assert result.references == {"T": "tool_call:check -> tool_call:pay"}
    assert list(result.by_perturbation["perturbation"]) == ["baseline", "fault"]
    assert list(result.by_perturbation["successes"]) == [2, 1]
    assert list(result.by_task["total"]) == [5]
    kinds = list(result.divergences["kind"])
    assert kinds == ["skipped", "arg", "extra"]
    assert result.structural.n_clusters == 1
    assert result.structural.clustered_reason == "1 cluster"


class TestDefinitions:
    """One test per difference from the published definition."""

    def both(self, *trials, **options):
        ours = consistency_of_trials(numbered(*trials), **options)
        theirs = consistency_of_trials(numbered(*trials), compatibility="plumbline", **options)
        return ours, theirs

    def test_a_correct_retry_stays_on_the_path(self):
        ours, theirs = self.both(trial("check pay"), trial("check! check pay"))
        assert ours.structural.counts == (2, 2)
        assert theirs.structural.counts == (1, 2)

    def test_ties_go_to_the_smallest_key(self):
        first, second = numbered(trial("check pay"), trial("pay"))
        for order in ((first, second), (second, first)):
            assert (
                consistency_of_trials(order).references["T"] == "tool_call:check -> tool_call:pay"
            )
        published = consistency_of_trials([second, first], compatibility="plumbline")
        assert published.references["T"] == "tool_call:pay"

    def test_a_state_that_was_not_read_is_not_a_failure(self):
        ours, theirs = self.both(trial("pay", state=PAID), trial("pay"))
        assert ours.outcome.counts == (1, 1)
        assert ours.outcome.excluded == 1
        assert theirs.outcome.counts == (1, 2)

    def test_unknown_arguments_are_not_compared(self):
        ours, theirs = self.both(trial("pay"), trial("pay?"))
        assert ours.argument.counts == (1, 1)
        assert ours.argument.excluded == 1
        assert theirs.argument.counts == (2, 2)

    def test_nothing_to_score_has_no_estimate(self):
        ours, theirs = self.both(trial("pay", perturbation="fault"))
        assert math.isnan(ours.self_consistency.estimate)
        assert (ours.self_consistency.low, ours.self_consistency.high) == (0.0, 1.0)
        published = theirs.self_consistency
        assert (published.estimate, published.low, published.high) == (0.0, 0.0, 0.0)


def test_a_task_without_baseline_takes_all_of_its_trials():
    result = consistency_of_trials(
        numbered(
            trial("a", perturbation="fault"),
            trial("b", perturbation="fault"),
            trial("b", perturbation="other", state=PAID),
        )
    )
    assert result.references["T"] == "tool_call:b"
    assert result.self_consistency.total == 0
    assert result.outcome.intended == 0  # no baseline state to be held against


def test_the_first_perturbation_is_the_baseline():
    trials = numbered(trial("a", perturbation="plain"), trial("b", perturbation="fault"))
    result = consistency_of_trials(trials, perturbations=["plain", "fault"])
    assert result.self_consistency.counts == (1, 1)


def test_the_reference_arguments_are_the_most_frequent():
    trials = numbered(
        trial("pay", pay={"n": 1}), trial("pay", pay={"n": 2}), trial("pay", pay={"n": 2})
    )
    result = consistency_of_trials(trials)
    assert result.argument.counts == (2, 3)
    assert list(result.divergences["expected"]) == ["pay.n=2"]
    unknown = consistency_of_trials(numbered(trial("pay?"), trial("pay?")))
    assert (unknown.argument.total, unknown.argument.excluded) == (0, 2)


def test_results_do_not_depend_on_the_order_of_the_trials():
    trials = numbered(
        trial("a b", state=PAID), trial("b a", state=HELD), trial("c", perturbation="fault")
    )
    rows = []
    for order in itertools.permutations(trials):
        result = consistency_of_trials(order, perturbations=["baseline", "fault"])
        rows.append((result.to_row(), result.divergences.drop(columns="trials").to_csv()))
    assert all(str(row) == str(rows[0]) for row in rows)


def test_failed_and_missing_trials():
    trials = numbered(trial("a"), trial("b", status="failed"), trial("", status="missing"))
    result = consistency_of_trials(trials)
    assert (result.intended, result.scored, result.excluded) == (3, 1, 2)
    recorded = consistency_of_trials(trials, missing="recorded")
    assert recorded.structural.counts == (1, 2)
    with pytest.raises(InputError, match="missing policy is 'fail'; accepted for trajectories"):
        consistency_of_trials(trials, missing="fail")


def test_no_trials_give_proportions_of_nothing():
    result = consistency_of_trials([])
    assert result.structural.total == 0
    assert result.divergences.empty
    assert result.by_perturbation.empty
    assert list(result.to_frame()["question"]) == [
        "structural",
        "self_consistency",
        "argument",
        "outcome",
    ]


def test_an_unknown_compatibility_is_refused():
    with pytest.raises(InputError, match="compatibility is 'x'"):
        consistency_of_trials([], compatibility="x")


# --- the committed parity study --------------------------------------------------------------


@pytest.fixture(scope="module")
def published(tables):
    parity = tables("plumbline_parity")
    return {
        arm: consistency(parity, arm, compatibility="plumbline")
        for arm in ("plan_execute", "react")
    }


@pytest.mark.parametrize("arm", ["plan_execute", "react"])
def test_every_published_proportion_comes_out(tables, published, arm):
    parity, result = tables("plumbline_parity"), published[arm]
    questions = {
        "consistency_structural": result.structural,
        "consistency_self": result.self_consistency,
        "consistency_argument": result.argument,
        "consistency_outcome": result.outcome,
    }
    by_perturbation = result.by_perturbation.set_index("perturbation")
    claims = parity.frame("claims")
    claims = claims[(claims["arm"] == arm) & claims["metric"].isin(questions)]
    assert len(claims) == 20
    for claim in claims.itertuples():
        ours = questions[claim.metric]
        if claim.scope in by_perturbation.index:
            ours = by_perturbation.loc[claim.scope]
        assert (ours.successes, ours.total) == (claim.successes, claim.total), claim.claim
        assert ours.estimate == pytest.approx(claim.value, abs=5e-7)
        assert ours.low == pytest.approx(claim.low, abs=5e-7)


@pytest.mark.parametrize(("arm", "groups"), [("plan_execute", 3), ("react", 36)])
def test_every_published_divergence_group_comes_out(tables, published, arm, groups):
    claims = tables("plumbline_parity").frame("claims")
    claims = claims[
        (claims["arm"] == arm) & (claims["statistic"] == "consistency_divergence_count")
    ]
    assert len(claims) == groups == len(published[arm].divergences)
    for claim in claims.itertuples():
        note = dict(part.split("=", 1) for part in claim.note.split("; "))
        found = find_group(
            published[arm].divergences,
            note["kind"],
            int(note["step_index"]),
            note["expected"],
            note["got"],
        )
        assert found is not None, claim.claim
        assert (found["count"], found["severity"]) == (claim.value, note["severity"])


def test_most_published_divergence_was_failed_calls(tables, published):
    """265/354 on the path with failed calls in it, 334/354 by the calls that took effect."""
    assert published["react"].structural.counts == (265, 354)
    ours = consistency(tables("plumbline_parity"), "react")
    assert ours.structural.counts == (334, 354)
    assert ours.argument.counts == (334, 334)


def test_filters_and_unknown_names(tables):
    parity = tables("plumbline_parity")
    result = consistency(parity, "react", task="INV-7002", perturbation=["baseline", "sampling"])
    assert (result.intended, list(result.references)) == (16, ["INV-7002"])
    with pytest.raises(UnknownNameError, match="did you mean 'react'"):
        consistency(parity, "recat")
    with pytest.raises(InputError, match="plumbline_retry holds no steps"):
        consistency(tables("plumbline_retry"), "react")
