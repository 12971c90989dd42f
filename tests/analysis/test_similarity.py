"""Similarity within tasks: summaries by hand, tests with known answers, two kinds of null."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from steelyard.analysis import behaviour_shift, similarity, similarity_test
from steelyard.analysis.pair_similarity import task_similarities
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import clustered_mean_interval


def trials(outcomes: dict[str, int] | list[tuple[str, int]], **columns) -> list[dict]:
    """Trials from (path, success)."""
    return [
        {"steps": [{"name": name} for name in path.split()], "success": success, **columns}
        for path, success in outcomes
    ]


def shuffled(made: list[dict]) -> list[dict]:
    return [made[i] for i in np.random.default_rng(5).permutation(len(made))]


def row_of(frame: pd.DataFrame, **wanted) -> pd.Series:
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


TWO_TASKS = trials([("a b", 1), ("a b", 1), ("a c", 0)], task="t") + trials(
    [("x", 1), ("x y", 1), ("", 0), ("", 0)], task="u"
)


class TestSummary:
    def test_classes(self, small_study):
        frame = similarity(small_study(TWO_TASKS))
        found = frame.set_index("outcomes")
        assert list(found.index) == ["all", "success-success", "success-failure", "failure-failure"]
        assert set(frame["arms"]) == {"all"}
        assert list(found["pairs"]) == [9, 2, 6, 1]
        assert list(found["tasks"]) == [2, 2, 2, 1]
        assert list(found["both_empty"]) == [1, 0, 0, 1]
        # success-success: 1 and 1/2; success-failure: 1/2 twice, 0 four times
        assert found.loc["success-success", "mean"] == 0.75
        assert found.loc["success-failure", "mean"] == pytest.approx(1 / 6)
        assert found.loc["success-failure", "task_mean"] == 0.25  # tasks 1/2 and 0
        assert found.loc["failure-failure", "mean"] == 1.0
        assert list(found.loc["success-failure", ["minimum", "median", "maximum"]]) == [0, 0, 0.5]
        assert set(found["intended"]) == {7}

    def test_interval_has_the_task_as_cluster(self, small_study):
        row = row_of(similarity(small_study(TWO_TASKS), confidence=0.5), outcomes="success-failure")
        values, tasks = [0.5] * 2 + [0.0] * 4, ["t"] * 2 + ["u"] * 4
        expected = clustered_mean_interval(values, tasks, 0.5)
        assert row["low"] == max(expected.low, 0.0)
        assert row["high"] == expected.high
        assert row["level"] == 0.5
        one = row_of(similarity(small_study(TWO_TASKS)), outcomes="failure-failure")
        assert math.isnan(one["low"])
        assert one["reason"] == "1 cluster"

    def test_limits_stay_in_the_range(self, small_study):
        for definition, least in (("levenshtein", 0.0), ("alignment_score", -1.0)):
            frame = similarity(small_study(TWO_TASKS), definition=definition, confidence=0.999)
            for limit in ("low", "high", "task_low", "task_high"):
                assert frame[limit].dropna().between(least, 1.0).all()
            assert frame["high"].max() == 1.0

    def test_alignment_score(self, small_study):
        made = trials([("a b c d", 1), ("a b c d", 1), ("a b x d", 1), ("a b d", 1), ("", 1)])
        tables = small_study(made)
        frame = similarity(tables, definition="alignment_score")
        # of 8 points: 8; 6 - 1; 6 - 2 (twice each); 4 - 1 - 2 between the third and the fourth
        pairs = [8 / 8, 5 / 8, 5 / 8, 4 / 8, 4 / 8, (2 + 2 - 2 + 2) / 8, -1, -1, -1, -1]
        assert frame["mean"].iloc[0] == pytest.approx(sum(pairs) / 10)
        assert frame["minimum"].iloc[0] == -1.0

    def test_arms(self, small_study):
        made = trials([("a", 1), ("a", 1)]) + trials([("b", 1), ("b", 1)], arm="b")
        frame = similarity(small_study(made))
        means = frame[frame["outcomes"] == "all"].set_index("arms")["mean"].to_dict()
        assert means == {"all": pytest.approx(1 / 3), "same arm": 1.0, "across arms": 0.0}
        assert frame[frame["outcomes"] == "failure-failure"]["pairs"].eq(0).all()
        assert frame[frame["outcomes"] == "failure-failure"]["mean"].isna().all()
        # one arm left: nothing lies across
        assert set(similarity(small_study(made), arm="a")["arms"]) == {"all"}

    def test_one_trial_and_a_trial_without_an_outcome(self, small_study):
        tables = small_study([*trials([("a", 1)]), *trials([("b", 1)], task="u", status="missing")])
        frame = similarity(tables)
        assert frame["pairs"].eq(0).all()
        assert (frame["intended"].iloc[0], frame["excluded"].iloc[0]) == (2, 1)

    @pytest.mark.parametrize("analysis", [similarity, similarity_test])
    def test_order_of_rows_plays_no_part(self, small_study, analysis):
        made = [{**trial, "repeat": i} for i, trial in enumerate(TWO_TASKS)]
        first = analysis(small_study(made))
        pd.testing.assert_frame_equal(first, analysis(small_study(shuffled(made))))

    def test_too_many_trials_of_a_task(self, monkeypatch):
        monkeypatch.setattr("steelyard.analysis.pair_similarity.LARGEST_TASK", 2)
        frame = pd.DataFrame({"task": ["t"] * 3, "path": [0] * 3})
        with pytest.raises(InputError, match="task t has 3 trials"):
            task_similarities(frame, ((),), "levenshtein")


class TestOutcomes:
    def test_successes_alike_and_failures_not(self, small_study):
        paths = [("a b", 1), ("a b", 1), ("x", 0), ("y z", 0)]
        made = [trial for task in "tuvw" for trial in trials(paths, task=task)]
        frame = similarity_test(small_study(made))
        row = row_of(frame, contrast="success-success minus success-failure")
        assert (row["difference"], row["tasks"], row["trials"]) == (1.0, 4, 16)
        assert row["exact"]
        # one of the six labellings of each task, and none of the others comes near
        assert row["p_value"] == pytest.approx(1 / 6**4)
        other = row_of(frame, contrast="failure-failure minus success-failure")
        assert (other["difference"], other["p_value"]) == (0.0, 1.0)
        assert row["family_size"] == 3
        assert row["p_adjusted"] == pytest.approx(3 / 6**4)
        assert pd.isna(row["seed"])

    def test_task_that_is_always_solved_plays_no_part(self, small_study):
        made = trials([("a", 1), ("a", 1), ("b", 0)], task="t")
        more = made + trials([("a", 1), ("b", 1), ("c", 1)], task="u")
        frames = [similarity_test(small_study(m)) for m in (made, more)]
        assert frames[0]["difference"].equals(frames[1]["difference"])
        assert frames[0]["p_value"].equals(frames[1]["p_value"])
        assert list(frames[1]["tasks"]) == [1, 0, 0]
        undefined = frames[1].iloc[1]
        assert math.isnan(undefined["p_value"])
        assert undefined["reason"]
        assert frames[1]["family_size"].iloc[0] == 1

    def test_within_arms_a_difference_of_arms_is_none_of_outcomes(self, small_study):
        made = []
        for task in "tu":
            made += trials([("a b", 1), ("a b", 1), ("a b", 0)], task=task)
            made += trials([("x y", 0), ("x y", 0), ("x y", 1)], task=task, arm="b")
        tables = small_study(made)
        across = similarity_test(tables).iloc[0]
        inside = similarity_test(tables, within=("task", "arm")).iloc[0]
        assert across["difference"] != 0
        assert (inside["difference"], inside["p_value"]) == (0.0, 1.0)
        assert inside["within"] == "task, arm"

    def test_seeded_where_not_exact(self, small_study, monkeypatch):
        monkeypatch.setattr("steelyard.stats.blocked_permutation.LARGEST_SUPPORT", 1)
        tables = small_study(TWO_TASKS)
        one, two = (similarity_test(tables, seed=3, n_resamples=500) for _ in range(2))
        pd.testing.assert_frame_equal(one, two)
        assert set(one["seed"].dropna()) == {3}
        assert set(one["n_resamples"].dropna()) == {500}


class TestShift:
    @staticmethod
    def conditions(at_fault: list[tuple[str, int]]) -> list[dict]:
        made = []
        for task in "tuv":
            made += trials([("a b", 1)] * 3, task=task)
            made += trials(at_fault, task=task, perturbation="fault")
        return made

    def test_behaviour_moves_where_outcomes_do_not(self, small_study):
        frame = behaviour_shift(small_study(self.conditions([("a c", 1)] * 3)))
        for population in ("all trials", "equal outcomes"):
            row = row_of(frame, population=population)
            assert row["difference"] == 0.5
            assert row["exact"]
            assert row["p_value"] == pytest.approx(2**3 / math.comb(6, 3) ** 3)
            assert (row["successes"], row["total"]) == (9, 9)
            assert (row["reference_successes"], row["reference_total"]) == (9, 9)
            assert (row["tasks"], row["trials"]) == (3, 18)
        assert list(frame["reference"]) == ["baseline", "baseline"]

    def test_behaviour_that_moves_with_the_outcome_alone(self, small_study):
        frame = behaviour_shift(small_study(self.conditions([("x", 0), ("x", 0), ("a b", 1)])))
        assert row_of(frame, population="all trials")["difference"] > 0
        equal = row_of(frame, population="equal outcomes")
        assert (equal["difference"], equal["p_value"]) == (0.0, 1.0)

    def test_nothing_moves(self, small_study):
        frame = behaviour_shift(small_study(self.conditions([("a b", 1)] * 3)))
        assert list(frame["difference"]) == [0.0, 0.0]
        assert list(frame["p_value"]) == [1.0, 1.0]

    def test_holm_over_the_perturbations_of_an_arm(self, small_study):
        made = self.conditions([("a c", 1)] * 3)
        made += [{**trial, "perturbation": "noise"} for trial in trials([("a b", 1)] * 3)]
        made += trials([("a", 1)] * 2, arm="b")
        frame = behaviour_shift(small_study(made))
        first = row_of(frame, arm="a", perturbation="fault", population="all trials")
        assert first["family_size"] == 2
        assert first["p_adjusted"] == pytest.approx(2 * first["p_value"])
        # arm b has no trial under a perturbation: no test, and none in the family
        lone = row_of(frame, arm="b", perturbation="fault", population="all trials")
        assert math.isnan(lone["p_value"])
        assert lone["family_size"] == 0
        assert lone["reason"]

    def test_perturbation_filter_keeps_the_reference(self, small_study):
        made = self.conditions([("a c", 1)] * 3)
        made += [{**trial, "perturbation": "noise"} for trial in trials([("a b", 1)] * 3)]
        tables = small_study(made)
        frame = behaviour_shift(tables, perturbation="fault")
        assert set(frame["perturbation"]) == {"fault"}
        other = behaviour_shift(tables, "noise", perturbation=["fault"])
        assert set(other["reference"]) == {"noise"}

    def test_refusals(self, small_study):
        tables = small_study(trials([("a", 1), ("b", 0)]))
        with pytest.raises(InputError, match="no perturbation to compare"):
            behaviour_shift(tables)
        with pytest.raises(UnknownNameError, match="storm"):
            behaviour_shift(tables, "storm")


@pytest.mark.parametrize("analysis", [similarity, similarity_test, behaviour_shift])
@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"measure": "grade"}, UnknownNameError, "grade"),
        ({"definition": "cosine"}, InputError, "definition is 'cosine'"),
        ({"confidence": 0}, InputError, "confidence"),
        ({"missing": "bounds"}, InputError, "missing policy"),
        ({"task": "x"}, UnknownNameError, "x"),
    ],
)
def test_refusals(small_study, analysis, options, kind, words):
    made = trials([("a", 1), ("b", 0)]) + trials([("a", 1)], perturbation="fault")
    with pytest.raises(kind, match=words):
        analysis(small_study(made), **options)


def test_graded_measure_is_no_outcome(small_study):
    with pytest.raises(InputError, match=r"0\.5"):
        similarity(small_study(trials([("a", 1), ("b", 0.5)])))


class TestParityStudy:
    def test_executor_moves_under_the_fault_alone(self, tables):
        frame = behaviour_shift(tables("plumbline_parity"))
        whole = frame[frame["population"] == "all trials"]
        small = whole[whole["p_adjusted"] < 0.05]
        assert list(zip(small["arm"], small["perturbation"], strict=True)) == [
            ("plan_execute", "tool_fault")
        ]
        assert whole["exact"].all()
        assert small["p_value"].iloc[0] == pytest.approx(1.4565e-7, rel=1e-4)

    def test_successes_resemble_each_other(self, tables):
        frame = similarity_test(tables("plumbline_parity"), within=("task", "arm"))
        row = row_of(frame, contrast="success-success minus success-failure")
        assert row["difference"] == pytest.approx(0.33331, abs=1e-5)
        assert row["p_adjusted"] < 1e-6
        assert row["tasks"] == 4
