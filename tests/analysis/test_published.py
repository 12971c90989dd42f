"""The analyses on the committed studies, against figures published or known from their READMEs."""

from __future__ import annotations

import pytest

from steelyard.analysis import (
    certify,
    compare,
    manipulation,
    pairwise,
    rates,
    reliability,
    repeat_agreement,
    seeds,
)

PARITY_NAIVE = "plumbline_parity:plan_execute"


def counts(frame):
    return [tuple(row) for row in frame[["successes", "total"]].to_numpy().tolist()]


@pytest.mark.parametrize(
    ("missing", "expected"),
    [("exclude", (330, 332)), ("recorded", (331, 384)), ("fail", (330, 384))],
)
def test_retry_react_depends_on_what_an_error_counts(tables, missing, expected):
    frame = rates(tables("plumbline_retry"), by="arm", arm="react", missing=missing)
    assert counts(frame) == [expected]
    assert frame["intended"].iloc[0] == 384


def test_parity_tool_fault(tables):
    frame = rates(tables("plumbline_parity"), perturbation="tool_fault")
    assert counts(frame) == [(52, 64), (55, 56)]
    react = frame.iloc[1]
    assert (react["intended"], react["missing"], react["n_clusters"]) == (64, 8, 7)
    assert round(100 * react["estimate"], 1) == 98.2


@pytest.mark.parametrize(
    ("study_and_arm", "bound", "worst", "published"),
    [
        ("plumbline_parity:react", 0.9358, "tool_fault", 0.9434),
        ("plumbline_retry:react", 0.8985, "decoy_tools", 0.9434),
        ("plumbline_determinism:plan_execute", 0.6457, "distractor", 0.8928),
        ("plumbline_determinism:guarded", 0.7009, "decoy_tools", 0.8928),
    ],
)
def test_the_published_bound_is_not_the_minimum(tables, study_and_arm, bound, worst, published):
    study, arm = study_and_arm.split(":")
    found = certify(tables(study), arm, "critical_conformant", missing="exclude")
    assert (round(found.bound, 4), found.worst_perturbation) == (bound, worst)
    assert round(found.plumbline_bound, 4) == published
    assert found.clustered_bound < found.bound


def test_a_perturbation_of_which_nothing_was_scored(tables):
    found = certify(tables("plumbline_determinism"), "guarded", "critical_conformant")
    assert found.unscored_perturbations == ("distractor",)
    assert found.bound_as_intended == 0.0


def test_errors_counted_as_failures_give_another_grade(tables):
    react = tables("plumbline_retry"), "react", "critical_conformant"
    recorded, excluded = (certify(*react, missing=policy) for policy in ("recorded", "exclude"))
    assert (round(recorded.plumbline_bound, 4), recorded.plumbline_grade) == (0.4107, "F")
    assert (round(excluded.plumbline_bound, 4), excluded.plumbline_grade) == (0.9434, "B")


def test_the_fault_reached_one_arm_and_one_repeat(tables):
    parity = tables("plumbline_parity")
    frame = manipulation(parity, perturbation="tool_fault")
    found = frame[["arm", "assigned", "recorded", "applied"]].to_numpy().tolist()
    assert found == [["plan_execute", 64, 64, 32], ["react", 64, 56, 0]]
    by_repeat = manipulation(parity, by="repeat", perturbation="tool_fault", arm="plan_execute")
    assert list(by_repeat["applied"]) == [32, 0]
    assert list(by_repeat["recorded"]) == [32, 32]


def test_where_the_fault_happened_the_rate_is_another(tables):
    row = rates(
        tables("plumbline_parity"),
        arm="plan_execute",
        perturbation="tool_fault",
        population="applied",
    ).iloc[0]
    assert (row["successes"], row["total"], row["not_applied"]) == (20, 32, 32)


