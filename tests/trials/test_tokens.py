"""Tokens: one integer per distinct step, with an equality that no hash decides."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.trials.model import Step, UnreadableArguments
from steelyard.trials.tokens import (
    MAX_DEPTH,
    Token,
    Vocabulary,
    arguments_text,
    canonical_text,
    unknown_arguments,
)


def call(arguments) -> Step:
    return Step("tool_call", "pay", arguments)


def same_token(a, b) -> bool:
    vocabulary = Vocabulary([call(a), call(b)], arguments=True)
    return vocabulary.code(call(a)) == vocabulary.code(call(b))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"x": 2**61 - 1}, {"x": 0}),  # equal hashes in CPython
        ({"x": 1}, {"x": True}),  # equal values in Python
        ({"x": 0}, {"x": False}),
        ({"x": "1"}, {"x": 1}),
        ({"x": "007"}, {"x": "7"}),
        ({"x": 10**17 + 1}, {"x": 1e17}),  # equal as doubles only
        ({"x": None}, {}),
        (None, {}),
        (None, UnreadableArguments(None, "broken")),
        (UnreadableArguments("[1]", "a list"), UnreadableArguments("[2]", "a list")),
        ({"x": [1, 2]}, {"x": [2, 1]}),
        ({"x": [1, 1]}, {"x": [1]}),
        ({"x": math.inf}, {"x": -math.inf}),
        ({"x": "e\u0301"}, {"x": "\u00e9"}),  # combining accent and precomposed letter
        ({"x": {}}, {"x": []}),
    ],
)
def test_different_arguments_are_different_tokens(a, b):
    assert not same_token(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ({"x": 1}, {"x": 1.0}),
        ({"x": 0.0}, {"x": -0.0}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"x": (1, 2)}, {"x": [1, 2]}),
        ({"x": math.nan}, {"x": math.nan}),
        ({"x": "\U0001f600"}, {"x": "\ud83d\ude00"}),  # one emoji, escaped as a pair
        (None, None),
        (UnreadableArguments("[1", "a"), UnreadableArguments("[1", "b")),
    ],
)
def test_equal_arguments_are_one_token(a, b):
    assert same_token(a, b)


def test_without_arguments_only_kind_and_name_count():
    steps = [call({"x": 1}), call(None), Step("decision", "pay"), Step("tool_call", "log")]
    vocabulary = Vocabulary(steps)
    assert vocabulary.tokens == (
        Token("decision", "pay"),
        Token("tool_call", "log"),
        Token("tool_call", "pay"),
    )
    assert vocabulary.codes(steps).tolist() == [2, 2, 0, 1]
    assert vocabulary.codes([]).shape == (0,)


def test_codes_do_not_depend_on_the_order_of_the_steps():
    steps = [call({"x": n}) for n in (3, 1, 2)]
    tables = {Vocabulary(p, arguments=True).tokens for p in itertools.permutations(steps)}
    assert len(tables) == 1


def test_a_step_outside_the_vocabulary_is_refused():
    with pytest.raises(InputError, match="tool_call:log is not in this vocabulary of 1 tokens"):
        Vocabulary([call({})]).code(Step("tool_call", "log"))


def test_integers_that_python_refuses_to_print():
    huge = 10**6000
    assert canonical_text(huge) != canonical_text(huge + 1)
    assert canonical_text(huge).startswith("0x")


@pytest.mark.parametrize("value", [{1, 2}, object(), b"x", 1j])
def test_values_that_json_cannot_hold_are_refused(value):
    with pytest.raises(InputError, match="is not a JSON value"):
        canonical_text(value)


def test_object_keys_are_text():
    with pytest.raises(InputError, match="object key 1 is not text"):
        canonical_text({"x": {1: 2}})


def test_nesting_has_a_limit():
    value = []
    for _ in range(MAX_DEPTH):
        value = [value]
    canonical_text(value)
    with pytest.raises(InputError, match="nested deeper than 200"):
        canonical_text([value])


def test_no_json_value_has_the_text_of_unknown_arguments():
    assert arguments_text(None) != arguments_text({})
    assert arguments_text(None) != canonical_text("?")


def test_the_share_of_unknown_arguments():
    steps = [call(None), call({}), Step("decision", "plan"), Step("message", "")]
    assert unknown_arguments(steps) == (2, 3)
    assert unknown_arguments([]) == (0, 0)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=8,
)


def naive_equal(a, b) -> bool:
    """Equality of two JSON values, straight from the definition."""
    if isinstance(a, bool) or isinstance(b, bool):
        return a is b
    if isinstance(a, int | float) and isinstance(b, int | float):
        return a == b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(naive_equal, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(naive_equal(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b


@given(JSON, JSON)
def test_texts_are_equal_exactly_when_values_are(a, b):
    assert (canonical_text(a) == canonical_text(b)) == naive_equal(a, b)
    assert canonical_text(a).isascii()
