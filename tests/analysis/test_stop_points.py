"""Stop points: equal to BOUND's replay state by state, and judged by what each state is worth."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from analysis.stopping_trials import GREEN, RED, stopping_study, truths, wandering
from steelyard.analysis.stopping import stop_points
from steelyard.errors import InputError, UnknownNameError
from steelyard.evaluators import bound
from steelyard.evaluators.bound.stop_policy import StopPolicy, read_policy
from steelyard.store.rows import add_rows

VECTORS = Path(__file__).parents[1] / "vectors" / "bound" / "experiment.json"
PUBLISHED = {"rule": "bound", "threshold": 0.6}
STEP = "bound_stop_step"


def replayed(trial: dict, threshold: float = 0.6) -> bound.Experiment:
    """Return BOUND's own replay of a trial, state by state."""
    steps = [
        {"step_index": place, "signals": {k: v for k, v in state.items() if k != "satisfied"}}
        for place, state in enumerate(trial["states"])
    ]
    data = {"task_id": "t", "steps": steps, "actual_stop_step": len(steps) - 1}
    return bound.run_experiment(
        bound.AgentTrajectory.read(data), bound.BoundCriteria(threshold=threshold)
    )


def missing_as_none(value):
    return None if pd.isna(value) else value


@pytest.mark.parametrize("threshold", [0.3, 0.6])
def test_every_trial_stops_where_the_replay_state_by_state_stops(small_study, threshold):
    trials = wandering(7)
    for trial in trials:  # a state without a gate would end BOUND's replay
        for state in trial["states"]:
            state.setdefault("test_pass_rate", 0.5)
    points = stop_points(
        stopping_study(small_study, trials), {"rule": "bound", "threshold": threshold}
    )
    assert len(points) == len(trials)
    for trial, (_, row) in zip(trials, points.iterrows(), strict=True):
        found = replayed(trial, threshold)
        assert missing_as_none(row["stop_step"]) == found.bound_stop_step
        assert row["accepted"] == found.accepted
        assert row["regressions_after_accept"] == found.regressions_after_accept
        for ours, theirs in (
            ("tests_pass_at_stop", found.tests_pass_at_bound_stop),
            ("required_checks_pass_at_stop", found.required_checks_pass_at_bound_stop),
        ):
            assert missing_as_none(row[ours]) == theirs
        if found.accepted:
            assert row["steps_avoided"] == found.steps_saved
            assert row["score_at_stop"] == found.per_step[found.bound_stop_step].score
            for work, saved in (
                ("tool_calls", found.tool_calls_saved),
                ("tokens", found.tokens_saved),
                ("seconds", found.runtime_saved),
            ):
                assert missing_as_none(row[f"{work}_avoided"]) == saved
        else:
            assert row["steps_avoided"] == row["tool_calls_avoided"] == 0
            known = trial["states"][-1].get("token_usage") is not None
            assert missing_as_none(row["tokens_avoided"]) == (0 if known else None)


def test_published_trajectories_through_the_tables(small_study):
    cases = [
        case
        for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]
        if case["input"]["trajectory"]["steps"]
        and all("scores" not in step for step in case["input"]["trajectory"]["steps"])
        and set(case["input"]) == {"trajectory", "criteria"}
        and case["input"]["trajectory"]["actual_stop_step"]
        == case["input"]["trajectory"]["steps"][-1]["step_index"]
    ]
    assert len(cases) > 25
    trials = [
        {
            "task": case["id"],
            "success": None,
            "states": [
                {"step_index": step["step_index"], **step["signals"]}
                for step in case["input"]["trajectory"]["steps"]
            ],
        }
        for case in cases
    ]
    tables = stopping_study(small_study, trials)
    for case in cases:
        row = stop_points(tables, case["input"]["criteria"], task=case["id"]).iloc[0]
        expected = case["expected"]
        assert missing_as_none(row["stop_step"]) == expected["bound_stop_step"], case["id"]
        assert row["regressions_after_accept"] == expected["regressions_after_accept"]
        if expected["accepted"]:
            assert missing_as_none(row["tokens_avoided"]) == expected["tokens_saved"]
            assert missing_as_none(row["seconds_avoided"]) == expected["runtime_saved"]


