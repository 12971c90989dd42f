"""Tokens: equality is ours, and what is no sequence of tokens is refused by name."""

from __future__ import annotations

import enum
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats.alignment import align, align_many, encode


class Colliding:
    """All hashes are the same; equality is identity."""

    def __hash__(self) -> int:
        return hash("pay")


class EqualToEverything:
    """What another type says about its equality with text does not count."""

    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return hash("pay")


class Colour(enum.StrEnum):
    RED = "red"


def same(one: object, other: object) -> bool:
    return align([one], [other]).matches == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (2**61 - 1, 0),  # equal hashes
        (-1, -2),  # equal hashes
        (1, True),
        (1, 1.0),
        (True, 1.0),
        (0, False),
        ("1", 1),
        (None, "None"),
        (b"a", "a"),
        ((1, "a"), (True, "a")),
        (("a", ("b", 1)), ("a", ("b", 1.0))),
        (frozenset([1]), frozenset([True])),
        ((), None),
        ("é", "e\u0301"),  # one code point, and a letter with a combining accent
        ("👩‍🔧", "👩"),
        ("\ud800", "\ud801"),  # lone surrogates
        (Decimal(1), 1),
        (Colliding(), Colliding()),
        (Colliding(), "pay"),
        (EqualToEverything(), "pay"),
        ("pay", EqualToEverything()),
        (float("nan"), "nan"),
    ],
)
def test_other_tokens_differ(one: object, other: object) -> None:
    assert not same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (10**30, 10**30),
        (float("nan"), float("nan")),
        ((1, float("nan")), (1, float("nan"))),
        (Decimal("nan"), Decimal("nan")),
        (0.0, -0.0),
        (np.int64(3), 3),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (Colour.RED, "red"),
        (frozenset(["a", "b"]), frozenset(["b", "a"])),
        ("🧾" * 40, "🧾" * 40),
    ],
)
def test_the_same_tokens_are_found_again(one: object, other: object) -> None:
    assert same(one, other)


def test_one_object_is_the_same_token_wherever_it_stands() -> None:
    token = Colliding()
    assert same(token, token)


mixed = st.one_of(
    st.text(max_size=2),
    st.integers(-2, 2),
    st.booleans(),
    st.sampled_from([0.0, 1.0, float("nan")]),
    st.none(),
    st.tuples(st.integers(0, 1) | st.booleans()),
)


@given(st.lists(st.lists(mixed, max_size=4), max_size=5))
def test_codes_agree_with_type_and_value(sequences: list[list[object]]) -> None:
    def described(token: object) -> str:
        return f"{type(token).__name__} {token!r}"

    encoded = encode(sequences)
    flat = [token for sequence in sequences for token in sequence]
    codes = encoded.codes.tolist()
    code_of: dict[str, int] = {}
    for token, code in zip(flat, codes, strict=True):
        assert code_of.setdefault(described(token), code) == code
    assert len(set(code_of.values())) == len(code_of)
    # Numbered by first appearance, and the vocabulary holds the tokens as they came.
    assert list(dict.fromkeys(codes)) == list(range(len(code_of)))
    assert [described(encoded.vocabulary[code]) for code in codes] == list(map(described, flat))


def test_tokens_are_numbered_alike_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    sequences = [["a", 1], ["b", True], [1, "a"], [True, 1.0], [], ["c"]]
    whole = encode(sequences)
    monkeypatch.setattr("steelyard.stats.alignment.numbering.SEQUENCES_PER_BLOCK", 2)
    by_blocks = encode(sequences)
    assert by_blocks.codes.tolist() == whole.codes.tolist() == [0, 1, 2, 3, 1, 0, 3, 4, 5]
    assert list(map(repr, by_blocks.vocabulary)) == ["'a'", "1", "'b'", "True", "1.0", "'c'"]


