"""What a JSON value is, how large it may be, and when two are equal."""

from __future__ import annotations

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.evaluators.contract import (
    InvalidJsonError,
    canonical_equal,
    canonical_text,
    fingerprint,
)
from steelyard.evaluators.contract.values import (
    MAX_BYTES,
    MAX_DIGITS,
    MAX_LEVELS,
    MAX_NODES,
    ValueProblemError,
    checked_copy,
    checked_document,
    identity,
    plain_copy,
)
from steelyard.trials.strict_json import canonical_dumps

text = st.text(st.characters(exclude_categories=("Cs",)))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
    max_leaves=20,
)  # fmt: skip


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = [value]
    return value


@given(values)
def test_the_canonical_text_is_that_of_the_trials_room(value):
    assert canonical_text(value) == canonical_dumps(value)


@given(values)
def test_a_copy_is_equal_and_shares_no_container(value):
    for copy in (checked_copy(value), plain_copy(value)):
        assert canonical_text(copy) == canonical_text(value)
        if isinstance(value, dict | list):
            assert copy is not value


@given(values, values)
def test_identity_is_canonical_equality(left, right):
    assert (identity(left) == identity(right)) == canonical_equal(left, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (True, 1),
        (False, 0),
        (1, 1.0),
        (0.0, -0.0),
        (None, False),
        ([], {}),
        ("1", 1),
        ([1], [True]),
    ],
)
def test_what_python_may_call_equal_is_not(left, right):
    assert not canonical_equal(left, right)
    assert identity(left) != identity(right)


def test_one_container_in_two_places_becomes_two():
    shared = [1]
    first, second = checked_copy([shared, shared])
    first.append(2)
    assert second == [1]


def test_the_limits_are_the_last_values_that_pass():
    assert checked_copy(nested(MAX_LEVELS)) == nested(MAX_LEVELS)
    assert len(checked_copy([0] * (MAX_NODES - 1))) == MAX_NODES - 1
    assert checked_copy(10**MAX_DIGITS - 1) == 10**MAX_DIGITS - 1
    assert checked_document("x" * (MAX_BYTES - 2))[1] == MAX_BYTES


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (nested(MAX_LEVELS + 1), "deeper than 32"),
        ([0] * MAX_NODES, "more than 100,000 values"),
        (10**MAX_DIGITS, "more than 4,300 digits"),
        (-(10**MAX_DIGITS), "more than 4,300 digits"),
        (float("nan"), "not finite"),
        ((1,), "holds a tuple"),
        ({1: 2}, "name of type int"),
        ({"\ud800": 1}, "lone surrogate"),
        (["\udfff"], "lone surrogate"),
        (type("Text", (str,), {})("x"), "holds a Text"),
        (b"x", "holds a bytes"),
    ],
    ids=lambda part: part if isinstance(part, str) else "",
)
def test_what_is_no_value_is_refused_by_what_it_is(value, says):
    with pytest.raises(ValueProblemError, match=says):
        checked_copy(value)
    with pytest.raises(InvalidJsonError, match=says):
        canonical_text(value)


def test_a_container_in_itself_is_too_deep():
    loop: list = []
    loop.append(loop)
    with pytest.raises(ValueProblemError, match="deeper"):
        checked_copy(loop)


def test_a_short_number_can_be_long_in_canonical_form():
    value = [1e15] * 60_000  # 18 characters each
    assert len(json.dumps(value)) > MAX_BYTES
    with pytest.raises(ValueProblemError, match="canonical form has 1,140,001 bytes"):
        checked_document(value)


def test_the_digit_limit_is_ours_and_not_the_interpreters():
    before = sys.get_int_max_str_digits()
    try:
        sys.set_int_max_str_digits(0)
        with pytest.raises(ValueProblemError, match="4,300"):
            checked_copy(10**5000)
    finally:
        sys.set_int_max_str_digits(before)


def test_the_fingerprint_is_that_of_the_text_in_utf8():
    # printf '{"a":"é"}' | sha256sum
    expected = "b3a092a6af48807fa9482b2ee140105575daa26d5b24b3c0e60a7e2dee6683b1"
    assert fingerprint({"a": "é"}) == expected
    assert fingerprint({"a": 1, "b": 2}) == fingerprint({"b": 2, "a": 1}) != fingerprint({"a": 1})
