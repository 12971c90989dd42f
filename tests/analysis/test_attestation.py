"""Controls tested on trials."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from analysis.trajectory_trials import trial
from steelyard.analysis import attest
from steelyard.analysis.attestation import attest_trials
from steelyard.analysis.control_sampling import upper_deviation_limit
from steelyard.errors import InputError, UnknownNameError
from steelyard.evaluators.invariants import ContextFlag, MustCall, MustNotCall, Ordering, Policy
from steelyard.store.declaration import Control
from vectors import adapters_trajectories as adapters

VECTORS = Path(__file__).resolve().parents[1] / "vectors" / "plumbline"

POLICY = Policy(
    [
        MustCall("check"),
        Ordering("check", "pay"),
        MustNotCall("pay", when=ContextFlag("should_pay", value=False)),
        MustCall("approve", when=ContextFlag("large")),
    ]
)
CONTEXTS = {"A": {"should_pay": True}, "B": {"should_pay": False}}


def control(*rules, rate=0.0, name="C") -> Control:
    return Control(id=name, title="t", rules=rules, tolerable_rate=rate)


CHECKED = control("must_call:check", "ordering:check-before-pay", name="checked")
HELD = control("must_not_call:pay", "must_call:approve", name="held")


def trials():
    return [
        trial("check pay", task="A"),
        trial("pay", task="A", perturbation="fault"),
        trial("check", task="B"),
        trial("check pay", task="B", repeat=1),
        trial("", task="B", repeat=2, status="failed"),
    ]


def test_a_trial_deviates_once_however_many_rules_it_breaks():
    rows = attest_trials(trials(), POLICY, CONTEXTS, [CHECKED, HELD]).set_index("control")
    checked = rows.loc["checked"]
    assert (checked["intended"], checked["excluded"]) == (5, 1)
    assert (checked["tested"], checked["deviations"], checked["verdict"]) == (4, 1, "deficient")
    assert checked["trials"] == ("a/A/fault/0/0",)
    assert checked["perturbations"] == {"fault": 1}
    assert checked["upper_limit"] == upper_deviation_limit(1, 4)
    assert checked["n_clusters"] == 2


def test_a_control_is_tested_where_its_rules_apply():
    held = attest_trials(trials(), POLICY, CONTEXTS, [HELD]).iloc[0]
    assert (held["tested"], held["deviations"]) == (2, 1)
    assert held["untested_rules"] == ("must_call:approve",)
    assert held["clustered_upper_limit"] == 1.0  # one task


def test_a_control_that_no_trial_tests():
    row = attest_trials(trials(), POLICY, CONTEXTS, [control("must_call:approve")]).iloc[0]
    assert (row["tested"], row["verdict"], row["clustered_verdict"]) == (
        0,
        "not tested",
        "not tested",
    )
    assert row["upper_limit"] == row["clustered_upper_limit"] == 1.0
    assert row["untested_rules"] == ("must_call:approve",)
    assert row["reason"] == "no rule of the control is known to apply to any of 4 scored trials"
    failed = [trial("", task="B", status="failed")]
    row = attest_trials(failed, POLICY, CONTEXTS, [CHECKED]).iloc[0]
    assert (row["verdict"], row["reason"]) == ("not tested", "none of 1 trials is scored")


def test_a_population_that_one_control_exceeds_does_not_end_the_others():
    rows = attest_trials(trials(), POLICY, CONTEXTS, [CHECKED, HELD], population=2)
    assert list(rows["tested"]) == [4, 2]
    assert rows["population"].isna().tolist() == [True, False]
    assert list(rows["full_population"]) == [False, True]
    assert list(rows["reason"]) == [
        "population is 2, but 4 trials test the control: taken as a sample",
        "",
    ]
    with pytest.raises(InputError, match="population is 1, but each control was tested at least 2"):
        attest_trials(trials(), POLICY, CONTEXTS, [CHECKED, HELD], population=1)


def test_repeats_of_one_task_are_no_new_transactions():
    many = [trial("check", task="B", repeat=n) for n in range(100)]
    row = attest_trials(many, POLICY, CONTEXTS, [control("must_call:check", rate=0.05)]).iloc[0]
    assert (row["verdict"], row["clustered_verdict"]) == ("effective", "inconclusive")


def test_the_whole_population_is_claimed_by_the_caller_only():
    clean = [trial("check", task="B", repeat=n) for n in range(3)]
    options = {"policy": POLICY, "contexts": CONTEXTS, "controls": [control("must_call:check")]}
    sample = attest_trials(clean, **options).iloc[0]
    everything = attest_trials(clean, population=3, **options).iloc[0]
    assert pd.isna(sample["population"])
    assert (sample["verdict"], everything["verdict"]) == ("inconclusive", "effective")


def test_what_is_refused(small_study):
    tables = small_study([{"task": "t", "conformant": 1}])
    with pytest.raises(InputError, match="small declares no controls"):
        attest(tables, "a")
    with pytest.raises(InputError, match="no controls to test"):
        attest_trials(trials(), POLICY, CONTEXTS, [])
    with pytest.raises(InputError, match=r"confidence is 0\.4"):
        attest_trials(trials(), POLICY, CONTEXTS, [HELD], confidence=0.4)


class TestCommittedStudies:
    def test_the_executor_without_retries(self, tables):
        rows = attest(tables("plumbline_parity"), "plan_execute").set_index("control")
        assert list(rows.index) == [f"P2P.{n}" for n in ("01", "02", "03", "04", "05", "06", "10")]
        assert list(rows["deviations"]) == [16, 8, 8, 4, 0, 0, 0]
        assert list(rows["tested"]) == [384, 384, 384, 48, 384, 240, 384]
        assert list(rows["verdict"])[:4] == ["deficient"] * 4
        assert rows.loc["P2P.10", "verdict"] == "effective"
        assert rows.loc["P2P.05", "verdict"] == "inconclusive"
        assert rows.loc["P2P.01", "perturbations"] == {"tool_fault": 16}

    def test_policies_change_the_sample(self, tables):
        retry = tables("plumbline_retry")
        assert attest(retry, "react").iloc[0]["tested"] == 332
        assert attest(retry, "react", missing="recorded").iloc[0]["tested"] == 384
        one = attest(retry, "react", perturbation="baseline")
        assert one.iloc[0]["tested"] < 332

    def test_unknown_names(self, tables):
        with pytest.raises(UnknownNameError, match="did you mean 'react'"):
            attest(tables("plumbline_retry"), "raect")


@pytest.mark.parametrize("case", ["ap_all_good", "ap_naive_fault", "ap_dup_paid"])
def test_populations_and_deviations_are_those_that_plumbline_counts(tables, case):
    """The vectors themselves are not replayed: they claim the whole population (limits of 0)."""
    document = json.loads((VECTORS / "attest.json").read_text(encoding="utf-8"))
    found = next(c for c in document["cases"] if c["id"].startswith(f"attest-{case}"))
    policy = Policy(adapters.procure_to_pay.RULES, compatibility="plumbline")
    rows = attest_trials(
        adapters.trials(found["input"]),
        policy,
        adapters.procure_to_pay.CONTEXTS,
        tables("plumbline_parity").design.controls,
        missing="recorded",
    ).set_index("control")
    for control_row in found["expected"]["controls"]:
        row = rows.loc[control_row["id"]]
        assert (row["tested"], row["deviations"]) == (control_row["pop"], control_row["deviations"])
        assert row["perturbations"] == control_row["by_perturbation"]
