"""One pair: the definition, ties, scores, and what is read from a script."""

from __future__ import annotations

import doctest
import importlib
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.alignment_twin import (
    Costs,
    assert_is_the_definition,
    costs,
    pairs,
    paths,
    table_costs,
)
from steelyard.errors import InputError
from steelyard.stats import alignment
from steelyard.stats.alignment import Scoring, align

MODULES = sorted(p.stem for p in Path(alignment.__file__).parent.glob("*.py") if p.stem[0] != "_")


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_are_true(name: str) -> None:
    assert doctest.testmod(importlib.import_module(f"{alignment.__name__}.{name}")).failed == 0


@given(pairs, costs)
@settings(max_examples=400)
def test_it_is_the_definition(pair: tuple[list[int], list[int]], scores: Costs) -> None:
    assert_is_the_definition(align(*pair, **scores.fast), *pair, scores)


@given(pairs, table_costs)
@settings(max_examples=200)
def test_it_is_the_definition_under_a_similarity_array(
    pair: tuple[list[int], list[int]], scores: Costs
) -> None:
    reference, candidate = (np.array(side, dtype=np.int64) for side in pair)
    assert_is_the_definition(align(reference, candidate, **scores.fast), *pair, scores)


@given(pairs, table_costs)
@settings(max_examples=100)
def test_a_function_says_what_an_array_says(
    pair: tuple[list[int], list[int]], scores: Costs
) -> None:
    named = [[f"tool {token}" for token in side] for side in pair]
    function = dict(scores.fast, similarity=lambda r, c: scores.naive["similarity"](_n(r), _n(c)))
    assert_is_the_definition(align(*named, **function), *pair, scores)


def _n(name: str) -> int:
    return int(name.split()[1])


