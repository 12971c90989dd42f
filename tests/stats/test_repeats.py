from __future__ import annotations

import math

import numpy as np
import pytest

from stats.inputs import mle_trials, tau_trials
from steelyard.errors import InputError
from steelyard.stats import (
    clustered_standard_error,
    combine_groups,
    mean_and_sem_over_repeats,
)


@pytest.mark.parametrize(
    ("splits", "mean", "over_seeds", "over_tasks"),
    [
        (("low",), 62.12, 1.52, 9.88),
        (("medium",), 36.84, 1.52, 6.86),
        (("high",), 33.33, 0.00, 12.60),
        (("low", "medium", "high"), 43.56, 0.89, 5.29),
    ],
)
def test_mle_bench(splits, mean: float, over_seeds: float, over_tasks: float) -> None:
    found = mean_and_sem_over_repeats(*mle_trials(*splits))
    assert round(100 * found.mean_over_repeats, 2) == mean
    assert round(100 * found.standard_error_over_repeats, 2) == over_seeds
    assert round(100 * found.standard_error_over_tasks, 2) == over_tasks
    assert (found.n_repeats, found.balanced, found.reason) == (3, True, "")
    outcomes, tasks, _ = mle_trials(*splits)
    clustered = clustered_standard_error(outcomes, tasks)
    assert found.standard_error_over_tasks == pytest.approx(clustered.standard_error)


def test_tau_bench_airline_over_trials_is_far_too_small() -> None:
    outcomes, tasks = tau_trials()
    # the counts alone do not say which trial succeeded, so only the error over tasks is fixed
    found = mean_and_sem_over_repeats(outcomes, tasks, [0, 1, 2, 3] * 50)
    assert found.standard_error_over_tasks == pytest.approx(0.05222, abs=5e-6)


def test_unbalanced_repeats_have_two_means() -> None:
    found = mean_and_sem_over_repeats([1, 1, 0], ["a", "b", "a"], [0, 0, 1])
    assert found.mean_over_repeats == 0.5
    assert found.mean_over_tasks == 0.75
    assert not found.balanced


def test_equal_means_have_no_spread_in_spite_of_rounding() -> None:
    values = np.array([0.1, 0.2, 0.3, 0.3, 0.1, 0.2, 0.2, 0.3, 0.1])
    found = mean_and_sem_over_repeats(values, list("aaabbbccc"), [0, 1, 2] * 3)
    assert found.standard_error_over_tasks == 0.0


def test_one_repeat_one_task_nothing() -> None:
    one = mean_and_sem_over_repeats([1, 0], ["a", "b"], ["0", "0"])
    assert one.reason == "1 repeat"
    assert math.isnan(one.standard_error_over_repeats)
    assert one.standard_error_over_tasks == 0.5
    assert mean_and_sem_over_repeats([1], ["a"], [0]).reason == "1 repeat; 1 task"
    nothing = mean_and_sem_over_repeats([], [], [])
    assert nothing.reason == "no repeats; no tasks"
    assert math.isnan(nothing.mean_over_tasks)


def test_a_repeat_that_stands_twice_is_refused() -> None:
    with pytest.raises(InputError, match=r"\('a', '0'\) stands at positions 0 and 2"):
        mean_and_sem_over_repeats([1, 0, 1], ["a", "b", "a"], [0, 0, 0])
    with pytest.raises(InputError, match=r"repeats\[1\] is None"):
        mean_and_sem_over_repeats([1, 0], ["a", "b"], [0, None])


def test_groups_are_combined_under_the_weights_that_are_named() -> None:
    equal = combine_groups([0.5, 0.7], [0.05, 0.01], [100, 900], "equal")
    assert (equal.estimate, equal.weights) == (pytest.approx(0.6), "equal")
    assert equal.standard_error == pytest.approx(0.025495, abs=5e-7)
    sized = combine_groups([0.5, 0.7], [0.05, 0.01], [100, 900], "size")
    assert sized.estimate == pytest.approx(0.68)
    assert sized.standard_error == pytest.approx(math.hypot(0.1 * 0.05, 0.9 * 0.01))
    assert (sized.n_groups, sized.n) == (2, 1000)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0.5], [0.1, 0.1], [3], "equal"), "have 1, 2 and 1 entries"),
        (([], [], [], "equal"), "have 0, 0 and 0 entries"),
        (([0.5], [-0.1], [3], "equal"), "standard error must be 0 or more"),
        (([0.5], [0.1], [0], "equal"), "a size 1 or more"),
        (([0.5], [0.1], [3], "trials"), "weights is 'trials'"),
    ],
)
def test_bad_groups_are_refused(arguments, message: str) -> None:
    with pytest.raises(InputError, match=message):
        combine_groups(*arguments)
