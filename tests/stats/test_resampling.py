from __future__ import annotations

import math

import numpy as np
import pytest

from stats.inputs import tau_trials
from steelyard.errors import InputError
from steelyard.stats import bootstrap_interval, cluster_bootstrap_interval, resampling


def test_the_standard_error_of_84_of_200() -> None:
    found = bootstrap_interval([1] * 84 + [0] * 116, n_resamples=20_000, seed=5)
    assert found.standard_error == pytest.approx(0.0349, rel=0.02)
    assert (found.n, found.n_clusters, found.n_resamples, found.seed) == (200, 200, 20_000, 5)


def test_whole_tasks_are_resampled() -> None:
    outcomes, tasks = tau_trials()
    found = cluster_bootstrap_interval(outcomes, tasks, n_resamples=20_000)
    # sqrt((C - 1)/C) of the clustered standard error: the bootstrap has no C/(C - 1)
    assert found.standard_error == pytest.approx(0.05222 * math.sqrt(49 / 50), rel=0.03)
    assert (found.n, found.n_clusters) == (200, 50)
    assert found.low < 0.42 < found.high
    assert found.method == "bootstrap over clusters"


def test_the_seed_decides_and_the_chunks_do_not_show(monkeypatch) -> None:
    values = np.arange(10.0)
    once = bootstrap_interval(values, seed=3)
    assert once == bootstrap_interval(values, seed=3)
    assert once != bootstrap_interval(values, seed=4)
    monkeypatch.setattr(resampling, "CHUNK", 70)
    assert bootstrap_interval(values, seed=3) == once


@pytest.mark.parametrize(
    ("values", "reason"),
    [
        ([], "0 units to resample"),
        ([1.0], "1 units to resample"),
        ([2.0, 2.0], "degenerate: all units are equal"),
    ],
)
def test_where_resampling_says_nothing(values, reason: str) -> None:
    found = bootstrap_interval(values)
    assert found.reason == reason
    assert math.isnan(found.low)
    assert math.isnan(found.standard_error)
    assert math.isnan(found.estimate) == (not values)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match=r"values\[0\] is nan"):
        bootstrap_interval([math.nan, 1.0])
    with pytest.raises(InputError, match="n_resamples is 0"):
        bootstrap_interval([0.0, 1.0], n_resamples=0)
    with pytest.raises(InputError, match="confidence is 1"):
        cluster_bootstrap_interval([0.0, 1.0], ["a", "b"], confidence=1)
