from __future__ import annotations

import math
import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats import exact_permutation, naive, stratified, stratified_permutation

group = st.lists(st.integers(0, 1), max_size=4)
outcomes = st.lists(st.tuples(group, group), max_size=3)


def counted(strata):
    return [((sum(a), len(a)), (sum(b), len(b))) for a, b in strata]


@settings(deadline=None)
@given(outcomes)
def test_it_equals_the_visit_of_every_assignment(strata) -> None:
    found = stratified_permutation(counted(strata))
    used = [s for s in strata if s[0] and s[1]]
    assert (found.strata_used, found.strata_total) == (len(used), len(strata))
    if used:
        assert found.p_value == pytest.approx(naive.stratified_permutation(strata), abs=1e-14)
    else:
        assert found.p_value == 1.0
        assert found.reason == "no stratum has trials of both arms"


@given(st.integers(1, 9), st.integers(1, 9), st.data())
def test_one_stratum_is_the_plain_test(n_a: int, n_b: int, data: st.DataObject) -> None:
    s_a, s_b = data.draw(st.integers(0, n_a)), data.draw(st.integers(0, n_b))
    found = stratified_permutation([((s_a, n_a), (s_b, n_b))])
    assert found.p_value == exact_permutation(s_a, n_a, s_b, n_b).p_value


def random_strata(count: int, n: int, seed: int, shift: float = 0.0):
    draw = random.Random(seed)  # noqa: S311
    strata = []
    for _ in range(count):
        rate = draw.random()
        other = min(1.0, rate + shift)
        s_a = sum(draw.random() < rate for _ in range(n))
        s_b = sum(draw.random() < other for _ in range(n))
        strata.append(((s_a, n), (s_b, n)))
    return strata


@pytest.mark.parametrize("shift", [0.0, 0.05, 0.3])
def test_integers_and_doubles_agree(monkeypatch, shift: float) -> None:
    strata = random_strata(40, 8, seed=3, shift=shift)
    exact = stratified_permutation(strata).p_value
    monkeypatch.setattr(stratified, "LARGEST_INTEGER_WORK", 0)
    assert stratified_permutation(strata).p_value == pytest.approx(exact, rel=1e-11)


def test_many_strata_take_little_time() -> None:
    start = time.perf_counter()
    found = stratified_permutation(random_strata(200, 25, seed=1, shift=0.02))
    assert time.perf_counter() - start < 5
    assert 0 < found.p_value < 1
    # the exact test against its normal approximation, continuity-corrected
    z = (found.statistic - 0.5) / found.null_sd
    assert found.p_value == pytest.approx(math.erfc(z / math.sqrt(2)), rel=0.05)


def test_large_strata_take_little_time() -> None:
    start = time.perf_counter()
    found = stratified_permutation(random_strata(20, 2_000, seed=2, shift=0.1))
    assert time.perf_counter() - start < 5
    assert 0 < found.p_value < 1e-100


def test_the_order_of_the_strata_cannot_show() -> None:
    strata = random_strata(60, 50, seed=5, shift=0.03)
    reversed_p = stratified_permutation(reversed(strata)).p_value
    assert stratified_permutation(strata).p_value == reversed_p


def test_difficulty_is_no_evidence() -> None:
    # a ran the hard task more often: pooled it looks worse, within tasks there is no difference
    strata = [((1, 2), (4, 8)), ((8, 8), (2, 2)), ((0, 90), (0, 10))]
    assert stratified_permutation(strata).p_value == 1.0
    pooled = exact_permutation(9, 100, 6, 20).p_value
    assert pooled < 0.05


def test_statistic_expectation_and_spread() -> None:
    found = stratified_permutation([((4, 8), (8, 8))] * 3 + [((0, 0), (1, 1))])
    # 12 successes of a among 36 in 48; expected 18, each stratum's variance 12*4*8*8/(256*15)
    assert found.excess == -6.0
    assert found.statistic == 6.0
    assert found.null_sd == pytest.approx(math.sqrt(3 * 12 * 4 * 64 / (256 * 15)))
    assert (found.n_a, found.n_b) == (24, 24)
    assert (found.strata_used, found.strata_total) == (3, 4)


def test_opposite_strata_cancel() -> None:
    found = stratified_permutation([((0, 3), (3, 3)), ((3, 3), (0, 3))])
    assert (found.p_value, found.statistic) == (1.0, 0.0)


def test_nothing_to_test() -> None:
    found = stratified_permutation([])
    assert (found.p_value, found.strata_used, found.strata_total) == (1.0, 0, 0)
    one_trial_each = stratified_permutation([((1, 1), (0, 1))])
    assert one_trial_each.p_value == 1.0


@pytest.mark.parametrize(
    ("strata", "message"),
    [
        ([((1, 2), (3, 2))], r"strata\[0\] b_successes is 3"),
        ([((1, 2), (1, 2)), ((1, 2), (1, math.nan))], r"strata\[1\] b_total is nan"),
        ([(1, 2)], r"strata\[0\] is \(1, 2\); it must be"),
        ([((1, 2, 3), (1, 2))], r"strata\[0\] is"),
    ],
)
def test_bad_strata_are_refused_by_position(strata, message: str) -> None:
    with pytest.raises(InputError, match=message):
        stratified_permutation(strata)


def test_strata_beyond_time_are_refused() -> None:
    billion = ((5 * 10**8, 10**9), (5 * 10**8 + 100, 10**9))
    with pytest.raises(InputError, match=r"a sum of [\d,]+ terms"):
        stratified_permutation([billion, billion])
    with pytest.raises(InputError, match="strata is 5; it must be a sequence"):
        stratified_permutation(5)
