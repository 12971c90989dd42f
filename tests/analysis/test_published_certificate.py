"""Plumbline's certificate and arm comparison under their own names."""

from __future__ import annotations

import math

import pytest

from analysis.trajectory_trials import trial
from steelyard.analysis.published_certificate import (
    evidence_hash,
    published_certificate,
    published_comparison,
)
from steelyard.errors import InputError
from steelyard.evaluators.invariants import MustCall, Policy
from steelyard.evaluators.outcome import ExpectedState

POLICY = Policy([MustCall("check")], compatibility="plumbline")
EXPECTED = {"T": ExpectedState({"ok": True})}


def trials(bad=1):
    made = [trial("check", repeat=n, state={"ok": n > 0}) for n in range(40)]
    made[:bad] = [trial("pay", repeat=n, state={"ok": True}) for n in range(bad)]
    few = [trial("check", repeat=n, perturbation="fault") for n in range(3)]
    return made + few


def test_the_bound_is_not_the_lowest_limit():
    result = published_certificate(trials(), POLICY, {}, expected_states=EXPECTED)
    assert (result.worst_perturbation, result.grade) == ("baseline", "B")
    assert result.bound == pytest.approx(0.871186, abs=5e-7)  # 39 of 40
    assert result.lowest_bound == pytest.approx(0.438503, abs=5e-7)  # 3 of 3
    assert result.outcome.counts == (40, 43)  # a state that was not read is a failure
    assert result.consistency.structural.counts == (42, 43)


def test_without_expected_states_no_outcome_is_graded():
    result = published_certificate(trials(), POLICY, {})
    assert (result.outcome.total, result.outcome.high) == (0, 0.0)
    unknown = published_certificate(trials(), POLICY, {}, expected_states={"other": EXPECTED["T"]})
    assert unknown.outcome.counts == (0, 43)


def test_the_evidence_hash_ignores_what_was_paid():
    one = [trial("pay", pay={"amount": 5})]
    ten = [trial("pay", pay={"amount": 50})]
    assert evidence_hash(one) == evidence_hash(ten)
    assert evidence_hash(one) != evidence_hash([trial("check")])
    two = [trial("a"), trial("b", repeat=1)]
    assert evidence_hash(two) == evidence_hash(two[::-1])


def test_arms_are_compared_in_critical_conformance():
    both = [
        *[trial("check", arm="x", repeat=n) for n in range(5)],
        *[trial("pay", arm="y", repeat=n) for n in range(5)],
        trial("check", arm="y", perturbation="fault"),
    ]
    result = published_comparison(both, POLICY, {}, ("x", "y"), "baseline")
    assert (result.a_rate.counts, result.b_rate.counts) == ((5, 5), (0, 5))
    assert result.difference_points == -100.0
    assert result.p_value == pytest.approx(2 / math.comb(10, 5), abs=0.002)
    assert result.significant
    absent = published_comparison(both, POLICY, {}, ("x", "z"))
    assert (absent.p_value, absent.b_rate.total) == (1.0, 0)
    nothing = published_comparison(both, POLICY, {}, ("x", "y"), "sampling")
    assert (nothing.p_value, nothing.a_rate.counts, nothing.difference_points) == (1.0, (0, 0), 0.0)


def test_another_reading_is_refused():
    ours = Policy([MustCall("check")])
    with pytest.raises(InputError, match="compatibility='plumbline'"):
        published_certificate(trials(), ours, {})
    with pytest.raises(InputError, match="compatibility='plumbline'"):
        published_comparison(trials(), ours, {}, ("a", "b"))
    with pytest.raises(InputError, match="no trials"):
        published_certificate([], POLICY, {})
