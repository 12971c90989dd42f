"""Conformance to rules, from the steps of trials and from what a source recorded."""

from __future__ import annotations

import importlib.util

import pandas as pd
import pytest

from analysis.trajectory_trials import trial
from steelyard.analysis import conformance, rates
from steelyard.analysis.conformance import conformance_of_trials
from steelyard.errors import InputError, UnknownNameError
from steelyard.evaluators.invariants import (
    ArgumentEquals,
    ContextFlag,
    MustCall,
    MustNotCall,
    Ordering,
    Policy,
)

RULES = (
    MustCall("check"),
    MustCall("log", severity="medium"),
    Ordering("check", "pay"),
    MustNotCall("pay", when=ContextFlag("should_pay", value=False)),
    ArgumentEquals("pay", "amount", from_context="due"),
)
POLICY = Policy(RULES)
CONTEXTS = {"A": {"should_pay": True, "due": 5}, "B": {"should_pay": False}}
GOOD, WRONG = {"pay": {"amount": 5}}, {"pay": {"amount": 50}}


def trials():
    return [
        trial("check pay log", task="A", **GOOD),
        trial("check pay log", task="A", repeat=1, **WRONG),
        trial("pay check", task="A", perturbation="fault", **GOOD),
        trial("check log", task="B"),
        trial("check! log", task="B", perturbation="fault"),
    ]


def test_rules_are_counted_where_they_apply():
    result = conformance_of_trials(trials(), POLICY, CONTEXTS)
    assert result.overall.counts == (2, 5)
    assert result.critical.counts == (2, 5)
    by_rule = result.by_rule.set_index("rule")
    assert list(by_rule.loc["must_call:check", ["successes", "total"]]) == [4, 5]
    assert list(by_rule.loc["must_not_call:pay", ["successes", "total"]]) == [2, 2]
    assert list(by_rule.loc["arg_equals:pay.amount", ["successes", "total"]]) == [2, 3]
    assert list(result.by_perturbation["successes"]) == [2, 0]
    assert list(result.by_task["successes"]) == [1, 1]
    assert result.worst_perturbation == "fault"
    assert result.evidence == "steps"


def test_violations_are_grouped_and_localised():
    groups = conformance_of_trials(trials(), POLICY, CONTEXTS).violations
    assert list(groups["severity"]) == ["critical"] * 3 + ["medium"]
    assert list(groups["rule"]) == [
        "arg_equals:pay.amount",
        "must_call:check",
        "ordering:check-before-pay",
        "must_call:log",
    ]
    assert list(groups["step_index"].fillna(-1)) == [1, -1, 0, -1]
    assert groups.iloc[2]["trials"] == ("a/A/fault/0/0",)
    assert groups.iloc[2]["perturbations"] == {"fault": 1}


def test_a_task_without_context_is_not_scored():
    odd = [*trials(), trial("pay", task="Z")]
    result = conformance_of_trials(odd, POLICY, CONTEXTS)
    assert (result.intended, result.scored, result.excluded) == (6, 5, 1)
    published = Policy(RULES, compatibility="plumbline")
    lenient = conformance_of_trials(odd, published, CONTEXTS)
    assert lenient.scored == 6
    assert lenient.overall.counts == (2, 6)


def test_rules_about_unrecorded_arguments_are_not_scored():
    result = conformance_of_trials([trial("check pay? log", task="A")], POLICY, CONTEXTS)
    by_rule = result.by_rule.set_index("rule")
    assert list(by_rule.loc["arg_equals:pay.amount", ["total", "excluded"]]) == [0, 1]
    assert (result.overall.counts, result.overall.excluded) == ((0, 0), 1)
    broken = conformance_of_trials([trial("check pay?", task="A")], POLICY, CONTEXTS)
    assert broken.overall.counts == (0, 1)  # the log is lacking whatever was paid
    assert broken.critical.excluded == 1


def test_failed_trials_are_left_out_or_scored_as_recorded():
    failed = [*trials(), trial("", task="B", repeat=1, status="failed")]
    assert conformance_of_trials(failed, POLICY, CONTEXTS).excluded == 1
    recorded = conformance_of_trials(failed, POLICY, CONTEXTS, missing="recorded")
    assert (recorded.scored, recorded.overall.counts) == (6, (2, 6))


def test_the_bound_is_the_lowest_limit_and_plumblines_is_not():
    many = [trial("check log", task="B", repeat=n) for n in range(40)]
    many[0] = trial("log", task="B")
    few = [trial("check log", task="B", repeat=n, perturbation="fault") for n in range(3)]
    result = conformance_of_trials([*many, *few], POLICY, CONTEXTS)
    assert result.worst_perturbation == "fault"
    assert result.bound == pytest.approx(0.438503, abs=5e-7)  # 3 of 3
    assert result.plumbline_worst == "baseline"
    assert result.plumbline_bound == pytest.approx(0.871186, abs=5e-7)  # 39 of 40


