from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t

from stats.inputs import tau_trials
from steelyard.errors import InputError
from steelyard.stats import (
    clustered_mean_interval,
    clustered_wilson_interval,
    naive,
    wilson_interval,
)
from steelyard.stats.quantiles import normal_quantile, student_t_quantile

outcomes = st.lists(
    st.tuples(st.integers(0, 1), st.sampled_from("abcdef")), min_size=1, max_size=40
)


@given(outcomes, st.sampled_from([0.8, 0.95, 0.9999999]))
def test_limits_enclose_the_rate_in_every_case(rows, level: float) -> None:
    values, clusters = zip(*rows, strict=True)
    found = clustered_wilson_interval(values, clusters, level)
    assert 0 <= found.low <= found.estimate <= found.high <= 1
    assert (found.low, found.high) != (found.estimate, found.estimate)
    plain = wilson_interval(sum(values), len(values), level)
    assert found.low <= plain.low + 1e-12
    assert found.high >= plain.high - 1e-12


def test_it_is_the_wilson_formula_at_the_effective_size_with_t() -> None:
    found = clustered_wilson_interval(*tau_trials())
    n = found.effective_n
    quantile = t.ppf(0.975, 49)
    p = found.estimate
    centre = (p + quantile**2 / (2 * n)) / (1 + quantile**2 / n)
    half = quantile * math.sqrt(p * (1 - p) / n + quantile**2 / (4 * n * n)) / (1 + quantile**2 / n)
    assert (found.low, found.high) == pytest.approx((centre - half, centre + half))
    assert found.effective_n == pytest.approx(200 / found.design_effect)
    assert found.reason == ""


def test_both_customary_forms_of_the_adjustment_are_the_same() -> None:
    # the t quantile at n, and z at n (z/t)^2
    z, t7 = normal_quantile(0.95), student_t_quantile(0.95, 7)
    n = 4096
    shrunk = n * (z / t7) ** 2
    by_t = naive.wilson(3072, n, t7)
    rate = 0.75
    centre = (rate + z**2 / (2 * shrunk)) / (1 + z**2 / shrunk)
    half = z * math.sqrt(rate * (1 - rate) / shrunk + z**2 / (4 * shrunk**2)) / (1 + z**2 / shrunk)
    assert by_t == pytest.approx((centre - half, centre + half))


def test_at_the_boundary_a_task_counts_once() -> None:
    values, clusters = [1] * 64, [str(i // 8) for i in range(64)]
    found = clustered_wilson_interval(values, clusters)
    quantile = t.ppf(0.975, 7)
    assert found.high == 1.0
    assert found.low == pytest.approx(8 / (8 + quantile**2))
    assert (found.effective_n, found.n, found.n_clusters) == (8, 64, 8)
    assert "ICC taken as 1" in found.reason
    generous = clustered_wilson_interval(values, clusters, boundary="trials")
    assert generous.low == pytest.approx(64 / (64 + quantile**2))
    assert "independent" in generous.reason
    none = clustered_wilson_interval([0] * 64, clusters)
    assert none.low == 0.0
    assert none.high == pytest.approx(1 - found.low)


def test_at_the_boundary_unequal_tasks_count_for_less() -> None:
    # sizes 1 and 9: (1 + 9)^2 / (1 + 81), little more than one task
    found = clustered_wilson_interval([1] * 10, ["a"] + ["b"] * 9)
    assert found.effective_n == pytest.approx(100 / 82)


def test_one_cluster_and_no_trials_give_the_vacuous_interval() -> None:
    one = clustered_wilson_interval([1, 1, 0], ["t"] * 3)
    assert (one.low, one.high, one.reason) == (0.0, 1.0, "1 cluster")
    assert one.estimate == pytest.approx(2 / 3)
    assert math.isnan(one.standard_error)
    nothing = clustered_wilson_interval([], [])
    assert (nothing.low, nothing.high, nothing.n) == (0.0, 1.0, 0)
    assert math.isnan(nothing.estimate)
    assert nothing.reason == "no values"


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"values\[1\] is 0\.5; an outcome is 0 or 1"):
        clustered_wilson_interval([1, 0.5], ["a", "b"])
    with pytest.raises(InputError, match="boundary is 'tasks'"):
        clustered_wilson_interval([1, 0], ["a", "b"], boundary="tasks")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="confidence is 95"):
        clustered_wilson_interval([1, 0], ["a", "b"], 95)


