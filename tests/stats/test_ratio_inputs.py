"""What ratios of sums and the discrimination of a score refuse."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from steelyard.errors import InputError
from steelyard.stats.discrimination import average_precision, discrimination
from steelyard.stats.ratios import (
    LARGEST_TABLE,
    check_table,
    cluster_draws,
    cluster_ratio_difference,
    cluster_ratio_interval,
)

NO_NUMBERS = [
    5,
    None,
    "ab",
    {"a": 1},
    [[1], [1, 2]],
    [1j, 2],
    [10**400],
    np.array([np.complex128(1j)], dtype=object),
    np.array(["2020"], "M8[D]"),
    np.array([3], "m8[s]"),
    np.array([np.datetime64("2020"), 1], dtype=object),
    pd.Series(pd.to_datetime(["2020"], utc=True)),
]


@pytest.mark.parametrize("values", NO_NUMBERS, ids=lambda values: type(values).__name__)
def test_what_is_no_sequence_of_numbers_is_refused(values: Any) -> None:
    with pytest.raises(InputError, match="numerators"):
        cluster_ratio_interval(values, [1, 2])
    with pytest.raises(InputError, match="denominators"):
        cluster_ratio_interval([1, 2], values)
    with pytest.raises(InputError, match="scores"):
        discrimination(values, [0, 1], ["a", "b"])
    with pytest.raises(InputError, match="labels"):
        average_precision([0.1, 0.2], values)


@pytest.mark.parametrize("side", [5, None, ([1, 2],), "ab", {"a": 1}])
def test_a_side_is_a_pair(side: Any) -> None:
    with pytest.raises(InputError, match="candidate must be a pair"):
        cluster_ratio_difference(([1, 2], [2, 2]), side)
    with pytest.raises(InputError, match="reference must be a pair"):
        cluster_ratio_difference(side, ([1, 2], [2, 2]))


@pytest.mark.parametrize(
    ("above", "below"),
    [
        ([1e308] * 4, [1, 2, 3, 4]),
        ([1, 2, 3], [1e308] * 3),
        ([-1e308, 1e308], [1, 1]),
        ([1, 2, 3], [1e-308, 1, 1]),
    ],
)
def test_sums_beyond_a_double_are_refused(above: list[float], below: list[float]) -> None:
    with pytest.raises(InputError, match="exceed the largest double"):
        cluster_ratio_interval(above, below)
    with pytest.raises(InputError, match="exceed the largest double"):
        cluster_ratio_difference(([0] * len(above), [1] * len(above)), (above, below))


def test_large_numbers_that_fit_are_computed() -> None:
    found = cluster_ratio_interval([1e300, 2e300, -1e300], [1, 2, 3], n_resamples=50)
    assert found.estimate == pytest.approx(2e300 / 6)
    assert math.isfinite(found.low)


def test_tables_that_no_machine_holds_are_refused() -> None:
    with pytest.raises(InputError, match=r"1000000 x 1000 cells; accepted: at most 200,000,000"):
        cluster_draws(1_000, 1_000_000)
    with pytest.raises(InputError, match="cells"):
        cluster_draws(2**53, 1)
    with pytest.raises(InputError, match="cells"):
        cluster_ratio_interval([1, 2], [2, 3], n_resamples=10**12)
    with pytest.raises(InputError, match="cells"):
        discrimination([1, 3, 2, 4], [0, 0, 1, 1], list("abcd"), n_resamples=10**12)
    half = int(LARGEST_TABLE**0.5) + 1
    with pytest.raises(InputError, match="positives and negatives"):
        discrimination(np.zeros(2 * half), np.arange(2 * half) % 2, np.zeros(2 * half, dtype=int))
    check_table(LARGEST_TABLE, 1, "just so many")


def test_average_precision_takes_lists_and_refuses_gaps() -> None:
    assert average_precision([0.1, 0.4, 0.35, 0.8], [0, 0, 1, 1]) == pytest.approx(5 / 6)
    with pytest.raises(InputError, match=r"scores\[1\] is nan"):
        average_precision([0.1, math.nan], [0, 1])
    with pytest.raises(InputError, match=r"labels\[0\] is 2"):
        average_precision([0.1, 0.2], [2, 1])
    with pytest.raises(InputError, match="scores has 2 values and labels 1"):
        average_precision([0.1, 0.2], [1])


def test_scores_are_compared_and_not_subtracted() -> None:
    found = discrimination([1e308, -1e308], [1, 0], ["a", "b"])
    assert (found.auroc, found.average_precision) == (1.0, 1.0)