@pytest.mark.parametrize(
    ("satisfied", "step", "verdict", "late"),
    [
        ([0, 1, 1], 1, "correct_stop", 0),
        ([0, 1, 1], 2, "correct_stop", 1),
        ([0, 0, 1], 1, "false_stop", None),
        ([1, 0, 1], 1, "false_stop", 1),  # an earlier state would do, and a later one too
        ([0, 1, 0], 2, "overrun_stop", 1),
        ([0, 1, 0], 9, "missed_stop", 1),
        ([0, 0, 0], 1, "unsolved_stop", None),
        ([0, 0, 0], 9, "correct_continue", None),
    ],
)
def test_verdicts(small_study, satisfied, step, verdict, late):
    trial = {"outcome": float(satisfied[-1]), "states": truths(*satisfied)}
    row = stop_points(
        stopping_study(small_study, [trial]), {"rule": "fixed_step", "step": step}
    ).iloc[0]
    assert row["verdict"] == verdict
    assert missing_as_none(row["steps_after_first_satisfied"]) == late
    end = min(step, 2)
    assert row["satisfied_under_policy"] == bool(satisfied[end])
    assert row["satisfied_at_end"] == bool(satisfied[-1])


def test_one_state_of_unknown_truth_makes_the_verdict_unknown(small_study):
    states = truths(0, 1, 1)
    del states[1]["satisfied"]
    points = stop_points(
        stopping_study(small_study, [{"outcome": 1, "states": states}]),
        {"rule": "fixed_step", "step": 2},
    )
    assert points["verdict"].tolist() == ["unknown"]
    assert points["satisfied_at_stop"].isna().all()
    assert points["steps_avoided"].tolist() == [0]


def test_truth_from_the_step_at_which_it_came(small_study):
    states = [{"lint_passed": True}] * 4
    trials = [
        {"task": "late", "outcome": 1, "satisfied_from_step": 2, "states": states},
        {"task": "never", "outcome": 0, "states": states},
        {"task": "unknown", "outcome": 1, "satisfied_from_step": None, "states": states},
    ]
    points = stop_points(
        stopping_study(small_study, trials), {"rule": "fixed_step", "step": 1}
    ).set_index("task")
    assert points["verdict"].to_dict() == {
        "late": "false_stop",
        "never": "unsolved_stop",
        "unknown": "unknown",
    }


def test_a_source_of_truth_that_is_not_there(small_study):
    tables = stopping_study(small_study, [{"outcome": 1, "states": [GREEN]}])
    assert stop_points(tables, PUBLISHED)["verdict"].tolist() == ["unknown"]
    for source in ("steps", "measure"):
        with pytest.raises(InputError, match="other sources of truth"):
            stop_points(tables, PUBLISHED, truth=source)
    with pytest.raises(InputError, match="accepted: auto"):
        stop_points(tables, PUBLISHED, truth="guess")


def test_states_after_the_agents_own_stop_do_not_count(small_study):
    trial = {"outcome": 0, "actual_stop_step": 1, "states": truths(0, 0, 1, 1)}
    row = stop_points(stopping_study(small_study, [trial]), {"rule": "green"}).iloc[0]
    assert (row["states"], row["actual_stop"], row["accepted"]) == (2, 1, False)
    assert row["verdict"] == "correct_continue"


