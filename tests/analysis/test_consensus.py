"""Consensus and rates of calls: small cases by hand, and what the parity study recorded."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from steelyard.analysis import aligned_steps, consensus, step_rates
from steelyard.errors import DataError, InputError, UnknownNameError
from steelyard.stats import clustered_wilson_interval, wilson_interval


def steps(path: str) -> list[dict]:
    """``"check pay! @think"``: ``!`` failed, ``@`` a decision."""
    return [
        {
            "name": word.strip("@!"),
            "kind": "decision" if word.startswith("@") else "tool_call",
            "error": "503" if word.endswith("!") else None,
        }
        for word in path.split()
    ]


def trials(*paths: str, **columns) -> list[dict]:
    return [{"steps": steps(path), "success": 1, **columns} for path in paths]


def shuffled(made: list[dict]) -> list[dict]:
    return [made[i] for i in np.random.default_rng(4).permutation(len(made))]


def one(frame: pd.DataFrame, **wanted):
    """The single row with these values."""
    for column, value in wanted.items():
        frame = frame[frame[column] == value]
    assert len(frame) == 1
    return frame.iloc[0]


def counted(frame: pd.DataFrame) -> dict:
    rows = frame[(frame["event"] != "match") & (frame["count"] > 0)]
    return {
        (row.step, row.name_, row.event): (row.count_, row.total, row.calls, row.got)
        for row in rows.rename(columns={"name": "name_", "count": "count_"}).itertuples()
    }


class TestConsensus:
    def test_each_event_of_each_step(self, small_study):
        tables = small_study(
            trials(
                "look check pay",
                "look check pay",
                "look pay",
                "look ask pay",
                "look check check log pay",
                "hello look check pay",
            )
        )
        frame = consensus(tables, by=())
        assert counted(frame) == {
            (-1, "", "extra"): (1, 6, 1, "hello"),
            (-1, "", "diverged"): (1, 6, 1, ""),
            (1, "check", "skipped"): (1, 6, 1, ""),
            (1, "check", "substitute"): (1, 6, 1, "ask"),
            # of two equal calls the last one is the reference's, as in every alignment
            (0, "look", "extra"): (1, 6, 1, "check"),
            (0, "look", "diverged"): (1, 6, 1, ""),
            (1, "check", "extra"): (1, 6, 1, "log"),
            (1, "check", "diverged"): (3, 6, 3, ""),
        }
        match = one(frame, step=1, event="match")
        assert (match["count"], match["total"]) == (4, 6)
        plain = wilson_interval(4, 6)
        assert (match["low"], match["high"]) == (plain.low, plain.high)
        # one variant: nothing can be said about others
        assert (match["n_clusters"], match["clustered_low"]) == (1, 0.0)
        assert match["clustered_reason"] == "1 cluster"

    def test_events_add_up(self, tables):
        frame = consensus(tables("plumbline_parity"))
        keys = ["task", "step", "arm", "perturbation"]
        wide = frame.pivot_table(index=keys, columns="event", values="count", aggfunc="sum")
        totals = frame.groupby(keys)["total"].first()
        inner = wide.index.get_level_values("step") >= 0
        three = wide.loc[inner, ["match", "substitute", "skipped"]].sum(axis=1)
        assert (three == totals[inner]).all()
        assert (wide["diverged"] >= wide["extra"]).all()
        assert (frame["total"] == frame["intended"] - frame["excluded"]).all()

    def test_cluster_is_the_variant(self, small_study):
        made = []
        for variant, paths in {"0": ("a b", "a b"), "1": ("a", "a b"), "2": ("a b", "a")}.items():
            made += trials(*paths, variant=variant)
        row = one(consensus(small_study(made), by=()), step=1, event="skipped")
        expected = clustered_wilson_interval([0, 0, 1, 0, 0, 1], [0, 0, 1, 1, 2, 2])
        assert (row["clustered_low"], row["clustered_high"]) == (expected.low, expected.high)
        assert row["n_clusters"] == 3

    def test_variants_of_two_perturbations_are_different(self, small_study):
        made = trials("a", "a b") + trials("a", "a b", perturbation="fault")
        row = one(consensus(small_study(made), by=()), step=0, event="match")
        assert row["n_clusters"] == 2

    def test_failed_calls(self, small_study):
        tables = small_study(trials("check pay", "check! check pay", "check pay"))
        assert counted(consensus(tables, by=())) == {}
        included = counted(consensus(tables, by=(), failed_calls="include"))
        assert {key[2] for key in included} == {"extra", "diverged"}

    def test_decisions_are_on_the_full_path_alone(self, small_study):
        tables = small_study(trials("@think pay", "pay"))
        assert set(consensus(tables, by=())["name"]) == {"", "pay"}
        assert "think" in set(consensus(tables, by=(), path="full")["name"])

    def test_reference_arm(self, small_study):
        made = trials("a b", "a b", "a b") + trials("a c", "a c", arm="b")
        tables = small_study(made)
        assert set(consensus(tables, by="arm")["name"]) == {"", "a", "b"}
        frame = consensus(tables, by="arm", reference_arm="b")
        assert set(frame["name"]) == {"", "a", "c"}
        assert one(frame, step=1, arm="a", event="substitute")["got"] == "b"
        # a task that the arm has no trial of takes its reference from all
        tables = small_study(made + trials("x", task="u"))
        assert "x" in set(consensus(tables, reference_arm="b")["name"])
        with pytest.raises(UnknownNameError, match="arm"):
            consensus(tables, reference_arm="c")

    def test_group_without_a_scored_trial_has_no_estimate(self, small_study):
        made = [*trials("a"), {"arm": "b", "status": "missing", "success": None}]
        row = one(consensus(small_study(made), by="arm"), arm="b", step=0, event="match")
        assert (row["intended"], row["excluded"], row["total"]) == (1, 1, 0)
        assert math.isnan(row["estimate"])
        assert (row["low"], row["high"]) == (0.0, 1.0)

    def test_failed_trials_are_scored_only_as_recorded(self, small_study):
        made = trials("a b", "a b") + trials("a", status="failed")
        tables = small_study(made)
        assert counted(consensus(tables, by=())) == {}
        assert (1, "b", "skipped") in counted(consensus(tables, by=(), missing="recorded"))

    def test_trials_without_a_step(self, small_study):
        tables = small_study(trials("a b", "a b", ""))
        row = one(consensus(tables, by=()), step=0, event="skipped")
        assert (row["count"], row["total"]) == (1, 3)
        # all of a task without a step: one place, before the first step
        tables = small_study(trials("a") + trials("", "", task="idle"))
        idle = consensus(tables, by=())
        idle = idle[idle["task"] == "idle"]
        assert list(idle["step"]) == [-1, -1]
        assert list(idle["count"]) == [0, 0]

    def test_one_trial(self, small_study):
        frame = consensus(small_study(trials("a b")))
        assert counted(frame) == {}
        assert list(frame.columns[:6]) == ["task", "step", "kind", "name", "arm", "perturbation"]

    def test_order_of_rows_plays_no_part(self, small_study):
        made = [
            {**trial, "repeat": repeat}
            for repeat, trial in enumerate(
                trials("a b c", "a c", "a b c d", "b c", "a b b c", "a c b", "c", "")
            )
        ]
        first = consensus(small_study(made), by=("repeat",))
        made = shuffled(made)
        again = consensus(small_study(made, "small"), by=("repeat",))
        pd.testing.assert_frame_equal(first, again)

    def test_filters_choose_who_is_aligned(self, small_study):
        made = trials("a b") + trials("a c", "a c", perturbation="fault")
        frame = consensus(small_study(made), perturbation="baseline")
        assert set(frame["name"]) == {"", "a", "b"}
        assert set(frame["perturbation"]) == {"baseline"}


class TestRefusals:
    @pytest.mark.parametrize("analysis", [consensus, aligned_steps, step_rates])
    @pytest.mark.parametrize(
        ("options", "kind", "words"),
        [
            ({"path": "whole"}, InputError, "path is 'whole'"),
            ({"failed_calls": "drop"}, InputError, "failed_calls"),
            ({"missing": "fail"}, InputError, "missing policy"),
            ({"arm": "nobody"}, UnknownNameError, "nobody"),
            ({"task": "nothing"}, UnknownNameError, "nothing"),
            ({"color": "red"}, InputError, "color"),
            ({"reference_arm": "nobody"}, UnknownNameError, "nobody"),
        ],
    )
    def test_options(self, small_study, analysis, options, kind, words):
        with pytest.raises(kind, match=words):
            analysis(small_study(trials("a", "b")), **options)

    @pytest.mark.parametrize("analysis", [consensus, step_rates])
    def test_level_and_groups(self, small_study, analysis):
        tables = small_study(trials("a"))
        with pytest.raises(InputError, match="confidence"):
            analysis(tables, confidence=1)
        with pytest.raises(InputError, match="cannot group by 'step'"):
            analysis(tables, by="step")

    def test_study_without_steps(self, small_study):
        with pytest.raises(InputError, match="holds no steps"):
            consensus(small_study([{"success": 1}]))

    def test_filters_that_leave_no_trial(self, small_study):
        tables = small_study(trials("a") + trials("b", arm="b", task="u"))
        with pytest.raises(InputError, match="no trial passes"):
            consensus(tables, arm="a", task="u")

    def test_step_without_a_name(self, small_study):
        made = trials("a")
        made[0]["steps"].append({"name": " "})
        with pytest.raises(DataError, match=r"a/t/baseline/0/0.*no name"):
            consensus(small_study(made))

    def test_too_long(self, small_study):
        long = " ".join(["a"] * 8_000), " ".join(["b"] * 8_000)
        with pytest.raises(InputError, match=r"task t: .* 8,000 tokens"):
            consensus(small_study(trials(*long)))


class TestAlignedSteps:
    def test_layout(self, small_study):
        tables = small_study(trials("a b c", "a b c", "a x b c", "b c"))
        frame = aligned_steps(tables)
        third = frame[frame["repeat"] == 2]
        assert list(third["column"]) == [0, 1, 2, 3]
        assert list(third["step"]) == [0, 0, 1, 2]
        assert list(third["inserted"]) == [False, True, False, False]
        assert list(third["expected"]) == ["a", "", "b", "c"]
        assert list(third["got"]) == ["a", "x", "b", "c"]
        assert list(third["operation"]) == ["match", "extra", "match", "match"]
        last = frame[frame["repeat"] == 3]
        assert list(last["got"]) == ["", "", "b", "c"]
        assert list(last["operation"]) == ["skipped", "", "match", "match"]
        first = frame[frame["repeat"] == 0]
        assert list(first["operation"]) == ["match", "", "match", "match"]

    def test_agrees_with_the_counts(self, tables):
        laid_out = aligned_steps(tables("plumbline_parity"), failed_calls="include")
        frame = consensus(tables("plumbline_parity"), by=(), failed_calls="include")
        for operation in ("match", "substitute", "skipped", "extra"):
            rows = laid_out[laid_out["operation"] == operation]
            counts = frame.loc[frame["event"] == operation, "calls"].sum()
            assert len(rows) == counts

    def test_no_scored_trial(self, small_study):
        tables = small_study([*trials("a"), {"task": "u", "status": "missing", "success": None}])
        # An empty table would hide the trial that was intended.
        for question in (aligned_steps, consensus, step_rates):
            with pytest.raises(InputError, match="none of the 1 trials that pass the filters ran"):
                question(tables, task="u")


class TestStepRates:
    def test_over_tasks(self, small_study):
        made = (
            trials("check pay", "check pay", "pay", "check pay log")
            + trials("check pay", "check pay", "hold pay", "check pay check", task="u")
            + trials("pay", "pay", "check pay", "pay", task="v")
        )
        frame = step_rates(small_study(made), by=())
        check = frame[frame["name"] == "check"].set_index("event")
        # tasks t and u have check in their reference: eight steps; all twelve trials may add it
        assert list(check["count"]) == [6, 1, 1, 2, 2]
        assert list(check["total"]) == [8, 8, 8, 8, 12]
        assert check.loc["dropped", "n_clusters"] == 2
        assert check.loc["extra", "n_clusters"] == 3
        assert check.loc["dropped", "estimate"] == 0.25
        log = one(frame, name="log", event="match")
        assert log["total"] == 0
        assert math.isnan(log["estimate"])
        assert frame["difference"].isna().all()

    def test_a_call_that_the_reference_has_twice(self, small_study):
        made = trials("check pay check", "check pay check", "check pay", "check check check")
        frame = step_rates(small_study(made), by=())
        row = one(frame, name="check", event="skipped")
        assert (row["count"], row["total"]) == (1, 8)
        assert one(frame, name="check", event="match")["count"] == 7

    def test_extra_counts_trials_and_calls(self, small_study):
        made = trials("a b", "a b", "a b b b", "a b b")
        row = one(step_rates(small_study(made), by=()), name="b", event="extra")
        assert (row["count"], row["total"], row["calls"]) == (2, 4, 3)

    def test_difference_from_the_baseline(self, small_study):
        made = []
        for task in "tuvw":
            made += trials("check pay", "check pay", "check pay", "check pay", task=task)
            made += trials("check pay", "pay", task=task, perturbation="fault")
        frame = step_rates(small_study(made))
        row = one(frame, name="check", event="dropped", perturbation="fault")
        assert (row["estimate"], row["baseline_estimate"], row["difference"]) == (0.5, 0.0, 0.5)
        assert row["difference_tasks"] == 4
        assert row["p_value"] == pytest.approx(2 / 2**4)  # all four tasks one way
        base = one(frame, name="check", event="dropped", perturbation="baseline")
        assert math.isnan(base["difference"])
        assert math.isnan(base["p_value"])
        # pay is never dropped: no test could have come out in any other way
        assert math.isnan(one(frame, name="pay", event="dropped", perturbation="fault")["p_value"])
        assert row["family_size"] == 1

    def test_tasks_that_one_side_lacks(self, small_study):
        made = trials("a", task="t") + trials("a", task="u", perturbation="fault")
        row = one(step_rates(small_study(made)), perturbation="fault", event="match")
        assert row["difference_tasks"] == 0
        assert math.isnan(row["difference"])

    def test_order_of_rows_plays_no_part(self, small_study):
        made = [
            {**trial, "repeat": repeat, "task": "tu"[repeat % 2], "perturbation": p}
            for repeat, trial in enumerate(trials("a b c", "a c", "a b c d", "b c", "c a", ""))
            for p in ("baseline", "fault")
        ]
        first = step_rates(small_study(made))
        made = sorted(shuffled(made), key=lambda trial: trial["perturbation"])
        pd.testing.assert_frame_equal(first, step_rates(small_study(made)))


RECORDED = {
    "baseline": 45,
    "paraphrase": 49,
    "distractor": 43,
    "tool_fault": 44,
    "decoy_tools": 45,
    "sampling": 43,
}


class TestParityStudy:
    """The committed parity study, against the divergences that its authors recorded."""

    def test_extra_vendor_checks_are_the_recorded_ones(self, tables):
        study = tables("plumbline_parity")
        recorded = study.connection.execute(
            """
            SELECT t.perturbation, count(*) FROM divergences d JOIN trials t USING (study, trial_id)
            WHERE d.study = ? AND d.kind = 'extra' AND d.got = 'tool_call:check_vendor_status'
            GROUP BY t.perturbation
            """,
            [study.study],
        ).fetchall()
        assert dict(recorded) == RECORDED
        # As recorded, a call that failed is a call.
        frame = consensus(study, failed_calls="include")
        extra = frame[(frame["event"] == "extra") & (frame["arm"] == "react")]
        assert set(extra["got"]) == {"", "check_vendor_status"}
        assert extra.groupby("perturbation")["calls"].sum().to_dict() == RECORDED
        rates = step_rates(study, failed_calls="include")
        rows = rates[(rates["name"] == "check_vendor_status") & (rates["event"] == "extra")]
        found = rows[rows["arm"] == "react"].set_index("perturbation")["count"].to_dict()
        assert found == RECORDED
        assert rows.loc[rows["arm"] == "plan_execute", "count"].sum() == 0

    def test_vendor_check_dropped_under_distractors(self, tables):
        frame = step_rates(tables("plumbline_parity"))
        row = one(
            frame,
            name="check_vendor_status",
            event="dropped",
            arm="react",
            perturbation="distractor",
        )
        assert (row["count"], row["total"], row["excluded"]) == (2, 58, 6)
        assert row["low"] == pytest.approx(0.009508, abs=1e-6)
        assert row["clustered_low"] < row["estimate"] < row["clustered_high"]
        assert row["n_clusters"] == 8

    def test_recorded_skips_and_substitutes(self, tables):
        """Without the failed calls of the executor's own fault, react skips what was recorded."""
        frame = step_rates(tables("plumbline_parity"), failed_calls="include")
        react = frame[(frame["arm"] == "react") & (frame["count"] > 0)]
        dropped = react[react["event"] == "skipped"].groupby("name")["count"].sum().to_dict()
        assert dropped == {"check_vendor_status": 7, "flag_exception": 1}
