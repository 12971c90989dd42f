from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from steelyard.errors import InputError
from steelyard.stats import clustered_difference, task_differences, wilson_interval


def test_it_is_the_paired_t_interval_over_shared_tasks() -> None:
    tasks = [c for c in "abcde" for _ in range(2)]
    a = [1, 0, 1, 1, 0, 0, 1, 0, 0, 0]
    b = [1, 1, 1, 1, 1, 0, 0, 0, 1, 0]
    found = clustered_difference(a, tasks, b, tasks)
    means_a = np.array(a).reshape(5, 2).mean(axis=1)
    means_b = np.array(b).reshape(5, 2).mean(axis=1)
    expected = ttest_rel(means_b, means_a).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high))
    assert found.estimate == pytest.approx((means_b - means_a).mean())
    assert (found.n_clusters, found.n_a, found.n_b, found.reason) == (5, 10, 10, "")


def test_tasks_without_a_partner_are_left_out_and_counted() -> None:
    found = clustered_difference([1, 1, 0], ["x", "y", "z"], [0, 1, 1, 0], ["y", "z", "u", "v"])
    assert found.n_clusters == 2
    assert (found.only_a, found.only_b) == (1, 2)
    pairs = task_differences([1, 1, 0], ["x", "y", "z"], [0, 1, 1, 0], ["y", "z", "u", "v"])
    assert pairs.tasks == ("y", "z")
    assert pairs.differences.tolist() == [-1.0, 1.0]
    assert (pairs.only_a, pairs.only_b) == (("x",), ("u", "v"))


def test_tasks_weigh_the_same_whatever_their_repeats() -> None:
    found = clustered_difference([0] * 9 + [1], ["a"] * 9 + ["b"], [1, 1], ["a", "b"])
    assert found.estimate == 0.5


def test_equal_differences_do_not_make_a_certainty() -> None:
    tasks = [str(i // 8) for i in range(64)]
    found = clustered_difference([1] * 64, tasks, [1] * 64, tasks)
    assert (found.estimate, found.standard_error) == (0.0, 0.0)
    # 0 of 8 tasks deviate: the upper Wilson limit of that share with t on 7 degrees of freedom
    share = wilson_interval(0, 8, z=t.ppf(0.975, 7)).high
    assert (found.low, found.high) == pytest.approx((-share, share))
    assert found.reason == "all tasks have the same difference"
    worst = clustered_difference([0] * 64, tasks, [1] * 64, tasks)
    assert worst.high == 1.0
    assert worst.low == pytest.approx(1 - 2 * share)
    thirds = clustered_difference([1, 0, 0] * 2, list("aaabbb"), [1, 1, 0] * 2, list("aaabbb"))
    assert thirds.standard_error == 0.0


def test_equal_differences_of_unbounded_scores_have_no_interval() -> None:
    found = clustered_difference([10, 20], ["a", "b"], [11, 21], ["a", "b"])
    assert math.isnan(found.low)
    assert found.estimate == 1.0


def test_bounded_limits_are_cut_and_unbounded_ones_are_not() -> None:
    bounded = clustered_difference([0, 0, 1], list("abc"), [1, 1, 0], list("abc"))
    assert (bounded.low, bounded.high) == (-1.0, 1.0)
    unbounded = clustered_difference([0, 0, 10], list("abc"), [10, 10, 0], list("abc"))
    assert unbounded.high > 10


@pytest.mark.parametrize(
    ("tasks_b", "reason"), [(["a", "c"], "1 shared task"), (["c", "d"], "no shared task")]
)
def test_fewer_than_two_shared_tasks(tasks_b: list[str], reason: str) -> None:
    found = clustered_difference([1, 0], ["a", "b"], [1, 1], tasks_b)
    assert found.reason == reason
    assert math.isnan(found.low)
    assert math.isnan(found.standard_error)


def test_rounding_is_no_spread_between_tasks() -> None:
    tasks = [c for c in "abcd" for _ in range(3)]
    a = [0.1, 0.2, 0.3] * 4
    b = [0.3, 0.1, 0.2, 0.2, 0.3, 0.1] * 2
    found = clustered_difference(a, tasks, b, tasks)
    assert found.standard_error == 0.0
    assert found.high > 0.3


def test_an_integer_id_is_not_a_text_id_of_the_other_side() -> None:
    with pytest.raises(InputError, match="tasks_a holds integer ids and tasks_b text ids"):
        clustered_difference([1], [7], [1], ["7"])
    assert clustered_difference([], [], [1], ["7"]).reason == "no shared task"


def test_bad_ids_name_their_side() -> None:
    with pytest.raises(InputError, match=r"tasks_b\[0\] is None"):
        clustered_difference([1], ["a"], [1], [None])
    with pytest.raises(InputError, match="confidence"):
        clustered_difference([1], ["a"], [1], ["a"], 2)
