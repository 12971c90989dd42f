"""Many pairs at once: what each pair alone gives, in every size class and batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.alignment_twin import Costs, assert_is_the_definition, batches, costs, table_costs
from steelyard.errors import InputError
from steelyard.stats.alignment import (
    OPERATIONS,
    AlignmentBatch,
    align,
    align_many,
    align_pairs,
    chunks,
    distinct,
    encode,
)

Pairs = list[tuple[list[int], list[int]]]


def sides(pairs: Pairs) -> tuple[list[list[int]], list[list[int]]]:
    return [reference for reference, _ in pairs], [candidate for _, candidate in pairs]


@given(batches, costs)
@settings(max_examples=150, deadline=None)
def test_a_batch_is_the_definition(pairs: Pairs, scores: Costs) -> None:
    batch = align_many(*sides(pairs), **scores.fast)
    assert len(batch) == len(pairs)
    for number, pair in enumerate(pairs):
        assert_is_the_definition(batch.alignment(number), *pair, scores)


@given(batches, table_costs)
@settings(max_examples=80, deadline=None)
def test_a_batch_is_the_definition_under_a_similarity_array(pairs: Pairs, scores: Costs) -> None:
    arrays = ([np.array(s, dtype=np.int64) for s in side] for side in sides(pairs))
    batch = align_many(*arrays, **scores.fast)
    for number, pair in enumerate(pairs):
        assert_is_the_definition(batch.alignment(number), *pair, scores)


def random_pairs(
    count: int, longest: int, distinct_tokens: int, seed: int
) -> list[tuple[np.ndarray, np.ndarray]]:
    random = np.random.default_rng(seed)
    return [
        tuple(random.integers(0, distinct_tokens, random.integers(0, longest + 1)) for _ in "rc")
        for _ in range(count)
    ]


def assert_as_alone(batch: AlignmentBatch, pairs: list, **scores: object) -> None:
    for number, (reference, candidate) in enumerate(pairs):
        assert batch.alignment(number) == align(reference, candidate, **scores)


# One word of 8, 16, 32, 64 bits, several words, and references that end at a word's edge.
@pytest.mark.parametrize("longest", [1, 8, 9, 16, 31, 32, 33, 64, 65, 130, 200])
@pytest.mark.parametrize("distinct_tokens", [2, 40])
def test_every_size_class_gives_what_each_pair_alone_gives(
    longest: int, distinct_tokens: int
) -> None:
    pairs = random_pairs(80, longest, distinct_tokens, seed=longest)
    assert_as_alone(align_many(*zip(*pairs, strict=True)), pairs)


@pytest.mark.parametrize("scores", [{"gap": -3}, {"gap": -4, "gap_extend": -1}, {"match": 0.3}])
def test_batches_by_score_matrix_give_what_each_pair_alone_gives(scores: dict) -> None:
    pairs = random_pairs(120, 70, 3, seed=4)
    assert_as_alone(align_many(*zip(*pairs, strict=True), **scores), pairs, **scores)


@pytest.mark.parametrize("lengths", [(63, 64), (64, 63), (64, 65), (65, 64), (128, 129), (192, 1)])
def test_words_filled_to_the_last_bit(lengths: tuple[int, int]) -> None:
    random = np.random.default_rng(1)
    references = random.integers(0, 3, (50, lengths[0]))
    candidates = random.integers(0, 3, (50, lengths[1]))
    batch = align_many(references, candidates)
    assert_as_alone(batch, list(zip(references, candidates, strict=True)))


def test_long_runs_of_one_token_carry_through_every_word() -> None:
    references = np.zeros((40, 300), dtype=np.int64)
    candidates = np.zeros((40, 290), dtype=np.int64)
    candidates[np.arange(40), np.arange(40) * 7] = 1
    batch = align_many(references, candidates)
    assert_as_alone(batch, list(zip(references, candidates, strict=True)))


def test_how_pairs_are_split_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    pairs = random_pairs(300, 40, 3, seed=7)
    whole = align_many(*zip(*pairs, strict=True))
    monkeypatch.setattr(chunks, "BATCH_BYTES", 3000)
    monkeypatch.setattr(chunks, "MOST_PAIRS", 20)
    monkeypatch.setattr(chunks, "FEW_LANES", 1)
    split = align_many(*zip(*pairs, strict=True))
    assert whole.scores.tolist() == split.scores.tolist()
    assert [whole.script(i) for i in range(300)] == [split.script(i) for i in range(300)]


def test_equal_pairs_are_aligned_once() -> None:
    path, other = ["fetch", "check", "pay"], ["fetch", "pay"]
    batch = align_many([path, list(path), other, path] * 50, [other, list(other), path, path] * 50)
    assert len(batch) == 200
    assert len(batch.distinct_scores) == 3
    assert batch.index[:4].tolist() == [batch.index[0], batch.index[0], *batch.index[2:4]]
    assert batch.scores[:4].tolist() == [2, 2, 2, 6]


@given(st.lists(st.lists(st.integers(0, 2), max_size=5), max_size=30))
def test_equal_sequences_are_found(sequences: list[list[int]]) -> None:
    for encoded in (encode(sequences), encode([np.array(s, dtype=np.int64) for s in sequences])):
        same_as = distinct.first_equal(encoded)
        first = [sequences.index(sequence) for sequence in sequences]
        assert (list(range(len(sequences))) if same_as is None else same_as.tolist()) == first


def test_equality_does_not_rest_on_the_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    sequences = [[0, 1], [1, 0], [0, 1], [2], [1, 0], [2], [], []]
    monkeypatch.setattr(
        distinct, "_digests", lambda encoded: np.zeros(len(encoded), dtype=np.uint64)
    )
    assert distinct.first_equal(encode(sequences)).tolist() == [0, 1, 0, 3, 1, 3, 6, 6]


@pytest.mark.parametrize("count", [3, 400])
def test_pairs_by_position(count: int) -> None:
    sequences = [["a", "b"], ["a"], ["a", "b"], []]
    random = np.random.default_rng(0)
    positions = random.integers(0, 4, (count, 2))
    batch = align_pairs(sequences, positions)
    named = [(sequences[i], sequences[j]) for i, j in positions.tolist()]
    assert_as_alone(batch, named)
    assert len(batch.distinct_scores) <= 9


def test_arrays_of_a_batch_agree_with_its_alignments() -> None:
    pairs = [*random_pairs(200, 20, 3, seed=2), ([], []), ([1], []), ([], [1]), ([1], [1])]
    batch = align_many(*zip(*pairs, strict=True))
    alone = [batch.alignment(number) for number in range(len(batch))]
    for name in (
        "matches",
        "substitutes",
        "skipped",
        "extra",
        "edits",
        "similarity",
        "both_empty",
        "exact",
    ):
        assert getattr(batch, name).tolist() == [getattr(a, name) for a in alone], name
    assert batch.scores.tolist() == [a.score for a in alone]
    first = [-1 if a.first_divergence is None else a.first_divergence for a in alone]
    assert batch.first_divergence.tolist() == first


def test_flat_indices_of_a_batch_are_those_of_its_scripts() -> None:
    pairs = random_pairs(100, 12, 3, seed=3)
    batch = align_many(*zip(*pairs, strict=True))
    for number in range(len(batch)):
        begin, end = batch.offsets[batch.index[number] :][:2]
        flat = zip(
            [OPERATIONS[code] for code in batch.operations[begin:end]],
            batch.ref_index[begin:end].tolist(),
            batch.cand_index[begin:end].tolist(),
            strict=True,
        )
        script = [
            tuple(-1 if part is None else part for part in operation)
            for operation in batch.script(number)
        ]
        assert list(flat) == script


def test_no_pairs_at_all() -> None:
    for batch in (align_many([], []), align_pairs(["ab"], [])):
        assert len(batch) == 0
        assert batch.scores.tolist() == []
        assert batch.similarity.tolist() == []
        assert batch.first_divergence.tolist() == []
        assert batch.ref_index.tolist() == []


def test_negative_and_huge_integer_tokens() -> None:
    references = np.array([[-5, 2**62, 7]] * 40)
    candidates = np.array([[2**62, 7, -5]] * 40)
    assert align_many(references, candidates).script(0) == align("abc", "bca").script


def test_sides_of_different_kinds() -> None:
    batch = align_many(np.array([[1, 2]]), [[1, 2]])
    assert batch.matches.tolist() == [2]


@pytest.mark.parametrize(
    ("given_sides", "message"),
    [
        ((["ab"], []), "1 references and 0 candidates"),
        (("ab", "ab"), "got one str"),
        ((5, ["ab"]), "got one int"),
        ((encode(["ab"]), encode(["ab"])), "no common vocabulary"),
        (([["a"], [["b"]]], ["a", "b"]), "token 0 of reference 1"),
    ],
)
def test_sides_that_do_not_fit_are_refused(given_sides: tuple, message: str) -> None:
    with pytest.raises(InputError, match=message):
        align_many(*given_sides)


@pytest.mark.parametrize(
    ("positions", "message"),
    [
        ([(0, 1), (0, 2)], "pair 1 names sequence 2; there are 2"),
        ([(0, -1)], "pair 0 names sequence -1"),
        ([0, 1], r"shape \(2,\)"),
        ([(0.0, 1.0)], "float64"),
        ([(0, 1, 1)], r"shape \(1, 3\)"),
    ],
)
def test_positions_that_name_no_sequence_are_refused(positions: list, message: str) -> None:
    with pytest.raises(InputError, match=message):
        align_pairs(["ab", "ba"], positions)
