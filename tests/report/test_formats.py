import math

import pandas as pd
import pytest

from steelyard.report import formats

DASH, MINUS = "\N{EN DASH}", "\N{MINUS SIGN}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.8125, "81.2%"),
        (1.0, "100.0%"),
        (0.0, "0.0%"),
        (2261 / 2262, ">99.9%"),
        (1 / 5000, "<0.1%"),
        (0.9995, ">99.9%"),
        (float("nan"), DASH),
        (None, DASH),
        (pd.NA, DASH),
    ],
)
def test_a_rate_never_claims_more_than_it_is(value, text):
    assert formats.format_rate(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1696, "+17.0"),
        (-0.0179, f"{MINUS}1.8"),
        (0.0, "0.0"),
        (-1e-9, "0.0"),
        (None, DASH),
    ],
)
def test_points_carry_a_sign_and_no_negative_zero(value, text):
    assert formats.format_points(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1"),
        (0.99995, ">0.9999"),
        (0.0029, "0.0029"),
        (1.4e-7, "1.4e-7"),
        (0.0, "<1e-300"),
        (math.nan, DASH),
    ],
)
def test_a_p_value_is_never_zero(value, text):
    assert formats.format_p(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (12345.0, "12,345"),
        (-3, f"{MINUS}3"),
        (0.40512, "0.4051"),
        (-0.0, "0"),
        (math.inf, "∞"),
        (-math.inf, f"{MINUS}∞"),
        (1234.56, "1,234.6"),
        (None, DASH),
    ],
)
def test_numbers(value, text):
    assert formats.format_number(value) == text


def test_counts_flags_and_text():
    assert formats.format_count(25869) == "25,869"
    assert formats.format_count(pd.NA) == DASH
    assert formats.format_flag(True) == "yes"
    assert formats.format_flag(0) == "no"
    assert formats.format_flag(None) == DASH
    assert formats.format_text("") == DASH
    assert formats.format_text("007") == "007"
    assert formats.is_missing(pd.NaT)


def test_an_interval_needs_both_limits():
    assert formats.format_interval(0.7, 0.889) == "[70.0%, 88.9%]"
    assert formats.format_interval(None, 0.5) == DASH
    assert formats.format_interval(-0.1, 0.2, formats.format_points) == f"[{MINUS}10.0, +20.0]"