def test_most_repeats_of_the_deterministic_arm_are_copies(tables):
    frame = repeat_agreement(tables("plumbline_parity"), by="arm").set_index("arm")
    executor, free = frame.loc["plan_execute"], frame.loc["react"]
    assert (executor["cells"], executor["identical"]) == (192, 160)
    assert executor["distinct_results"] == 224
    assert (free["cells"], free["identical"]) == (177, 38)


def test_headline_comparisons(tables):
    retry = tables("plumbline_retry")
    fault = {"perturbation": "tool_fault", "monte_carlo": (20_000, 11)}
    retries = compare(retry, PARITY_NAIVE, "plan_execute", **fault).iloc[0]
    assert retries["p_monte_carlo"] == pytest.approx(0.0005, abs=5e-5)
    assert retries["p_exact"] == pytest.approx(0.000276845, abs=1e-9)
    free = compare(retry, "plan_execute", "react", **fault).iloc[0]
    assert free["p_monte_carlo"] == pytest.approx(0.4620, abs=5e-5)
    assert free["p_exact"] == pytest.approx(0.4667, abs=5e-5)
    assert free["verdict"] == "inconclusive"
    assert free["smallest_margin"] > free["margin"] == 0.05
    assert free["pairing"] == "partly by task"


def test_published_grouping_with_errors_as_failures(tables):
    frame = compare(
        tables("plumbline_retry"),
        "plan_execute",
        "react",
        "critical_conformant",
        missing="recorded",
        by=(),
    ).iloc[0]
    assert round(100 * frame["difference"], 3) == -13.542
    assert frame["candidate_total"] == 384


def test_tau_bench_pass_hat_k(tables):
    frame = reliability(tables("tau_bench_airline"))
    assert [f"{value:.3f}" for value in frame["pass_hat_k"]] == ["0.420", "0.273", "0.220", "0.200"]
    row = rates(tables("tau_bench_airline"), by=()).iloc[0]
    assert (row["successes"], row["total"], row["n_clusters"]) == (84, 200, 50)
    assert (round(row["low"], 4), round(row["high"], 4)) == (0.3537, 0.4893)
    assert round(row["icc"], 3) == 0.405
    assert row["clustered_low"] < row["low"] < row["high"] < row["clustered_high"]


def test_mle_bench_standard_errors(tables):
    mle = tables("mle_bench_famou")
    frame = seeds(mle, by="variant").set_index("variant")

    def percent(row, name):
        return f"{100 * row[name]:.2f}"

    names = ("mean_over_repeats", "standard_error_over_repeats", "standard_error_over_tasks")
    found = {split: tuple(percent(row, n) for n in names) for split, row in frame.iterrows()}
    assert found == {
        "low": ("62.12", "1.52", "9.88"),
        "medium": ("36.84", "1.52", "6.86"),
        "high": ("33.33", "0.00", "12.60"),
    }
    whole = seeds(mle).iloc[0]
    assert tuple(percent(whole, n) for n in names) == ("43.56", "0.89", "5.29")
    assert (whole["tasks_agreeing"], whole["n_tasks"]) == (62, 75)


def test_autogpt_denominators(tables):
    study = tables("autogpt_benchmarks")
    found = {
        policy: counts(rates(study, by="arm", arm="Auto-GPT", missing=policy))[0]
        for policy in ("exclude", "fail", "recorded")
    }
    assert found["exclude"] == (390, 767)
    assert found["fail"] == (390, 2262)
    assert found["recorded"] == (390, 2260)  # two rows hold no success at all


def test_three_agents_make_three_pairs(tables):
    arms = ["Auto-GPT", "mini-agi", "beebot"]
    frame = pairwise(tables("autogpt_benchmarks"), arms=arms)
    assert list(frame["family_size"]) == [3, 3, 3]
    assert (frame["p_adjusted"] >= frame["p_stratified"]).all()
    assert list(frame["verdict"]) == ["different", "inconclusive", "inconclusive"]