@pytest.mark.parametrize(("tasks", "repeats"), [(8, 8), (50, 4)])
@pytest.mark.parametrize("correlation", [0.05, 0.5])
@pytest.mark.parametrize("rate", [0.5, 0.9])
def test_coverage_holds_in_simulation(
    tasks: int, repeats: int, correlation: float, rate: float
) -> None:
    """Beta-binomial tasks; with 400 runs the rate of coverage is known to about ±0.02."""
    generator = np.random.default_rng([tasks, repeats, int(100 * correlation), int(100 * rate)])
    weight = 1 / correlation - 1
    clusters = np.repeat(np.arange(tasks), repeats)
    covered = 0
    for _ in range(400):
        difficulty = generator.beta(rate * weight, (1 - rate) * weight, tasks)
        values = generator.random(tasks * repeats) < np.repeat(difficulty, repeats)
        found = clustered_wilson_interval(values.astype(float), clusters)
        covered += found.low <= rate <= found.high
    assert covered / 400 >= 0.92


def test_the_mean_interval_is_t_over_clusters() -> None:
    values, clusters = [0.5, 0.25, 1, 0, 0.75], ["A", "A", "B", "B", "B"]
    found = clustered_mean_interval(values, clusters)
    half = t.ppf(0.975, 1) * 0.1
    assert (found.low, found.high) == pytest.approx((0.5 - half, 0.5 + half))
    assert found.reason == ""
    assert clustered_mean_interval([2, 2, 2, 2], list("aabb")).reason == (
        "no variation between clusters"
    )
    one = clustered_mean_interval([2, 3], ["a", "a"])
    assert one.reason == "1 cluster"
    assert math.isnan(one.low)


@pytest.mark.parametrize("boundary", ["clusters", "trials"])
@pytest.mark.parametrize("sizes", [(8,) * 8, (4,) * 50, (1, 2, 30), (2, 2)])
def test_a_failure_never_raises_the_lower_limit_beyond_a_perfect_record(sizes, boundary) -> None:
    clusters = [str(i) for i, size in enumerate(sizes) for _ in range(size)]
    perfect = clustered_wilson_interval([1] * len(clusters), clusters, boundary=boundary)
    generator = np.random.default_rng(1)
    for failures in (1, 1, 2, 3, len(clusters) // 2):
        values = np.ones(len(clusters))
        values[generator.choice(len(clusters), failures, replace=False)] = 0
        found = clustered_wilson_interval(values, clusters, boundary=boundary)
        mirrored = clustered_wilson_interval(1 - values, clusters, boundary=boundary)
        assert found.low <= perfect.low
        assert (found.reason != "") == (found.low == perfect.low)
        assert mirrored.high >= 1 - perfect.low
        assert (mirrored.low, mirrored.high) == (
            pytest.approx(1 - found.high),
            pytest.approx(1 - found.low),
        )


@pytest.mark.parametrize(
    ("tasks", "repeats", "rate"), [(8, 24, 0.95), (20, 8, 0.95), (50, 4, 0.95)]
)
def test_tasks_that_always_fail_are_not_missed_by_the_lower_limit(
    tasks: int, repeats: int, rate: float
) -> None:
    """A share of the tasks always fails; 600 runs, nominal 0.025 (0.36, 0.20, 0.07 uncapped)."""
    generator = np.random.default_rng([tasks, repeats])
    clusters = np.repeat(np.arange(tasks), repeats)
    above = 0
    for _ in range(600):
        difficulty = np.where(generator.random(tasks) < 1 - rate / 0.995, 0.0, 0.995)
        values = generator.random(tasks * repeats) < np.repeat(difficulty, repeats)
        above += clustered_wilson_interval(values.astype(float), clusters).low > rate
    assert above / 600 <= 0.04
