"""Attribute sampling: limits, sample sizes, verdicts."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from steelyard.analysis.control_sampling import (
    assess_control,
    control_verdict,
    lower_deviation_limit,
    one_test_suffices,
    required_sample_size,
    upper_deviation_limit,
)
from steelyard.errors import InputError


class TestLimits:
    @pytest.mark.parametrize(
        ("deviations", "tested", "limit"),
        [
            # statsmodels 0.15: proportion_confint(deviations, tested, alpha=0.10, method="beta")
            (0, 25, 0.11292814500684323),
            (0, 59, 0.049507609888226944),
            (1, 25, 0.17612071060451803),
            (1, 93, 0.04999397838798832),
            (2, 100, 0.061619200396040706),
        ],
    )
    def test_reference_values(self, deviations, tested, limit):
        assert upper_deviation_limit(deviations, tested) == pytest.approx(limit, abs=1e-12)

    def test_large_samples_do_not_underflow(self):
        # Plumbline's bisection gives 0.138 here
        assert upper_deviation_limit(2500, 5000) == pytest.approx(0.5117286740409437, abs=1e-12)

    @given(st.integers(0, 60), st.integers(0, 60), st.floats(0.51, 0.999))
    def test_the_limits_are_where_the_tail_is_that_small(self, a, b, confidence):
        deviations, tested = min(a, b), max(a, b)
        high = upper_deviation_limit(deviations, tested, confidence)
        low = lower_deviation_limit(deviations, tested, confidence)
        assert 0 <= low <= high <= 1
        if deviations < tested:
            tail = scipy_stats.binom.cdf(deviations, tested, high)
            assert tail == pytest.approx(1 - confidence, abs=1e-9)
        if deviations > 0:
            tail = scipy_stats.binom.sf(deviations - 1, tested, low)
            assert tail == pytest.approx(1 - confidence, abs=1e-9)

    def test_ends(self):
        assert upper_deviation_limit(0, 0) == upper_deviation_limit(5, 5) == 1.0
        assert lower_deviation_limit(0, 5) == 0.0

    @pytest.mark.parametrize(
        ("deviations", "tested", "confidence", "message"),
        [
            (3, 2, 0.95, "deviations is 3 but tested is 2"),
            (-1, 2, 0.95, "deviations is -1"),
            (math.nan, 2, 0.95, "deviations is nan"),
            (True, 2, 0.95, "not a truth value"),
            (1, 2, 1.0, "confidence is 1"),
            (1, 2, math.nan, "confidence is nan"),
        ],
    )
    def test_what_is_refused(self, deviations, tested, confidence, message):
        for limit in (upper_deviation_limit, lower_deviation_limit):
            with pytest.raises(InputError, match=message):
                limit(deviations, tested, confidence)


class TestSampleSize:
    @pytest.mark.parametrize("confidence", [0.9, 0.95, 0.99])
    @pytest.mark.parametrize("rate", [0.001, 0.01, 0.05, 0.2, 0.5, 0.99])
    def test_without_deviations_it_is_the_closed_form(self, rate, confidence):
        closed = math.ceil(math.log(1 - confidence) / math.log(1 - rate))
        assert required_sample_size(rate, confidence) == closed
        assert required_sample_size(rate, confidence, compatibility="plumbline") == closed

    @pytest.mark.parametrize("expected", [0, 1, 2, 5, 20])
    def test_it_is_the_smallest_that_suffices(self, expected):
        size = required_sample_size(0.05, 0.95, expected)
        assert upper_deviation_limit(expected, size) <= 0.05
        assert upper_deviation_limit(expected, size - 1) > 0.05

    def test_the_rule_of_thumb_is_too_small_or_too_large(self):
        exact = [required_sample_size(0.05, 0.95, n) for n in (1, 2, 5)]
        thumb = [required_sample_size(0.05, 0.95, n, compatibility="plumbline") for n in (1, 2, 5)]
        assert exact == [93, 124, 208]
        assert thumb == [94, 129, 234]

    def test_a_high_tolerable_rate_with_expected_deviations(self):
        assert required_sample_size(0.99, 0.5, 5) == 6

    @pytest.mark.parametrize("rate", [0, 1, 0.0, 1.0])
    def test_no_sample_shows_that_nothing_ever_deviates(self, rate):
        assert required_sample_size(rate) is None

    @pytest.mark.parametrize(
        "arguments",
        [(-0.1,), (1.1,), (math.nan,), (0.05, 0.95, -1), (0.05, 1.0), (0.05, 0.95, 1.5)],
    )
    def test_what_is_refused(self, arguments):
        with pytest.raises(InputError):
            required_sample_size(*arguments)


class TestAssessment:
    @pytest.mark.parametrize(
        ("arguments", "verdict"),
        [
            ((59, 0, 0.05), "effective"),
            ((58, 0, 0.05), "inconclusive"),
            ((100, 4, 0.05), "inconclusive"),
            ((100, 20, 0.05), "deficient"),
            ((0, 0, 0.05), "not tested"),
            ((1000, 0, 0.0), "inconclusive"),  # no sample shows a rate of 0
            ((1000, 1, 0.0), "deficient"),
            ((384, 0, 0.0, 384), "effective"),  # but testing everything does
            ((384, 1, 0.0, 384), "deficient"),
            ((384, 19, 0.05, 384), "effective"),
            ((384, 20, 0.05, 384), "deficient"),
            ((100, 0, 1.0), "inconclusive"),
            ((100, 100, 1.0, 100), "effective"),
        ],
    )
    def test_verdicts(self, arguments, verdict):
        assert assess_control(*arguments).verdict == verdict

    def test_a_sample_stands_for_more_than_itself(self):
        sample = assess_control(384, 1, 0.05)
        everything = assess_control(384, 1, 0.05, population=384)
        assert sample.upper_limit > sample.deviation_rate
        assert everything.upper_limit == everything.deviation_rate == 1 / 384
        assert (sample.full_population, everything.full_population) == (False, True)

    def test_nothing_tested_has_no_rate(self):
        result = assess_control(0, 0, 0.05)
        assert math.isnan(result.deviation_rate)
        assert result.upper_limit == 1.0
        assert not result.sufficient
        assert not result.passes

    def test_a_population_cannot_be_smaller_than_its_sample(self):
        with pytest.raises(InputError, match="population is 3, but 5"):
            assess_control(5, 0, 0.05, population=3)

    def test_rows(self):
        assert assess_control(59, 0, 0.05).to_row()["required_sample"] == 59
        assert control_verdict(0, 0, 0.1, 0.0, 1.0) == "not tested"


def test_one_test_suffices_for_what_cannot_vary():
    assert one_test_suffices("automated", "deterministic", itgc_effective=True)
    assert not one_test_suffices("automated", "llm_agent", itgc_effective=True)
    assert not one_test_suffices("automated", "deterministic", itgc_effective=False)
    assert not one_test_suffices("manual", "deterministic", itgc_effective=True)
    with pytest.raises(InputError, match="operator is 'robot'"):
        one_test_suffices("automated", "robot", itgc_effective=True)
