"""The terminal state that counts as success."""

from __future__ import annotations

import math

import pytest

from steelyard.errors import InputError
from steelyard.evaluators.outcome import ExpectedState

PAID = ExpectedState({"paid": True, "count": 1, "amount": 4500.0}, tolerance={"amount": 0.005})


@pytest.mark.parametrize(
    ("state", "met"),
    [
        ({"paid": True, "count": 1, "amount": 4500}, True),
        ({"paid": True, "count": 1, "amount": 4500.004, "other": 3}, True),
        ({"paid": True, "count": 1, "amount": 4500.006}, False),
        ({"paid": True, "count": 1, "amount": math.nan}, False),
        ({"paid": True, "count": 1, "amount": 10**400}, False),
        ({"paid": True, "count": 1, "amount": "4500"}, False),
        ({"paid": True, "count": True, "amount": 4500}, False),
        ({"paid": 1, "count": 1, "amount": 4500}, False),
        ({"paid": True, "count": 1}, False),
        ({}, False),
        (None, None),
    ],
)
def test_members_are_compared_by_value(state, met):
    assert PAID.met_by(state) is met


@pytest.mark.parametrize(
    ("values", "tolerance", "message"),
    [
        ({}, {}, "at least one member"),
        ({"a": "x"}, {"a": 0.1}, "no such number"),
        ({"a": 1}, {"b": 0.1}, "no such number"),
        ({"a": 1}, {"a": 0.0}, "accepted are numbers above 0"),
        ({"a": 1}, {"a": math.nan}, "accepted are numbers above 0"),
    ],
)
def test_an_expected_state_that_grades_nothing_is_refused(values, tolerance, message):
    with pytest.raises(InputError, match=message):
        ExpectedState(values, tolerance)
