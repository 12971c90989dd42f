"""Multiple alignment: exact for two sequences, fixed by its input, read against the reference."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats.alignment import Scoring, align
from steelyard.stats.multiple_alignment import (
    NOTHING,
    central_sequence,
    multiple_alignment,
)

WORDS = st.text("abc", max_size=7)
FAMILIES = st.lists(WORDS, min_size=1, max_size=6, unique=True)


def by_enumeration(columns: list[str], sequence: str) -> int:
    """The best sum-of-pairs score of a sequence against equally long rows, by trying every way."""
    best = None
    depth = len(columns)
    length = len(columns[0])
    for places in range(len(sequence) + 1):
        for kept in itertools.combinations(range(len(sequence)), places):
            for used in itertools.combinations(range(length), places):
                score = -2 * depth * (len(sequence) - places)
                for column in range(length):
                    symbols = [row[column] for row in columns]
                    mine = sequence[kept[used.index(column)]] if column in used else "-"
                    for symbol in symbols:
                        if mine == "-":
                            score += 0 if symbol == "-" else -2
                        elif symbol == "-":
                            score -= 2
                        else:
                            score += 2 if symbol == mine else -1
                best = score if best is None else max(best, score)
    assert best is not None
    return best


def rows_of(found, sequences):
    return [
        "".join(sequence[p] if p >= 0 else "-" for p in positions)
        for sequence, positions in zip(sequences, found.positions.tolist(), strict=True)
    ]


@given(WORDS, WORDS, st.integers(1, 9), st.integers(1, 9))
def test_two_sequences_are_aligned_as_a_pair(reference, candidate, first, second):
    found = multiple_alignment([reference, candidate], [first, second], 0)
    assert found.operations[1].tolist() == list(align(reference, candidate).codes)


@given(FAMILIES)
def test_every_sequence_is_kept_in_order(sequences):
    found = multiple_alignment(sequences)
    for row, sequence in zip(rows_of(found, sequences), sequences, strict=True):
        assert row.replace("-", "") == sequence
    present = found.positions >= 0
    assert present.any(axis=0).all()  # no column without a token
    assert found.inserted.tolist() == (~present[found.reference]).tolist()
    assert (found.operations == NOTHING).tolist() == (~present & found.inserted).tolist()
    assert int((~found.inserted).sum()) == len(sequences[found.reference])


@given(FAMILIES, st.randoms(use_true_random=False))
def test_result_follows_from_the_input(sequences, random):
    weights = [random.randint(1, 4) for _ in sequences]
    first = multiple_alignment(sequences, weights)
    again = multiple_alignment(sequences, weights)
    assert np.array_equal(first.positions, again.positions)
    # What the tokens are called makes no difference.
    renamed = [[f"tool {token}" for token in sequence] for sequence in sequences]
    assert np.array_equal(multiple_alignment(renamed, weights).operations, first.operations)


@given(st.lists(st.text("ab", max_size=3), min_size=3, max_size=3, unique=True))
def test_the_sequence_added_last_has_the_best_score(sequences):
    found = multiple_alignment(sequences, [3, 2, 1], 0)
    rows = rows_of(found, sequences)
    # Take the last sequence out: the columns that only it had go with it.
    kept = [c for c in range(len(rows[0])) if rows[0][c] != "-" or rows[1][c] != "-"]
    others = ["".join(row[c] for c in kept) for row in rows[:2]]
    weighted = [others[0]] * 3 + [others[1]] * 2

    def score(row_a, row_b):
        total = 0
        for a, b in zip(row_a, row_b, strict=True):
            if a == b == "-":
                continue
            total += -2 if "-" in (a, b) else 2 if a == b else -1
        return total

    reached = 3 * score(rows[0], rows[2]) + 2 * score(rows[1], rows[2])
    assert reached == by_enumeration(weighted, sequences[2])


def test_extra_tokens_share_an_inserted_column():
    found = multiple_alignment(["abd", "abxd", "abxxd"], [5, 1, 1])
    assert rows_of(found, ["abd", "abxd", "abxxd"])[1:] in (
        ["ab-xd", "abxxd"],
        ["abx-d", "abxxd"],
    )
    assert found.step.tolist() == [0, 1, 1, 1, 2]
    assert found.inserted.tolist() == [False, False, True, True, False]


def test_token_before_the_first_step_belongs_to_step_minus_one():
    found = multiple_alignment(["ab", "xab"], [2, 1])
    assert found.step.tolist() == [-1, 0, 1]
    assert found.operations.tolist() == [[NOTHING, 0, 0], [3, 0, 0]]


def test_empty_sequences():
    found = multiple_alignment(["", "ab"], [2, 1])
    assert found.operations.tolist() == [[NOTHING, NOTHING], [3, 3]]
    assert multiple_alignment([""]).operations.shape == (1, 0)
    assert multiple_alignment(["ab", ""], [2, 1]).operations.tolist() == [[0, 0], [2, 2]]


class TestCentre:
    def test_most_frequent(self):
        assert central_sequence(["x", "ab", "abc"], [3, 1, 1]) == 0

    def test_ties_go_to_the_centre_and_then_to_the_first(self):
        assert central_sequence(["", "ab", "abc", "abd"]) == 1
        assert central_sequence(["ab", "cd"]) == 0
        # weights count: the two copies of "abx" pull
        assert central_sequence(["zz", "abc", "abx"], [3, 3, 2]) == 1


class TestRefusals:
    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (([],), "no sequence"),
            ((["a", "b"], [1]), "one number for each of the 2"),
            ((["a", "b"], [1, 0]), r"weights\[1\] is 0"),
            ((["a", "b"], 3), "one number for each"),
            ((["a", "b"], None, 2), "reference is 2"),
        ],
    )
    def test_says_what_does_not_fit(self, arguments, words):
        with pytest.raises(InputError, match=words):
            multiple_alignment(*arguments)

    @pytest.mark.parametrize("scoring", [Scoring(gap=-5, gap_extend=-1), Scoring(match=1.5)])
    def test_scores(self, scoring):
        with pytest.raises(InputError, match="integer scores without affine gaps"):
            multiple_alignment(["a"], scoring=scoring)

    def test_too_long(self):
        with pytest.raises(InputError, match=r"sequence 1 of 30 tokens .* 40 columns"):
            multiple_alignment(["a" * 40, "b" * 30], [2, 1], max_cells=1_000)
