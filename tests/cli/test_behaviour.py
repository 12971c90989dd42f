"""similarity and first-divergence on the parity study, whose steps are committed."""

from __future__ import annotations

import pytest

STUDY = "plumbline_parity"


def refused(done, *words):
    assert done.code == 2
    assert done.out == ""
    assert len(done.err.splitlines()) == 1
    for word in words:
        assert word in done.err


class TestSimilarity:
    def test_classes_of_pairs(self, cli):
        done = cli("similarity", STUDY)
        assert "768 intended, 738 scored, 30 excluded" in done.out
        assert max(map(len, done.out.splitlines())) <= 100
        rows = cli("similarity", STUDY, "--json").json["rows"]
        assert [row["pairs"] for row in rows[:4]] == [34065, 32874, 1172, 19]
        assert rows[-1]["mean"] is None  # no failure of the one arm meets one of the other

    def test_test_of_outcomes(self, cli):
        done = cli("similarity", STUDY, "--test")
        assert "exact. Adjusted: Holm, family of 3" in done.out
        rows = cli("similarity", STUDY, "--test", "--json").json["rows"]
        assert [row["tasks"] for row in rows] == [4, 4, 4]
        assert rows[0]["seed"] is None

    def test_shift_under_perturbations(self, cli):
        lines = cli("similarity", STUDY, "--shift", "--arm", "react").out.splitlines()
        assert lines[0] != "plan_execute"
        assert any("distractor" in line and "57/58" in line for line in lines)
        assert max(map(len, lines)) <= 100
        rows = cli("similarity", STUDY, "--shift", "--csv").out.splitlines()
        assert len(rows) == 1 + 2 * 5 * 2

    def test_draws_are_named(self, cli, monkeypatch):
        monkeypatch.setattr("steelyard.stats.blocked_permutation.LARGEST_SUPPORT", 0)
        arguments = ("similarity", STUDY, "--test", "--task", "INV-7002", "--seed", "7")
        assert "9,999 draws, seed 7" in cli(*arguments).out

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("plumbline_retry",), "holds no steps"),
            ((STUDY, "--definition", "cosine"), "levenshtein, alignment_score"),
            ((STUDY, "--test", "--shift"), "exclude each other"),
            ((STUDY, "--json", "--csv"), "exclude each other"),
            ((STUDY, "--arm", "reactt"), "'react'"),
            ((STUDY, "--failed-calls", "keep"), "'include'"),
            ((STUDY, "--measure", "outcome"), "'outcome_correct'"),
        ],
    )
    def test_refusals(self, cli, arguments, words):
        refused(cli("similarity", *arguments), words)


class TestFirstDivergence:
    def test_failures_by_step(self, cli):
        done = cli("first-divergence", STUDY)
        assert any(
            line.split()[:4] == ["plan_execute", "1", "skipped", "match_purchase_order"]
            and "6/12" in line
            for line in done.out.splitlines()
        )
        assert "768 intended, 738 scored, 30 excluded" in done.out

    def test_failed_calls_on_the_path(self, cli):
        rows = cli("first-divergence", STUDY, "--failed-calls", "include", "--json").json["rows"]
        assert rows[0]["expected"] == "schedule_payment"
        assert rows[0]["got"] == "flag_exception"
        assert rows[0]["failures"] == 8

    def test_one_group(self, cli):
        done = cli("first-divergence", STUDY, "--by", "none", "--full")
        assert "768 intended" in done.out

    def test_refusals(self, cli):
        refused(cli("first-divergence", STUDY, "--by", "step"), "cannot group by 'step'")
        refused(cli("first-divergence", "plumbline_retry"), "holds no steps")
