"""Summaries, sweep, weights, calibration and comparison of stop policies."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from analysis.stopping_trials import GREEN, RED, stopping_study, truths, wandering
from steelyard.analysis.stopping import (
    calibrated_threshold,
    compare_policies,
    stop_points,
    stopping_summary,
    stopping_sweep,
    weight_sensitivity,
)
from steelyard.errors import InputError
from steelyard.stats import (
    clustered_mean_interval,
    clustered_wilson_interval,
    holm,
    mcnemar,
    sign_flip,
)
from steelyard.stats.ratios import cluster_ratio_difference, cluster_ratio_interval

DEFAULT = {"rule": "bound", "threshold": 0.6}
GREEN_RULE = {"rule": "green"}
FEW = {"n_resamples": 400, "seed": 5}


@pytest.fixture
def study(small_study):
    return stopping_study(small_study, wandering(11))


@pytest.fixture
def few(small_study):
    """A study that is only there to be refused."""
    trials = [{"task": "t", "outcome": 1, "states": truths(0, 1)}]
    return stopping_study(small_study, trials)


@pytest.fixture
def points(study):
    return stop_points(study, DEFAULT)


class TestSummary:
    def test_is_the_sum_of_the_stop_points(self, study, points):
        table = stopping_summary(study, DEFAULT, by=(), **FEW).set_index(["quantity", "kind"])
        solvable = points[points["verdict"].isin(
            ["correct_stop", "false_stop", "overrun_stop", "missed_stop"]
        )]  # fmt: skip
        false = table.loc[("false_stop", "rate")]
        wanted = clustered_wilson_interval(
            solvable["verdict"].eq("false_stop").astype(int), solvable["task"]
        )
        assert false["n"] == false["total"] == len(solvable)
        assert false["excluded"] == len(points) - len(solvable)
        assert (false["estimate"], false["low"], false["high"]) == (
            wanted.estimate,
            wanted.low,
            wanted.high,
        )
        total = table.loc[("steps_avoided", "total")]
        mean = clustered_mean_interval(points["steps_avoided"], points["task"])
        assert total["estimate"] == points["steps_avoided"].sum()
        assert total["high"] == len(points) * mean.high
        accepted = points[points["accepted"]]
        among = table.loc[("steps_avoided", "mean_if_accepted")]
        assert among["estimate"] == pytest.approx(accepted["steps_avoided"].mean())
        assert among["n"] == len(accepted)
        sums = points.groupby("task")[["steps_avoided", "steps_spent"]].sum()
        share = cluster_ratio_interval(sums["steps_avoided"], sums["steps_spent"], **FEW)
        row = table.loc[("steps_avoided", "share")]
        assert (row["estimate"], row["low"], row["high"]) == (
            share.estimate,
            share.low,
            share.high,
        )

    def test_the_three_ends_of_a_solvable_trial_add_up(self, study):
        table = stopping_summary(study, [DEFAULT, GREEN_RULE, {"rule": "oracle"}], by=(), **FEW)
        rates = table[table["kind"].eq("rate")].pivot_table(
            index="policy", columns="quantity", values="estimate"
        )
        ends = rates[["correct_stop", "false_stop", "missed_stop"]].sum(axis=1)
        assert ends.to_numpy() == pytest.approx(1)
        assert rates.loc["oracle", "correct_stop"] == 1

    def test_limits_of_what_cannot_be_negative_are_not_negative(self, small_study):
        trials = [
            {"task": "x", "outcome": 1, "states": [GREEN] * 3},
            {"task": "y", "outcome": 1, "states": [RED, RED, GREEN]},
        ]
        table = stopping_summary(stopping_study(small_study, trials), GREEN_RULE, by=(), **FEW)
        steps = table[table["quantity"].eq("steps_avoided")].set_index("kind")
        for kind, most in (("total", 4.0), ("mean", 2.0), ("mean_if_accepted", 2.0)):
            low, estimate, high = steps.loc[kind, ["low", "estimate", "high"]]
            assert (low, estimate) == (0.0, most / 2)
            assert high > most  # far: two tasks, t on one degree of freedom

    def test_unknown_counters_are_left_out_and_counted(self, small_study):
        trials = [
            {"task": "x", "outcome": 1, "states": truths(1, 1)},
            {"task": "y", "outcome": 1, "states": [GREEN | {"satisfied": True}] * 2},
        ]
        table = stopping_summary(stopping_study(small_study, trials), GREEN_RULE, by=(), **FEW)
        row = table[table["quantity"].eq("tool_calls_avoided")].iloc[0]
        assert (row["n"], row["excluded"], row["estimate"]) == (1, 1, 2)

    def test_groups_in_the_order_of_the_design(self, small_study):
        trials = wandering(2)
        for arm in ("b", "a"):
            trials += [trial | {"arm": arm} for trial in wandering(3, tasks=2)]
        tables = stopping_study(small_study, trials[24:], design={"arms": ["b", "a"]})
        table = stopping_summary(tables, DEFAULT, by="arm", **FEW)
        assert list(dict.fromkeys(table["arm"])) == ["b", "a"]
        assert table.groupby("arm")["n"].max().tolist() == [8, 8]

    def test_policies_need_names_of_their_own(self, few):
        with pytest.raises(InputError, match="each with its own name"):
            stopping_summary(few, [DEFAULT, DEFAULT])
        with pytest.raises(InputError, match="at least one"):
            stopping_summary(few, [])
        with pytest.raises(InputError, match="a policy or a list"):
            stopping_summary(few, "bound")


class TestSweep:
    def test_a_higher_threshold_never_saves_more(self, study):
        table = stopping_sweep(study, DEFAULT, **FEW)
        swept = table[table["setting"].eq("threshold")]
        assert len(swept) == 21
        for column in ("accepted_rate", "steps_share", "tokens_share"):
            assert (np.diff(swept[column]) <= 0).all()
        assert swept["threshold"].is_monotonic_increasing

    def test_the_references_bracket_it(self, study):
        table = stopping_sweep(study, DEFAULT, **FEW).set_index("policy")
        oracle, never = table.loc["oracle"], table.loc["never"]
        assert (oracle["false_stop_rate"], oracle["missed_stop_rate"]) == (0, 0)
        assert (never["steps_share"], never["accepted_rate"]) == (0, 0)
        assert never["success_rate"] <= oracle["success_rate"]
        blank = ["false_stop_low", "missed_stop_high", "false_stop_band_high"]
        assert table.loc[["oracle", "never"], blank].isna().all(axis=None)
        assert math.isnan(never["steps_low"])
        assert 0 < oracle["steps_low"] < oracle["steps_share"] < oracle["steps_high"]
        harmless = table["false_stop_rate"].eq(0) & table["unsolved_stop_rate"].eq(0)
        assert (table.loc[harmless, "steps_share"] <= oracle["steps_share"]).all()

    def test_agrees_with_the_stop_points(self, study):
        table = stopping_sweep(study, DEFAULT, thresholds=[0.6, 0.2], **FEW)
        points = stop_points(study, DEFAULT | {"threshold": 0.2})
        row = table.iloc[0]
        assert row["threshold"] == 0.2
        known = points.dropna(subset=["seconds_avoided", "seconds_spent"])
        share = known["seconds_avoided"].sum() / known["seconds_spent"].sum()
        assert row["seconds_share"] == pytest.approx(share)
        assert row["success_rate"] == points["satisfied_under_policy"].mean()

    def test_bands_are_wider_than_intervals(self, study):
        table = stopping_sweep(study, DEFAULT, **FEW)
        swept = table[table["setting"].eq("threshold")]
        assert (swept["band_level"] > 0.95).all()
        swept = swept[swept["accepted_rate"] > 0]
        assert len(swept) > 5
        for name in ("steps", "false_stop"):
            assert (swept[f"{name}_band_low"] <= swept[f"{name}_low"]).all()
            assert (swept[f"{name}_band_high"] >= swept[f"{name}_high"]).all()

    def test_the_front(self, study):
        table = stopping_sweep(study, DEFAULT, **FEW)
        swept = table[table["setting"].eq("threshold")]
        for row in swept.itertuples():
            beaten = (
                swept["steps_share"].ge(row.steps_share)
                & swept["false_stop_rate"].le(row.false_stop_rate)
                & (
                    swept["steps_share"].gt(row.steps_share)
                    | swept["false_stop_rate"].lt(row.false_stop_rate)
                )
            ).any()
            assert row.on_front == (not beaten)

    def test_a_single_task_gives_no_spread(self, small_study):
        tables = stopping_study(small_study, wandering(1, tasks=1))
        table = stopping_sweep(tables, DEFAULT, **FEW)
        assert table[["steps_low", "steps_band_high"]].isna().all(axis=None)
        assert table["n_clusters"].eq(1).all()

    def test_without_truth_there_are_savings_only(self, study):
        table = stopping_sweep(study, DEFAULT, truth="none", references=["never"], **FEW)
        assert table["solvable"].eq(0).all()
        assert table[["false_stop_rate", "false_stop_low", "success_rate"]].isna().all(axis=None)
        assert table["steps_share"].iloc[0] > 0
        assert not table["on_front"].any()

    @pytest.mark.parametrize(
        ("policy", "thresholds", "said"),
        [
            (GREEN_RULE, None, "not 'green'"),
            (DEFAULT, [], "a list of numbers"),
            (DEFAULT, [0.5, 0.5], "names one twice"),
            (DEFAULT, [math.nan], "threshold is nan"),
            (DEFAULT, 0.5, "a list of numbers"),
        ],
    )
    def test_what_is_refused(self, few, policy, thresholds, said):
        with pytest.raises(InputError, match=said):
            stopping_sweep(few, policy, thresholds=thresholds)


class TestWeights:
    def test_changes_are_those_of_paired_resampling(self, study, points):
        table = weight_sensitivity(study, DEFAULT, factors=[0], **FEW).set_index("dimension")
        other = stop_points(study, DEFAULT | {"weights": {"cost": 0}})
        sums = [
            frame.groupby("task")[["steps_avoided", "steps_spent"]].sum().to_numpy(dtype=float)
            for frame in (points, other)
        ]
        change = cluster_ratio_difference(*((part[:, 0], part[:, 1]) for part in sums), **FEW)
        row = table.loc["cost"]
        assert row["steps_share_change"] == pytest.approx(change.estimate)
        assert row["steps_share_change_low"] == pytest.approx(change.low)
        assert row["steps_share_change_high"] == pytest.approx(change.high)
        moved = points["stop_step"].fillna(-1).ne(other["stop_step"].fillna(-1)).sum()
        assert row["stops_moved"] == moved > 0

    def test_a_weight_of_nothing_moves_nothing(self, study):
        table = weight_sensitivity(study, DEFAULT, **FEW)
        still = table[table["dimension"].isin(["none", "influence"])]
        assert still["stops_moved"].eq(0).all()
        assert still["decisions_flipped_rate"].eq(0).all()
        assert still["steps_share_change_low"].isna().all()
        assert len(table) == 1 + 4 * 5

    @pytest.mark.parametrize(
        ("policy", "factors", "said"),
        [
            (GREEN_RULE, [1.0], "belong to the rule 'bound'"),
            (DEFAULT, [], "a list of numbers"),
            (DEFAULT, ["2"], "factors holds '2'"),
            (DEFAULT, [-1.0], r"weights\.acceptance is -1"),
        ],
    )
    def test_what_is_refused(self, few, policy, factors, said):
        with pytest.raises(InputError, match=said):
            weight_sensitivity(few, policy, factors=factors)


def graded(first_score: float, *, solved_first: bool) -> list[dict]:
    """Return two states: one that scores so much and is solved or not, then a solved one."""
    gates = dict.fromkeys(("test_pass_rate", "required_checks_passed"), first_score)
    more = {"lint_passed": True, "type_check_passed": True, "tool_call_count": 0}
    return [gates | more | {"satisfied": solved_first}, GREEN | {"satisfied": True}]


class TestCalibration:
    def test_a_task_is_judged_by_the_threshold_of_the_others(self, small_study):
        # Four tasks allow stopping at the first state; in the fifth that is a false stop.
        trials = [
            {"task": f"t{n}", "outcome": 1, "states": graded(0.6, solved_first=True)}
            for n in range(4)
        ]
        trials.append({"task": "trap", "outcome": 1, "states": graded(0.6, solved_first=False)})
        table = calibrated_threshold(
            stopping_study(small_study, trials), DEFAULT, target=0.0, thresholds=[0.5, 0.9]
        )
        tasks = table[table["part"].eq("task")].set_index("task")
        assert tasks.loc["trap", ["threshold", "false_stops"]].tolist() == [0.5, 1]
        assert tasks.loc["t0", ["threshold", "false_stops"]].tolist() == [0.9, 0]
        held, apparent = table.iloc[-2], table.iloc[-1]
        assert (held["part"], held["false_stop_rate"], held["solvable"]) == ("held_out", 0.2, 5)
        assert (held["threshold_low"], held["threshold_high"]) == (0.5, 0.9)
        assert (apparent["part"], apparent["threshold"]) == ("apparent", 0.9)
        assert apparent["false_stop_rate"] == 0
        limits = clustered_wilson_interval([0, 0, 0, 0, 1], list("abcde"))
        assert (held["low"], held["high"]) == (limits.low, limits.high)

    def test_no_threshold_meets_the_target(self, small_study):
        trials = [
            {"task": f"t{n}", "outcome": 1, "states": graded(1.0, solved_first=False)}
            for n in range(3)
        ]
        table = calibrated_threshold(stopping_study(small_study, trials), DEFAULT)
        assert table.loc[table["part"].ne("held_out"), "threshold"].eq(math.inf).all()
        assert table["steps_share"].eq(0).all()
        assert table["note"].iloc[0].startswith("no threshold")

    def test_the_upper_limit_is_the_cautious_choice(self, study):
        plain, cautious = (
            calibrated_threshold(study, DEFAULT, target=0.3, choose_by=rule).iloc[-1]
            for rule in ("estimate", "upper_limit")
        )
        assert cautious["threshold"] >= plain["threshold"]
        assert cautious["steps_share"] <= plain["steps_share"]

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            ({"target": 1.0}, "target is 1.0"),
            ({"target": math.nan}, "target is nan"),
            ({"choose_by": "hope"}, "estimate, upper_limit"),
            ({"task": "t"}, "fewer than two tasks"),
        ],
    )
    def test_what_is_refused(self, few, options, said):
        with pytest.raises(InputError, match=said):
            calibrated_threshold(few, DEFAULT, **options)


class TestComparison:
    def test_pairs_trials(self, study, points):
        table = compare_policies(study, DEFAULT, GREEN_RULE).set_index("quantity")
        other = stop_points(study, GREEN_RULE)
        before = points["satisfied_under_policy"].astype(float)
        after = other["satisfied_under_policy"].astype(float)
        row = table.loc["success"]
        interval = clustered_mean_interval(after - before, points["task"])
        assert (row["difference"], row["low"], row["high"]) == (
            interval.estimate,
            interval.low,
            interval.high,
        )
        test = mcnemar(
            int((before.eq(1) & after.eq(0)).sum()), int((before.eq(0) & after.eq(1)).sum())
        )
        assert (row["reference_only"], row["candidate_only"]) == (test.b, test.c)
        assert row["p_mcnemar"] == test.exact
        by_task = (after - before).groupby(points["task"]).mean()
        assert row["p_sign_flip"] == sign_flip(by_task.to_numpy()).p_value
        assert table["p_adjusted"].tolist() == holm(table["p_sign_flip"].to_numpy()).tolist()
        assert table.loc["steps_avoided", "pairs"] == len(points)
        assert pd.isna(table.loc["steps_avoided", "reference_only"])

    def test_without_truth_some_rows_have_no_pair(self, study):
        table = compare_policies(study, DEFAULT, GREEN_RULE, truth="none").set_index("quantity")
        assert table.loc["success", "pairs"] == 0
        assert math.isnan(table.loc["success", "difference"])
        assert table.loc["steps_avoided", "family_size"] == 5

    @pytest.mark.parametrize(("calls_per_step", "family"), [(1, 7), (2, 8)])
    def test_work_that_grows_with_other_work_is_one_test(self, small_study, calls_per_step, family):
        trials = wandering(11)
        for trial in trials:
            for place, state in enumerate(trial["states"]):
                state |= {
                    "tool_call_count": calls_per_step * place,
                    "token_usage": 700 * place,
                    "execution_time_seconds": 11.3 * place,
                }
        counted = stopping_study(small_study, trials)
        table = compare_policies(counted, DEFAULT, GREEN_RULE).set_index("quantity")
        assert set(table["family_size"]) == {family}
        raw = table["p_sign_flip"]
        alone = raw if family == 8 else raw.drop("tool_calls_avoided")
        wanted = dict(zip(alone.index, holm(alone.to_numpy()), strict=True))
        wanted.setdefault("tool_calls_avoided", wanted["steps_avoided"])
        assert table["p_adjusted"].to_dict() == wanted

    def test_a_policy_is_not_compared_with_itself(self, few):
        with pytest.raises(InputError, match="its own name"):
            compare_policies(few, DEFAULT, DEFAULT)
