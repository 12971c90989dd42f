"""Public bug reports on intervals and standard errors: what went wrong there must not happen here.

Each test opens with the report it answers.
"""

from __future__ import annotations

import math

import pytest

from stats.inputs import tau_trials
from steelyard.stats import (
    bootstrap_interval,
    clopper_pearson_interval,
    cluster_bootstrap_interval,
    clustered_mean_interval,
    clustered_standard_error,
    clustered_wilson_interval,
    combine_groups,
    jeffreys_interval,
    mean_and_sem_over_repeats,
    wilson_interval,
)


def test_wilson_bounds_never_leave_the_unit_interval_by_rounding() -> None:
    """statsmodels issue 7386, pull request 10010: limits of -3e-18 and 1.0000000000000002."""
    none = wilson_interval(0, 77)
    assert none.low == 0.0
    assert none.high == pytest.approx(0.047518, abs=5e-7)
    every = wilson_interval(38, 38)
    assert every.low == pytest.approx(0.908190, abs=5e-7)
    assert every.high == 1.0
    for total in range(1, 300):
        assert wilson_interval(0, total).low == 0.0
        assert wilson_interval(total, total).high == 1.0


def test_exact_interval_is_a_number_where_nothing_succeeds_or_fails() -> None:
    """statsmodels issues 2742, 2609 and 3487: NaN, or limits outside [0, 1], at 0/n."""
    none = clopper_pearson_interval(0, 10)
    assert none.low == 0.0
    assert none.high == pytest.approx(0.308497, abs=5e-7)
    every = clopper_pearson_interval(5, 5)
    assert every.low == pytest.approx(0.478176, abs=5e-7)
    assert every.high == 1.0
    wilson = wilson_interval(0, 10), wilson_interval(10, 10)
    assert wilson[0].low == 0.0
    assert wilson[0].high == pytest.approx(0.277533, abs=5e-7)
    assert wilson[1].low == pytest.approx(0.722467, abs=5e-7)
    assert wilson[1].high == 1.0


@pytest.mark.parametrize("interval", [wilson_interval, clopper_pearson_interval, jeffreys_interval])
def test_four_equal_outcomes_do_not_end_an_adaptive_run(interval) -> None:
    """tensorzero issue 4691: a Wald interval without width stopped the run after 4 outcomes."""
    found = interval(4, 4)
    assert found.high - found.low > 0.2
    assert wilson_interval(4, 4).low == pytest.approx(0.510109, abs=5e-7)


def test_one_cluster_gives_no_standard_error_and_not_zero() -> None:
    """samplics-org/svy issue 98, and inspect_ai: one cluster gave a standard error of 0."""
    task = ["t"] * 5
    found = clustered_standard_error([1, 1, 0, 1, 1], task)
    assert math.isnan(found.standard_error)
    assert found.reason == "1 cluster"
    assert found.estimate == 0.8
    interval = clustered_mean_interval([1, 1, 0, 1, 1], task)
    assert math.isnan(interval.low)
    assert interval.reason == "1 cluster"
    vacuous = clustered_wilson_interval([1, 1, 0, 1, 1], task)
    assert (vacuous.low, vacuous.high) == (0.0, 1.0)


def test_a_mean_of_groups_and_its_error_carry_the_same_weights() -> None:
    """lm-evaluation-harness issue 3882: unweighted mean beside a size-weighted error."""
    found = combine_groups([0.4, 0.6], [0.05, 0.01], [100, 900], "equal")
    assert found.standard_error == pytest.approx(0.025495, abs=5e-7)
    assert found.estimate == pytest.approx(0.5)
    assert found.weights == "equal"


def test_repeats_are_not_averaged_away() -> None:
    """inspect_ai issues 1118 and 26: repeats averaged, then treated as exact."""
    values, clusters = [1, 1, 0, 0, 1, 0], ["A", "A", "B", "B", "C", "C"]
    found = clustered_standard_error(values, clusters)
    assert found.estimate == 0.5
    assert found.standard_error == pytest.approx(0.288675, abs=5e-7)
    assert found.naive_standard_error == pytest.approx(0.204124, abs=5e-7)
    tau = clustered_standard_error(*tau_trials())
    assert tau.standard_error == pytest.approx(0.052216, abs=5e-7)
    assert tau.naive_standard_error == pytest.approx(0.034900, abs=5e-7)


def test_four_repeats_all_count() -> None:
    """lm-evaluation-harness issues 3080 and 1232: repeats generated, only the first scored."""
    found = mean_and_sem_over_repeats([0, 1, 1, 1], ["t"] * 4, [0, 1, 2, 3])
    assert found.mean_over_tasks == 0.75
    assert (found.n, found.n_repeats) == (4, 4)


def test_the_bootstrap_draws_with_replacement_and_says_when_it_cannot() -> None:
    """openai/evals issue 1834: half the data drawn without replacement, NaN for one sample."""
    found = bootstrap_interval([1] * 84 + [0] * 116, n_resamples=20_000, seed=1)
    assert found.standard_error == pytest.approx(0.0349, rel=0.02)
    one = bootstrap_interval([1.0])
    assert math.isnan(one.standard_error)
    assert one.reason == "1 units to resample"
    constant = bootstrap_interval([0.5] * 30)
    assert math.isnan(constant.low)
    assert constant.reason.startswith("degenerate")
    assert cluster_bootstrap_interval([1, 0], ["t", "t"]).reason == "1 units to resample"
