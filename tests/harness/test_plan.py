"""The plan: which trials, with which seeds and variants, at what cost and power."""

from __future__ import annotations

import dataclasses

import pytest

from steelyard.errors import StudyError
from steelyard.harness.design import summarise
from steelyard.harness.plan import count_trials, make_variants, plan_trials
from steelyard.harness.protocols import Variant
from steelyard.harness.trial import seed_of
from steelyard.stats import power_exact_permutation, wilson_interval
from steelyard.trials.ids import TrialKey

TWO_ARMS = {"steady": {"entry": "toy:steady"}, "hasty": {"entry": "toy:Impatient"}}


def test_every_combination_once(toy):
    study = toy(
        arms=TWO_ARMS,
        perturbations={
            "baseline": {"entry": "toy:Baseline"},
            "fault": {"entry": "toy:Fault", "variants": 4},
        },
        variants=2,
        repeats=3,
    )
    trials = list(plan_trials(study, make_variants(study)))
    assert len({trial.key for trial in trials}) == len(trials) == 2 * 3 * (2 + 4) * 3
    assert count_trials(study) == len(trials)
    assert trials[0].key == TrialKey("steady", "t0", "baseline", "0", 0)


def test_seeds_follow_from_the_key_alone(toy):
    key = TrialKey("a", "t", "baseline", "0", 0)
    assert seed_of(7, key) == seed_of(7, TrialKey("a", "t", "baseline", "0", 0))
    assert seed_of(7, key) != seed_of(8, key)
    assert seed_of(7, key) != seed_of(7, dataclasses.replace(key, repeat=1))
    assert 0 <= seed_of(7, key) < 2**63
    study = toy(repeats=20, variants=10)
    seeds = [trial.seed for trial in plan_trials(study, make_variants(study))]
    assert len(set(seeds)) == len(seeds)


def test_variants_do_not_depend_on_the_other_perturbations_or_tasks(toy):
    whole = make_variants(toy(variants=3))
    part = make_variants(
        toy(name="part", perturbations={"fault": {"entry": "toy:Fault"}}, tasks=["t1"], variants=3)
    )
    assert part.metas["fault", "t1"] == whole.metas["fault", "t1"]
    assert whole.metas["fault", "t1"] != whole.metas["fault", "t2"]
    assert len(set(whole.metas["fault", "t1"])) > 1


def test_discarded_variants_are_counted(toy):
    discarding = {"fault": {"entry": "toy:Fault", "parameters": {"discard": 1}}}
    study = toy(perturbations=discarding, variants=3)
    made = make_variants(study)
    assert made.discarded == {("fault", task): 1 for task in ("t0", "t1", "t2")}
    assert len(list(plan_trials(study, made))) == 3 * 2


@pytest.mark.parametrize(
    ("variants", "says"),
    [
        ([Variant(1)], "variants are numbered .1."),
        ([Variant(0), Variant(1), Variant(2)], "3 variants where 2 were asked for"),
        ([Variant(0, {"x": float("nan")})], "meta is not JSON"),
    ],
)
def test_variants_that_cannot_be(toy, variants, says, monkeypatch):
    study = toy(perturbations={"baseline": {"entry": "toy:Baseline"}}, variants=2)
    perturbation = study.perturbations["baseline"]
    monkeypatch.setattr(perturbation, "variants", lambda *_: variants, raising=False)
    with pytest.raises(StudyError, match=says):
        make_variants(study)


def test_variants_written_with_a_model(toy):
    study = toy(
        perturbations={"written": {"entry": "toy:Written"}},
        model={"entry": "toy:Models"},
        variants=2,
    )
    with pytest.raises(StudyError, match="with a model"):
        make_variants(study)
    models = study.models()
    made = make_variants(study, models)
    assert models.asked == ["variants/written/t0", "variants/written/t1", "variants/written/t2"]
    assert made.metas["written", "t1"][1] == '{"text":"variants/written/t1: 1"}'


COMPARISON = {
    "name": "hasty against steady",
    "measure": "reached",
    "reference": "steady",
    "candidate": "hasty",
    "margin": 0.1,
}


def test_power_bound_and_calls_before_anything_is_spent(toy):
    study = toy(
        arms={
            "steady": {"entry": "toy:steady", "model_calls": 3},
            "hasty": {"entry": "toy:Impatient"},
        },
        comparisons=[COMPARISON, {**COMPARISON, "name": "f", "perturbations": ["fault"]}],
        variants=2,
        repeats=4,
        expected={"steady": 0.95, "hasty": 0.5},
    )
    summary = summarise(study)
    assert (summary.trials, summary.model_calls) == (2 * 3 * 4 * 4, 3 * 3 * 4 * 4)
    arms = summary.arms.set_index("arm")
    assert arms.loc["hasty", "best_bound"] == wilson_interval(24, 24).low
    assert arms.loc["hasty", "best_clustered_bound"] < arms.loc["hasty", "best_bound"]
    first, second = summary.comparisons.to_dict("records")
    assert first["power"] == power_exact_permutation(0.95, 0.5, 48, 48).power
    assert first["power_of_tasks"] == power_exact_permutation(0.95, 0.5, 3, 3).power
    assert second["trials"] == 24
    assert summary.perturbations["trials_per_arm"].tolist() == [24, 24]


@pytest.mark.parametrize(
    ("expected", "rates"),
    [
        ({}, (0.5, 0.4)),
        ({"steady": 0.9}, (0.9, 0.8)),
        ({"steady": 0.2}, (0.2, pytest.approx(0.3))),
        ({"hasty": 0.9}, (0.8, 0.9)),
        ({"steady": 0.3, "hasty": 0.6}, (0.3, 0.6)),
    ],
)
def test_rates_that_are_not_declared_are_assumed(toy, expected, rates):
    study = toy(arms=TWO_ARMS, comparisons=[COMPARISON], expected=expected)
    row = summarise(study).comparisons.iloc[0]
    assert (row.reference_rate, row.candidate_rate) == (
        pytest.approx(rates[0]),
        pytest.approx(rates[1]),
    )


def test_power_that_cannot_be_stated_has_a_reason(toy):
    study = toy(
        arms=TWO_ARMS,
        comparisons=[
            {**COMPARISON, "reference": "elsewhere:arm"},
            {**COMPARISON, "name": "many"},
        ],
        repeats=400,
    )
    elsewhere, many = summarise(study).comparisons.to_dict("records")
    assert "another study" in elsewhere["reason"]
    assert "4,000" in many["reason"]
    assert many["power_of_tasks"] >= 0