def test_repeated_objects_are_encoded_once_and_stand_at_each_place() -> None:
    path, other = ["look", "pay"], ("look",)
    encoded = encode([path, other, path, [], path])
    assert [encoded.tokens(i) for i in range(len(encoded))] == [
        ["look", "pay"],
        ["look"],
        ["look", "pay"],
        [],
        ["look", "pay"],
    ]
    assert encoded[-1].tolist() == [0, 1]
    assert encoded.lengths.tolist() == [2, 1, 2, 0, 2]
    with pytest.raises(IndexError):
        encoded[5]


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.int64, np.uint64])
def test_integer_arrays_keep_their_values(kind: type) -> None:
    encoded = encode(np.array([[3, 1], [1, 3]], dtype=kind))
    assert encoded.codes.tolist() == [3, 1, 1, 3]
    assert encoded.tokens(0) == [3, 1]
    assert encode([np.array([3, 1], dtype=kind), np.array([], dtype=kind)])[0].tolist() == [3, 1]
    assert encoded.with_vocabulary().vocabulary == (1, 3)


def test_an_empty_list_beside_integer_arrays_is_one_of_them() -> None:
    assert align(np.array([1]), [], similarity=[[0, 0], [0, 1]]).skipped == 1
    assert encode([[], np.array([5])]).vocabulary is None


def test_arrays_of_other_tokens_are_read_as_lists() -> None:
    assert align(np.array(["a", "b"]), ["a", "b"]).matches == 2
    assert align(np.array([1, 2]), [1, 2]).matches == 2
    assert align(np.array([True]), [1]).matches == 0


def test_any_sequence_will_do() -> None:
    assert align("abc", ("a", "b", "c")).matches == 3
    assert align(range(3), [0, 1, 2]).matches == 3
    assert align(b"ab", [97, 98]).matches == 2


def test_large_vocabularies_and_large_codes() -> None:
    assert align([str(i) for i in range(300)], [str(i) for i in range(1, 300)]).skipped == 1
    assert align(np.array([2**63, 5], dtype=np.uint64), np.array([5], dtype=np.uint64)).skipped == 1
    assert align(np.array([-7, 5]), np.array([5])).skipped == 1
    # numpy has no integer type for both of these, and float64 would take them for equal.
    large = np.array([2**62], dtype=np.int64), np.array([2**62 + 1], dtype=np.uint64)
    assert align(*large).substitutes == 1


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ([["a"]], "token 0 of reference is a list"),
        (["a", {"b": 1}], "token 1 of reference is a dict"),
        (["a", ("b", ["c"])], "token 1 of reference is a tuple"),
        ({"a", "b"}, "reference is a set"),
        ({"a": 1}, "reference is a dict"),
        (3, "reference is a int"),
        (None, "reference is a NoneType"),
        (iter("abc"), "reference is a str_"),
        (np.zeros((2, 2), dtype=int), "reference is a ndarray"),
    ],
)
def test_what_is_no_sequence_of_tokens_is_refused(reference: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        align(reference, ["a"])  # type: ignore[arg-type]


def test_a_token_nested_without_end_is_refused() -> None:
    token: tuple = ()
    for _ in range(100_000):
        token = (token,)
    with pytest.raises(InputError, match="nested too deeply"):
        align([token], ["a"])


def test_the_refusal_names_sequence_and_side() -> None:
    path = ["a"]
    with pytest.raises(InputError, match="token 1 of sequence 3"):
        encode([path, path, path, ["b", []]])
    with pytest.raises(InputError, match="token 0 of reference 1"):
        align_many([["a"], [[]]], [["a"], ["b"]])
    with pytest.raises(InputError, match="token 1 of candidate 2"):
        align_many([path] * 4, [path, path, ["b", []], path])
    with pytest.raises(InputError, match="candidate is a set"):
        align(path, {"a"})


@pytest.mark.parametrize("sequences", ["abc", b"abc", {"a": 1}, 5])
def test_a_list_of_sequences_is_not_one_sequence(sequences: object) -> None:
    with pytest.raises(InputError, match="list of sequences"):
        encode(sequences)  # type: ignore[arg-type]
