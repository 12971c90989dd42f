"""One spelling per trial; nothing that prints alike becomes one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.trials.ids import TrialKey, as_id, parse_trial_id, read_ids

part = st.text(
    st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\u2028\u2029"), min_size=1
)


@given(part, part, part, part, st.integers(0, 10**9))
def test_an_id_reads_back_as_the_same_key(arm, task, perturbation, variant, repeat):
    key = TrialKey(arm, task, perturbation, variant, repeat)
    assert parse_trial_id(key.trial_id) == key


@given(part, part, part, part, st.integers(0, 10**9))
def test_another_repeat_is_the_same_key_as_one_made_from_its_parts(a, b, c, d, repeat):
    other = TrialKey(a, b, c, d, 7).repeated(repeat)
    made = TrialKey(a, b, c, d, repeat)
    assert (other, hash(other), other.trial_id) == (made, hash(made), made.trial_id)


@pytest.mark.parametrize("repeat", [-1, True, 1.0, "1", None])
def test_another_repeat_is_a_whole_number(repeat):
    with pytest.raises(InputError, match="repeat must be"):
        TrialKey("a", "b", "c", "d", 0).repeated(repeat)


@given(st.tuples(part, part, part, part), st.tuples(part, part, part, part))
def test_different_keys_have_different_ids(left, right):
    same = TrialKey(*left, 0).trial_id == TrialKey(*right, 0).trial_id
    assert same == (left == right)


def test_the_slash_and_the_percent_sign_are_escaped():
    assert TrialKey("a/b", "50%", "p", "0", 2).trial_id == "a%2Fb/50%25/p/0/2"
    assert parse_trial_id("a%2Fb/50%25/p/0/2") == TrialKey("a/b", "50%", "p", "0", 2)
    assert TrialKey("a%2Fb", "t", "p", "0", 0).trial_id == "a%252Fb/t/p/0/0"


def test_leading_zeros_are_part_of_a_text_id():
    assert TrialKey("a", "007", "p", "0", 0) != TrialKey("a", "7", "p", "0", 0)


def test_keys_sort_by_their_parts_and_print_as_their_id():
    keys = [TrialKey("b", "t", "p", "0", 0), TrialKey("a", "t", "p", "0", 10)]
    assert sorted(keys)[0].arm == "a"
    assert str(keys[0]) == "b/t/p/0/0"


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (("", "t", "p", "0", 0), "arm is empty"),
        (("a", "t\n", "p", "0", 0), "task .* control character"),
        (("a", "t", "\ud83d", "0", 0), "perturbation .* lone surrogate"),
        (("a", "t", "p", 0, 0), "variant must be text, not 0"),
        (("a", "t", "p", "0", -1), "repeat must be 0 or more, not -1"),
        (("a", "t", "p", "0", True), "repeat must be a whole number"),
        (("a", "t", "p", "0", 1.0), "repeat must be a whole number"),
        (("a", "t", "p", "0", "1"), "repeat must be a whole number"),
    ],
)
def test_a_part_that_cannot_be_one_is_refused_by_name(parts, said):
    with pytest.raises(InputError, match=said):
        TrialKey(*parts)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a/t/p/0", "has 4 parts; a trial id is arm/task/perturbation/variant/repeat"),
        ("a/t/p/0/0/0", "has 6 parts"),
        ("", "has 1 parts"),
        ("a/t/p/0/01", "'01' is not a plain whole number"),
        ("a/t/p/0/-1", "'-1' is not a plain whole number"),
        ("a/t/p/0/٣", "is not a plain whole number"),
        ("a%20b/t/p/0/0", "'%' may only begin '%2F'"),
        ("a%2fb/t/p/0/0", "'%' may only begin '%2F'"),
        ("a//p/0/0", "task is empty"),
        (7, "a trial id is text, not 7"),
    ],
)
def test_a_text_that_is_no_trial_id_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        parse_trial_id(text)


def test_integers_become_their_decimal_text():
    assert as_id(7) == as_id(np.int64(7)) == "7"
    assert as_id("007") == "007"
    assert TrialKey("a", "t", "p", "0", np.int64(3)).trial_id.endswith("/3")


@pytest.mark.parametrize("value", [1.0, True, None, b"1", float("nan")])
def test_what_is_neither_text_nor_integer_is_no_id(value):
    with pytest.raises(InputError, match="an id is text or an integer"):
        as_id(value)


def test_a_number_and_a_text_that_print_alike_are_refused():
    assert read_ids([1, 2, 1]) == ["1", "2", "1"]
    assert read_ids(["007", 7]) == ["007", "7"]
    with pytest.raises(InputError, match=r"log.json: the ids 1 \(a number\) and '1' \(a text\)"):
        read_ids([1, 2, "1"], "log.json")