def test_an_own_stop_that_is_unknown_or_has_no_state(small_study):
    trials = [
        {"task": "unknown", "actual_stop_step": None, "states": truths(1, 1)},
        {"task": "beyond", "actual_stop_step": 9, "states": truths(1, 1)},
    ]
    points = stop_points(stopping_study(small_study, trials), {"rule": "green"}, truth="none")
    unknown, beyond = points.set_index("task").loc[["unknown", "beyond"]].itertuples()
    assert math.isnan(unknown.steps_avoided)
    assert beyond.steps_avoided == 9
    assert math.isnan(beyond.tool_calls_avoided)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ({"test_pass_rate": 1.5}, "test_pass_rate is 1.5 at step 1; accepted: 0 to 1"),
        ({"test_pass_rate": math.nan}, "test_pass_rate is nan at step 1"),
        ({"required_checks_passed": -0.1}, "required_checks_passed is -0.1"),
        ({"execution_time_seconds": math.inf}, "inf at step 1; accepted: 0 or more, finite"),
        ({"tests_removed": -2}, "tests_removed is -2 at step 1; accepted: 0 or more"),
        ({"satisfied": "yes"}, 'satisfied is "yes" at step 1; accepted: true or false'),
    ],
)
def test_a_bad_trial_is_reported_and_the_others_are_answered(small_study, state, said):
    good = {"outcome": 1, "states": truths(0, 1, 1)}
    bad = {"task": "bad", "outcome": 1, "states": [*truths(0), GREEN | state, *truths(1)]}
    bad["states"][2]["satisfied"] = True
    points = stop_points(stopping_study(small_study, [good, bad]), {"rule": "green"})
    points = points.set_index("task")
    assert points.loc["t", "verdict"] == "correct_stop"
    assert said in points.loc["bad", "problem"]
    answers = ["accepted", "stop_step", "steps_avoided", "regressions_after_accept"]
    assert points.loc["bad", answers].isna().all()
    assert points.loc["bad", "verdict"] == "unknown"


def test_one_bad_trial_of_a_thousand(small_study):
    trials = [{"outcome": 1, "states": truths(0, 1)} for _ in range(1000)]
    trials[500]["states"] = [{"test_pass_rate": 7.0, "satisfied": True}]
    trials[501]["states"] = []
    points = stop_points(stopping_study(small_study, trials), {"rule": "green"})
    assert points["verdict"].eq("correct_stop").sum() == 998
    problems = points.loc[points["problem"].ne(""), "problem"].tolist()
    assert problems == [
        "test_pass_rate is 7.0 at step 0; accepted: 0 to 1",
        "the trial has no signals",
    ]


def test_nothing_to_replay(small_study):
    tables = stopping_study(small_study, [{"outcome": 1, "states": []}])
    with pytest.raises(InputError, match="no trial can be replayed; a/t/baseline/0/0: the trial"):
        stop_points(tables, PUBLISHED)
    with pytest.raises(UnknownNameError, match="unknown task"):
        stop_points(tables, PUBLISHED, task="u")


def test_a_state_that_reports_no_gate_is_never_accepted(small_study):
    trial = {"outcome": 1, "states": [{"tool_call_count": 1}, GREEN]}
    row = stop_points(stopping_study(small_study, [trial]), {"rule": "bound", "threshold": 0}).iloc[
        0
    ]
    assert (row["unscored_states"], row["stop_step"]) == (1, 1)


def test_rules_of_stopping(small_study):
    states = [RED, GREEN, RED, GREEN | {"test_pass_rate": 0.9}, GREEN, GREEN, GREEN]
    tables = stopping_study(small_study, [{"outcome": 1, "states": states}])

    def stop(**policy):
        return missing_as_none(stop_points(tables, policy).iloc[0]["stop_step"])

    assert stop(rule="green") == 1
    assert stop(rule="green", consecutive=2) == 5
    assert stop(rule="bound", consecutive=3) == 5
    assert stop(rule="bound", consecutive=2) == 4
    assert stop(rule="bound", consecutive=2, hard_gates=True) == 5
    assert stop(rule="fixed_step", step=3) == 3
    assert stop(rule="never") is None
    assert stop(rule="oracle") is None  # no truth, no oracle


def test_runs_of_accepted_states_end_with_the_trial(small_study):
    trials = [{"outcome": 1, "states": [RED, GREEN]}, {"outcome": 1, "states": [GREEN, RED]}]
    points = stop_points(stopping_study(small_study, trials), {"rule": "green", "consecutive": 2})
    assert not points["accepted"].any()