def test_without_trials_there_is_nothing_to_check():
    with pytest.raises(InputError, match="no trials to check"):
        conformance_of_trials([], POLICY, CONTEXTS)


def test_frames_and_rows():
    result = conformance_of_trials(trials(), POLICY, CONTEXTS)
    frame = result.to_frame()
    assert list(frame["rule"])[:2] == ["(all)", "(critical)"]
    assert len(frame) == 2 + len(RULES)
    assert result.to_row()["critical_successes"] == 2


# --- what sources recorded -------------------------------------------------------------------


def recorded(small_study, **sections):
    def row(task, held, **more):
        violations = [{"rule": "must_call:check", "severity": "critical"}] if not held else []
        return {
            "task": task,
            "conformant": held,
            "critical_conformant": held,
            "upheld:must_call:check": held,
            "violations": violations,
            **more,
        }

    rules = {"must_call:check": {"severity": "critical"}, "never": {"severity": "low"}}
    return small_study(
        [row("t1", 1), row("t1", 0), row("t2", 1), {"task": "t2", "status": "failed"}],
        rules=rules,
        **sections,
    )


def test_recorded_judgements(small_study):
    result = conformance(recorded(small_study), "a")
    assert (result.evidence, result.intended, result.scored) == ("recorded", 4, 3)
    assert result.critical.counts == (2, 3)
    assert list(result.by_rule["rule"]) == ["must_call:check"]
    assert pd.isna(result.violations.iloc[0]["step_index"])
    failing = conformance(recorded(small_study), "a", missing="fail")
    assert failing.critical.counts == (2, 4)


def test_what_cannot_be_answered_is_refused(small_study):
    tables = recorded(small_study)
    with pytest.raises(InputError, match="missing policy is 'bounds'; accepted for conformance"):
        conformance(tables, "a", missing="bounds")
    with pytest.raises(InputError, match="give both, or neither"):
        conformance(tables, "a", policy=POLICY)
    with pytest.raises(InputError, match="small holds no steps"):
        conformance(tables, "a", policy=POLICY, contexts=CONTEXTS)
    with pytest.raises(UnknownNameError, match="unknown arm 'b'"):
        conformance(tables, "b")
    plain = small_study([{"task": "t", "ok": 1}])
    with pytest.raises(InputError, match="it has no measure 'conformant'"):
        conformance(plain, "a")
    ruleless = small_study([{"task": "t", "conformant": 1, "critical_conformant": 1}])
    with pytest.raises(InputError, match="records no judgements of rules; pass a policy"):
        conformance(ruleless, "a")


# --- the committed studies -------------------------------------------------------------------


@pytest.fixture(scope="module")
def domain(root):
    path = root / "experiments" / "domains" / "procure_to_pay.py"
    spec = importlib.util.spec_from_file_location("procure_to_pay", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("compatibility", [None, "plumbline"])
@pytest.mark.parametrize("arm", ["plan_execute", "react"])
def test_the_rules_find_in_the_steps_what_the_source_recorded(tables, domain, arm, compatibility):
    parity = tables("plumbline_parity")
    policy = Policy(domain.RULES, compatibility=compatibility)
    found = conformance(parity, arm, policy=policy, contexts=domain.CONTEXTS)
    said = conformance(parity, arm)
    assert found.overall.counts == said.overall.counts
    assert found.critical.counts == said.critical.counts
    pairs = [
        {(row.rule, label) for row in result.violations.itertuples() for label in row.trials}
        for result in (found, said)
    ]
    assert pairs[0] == pairs[1]
    counts = [dict(zip(r.by_rule["rule"], r.by_rule["total"], strict=True)) for r in (found, said)]
    assert counts[0] == counts[1]


@pytest.mark.parametrize("study", ["plumbline_determinism", "plumbline_parity", "plumbline_retry"])
@pytest.mark.parametrize("missing", ["exclude", "fail", "recorded"])
def test_conformance_agrees_with_rates(tables, study, missing):
    opened = tables(study)
    result = conformance(opened, "react", missing=missing)
    expected = rates(opened, "critical_conformant", by="perturbation", missing=missing, arm="react")
    columns = ["perturbation", "successes", "total", "low", "high", "clustered_low"]
    pd.testing.assert_frame_equal(result.by_perturbation[columns], expected[columns])


def test_every_published_violation_count_comes_out(tables):
    checked = 0
    for study in ("plumbline_determinism", "plumbline_parity", "plumbline_retry"):
        claims = tables(study).frame("claims")
        claims = claims[claims["metric"] == "violation_count"]
        for arm, of_arm in claims.groupby("arm"):
            groups = conformance(tables(study), arm, missing="recorded").violations
            for claim in of_arm.itertuples():
                rule = claim.note.split(";")[0]
                rows = groups[groups["rule"] == rule]
                counts = [
                    row["count"]
                    if claim.scope == "overall"
                    else row["perturbations"].get(claim.scope, 0)
                    for row in rows.to_dict("records")
                ]
                assert sum(counts) == claim.value, claim.claim
                checked += 1
    assert checked > 80