@given(st.integers(0, 400), st.integers(0, 400), st.integers(1, 5), st.integers(0, 2**31))
@settings(max_examples=20, deadline=None)
def test_one_bit_a_cell_gives_what_the_score_matrix_gives(
    n: int, m: int, distinct: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    reference, candidate = random.integers(0, distinct, n), random.integers(0, distinct, m)
    # The same scores in halves: exact in binary, but not taken for an edit distance.
    by_matrix = align(reference, candidate, match=1.0, mismatch=-0.5, gap=-1.0)
    by_bits = align(reference, candidate)
    assert by_bits.codes == by_matrix.codes
    assert by_bits.score == 2 * by_matrix.score


def script(reference: str, candidate: str, **scores: int) -> list[str]:
    letters = {"match": "=", "substitute": "x", "skipped": "-", "extra": "+"}
    found = align(reference, candidate, **scores).script
    return "".join(letters[operation.operation] for operation in found)


@pytest.mark.parametrize(
    ("reference", "candidate", "expected"),
    [
        ("ab", "ba", "xx"),  # two substitutions score what skip, match, add do
        ("aaaa", "aa", "--=="),  # the latest matches are taken
        ("ab", "xyz", "+xx"),
        ("abab", "baba", "+===-"),
        ("abcd", "badc", "+=x=-"),
    ],
)
def test_ties_are_broken_from_the_end(reference: str, candidate: str, expected: str) -> None:
    assert script(reference, candidate) == expected


def test_a_tie_between_gaps_goes_to_the_reference() -> None:
    # No diagonal is worth its mismatch, so the order of the two gaps is the only question.
    assert script("a", "b", mismatch=-9) == "+-"


def test_an_affine_gap_stays_in_one_piece() -> None:
    assert script("abcde", "ae") == "=---="
    assert script("axbxc", "abc") == "=-=-="
    assert script("axbxc", "abc", gap=-5, gap_extend=0) == "=--x="
    assert align("abcde", "ae", gap=-5, gap_extend=-1).score == 2 + 2 - 5 - 1 - 1


def test_extra_tokens_name_the_reference_token_before_them() -> None:
    assert [operation[1:] for operation in align("ab", "xayb").script] == [
        (None, 0),
        (0, 1),
        (0, 2),
        (1, 3),
    ]


def test_two_empty_sequences_are_alike_and_say_that_nothing_was_compared() -> None:
    found = align([], [])
    assert (found.score, found.script, found.similarity) == (0, (), 1.0)
    assert found.both_empty
    assert found.first_divergence is None


@pytest.mark.parametrize(("sides", "kind"), [(("abc", ""), "skipped"), (("", "abc"), "extra")])
def test_an_empty_side_has_similarity_0(sides: tuple[str, str], kind: str) -> None:
    found = align(*sides)
    assert {operation.operation for operation in found.script} == {kind}
    assert (found.score, found.similarity, found.first_divergence) == (-6, 0.0, 0)
    assert not found.both_empty


def levenshtein(a: list[int], b: list[int]) -> int:
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


@given(paths, paths)
def test_default_similarity_is_the_normalized_levenshtein_similarity(
    a: list[int], b: list[int]
) -> None:
    found = align(a, b)
    distance = levenshtein(a, b)
    assert found.edits == distance
    assert found.score == len(a) + len(b) - 3 * distance
    assert found.similarity == pytest.approx(1 - distance / max(len(a), len(b), 1), abs=1e-15)


@given(pairs, costs)
def test_what_is_read_from_a_script_agrees_with_it(
    pair: tuple[list[int], list[int]], scores: Costs
) -> None:
    found = align(*pair, **scores.fast)
    kinds = [operation.operation for operation in found.script]
    counted = (found.matches, found.substitutes, found.skipped, found.extra)
    assert counted == tuple(kinds.count(k) for k in ("match", "substitute", "skipped", "extra"))
    assert found.matches + found.substitutes + found.skipped == found.reference_length
    assert found.matches + found.substitutes + found.extra == found.candidate_length
    assert 0 <= found.similarity <= 1
    off = [position for position, kind in enumerate(kinds) if kind != "match"]
    assert found.first_divergence == (off[0] if off else None)


def test_similarity_is_not_negative_where_gaps_are_preferred_to_substitutions() -> None:
    found = align("abc", "xyz", mismatch=-100)
    assert (found.edits, found.similarity) == (6, 0.0)


def test_integer_scores_are_exact_integers() -> None:
    found = align("ab" * 50, "ba" * 50, match=2**40, mismatch=-(2**40), gap=-(2**40) + 1)
    assert isinstance(found.score, int)
    kinds = (found.matches, found.substitutes, found.skipped + found.extra)
    assert found.score == kinds[0] * 2**40 - kinds[1] * 2**40 - kinds[2] * (2**40 - 1)


def test_float_scores_stay_floats() -> None:
    assert isinstance(align("a", "a", match=2.0).score, float)


def test_an_alignment_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        align("a", "a").score = 3  # type: ignore[misc]


def test_scoring_knows_when_it_counts_edits() -> None:
    assert Scoring().is_edit_distance
    assert Scoring(0, -1, -1).is_edit_distance
    assert not Scoring(2, -1, -3).is_edit_distance
    assert not Scoring(2, -1, -2, -1).is_edit_distance
    assert not Scoring(-1, -1, -0.5).is_edit_distance
    assert not Scoring(2, 2, 1).is_edit_distance


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({"match": float("nan")}, "match is nan"),
        ({"gap": float("-inf")}, "gap is -inf"),
        ({"mismatch": True}, "mismatch is True"),
        ({"gap": "2"}, "gap is '2'"),
        ({"gap": None}, "gap is None"),
        ({"match": 2**50}, "within"),
        ({"gap": -1, "gap_extend": -2}, "gap_extend is -2, below gap = -1"),
        ({"similarity": [[1, 2]]}, "must be square"),
        ({"similarity": [[1]]}, "code 1 occurs"),
        ({"similarity": [[1, float("nan")], [1, 1]]}, "not finite"),
        ({"similarity": [["a", "b"], ["c", "d"]]}, "not numbers"),
        ({"similarity": [[2**50, 0], [0, 0]]}, "outside"),
        ({"similarity": lambda *_: None}, r"similarity\(0, 0\) is None"),
        ({"similarity": lambda *_: float("nan")}, r"similarity\(0, 0\) is nan"),
    ],
)
def test_scores_that_are_no_scores_are_refused(scores: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        align(np.array([0, 1]), np.array([1, 0]), **scores)


def test_a_similarity_array_needs_integer_tokens() -> None:
    with pytest.raises(InputError, match="integer codes"):
        align(["a"], ["b"], similarity=[[1, 0], [0, 1]])
    with pytest.raises(InputError, match="negative"):
        align(np.array([-1]), np.array([0]), similarity=[[1]])


def test_a_similarity_function_is_not_called_without_end() -> None:
    with pytest.raises(InputError, match="called 9,000,000 times"):
        align(np.arange(3000), np.arange(3000), similarity=lambda *_: 0)


def test_numpy_scores_are_numbers_too() -> None:
    assert align("ab", "ab", match=np.int64(3)).score == 6
    assert align("ab", "ab", match=np.float64(0.5)).score == 1.0
