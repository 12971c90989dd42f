"""The committed studies load, and their tables give what was published about them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from steelyard.store.declaration import read_declarations
from steelyard.store.tables import study_names

PLUMBLINE = ("plumbline_determinism", "plumbline_parity", "plumbline_retry")
PUBLISHED = ("autogpt_benchmarks", "mle_bench_famou", *PLUMBLINE, "tau_bench_airline")
STUDIES = tuple(read_declarations(Path(__file__).resolve().parents[2]))


def test_every_declared_study_is_in_the_database(database):
    assert tuple(study_names(database)) == STUDIES
    assert set(PUBLISHED) <= set(STUDIES)


@pytest.mark.parametrize(
    ("study", "completed", "failed", "missing"),
    [
        ("plumbline_determinism", 494, 82, 0),
        ("plumbline_parity", 738, 0, 30),
        ("plumbline_retry", 716, 52, 0),
        ("tau_bench_airline", 200, 0, 0),
        ("mle_bench_famou", 225, 0, 0),
        ("autogpt_benchmarks", 6799, 142, 16228),
    ],
)
def test_what_became_of_the_trials(tables, study, completed, failed, missing):
    trials = tables(study).frame("trials")
    counts = trials["status"].value_counts().to_dict()
    expected = {"completed": completed, "failed": failed, "missing": missing}
    assert counts == {name: count for name, count in expected.items() if count}
    assert trials.loc[trials["status"].ne("completed"), "error"].notna().all()
    assert trials.loc[trials["status"].eq("completed"), "error"].isna().all()


def test_the_source_rows_are_all_accounted_for(tables):
    autogpt = tables("autogpt_benchmarks")
    assert len(autogpt.frame("trials")) + autogpt.frame("skipped_rows")["rows"].sum() == 25869


@pytest.mark.parametrize("study", STUDIES)
def test_every_declared_measure_exists_and_every_arm_has_trials(tables, study):
    loaded = tables(study)
    assert set(loaded.design.measures.all) <= set(loaded.frame("measures")["measure"])
    assert set(loaded.frame("trials")["arm"]) == set(loaded.design.design.arms)
    assert set(loaded.frame("trials")["perturbation"]) == set(loaded.design.design.perturbations)
    assert set(loaded.frame("claims")["measure"].dropna()) <= {
        *loaded.frame("measures")["measure"],
        "perturbation_applied",
    }


def _values(tables, study, measure, policy):
    loaded = tables(study)
    trials, measures = loaded.frame("trials"), loaded.frame("measures")
    merged = trials.merge(measures[measures["measure"].eq(measure)], on="trial_id")
    merged = merged[merged["measured"]]
    return merged if policy == "recorded" else merged[merged["status"].eq("completed")]


def _in_scope(values, scope):
    if scope == "overall" or scope.startswith("invariant:"):
        return values
    if scope.startswith("task:"):
        return values[values["task"].eq(scope.removeprefix("task:"))]
    perturbation, _, repeat = scope.partition(" repeat:")
    values = values[values["perturbation"].eq(perturbation)]
    return values[values["repeat"].eq(int(repeat))] if repeat else values


@pytest.mark.parametrize("study", PLUMBLINE)
def test_every_published_rate_is_in_the_tables(tables, study):
    """Counts by the declared measure and missing policy equal the printed successes and total."""
    claims = tables(study).frame("claims")
    rates = claims[claims["statistic"].eq("rate") & claims["total"].gt(0)]
    assert len(rates) > 100
    wrong = []
    known = {}
    for claim in rates.itertuples():
        # The README's column "no retry" belongs to the parity study and is loaded with it.
        chosen = (claim.measure, claim.missing_policy)
        if chosen not in known:
            known[chosen] = _values(tables, study, *chosen)
        values = _in_scope(known[chosen].query("arm == @claim.arm"), claim.scope)
        found = (int(values["value"].sum()), len(values))
        if found != (claim.successes, claim.total):
            wrong.append((claim.claim, found, (claim.successes, claim.total)))
    assert wrong == []


@pytest.mark.parametrize("study", PLUMBLINE)
def test_critical_conformance_is_the_absence_of_critical_violations(tables, study):
    loaded = tables(study)
    violations = loaded.frame("violations")
    broken = set(violations.loc[violations["severity"].eq("critical"), "trial_id"])
    recorded = _values(tables, study, "critical_conformant", "recorded")
    assert [value == 0 for value in recorded["value"]] == [
        trial in broken for trial in recorded["trial_id"]
    ]


def test_no_published_number_is_lost(database, root):
    published = pd.read_csv(
        root / "data/plumbline/published.csv", dtype=str, keep_default_na=False
    ).set_index("claim_id")
    loaded = database.sql("SELECT * FROM claims WHERE starts_with(study, 'plumbline')").df()
    loaded = loaded.set_index("claim")
    assert len(published) == 1238
    assert set(published.index) <= set(loaded.index)
    both = loaded.loc[published.index]
    assert list(both["metric"]) == list(published["metric"])
    for printed, column in (("value", "value"), ("ci_low", "low"), ("p_value", "p_value")):
        blank = published[printed].eq("")
        assert list(blank) == list(both[column].isna())
        assert list(published.loc[~blank, printed].astype(float)) == list(both.loc[~blank, column])
    grades = both[both["statistic"].eq("grade")]
    assert list(grades["text"]) == [note[6] for note in grades["note"]]
    assert both.loc["readme.naive_to_retry", "study"] == "plumbline_retry"
    assert both.loc["readme.trajectories", "study"] == "plumbline_retry"


def test_the_fault_reached_one_repeat_of_one_arm(tables):
    trials = tables("plumbline_parity").frame("trials")
    assert trials.loc[trials["perturbation"].ne("tool_fault"), "perturbation_applied"].isna().all()
    known = trials[trials["perturbation_applied"].notna()]
    by_cell = known.groupby(["arm", "repeat"])["perturbation_applied"].agg(["sum", "count"])
    assert by_cell.loc[("plan_execute", 0)].tolist() == [32, 32]
    assert by_cell.loc[("plan_execute", 1)].tolist() == [0, 32]
    assert by_cell.loc["react"].sum().tolist() == [0, 56]


def test_states_hold_typed_ledgers(tables):
    states = tables("plumbline_retry").frame("states").set_index("trial_id")["state"]
    ledger = json.loads(states["plan_execute/INV-7009/baseline/0/0"])
    assert ledger == {
        "amount_paid": 14500,
        "approvals": 1,
        "exception_raised": False,
        "paid": True,
        "payment_count": 1,
    }


def test_a_blank_step_error_is_success_and_arguments_are_objects(tables):
    steps = tables("plumbline_parity").frame("steps")
    assert len(steps) == 5135
    assert steps["error"].isna().sum() == 4821
    assert all(isinstance(json.loads(text), dict) for text in steps["arguments"])


def test_tests_that_never_ran_are_missing_with_their_recorded_zero(tables):
    loaded = tables("autogpt_benchmarks")
    trials = loaded.frame("trials").merge(
        loaded.frame("measures").query("measure == 'success'"), on="trial_id"
    )
    test = trials[trials["arm"].eq("Auto-GPT") & trials["variant"].eq("test")]
    assert (int(test["value"].sum()), len(test)) == (390, 2262)
    ran = test[test["status"].eq("completed") & test["measured"]]
    assert (int(ran["value"].sum()), len(ran)) == (390, 767)


def test_the_ignored_success_column_of_mle_bench_is_a_copy(root):
    rows = pd.read_csv(root / "data/mle_bench_famou/trials.csv.gz", dtype=str)
    assert rows["success"].equals(rows["any_medal"].rename("success"))


def test_seconds_became_milliseconds_and_none_became_null(tables):
    walls = tables("autogpt_benchmarks").frame("trials")["wall_ms"]
    assert walls.median() == 2.0
    costs = tables("tau_bench_airline").frame("measures").query("measure == 'user_cost_usd'")
    assert (~costs["measured"]).sum() == 5
