"""The randomisation tests: exact where they claim it, valid under the null, and able to see."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.analysis.order_coverage import ordered_triples
from steelyard.analysis.order_randomisation import order_test, state_test
from steelyard.analysis.order_schedule import Design, sampled_design, shuffled_places


@pytest.mark.parametrize("rows", [[[0, 0], [1, 1], [0, 0]], [[0, 0, 0], [1, 1, 1]]])
def test_full_agreement_has_the_probability_of_all_arrangements(rows):
    labels = np.array(rows)
    arrangements = [
        np.array(arrangement).reshape(labels.shape)
        for arrangement in itertools.permutations(labels.reshape(-1))
    ]
    pure = sum((a == a[:, :1]).all() for a in arrangements)
    assert order_test(labels) == pytest.approx(pure / len(arrangements), rel=1e-12)


def test_a_probability_below_every_double_is_not_0():
    labels = np.repeat(np.arange(2), 300)[:, None].repeat(3, axis=1)
    assert order_test(labels) == 5e-324


def test_there_is_nothing_to_test_without_a_difference():
    assert order_test(np.zeros((4, 3), dtype=int)) is None
    assert order_test(np.arange(4).reshape(4, 1)) is None
    assert state_test(np.array([[0, 0], [1, 1]]), np.arange(4).reshape(2, 2)) is None


def schedule(orders, repeats, seed):
    """Return the numbers of the calls, per order and repeat."""
    places = np.array(shuffled_places(orders, repeats, seed))
    return np.stack([np.flatnonzero(places == order) for order in range(orders)])


def test_pure_state_is_seldom_taken_for_an_effect_of_the_order():
    # Results go with the number of the call; the schedule is what is random.
    p_values = []
    for seed in range(100):
        calls = schedule(10, 3, seed)
        p_values.append(order_test((calls % 5 == 0).astype(int), seed))
    assert np.mean(np.array(p_values) <= 0.1) <= 0.17  # 100 draws at 0.1: 0.17 is 2.3 sd above


def test_pure_chance_is_seldom_taken_for_state():
    random = np.random.default_rng(1)
    p_values = []
    for seed in range(30):
        labels = (random.random((12, 3)) < 0.3).astype(int)
        found = state_test(labels, schedule(12, 3, seed), seed)
        if found is not None:
            p_values.append(found)
    assert len(p_values) > 25
    assert np.mean(np.array(p_values) <= 0.1) <= 0.24  # 30 draws at 0.1: 0.24 is 2.6 sd above


@pytest.mark.parametrize(
    "state",
    [
        lambda call: call % 2,
        lambda call: call % 7 == 0,
        lambda call: call >= 60,
        lambda call: (call // 6) % 2,
    ],
    ids=["every second call", "every seventh call", "from a call on", "in runs"],
)
def test_state_is_seen(state):
    calls = schedule(40, 3, 3)
    labels = np.vectorize(state)(calls).astype(int)
    assert state_test(labels, calls) < 0.05
    assert order_test(labels) > 0.05


def test_an_effect_of_the_order_is_seen_through_noise():
    random = np.random.default_rng(2)
    labels = np.repeat(np.arange(40)[:, None] % 2, 3, axis=1)
    noisy = np.where(random.random(labels.shape) < 0.1, 1 - labels, labels)
    assert order_test(noisy) <= 0.001
    assert state_test(noisy, schedule(40, 3, 4)) > 0.05


def test_random_orders_are_uniform():
    design = sampled_design(3, 6000, 0, seed=11)
    counts = np.bincount(design.draws, minlength=len(design.orders))
    # chi-square with 5 degrees of freedom: 20.5 is the 0.999 quantile
    assert ((counts - 1000) ** 2 / 1000).sum() < 20.5


@given(st.lists(st.permutations(range(4)), min_size=1, max_size=30))
def test_ordered_triples_are_counted_as_by_hand(orders):
    design = Design()
    for order in orders:
        design.add(tuple(order), "random")
    seen = {
        triple
        for order in orders
        for triple in itertools.combinations(order, 3)  # in the sequence of the order
    }
    assert ordered_triples(design.places()) == (len(seen), 24)


@pytest.mark.parametrize("rules", [2, 33])
def test_ordered_triples_are_not_counted_of_too_few_or_too_many(rules):
    assert ordered_triples(sampled_design(rules, 3, 0, seed=0).places()) is None


def test_swaps_are_uniform_over_places_and_differ_by_one_swap():
    design = sampled_design(4, 1, 3000, seed=5)
    places = []
    for swap in design.swaps:
        left, right = design.orders[swap.a_first], design.orders[swap.b_first]
        place = left.index(swap.rule_a)
        assert left[place + 1] == swap.rule_b
        assert right == (*left[:place], swap.rule_b, swap.rule_a, *left[place + 2 :])
        places.append(place)
    counts = np.bincount(places)
    assert ((counts - 6000) ** 2 / 6000).sum() < 13.8  # 2 degrees of freedom, 0.999 quantile