def test_a_gate_that_was_not_reported(small_study):
    trial = {"outcome": 1, "states": [{"test_pass_rate": 1.0}]}
    tables = stopping_study(small_study, [trial])
    assert not stop_points(tables, PUBLISHED)["accepted"].any()
    fair = PUBLISHED | {"missing_gates": "left_out"}
    assert stop_points(tables, fair)["accepted"].all()


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        ({"threshold": math.nan}, "threshold is nan"),
        ({"threshold": -0.1}, "threshold is -0.1"),
        ({"weights": {"risk": math.inf}}, "weights.risk is inf"),
        ({"weights": {"harm": 1}}, "weights.harm is not a field"),
        ({"limit": 1}, "limit is not a field"),
        ({"rule": "luck"}, "rule is 'luck'"),
        ({"rule": "green", "threshold": 0.5}, "the rule 'green' has no threshold"),
        ({"rule": "fixed_step"}, "needs a step"),
        ({"consecutive": 0}, "consecutive is 0"),
        ({"consecutive": True}, "consecutive is True"),
        ({"threshold": "0.5"}, "threshold is '0.5'"),
        ({"threshold": True}, "threshold is True"),
        ({"hard_gates": 1}, "hard_gates is 1"),
        ({"rollback_risk_threshold": 1.5}, "rollback_risk_threshold is 1.5"),
        (0.6, "a mapping of settings"),
    ],
)
def test_policies_that_are_refused(small_study, policy, said):
    tables = stopping_study(small_study, [{"outcome": 1, "states": [GREEN]}])
    with pytest.raises(InputError, match=said):
        stop_points(tables, policy)


def test_policies_are_named_after_their_settings():
    policy = StopPolicy(threshold=0.5, weights={"cost": 0}, hard_gates=True)
    assert policy.name == "bound T=0.5 w_cost=0 hard_gates=True"
    assert policy.changed(threshold=0.7).name == "bound T=0.7 w_cost=0 hard_gates=True"
    assert StopPolicy(name="mine").changed(consecutive=2).name == "bound T=0.6 consecutive=2"


def test_policies_that_differ_in_the_last_digits_have_names_of_their_own():
    settings = [{"threshold": value} for value in (0.6, 0.6000001, 0.1 + 0.2, 1e-7)]
    names = [read_policy(one).name for one in settings]
    assert names == ["bound T=0.6", "bound T=0.6000001", f"bound T={0.1 + 0.2!r}", "bound T=1e-07"]
    assert read_policy({"weights": {"risk": 1.0000001}}).name.endswith("w_risk=1.0000001")


@pytest.mark.parametrize(
    "policy",
    [
        {"threshold": 0.7, "weights": {"risk": 2}, "hard_gates": True},
        {"rule": "green", "consecutive": 2},
        {"rule": "fixed_step", "step": 3, "name": "third"},
        {"rule": "never"},
        {"rule": "oracle"},
    ],
)
def test_a_policy_can_be_read_back(policy):
    read = read_policy(policy)
    assert read_policy(read.model_dump()) == read
    assert StopPolicy.model_validate_json(read.model_dump_json()) == read


def test_the_order_of_the_rows_does_not_show(small_study):
    trials = wandering(3)
    one = stopping_study(small_study, trials)
    other = small_study([], "other", design={"arms": ["a"]}, measures={"primary": "outcome"})
    for table in ("trials", "measures", "signals", "steps"):
        rows = one.connection.execute(f"SELECT * FROM {table}").df()
        shuffled = rows.sample(frac=1, random_state=4).assign(study="other")
        other.connection.register("shuffled", shuffled)
        other.connection.execute(f"INSERT INTO {table} BY NAME SELECT * FROM shuffled")
    pd.testing.assert_frame_equal(stop_points(one, PUBLISHED), stop_points(other, PUBLISHED))


def test_a_result_that_someone_still_reads_does_not_matter(small_study):
    tables = stopping_study(small_study, [{"outcome": 1, "states": truths(0, 1)}])
    tables.connection.execute("SELECT * FROM trials").fetchone()
    add_rows(tables.connection, "covariates", [])
    assert len(stop_points(tables, PUBLISHED)) == 1


def test_more_trials_than_one_chunk_of_states(small_study, monkeypatch):
    from steelyard.evaluators.bound import arrays

    tables = stopping_study(small_study, wandering(5))
    whole = stop_points(tables, PUBLISHED)
    monkeypatch.setattr(arrays, "CHUNK", 7)
    pd.testing.assert_frame_equal(whole, stop_points(tables, PUBLISHED))
    assert np.isfinite(whole["score_at_stop"]).any()
