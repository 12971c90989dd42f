"""Arms held against one arm at every gate: counts, difference, tests, kappa."""

from __future__ import annotations

import math

import pytest

from analysis.gate_trials import gates, row, study
from steelyard.analysis.gates_divergence import gate_divergence
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import clustered_difference, mcnemar

TASKS = [f"door {number}" for number in range(6)]


def arm(*values, repeats=1):
    return {
        task: [gates(lock=value, lamp=1)] * repeats
        for task, value in zip(TASKS, values, strict=True)
    }


def divergence(reference, other, **options):
    return gate_divergence(study({"fine": reference, "other": other}), "fine", **options)


def test_pairs_are_counted_by_outcome():
    found = row(divergence(arm(1, 1, 1, 1, 0, 0), arm(1, 0, 0, 0, 1, None)), gate="lock")
    assert [found[name] for name in ("both_pass", "reference_only", "candidate_only")] == [1, 3, 1]
    assert (found["both_fail"], found["pairs"], found["one_sided"]) == (0, 5, 1)
    assert found["p_mcnemar"] == mcnemar(3, 1).exact
    assert found["p_sign_flip"] == pytest.approx(found["p_mcnemar"])
    assert found["difference"] == pytest.approx(-0.4)


def test_the_interval_is_that_of_the_tasks_differences():
    own, other = (1, 1, 1, 1, 0, 0), (1, 0, 0, 0, 1, 0)
    found = row(divergence(arm(*own, repeats=2), arm(*other, repeats=2)), gate="lock")
    expected = clustered_difference(own, TASKS, other, TASKS)
    assert (found["low"], found["high"]) == pytest.approx((expected.low, expected.high))
    assert (found["tasks"], found["tasks_differing"], found["pairs"]) == (6, 4, 12)


def test_copies_add_no_evidence():
    own, other = (1, 1, 1, 1, 1, 1), (0, 0, 0, 0, 0, 1)
    once, often = (
        row(divergence(arm(*own, repeats=n), arm(*other, repeats=n)), gate="lock") for n in (1, 4)
    )
    assert (once["reference_only"], often["reference_only"]) == (5, 20)
    assert once["p_mcnemar"] == often["p_mcnemar"] == 0.0625
    assert once["p_adjusted"] == often["p_adjusted"]


def test_kappa_by_hand_and_where_it_has_no_meaning():
    # agree in 4 of 6; passes 4/6 and 4/6: expected 20/36, kappa = (4/6 - 20/36)/(16/36)
    found = divergence(arm(1, 1, 1, 1, 0, 0), arm(1, 1, 1, 0, 1, 0))
    assert row(found, gate="lock")["kappa"] == pytest.approx((4 / 6 - 20 / 36) / (16 / 36))
    assert math.isnan(row(found, gate="lamp")["kappa"])  # both pass always
    against_faultless = divergence(arm(1, 1, 1, 1, 1, 1), arm(1, 1, 1, 1, 1, 0))
    assert row(against_faultless, gate="lock")["kappa"] == 0.0
    opposite = divergence(arm(1, 1, 1, 0, 0, 0), arm(0, 0, 0, 1, 1, 1))
    assert row(opposite, gate="lock")["kappa"] == -1.0


def test_a_gate_without_a_pair_is_not_tested_and_not_counted():
    found = divergence(arm(1, 1, 1, 1, 1, 1), arm(*[None] * 6))
    lock = row(found, gate="lock")
    assert (lock["pairs"], lock["one_sided"]) == (0, 6)
    assert all(math.isnan(lock[name]) for name in ("p_mcnemar", "p_adjusted", "difference"))
    assert set(found["family_size"]) == {2}  # lamp, and did, which the design calls no event


def test_a_family_is_an_arm_or_everything():
    tables = study(
        {"fine": arm(*[1] * 6), "open": arm(*[0] * 6), "shut": arm(*[1] * 6)}, harmful=["did"]
    )
    raw = 2 / 2**6
    assert row(gate_divergence(tables, "fine"), arm="open", gate="lock")["p_adjusted"] == 2 * raw
    together = gate_divergence(tables, "fine", family="all")
    assert row(together, arm="open", gate="lock")["p_adjusted"] == 4 * raw
    summed = gate_divergence(tables, "fine", by="arm")
    open_door = row(summed, arm="open")
    assert (open_door["gates"], open_door["gates_differing"]) == (2, 1)
    assert (open_door["pairs"], open_door["discordant"]) == (12, 6)
    assert (open_door["p_adjusted"], open_door["family_size"]) == (2 * raw, 2)
    assert row(summed, arm="shut")["p_adjusted"] == 1.0


def test_arms_without_a_case_in_common_are_refused():
    apart = study({"fine": {"x": [gates(lock=1)]}, "other": {"y": [gates(lock=1)]}})
    with pytest.raises(InputError, match="no trial of another arm has a pair"):
        gate_divergence(apart, "fine")


def test_words_and_names_that_are_not_there_are_refused():
    tables = study({"fine": arm(*[1] * 6), "other": arm(*[1] * 6)})
    with pytest.raises(UnknownNameError, match="arm"):
        gate_divergence(tables, "nobody")
    with pytest.raises(InputError, match="by is 'task'; accepted: gate, arm"):
        gate_divergence(tables, "fine", by="task")
    with pytest.raises(InputError, match="family is 'gate'; accepted: arm, all"):
        gate_divergence(tables, "fine", family="gate")
