from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats import (
    clustered_difference,
    clustered_two_one_sided_tests,
    miettinen_nurminen_interval,
    newcombe_interval,
    smallest_margin,
    two_one_sided_tests,
    verdict,
)

side = st.integers(1, 50).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
TASKS = [str(i // 4) for i in range(40)]


@settings(deadline=None)
@given(side, side, st.floats(0.01, 0.9), st.sampled_from([0.01, 0.05]))
def test_the_tests_reject_exactly_when_the_interval_is_inside(a, b, margin, alpha) -> None:
    found = two_one_sided_tests(*a, *b, margin=margin, alpha=alpha)
    if abs(found.smallest_margin - margin) > 1e-6:
        assert found.equivalent == (found.p_value < alpha)
    assert found.level == pytest.approx(1 - 2 * alpha)
    assert found.p_value == max(found.p_lower, found.p_upper)
    assert 0 < found.p_value <= 1


@given(side, side)
def test_the_smallest_margin_is_where_it_turns(a, b) -> None:
    margin = two_one_sided_tests(*a, *b, margin=0.5).smallest_margin
    if 0.001 < margin < 0.999:
        assert two_one_sided_tests(*a, *b, margin=margin * 1.0001).equivalent
        assert not two_one_sided_tests(*a, *b, margin=margin * 0.9999).equivalent


def test_identical_arms_are_not_equivalent_at_every_margin() -> None:
    found = two_one_sided_tests(8, 8, 8, 8, margin=0.05)
    assert found.estimate == 0.0
    assert not found.equivalent
    assert found.smallest_margin > 0.2


def test_clustered_form_is_the_t_interval_over_tasks() -> None:
    a = [int(i % 3 > 0) for i in range(40)]
    b = [int(i % 5 > 0) for i in range(40)]
    interval = clustered_difference(a, TASKS, b, TASKS, 0.90)
    margin = smallest_margin(interval)
    inside = clustered_two_one_sided_tests(a, TASKS, b, TASKS, margin=margin * 1.001)
    outside = clustered_two_one_sided_tests(a, TASKS, b, TASKS, margin=margin * 0.999)
    assert (inside.low, inside.high) == (interval.low, interval.high)
    assert (inside.equivalent, outside.equivalent) == (True, False)
    assert inside.p_value < 0.05 < outside.p_value
    assert (inside.n_clusters, inside.n_a, inside.n_b) == (10, 40, 40)


def test_clustered_form_without_variation_or_tasks() -> None:
    same = clustered_two_one_sided_tests([1] * 40, TASKS, [1] * 40, TASKS, margin=0.1)
    assert not same.equivalent
    assert math.isnan(same.p_value)
    assert 0.1 < same.smallest_margin < 1
    wide = clustered_two_one_sided_tests([1] * 40, TASKS, [1] * 40, TASKS, margin=0.6)
    assert wide.equivalent
    one = clustered_two_one_sided_tests([1, 1], ["a", "a"], [1, 1], ["a", "a"], margin=0.9)
    assert (one.equivalent, one.reason) == (False, "1 shared task")
    assert math.isnan(one.smallest_margin)


def test_an_empty_side_is_never_equivalent() -> None:
    for table, reason in (((0, 0, 3, 5), "a has no trials"), ((3, 5, 0, 0), "b has no trials")):
        found = two_one_sided_tests(*table, margin=0.9)
        assert (found.equivalent, found.reason) == (False, reason)
        assert math.isnan(found.p_value)
        assert math.isnan(found.smallest_margin)


def both(table, interval=miettinen_nurminen_interval):
    return interval(*table, 0.95), interval(*table, 0.90)


@pytest.mark.parametrize(
    ("table", "margin", "expected", "words"),
    [
        ((52, 64, 64, 64), 0.05, "different", "leaves out 0"),
        ((52, 64, 64, 64), None, "different", "leaves out 0"),
        ((64, 64, 56, 57), 0.05, "inconclusive", "reaches beyond ±0.05"),
        ((64, 64, 56, 57), None, "inconclusive", "no margin is stated"),
        ((64, 64, 56, 57), 0.10, "equivalent", "within ±0.1"),
        ((9000, 10000, 9100, 10000), 0.05, "equivalent", "significant, but inside the margin"),
    ],
)
def test_verdicts(table, margin, expected: str, words: str) -> None:
    for interval in (miettinen_nurminen_interval, newcombe_interval):
        found = verdict(*both(table, interval), margin)
        assert found.verdict == expected
        assert words in found.reason
    assert found.to_row() == {"verdict": found.verdict, "reason": found.reason}


def test_without_an_interval_the_verdict_is_inconclusive() -> None:
    one_task = clustered_difference([1], ["a"], [0], ["a"])
    assert verdict(one_task, one_task, 0.1).verdict == "inconclusive"
    assert verdict(one_task, one_task, 0.1).reason == "no interval"
    assert math.isnan(smallest_margin(one_task))


def test_the_two_intervals_cannot_be_swapped() -> None:
    wide, narrow = both((52, 64, 56, 57))
    with pytest.raises(InputError, match="is wider than"):
        verdict(narrow, wide, 0.1)


@pytest.mark.parametrize("margin", [0, -0.1, 1, 5, math.nan, True, "0.05"])
def test_bad_margins_are_refused(margin) -> None:
    with pytest.raises(InputError, match="margin is"):
        two_one_sided_tests(1, 2, 1, 2, margin=margin)
    with pytest.raises(InputError, match="margin is"):
        verdict(*both((1, 2, 1, 2)), margin)


@pytest.mark.parametrize("alpha", [0, 0.5, 0.95, math.nan])
def test_bad_alphas_are_refused(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha is"):
        two_one_sided_tests(1, 2, 1, 2, margin=0.1, alpha=alpha)
    with pytest.raises(InputError, match="alpha is"):
        clustered_two_one_sided_tests([1], ["a"], [1], ["a"], margin=0.1, alpha=alpha)
