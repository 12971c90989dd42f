"""Equivalence of a replacement against an incumbent."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest

from analysis.trajectory_trials import trial
from steelyard.analysis import equivalence
from steelyard.analysis.divergence import by_perturbation, find_group
from steelyard.analysis.equivalence import equivalence_of_trials
from steelyard.analysis.equivalence_verdicts import bounded_verdict, published_verdict
from steelyard.analysis.proportion import proportions_by
from steelyard.errors import InputError, UnknownNameError

PAID, HELD = {"paid": True}, {"paid": False}


def old(path, **options):
    return trial(path, arm="old", **options)


def new(path, **options):
    return trial(path, arm="new", **options)


def compared(*trials, **options):
    return equivalence_of_trials(trials, "old", "new", **options)


def test_three_questions_per_pair():
    result = compared(
        old("check pay", state=PAID, pay={"n": 1}),
        new("check pay", state=PAID, pay={"n": 1}),
        old("check pay", state=PAID, pay={"n": 1}, variant="1"),
        new("check pay", state=HELD, pay={"n": 2}, variant="1"),
        old("check pay", state=PAID, perturbation="fault"),
        new("pay", state=PAID, perturbation="fault"),
        new("pay", state=PAID, perturbation="other"),
    )
    assert (result.pairs, result.unpaired) == (3, 1)
    assert result.outcome.counts == (2, 3)
    assert result.path.counts == (2, 3)
    assert result.argument.counts == (1, 2)
    assert list(result.divergences["kind"]) == ["outcome", "skipped", "arg"]
    assert list(result.by_perturbation["perturbation"]) == ["baseline", "fault"]
    assert list(result.path_by_perturbation["successes"]) == [2, 0]
    assert result.worst_perturbation == "baseline"
    row = result.divergences.iloc[0]
    assert (row["expected"], row["got"]) == ('{"paid": true}', '{"paid": false}')
    assert (row["severity"], row["step_index"]) == ("critical", -1)


def test_decisions_are_no_effects():
    result = compared(old("@plan check"), new("check @say"))
    assert result.path.counts == (1, 1)


class TestDefinitions:
    """One test per difference from the published definition."""

    def both(self, *trials):
        return compared(*trials), compared(*trials, compatibility="plumbline")

    def test_a_correct_retry_stays_on_the_path(self):
        ours, theirs = self.both(old("check"), new("check! check"))
        assert ours.path.counts == (1, 1)
        assert theirs.path.counts == (0, 1)

    def test_a_state_that_was_not_read_is_not_scored(self):
        ours, theirs = self.both(old("a", state=PAID), new("a"))
        assert (ours.outcome.counts, ours.outcome.excluded) == ((0, 0), 1)
        assert ours.divergences.empty
        assert theirs.outcome.counts == (0, 1)
        assert list(theirs.divergences["got"]) == ["None"]
        ours, theirs = self.both(old("a"), new("a", state=PAID))
        assert ours.outcome.total == 0
        assert theirs.outcome.counts == (0, 1)
        assert theirs.divergences.empty  # nothing was expected

    def test_one_trial_says_nothing_about_repeats(self):
        ours, theirs = self.both(old("a"), new("a"))
        assert ours.incumbent_self_consistency.total == 0
        assert ours.incumbent_self_consistency.excluded == 1
        assert theirs.incumbent_self_consistency.counts == (1, 1)

    def test_ties_go_to_the_smallest_key(self):
        one, two = old("a", state=PAID), old("b", repeat=1, state=HELD)
        candidate = new("a", state=PAID)
        for order in ((one, two), (two, one)):
            assert compared(*order, candidate).outcome.counts == (1, 1)
        published = compared(two, one, candidate, compatibility="plumbline")
        assert published.outcome.counts == (0, 1)

    def test_an_arm_against_itself(self):
        trials = [old("a"), old("a", repeat=1)]
        with pytest.raises(InputError, match="both 'old'"):
            equivalence_of_trials(trials, "old", "old")
        result = equivalence_of_trials(trials, "old", "old", compatibility="plumbline")
        assert result.path.counts == (2, 2)


def test_the_reference_is_on_the_most_frequent_path():
    trials = [old("b"), old("a", repeat=1), old("a", repeat=2), new("a")]
    result = compared(*trials)
    assert result.path.counts == (1, 1)
    assert result.incumbent_self_consistency.counts == (2, 3)


def test_results_do_not_depend_on_the_order_of_the_trials():
    trials = [old("a", state=PAID), old("b", repeat=1, state=HELD), new("a c"), new("b", repeat=1)]
    rows = {
        str(compared(*order, perturbations=["baseline"]).to_row())
        for order in itertools.permutations(trials)
    }
    assert len(rows) == 1


def test_failed_trials_are_left_out():
    result = compared(old("a"), new("a", status="failed"), new("b", repeat=1))
    assert (result.intended, result.excluded, result.pairs) == (2, 1, 1)
    assert compared(old("a"), new("a", status="failed"), missing="recorded").pairs == 1


def test_nothing_to_pair():
    result = compared(old("a"), new("a", task="other"))
    assert (result.pairs, result.unpaired) == (0, 1)
    assert (result.bound, result.worst_perturbation) == (0.0, None)
    assert result.verdict == "inconclusive"
    assert result.plumbline_verdict == "insufficient_evidence"


def test_what_is_refused():
    with pytest.raises(UnknownNameError, match=r"unknown arm 'nwe'.* did you mean 'new'"):
        equivalence_of_trials([old("a"), new("a")], "old", "nwe")
    with pytest.raises(InputError, match=r"2 studies \(new/T/baseline/0/0 of s2"):
        compared(old("a", study="s3"), new("a", study="s2"))
    with pytest.raises(InputError, match="old/T/baseline/0/0 was given twice"):
        compared(old("a"), old("b"), new("a"))
    with pytest.raises(InputError, match=r"target is 1\.5"):
        compared(old("a"), new("a"), target=1.5)


class TestVerdicts:
    def table(self, *counts) -> pd.DataFrame:
        outcomes = [
            (f"p{group}", (trial_number < successes, "t"))
            for group, (successes, total) in enumerate(counts)
            for trial_number in range(total)
        ]
        return proportions_by("perturbation", outcomes)

    @pytest.mark.parametrize(
        ("counts", "verdict"),
        [
            ([(73, 73)], "equivalent"),  # Wilson lower limit 0.95001
            ([(72, 72)], "inconclusive"),
            ([(73, 73), (72, 72)], "inconclusive"),
            ([(10, 40)], "different"),
            ([(73, 73), (10, 40)], "different"),
            ([], "inconclusive"),
        ],
    )
    def test_bounded(self, counts, verdict):
        assert bounded_verdict(self.table(*counts), 0.95, 0.95) == verdict

    def test_a_group_without_pairs_keeps_the_others_from_being_enough(self):
        table = proportions_by("p", [("a", (True, "t"))] * 73 + [("b", (None, "t"))])
        assert bounded_verdict(table, 0.95, 0.95) == "inconclusive"

    def test_many_groups_need_stronger_evidence_of_a_difference(self):
        # 36 of 40: the upper limit is 0.9604 at 95 %; 33 of 40 has 0.9126 alone, but among
        # 2,000 groups the adjusted limit is wider
        one = [(33, 40)]
        assert bounded_verdict(self.table(*one), 0.95, 0.95) == "different"
        assert bounded_verdict(self.table(*one, *[(1, 1)] * 2000), 0.95, 0.95) == "inconclusive"

    @pytest.mark.parametrize(
        ("bound", "divergences", "verdict"),
        [
            (0.95, 5, "equivalent"),
            (0.9499, 0, "insufficient_evidence"),
            (0.85, 1, "near_equivalent"),
            (0.60, 1, "diverges"),
            (0.5999, 1, "materially_different"),
        ],
    )
    def test_published(self, bound, divergences, verdict):
        assert published_verdict(bound, divergences) == verdict

    def test_a_dropped_control_is_seen_in_the_path_verdict(self):
        trials = []
        for repeat in range(73):
            trials += [
                old("check pay", repeat=repeat, state=PAID),
                new("pay", repeat=repeat, state=PAID),
            ]
        result = compared(*trials)
        assert (result.verdict, result.path_verdict) == ("equivalent", "different")
        assert result.plumbline_verdict == "equivalent"


# --- the committed parity study --------------------------------------------------------------


@pytest.fixture(scope="module")
def published(tables):
    return equivalence(
        tables("plumbline_parity"), "plan_execute", "react", compatibility="plumbline"
    )


def test_the_published_figures_come_out(published):
    assert published.outcome.counts == (336, 354)
    assert published.path.counts == (76, 354)
    assert published.argument.counts == (65, 76)
    assert published.incumbent_self_consistency.counts == (372, 384)
    assert round(published.plumbline_bound, 4) == 0.5666
    assert published.plumbline_worst == "tool_fault"
    assert (published.pairs, published.unpaired) == (354, 0)
    assert published.plumbline_verdict == "materially_different"
    assert len(published.divergences) == 13


def test_every_published_claim_about_equivalence_comes_out(tables, published):
    claims = tables("plumbline_parity").frame("claims")
    claims = claims[claims["claim"].str.startswith("par.parity.outcome")]
    groups = {
        "overall": published.outcome,
        **{r.perturbation: r for r in published.by_perturbation.itertuples()},
        **{f"task:{r.task}": r for r in published.by_task.itertuples()},
    }
    assert len(claims) == len(groups) == 15
    for claim in claims.itertuples():
        ours = groups[claim.scope]
        assert (ours.successes, ours.total) == (claim.successes, claim.total), claim.claim
        assert ours.low == pytest.approx(claim.low, abs=5e-7)
        assert ours.high == pytest.approx(claim.high, abs=5e-7)


def test_every_published_divergence_group_comes_out(tables, published):
    claims = tables("plumbline_parity").frame("claims")
    claims = claims[claims["statistic"] == "parity_divergence_count"]
    assert len(claims) == 40
    for claim in claims.itertuples():
        note = dict(part.split("=", 1) for part in claim.note.split("; "))
        found = find_group(
            published.divergences,
            note["kind"],
            int(note["step_index"]),
            note["expected"],
            note["got"],
        )
        assert found is not None, claim.claim
        assert found["severity"] == note["severity"]
        counts = {"overall": found["count"], **found["perturbations"]}
        assert counts[claim.scope] == claim.value, claim.claim


def test_every_published_divergence_is_in_the_same_trials(tables, published):
    recorded = tables("plumbline_parity").frame("divergences")
    keys = ["kind", "step_index", "expected", "got"]
    for key, rows in recorded.groupby(keys, sort=True):
        found = find_group(published.divergences, key[0], int(key[1]), key[2], key[3])
        assert sorted(found["trials"]) == sorted(rows["trial_id"].unique())
    assert by_perturbation(published.divergences)["count"].sum() == len(recorded) == 324


def test_most_published_divergence_was_failed_calls(tables):
    """76/354 on the path with failed calls in it, 285/354 by the calls that took effect."""
    ours = equivalence(tables("plumbline_parity"), "plan_execute", "react")
    assert ours.path.counts == (285, 354)
    assert ours.argument.counts == (285, 285)
    assert ours.outcome.counts == (336, 354)
    assert (ours.bound, ours.plumbline_bound) == (ours.plumbline_bound, ours.bound)
    assert (ours.verdict, ours.path_verdict) == ("different", "different")
    assert ours.excluded == 30


def test_filters_and_unknown_names(tables):
    parity = tables("plumbline_parity")
    result = equivalence(parity, "plan_execute", "react", perturbation="baseline")
    assert list(result.by_perturbation["perturbation"]) == ["baseline"]
    with pytest.raises(UnknownNameError, match="unknown arm 'guarded'"):
        equivalence(parity, "plan_execute", "guarded")
    assert list(result.to_frame()["question"]) == [
        "outcome",
        "path",
        "argument",
        "incumbent_self_consistency",
    ]


def test_plumbline_pairs_by_variant_id_whatever_the_perturbation():
    pair = (
        old("pay", perturbation="baseline", variant="baseline/0", state=PAID),
        new("pay", perturbation="tool_fault", variant="baseline/0", state=PAID),
    )
    published = compared(*pair, compatibility="plumbline")
    assert (published.pairs, published.unpaired) == (1, 0)
    assert list(published.by_perturbation["perturbation"]) == ["tool_fault"]
    assert compared(*pair).unpaired == 1


def test_plumbline_takes_the_first_perturbation_with_a_pair_between_equals():
    trials = (
        old("pay", state=PAID),
        old("pay", perturbation="fault", state=PAID),
        new("pay", perturbation="fault", variant="9", state=PAID),
        new("pay", state=PAID),
        new("pay", perturbation="fault", state=PAID),
    )
    found = compared(*trials, compatibility="plumbline")
    assert (found.unpaired, found.plumbline_worst) == (1, "baseline")
