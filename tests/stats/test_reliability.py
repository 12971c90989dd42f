from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stats.inputs import TAU_AIRLINE
from steelyard.errors import InputError
from steelyard.stats import (
    naive,
    pass_at_k,
    pass_at_k_per_task,
    pass_hat_k,
    pass_hat_k_per_task,
)


@given(st.lists(st.integers(0, 1), min_size=1, max_size=9), st.integers(1, 9))
def test_one_task_equals_the_visit_of_every_subset(outcomes: list[int], k: int) -> None:
    task = [sum(outcomes)], [len(outcomes)], k
    if k <= len(outcomes):
        assert pass_hat_k(*task).estimate == pytest.approx(naive.pass_hat_k(outcomes, k))
        assert pass_at_k(*task).estimate == pytest.approx(naive.pass_at_k(outcomes, k))
    else:
        found = pass_hat_k(*task)
        assert math.isnan(found.estimate)
        assert found.reason == f"no task has {k} trials"
        assert (found.tasks_used, found.tasks_total) == (0, 1)


@pytest.mark.parametrize(("k", "published"), [(1, 0.420), (2, 0.273), (3, 0.220), (4, 0.200)])
def test_tau_bench_airline(k: int, published: float) -> None:
    found = pass_hat_k(TAU_AIRLINE, [4] * 50, k)
    assert round(found.estimate, 3) == published
    assert (found.tasks_used, found.method) == (50, "pass^k")


def test_tasks_with_too_few_trials_are_counted_out() -> None:
    found = pass_hat_k([4, 3, 0], [4, 3, 0], 4)
    assert (found.estimate, found.tasks_used, found.tasks_total) == (1.0, 1, 3)
    per_task = pass_at_k_per_task([4, 3, 0], [4, 3, 0], 3)
    assert per_task[:2].tolist() == [1.0, 1.0]
    assert np.isnan(per_task[2])


def test_large_counts() -> None:
    exact = math.comb(900, 100) / math.comb(1000, 100)
    assert pass_hat_k_per_task([900], [1000], 100)[0] == pytest.approx(exact, rel=1e-12)


@pytest.mark.parametrize(
    ("successes", "trials", "k", "message"),
    [
        ([5], [4], 1, r"successes\[0\] is 5 but trials\[0\] is 4"),
        ([1, -1], [4, 4], 1, r"successes\[1\] is -1"),
        ([1], [4], 0, "k is 0; at least 1"),
        ([1], [4], 1.5, r"k is 1\.5"),
        ([math.nan], [4], 1, r"successes\[0\] is .*nan"),
        (3, 4, 1, "0 dimensions"),
    ],
)
@pytest.mark.parametrize("estimate", [pass_hat_k, pass_at_k])
def test_bad_input_is_refused(estimate, successes, trials, k, message: str) -> None:
    with pytest.raises(InputError, match=message):
        estimate(successes, trials, k)


def test_a_draw_of_very_many_trials_takes_no_time() -> None:
    absent = pass_hat_k([4, 4], [4, 4], 10**9)
    assert (math.isnan(absent.estimate), absent.tasks_used) == (True, 0)
    assert pass_at_k([1], [10**9], 10**9).estimate == 1.0
    # C(n - 5, k)/C(n, k) is also C(n - k, 5)/C(n, 5): five factors
    n, k = 10**9, 10**6
    expected = math.prod((n - k - i) / (n - i) for i in range(5))
    assert pass_hat_k([n - 5], [n], k).estimate == pytest.approx(expected, rel=1e-12)
    ratio = math.comb(5000, 1500) / math.comb(6000, 1500)
    assert pass_hat_k([5000, 1499], [6000, 6000], 1500).estimate == pytest.approx(ratio / 2, 1e-11)
