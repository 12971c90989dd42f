"""The level at which pointwise intervals of a curve hold together."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from steelyard.errors import InputError
from steelyard.stats.simultaneous import simultaneous_level


def test_independent_points_need_nearly_the_sidak_level():
    curves = np.random.default_rng(1).normal(size=(40_000, 8))
    assert simultaneous_level(np.zeros(8), curves) == pytest.approx(0.95 ** (1 / 8), abs=5e-4)


def test_points_that_move_together_need_no_more_than_one():
    curves = np.random.default_rng(2).normal(size=(40_000, 1)) * np.array([1.0, 5.0, 0.1])
    assert simultaneous_level(np.zeros(3), curves) == pytest.approx(0.95, abs=3e-3)


def test_the_whole_curve_is_covered_as_often_as_it_says():
    # Random walks of 20 steps, estimated by the mean of 40 of them; resampled walks of their own.
    random = np.random.default_rng(3)
    covered = pointwise = 0
    for _ in range(150):
        walks = random.normal(size=(40, 20)).cumsum(axis=1)
        draws = random.multinomial(40, np.full(40, 1 / 40), size=600)
        estimate, resampled = walks.mean(axis=0), draws @ walks / 40
        errors = resampled.std(axis=0)
        for level, together in ((simultaneous_level(estimate, resampled), True), (0.95, False)):
            reach = norm.ppf(0.5 + level / 2) * errors
            inside = bool((np.abs(estimate) <= reach).all())
            covered += together and inside
            pointwise += not together and inside
    assert covered / 150 > 0.90
    assert pointwise / 150 < 0.86


def test_points_and_resamples_that_say_nothing():
    curves = np.random.default_rng(4).normal(size=(2000, 3))
    full = simultaneous_level(np.zeros(3), curves)
    still = np.column_stack([curves, np.ones(2000), np.full(2000, np.nan)])
    assert simultaneous_level([0, 0, 0, 1, np.nan], still) == full
    assert simultaneous_level([1.0], np.ones((50, 1))) == 0.95
    blank = np.vstack([curves, np.full((500, 3), np.nan)])
    assert simultaneous_level(np.zeros(3), blank) == full
    assert simultaneous_level([0.0], np.full((5, 1), np.nan), 0.9) == 0.9


def test_shapes_and_levels_that_are_refused():
    with pytest.raises(InputError, match=r"accepted: \(resamples, 2\)"):
        simultaneous_level([0, 0], np.zeros((5, 3)))
    with pytest.raises(InputError, match="confidence"):
        simultaneous_level([0], np.zeros((5, 1)), 1.0)
