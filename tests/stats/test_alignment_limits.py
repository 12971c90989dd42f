"""Bands, memory, and long sequences."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stats.alignment_twin import Costs, costs, pairs
from steelyard.errors import InputError
from steelyard.stats.alignment import align, align_many
from steelyard.stats.alignment.scoring import Scoring, Search
from steelyard.stats.alignment.wavefront import score_type
from steelyard.stats.naive_alignment import naive_align


@given(pairs, costs, st.integers(1, 14))
@settings(max_examples=300)
def test_a_band_is_the_definition_with_the_other_cells_forbidden(
    pair: tuple[list[int], list[int]], scores: Costs, band: int
) -> None:
    n, m = len(pair[0]), len(pair[1])
    low, high = min(0, m - n) - band, max(0, m - n) + band
    found = align(*pair, **scores.fast, band=band)
    score, script = naive_align(*pair, **scores.naive, allowed=lambda i, j: low <= j - i <= high)
    assert (found.score, [tuple(o) for o in found.script]) == (score, [tuple(o) for o in script])
    whole = align(*pair, **scores.fast)
    if found.exact:
        assert (found.score, found.codes) == (whole.score, whole.codes)
    if band >= min(n, m):
        assert found.exact


@given(st.lists(pairs, max_size=6), costs, st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_a_batch_takes_a_band_too(
    given_pairs: list[tuple[list[int], list[int]]], scores: Costs, band: int
) -> None:
    batch = align_many(
        [r for r, _ in given_pairs], [c for _, c in given_pairs], **scores.fast, band=band
    )
    for number, pair in enumerate(given_pairs):
        assert batch.alignment(number) == align(*pair, **scores.fast, band=band)


def test_a_band_proves_itself_exact_or_says_that_it_cannot() -> None:
    same = list(range(200))
    moved = [*range(60, 200), *range(60)]
    assert align(same, same[:90] + same[93:], band=5).exact
    narrow = align(same, moved, band=5)
    assert not narrow.exact
    assert narrow.score < align(same, moved).score


def nearly_equal(length: int, changes: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(5)
    reference = random.integers(0, 12, length)
    candidate = np.delete(reference, random.integers(0, length, changes))
    candidate[random.integers(0, len(candidate), changes)] = 99
    return reference, candidate


def test_a_long_trace_is_refused_or_banded() -> None:
    reference, candidate = nearly_equal(50_000, 10)
    with pytest.raises(InputError) as refusal:
        align(reference, candidate)
    for part in ("50,000 with 49,9", "cells", "max_cells = 250,000,000", "band="):
        assert part in str(refusal.value)
    found = align(reference, candidate, band=40)
    assert found.exact
    assert found.edits <= 20


def test_a_band_that_is_too_wide_is_refused_as_well() -> None:
    with pytest.raises(InputError, match="in a band of 20,000"):
        align(np.zeros(50_000, dtype=int), np.zeros(50_000, dtype=int), band=20_000)


def test_the_refusal_of_a_batch_names_the_pair() -> None:
    references = [["a"], ["a"] * 30, ["a"] * 30]
    with pytest.raises(InputError, match="pair 1: aligning 30 with 40 tokens takes 1,271 cells"):
        align_many(references, [["a"], ["b"] * 40, ["b"] * 5], max_cells=1000)
    assert len(align_many(references, [["a"], ["b"] * 40, ["b"] * 5], max_cells=1271)) == 3


def peak_megabytes(reference: np.ndarray, candidate: np.ndarray, **scores: float) -> float:
    tracemalloc.start()
    try:
        align(reference, candidate, **scores)
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


def test_memory_of_one_long_pair() -> None:
    reference, candidate = np.random.default_rng(0).integers(0, 10, (2, 2000))
    # 4 million cells: about a quarter of a byte each, or one byte each in a score matrix.
    assert peak_megabytes(reference, candidate) < 4
    assert peak_megabytes(reference, candidate, gap=-3) < 8


def test_memory_of_a_band_is_that_of_the_band() -> None:
    reference, candidate = nearly_equal(5_000, 5)
    assert peak_megabytes(reference, candidate, band=20) < 8


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"band": 0}, "band is 0"),
        ({"band": 1.5}, "band is 1.5"),
        ({"band": True}, "band is True"),
        ({"max_cells": 0}, "max_cells is 0"),
        ({"max_cells": None}, "max_cells is None"),
    ],
)
def test_limits_that_are_no_limits_are_refused(limits: dict, message: str) -> None:
    for function, sides in ((align, ("ab", "ba")), (align_many, (["ab"], ["ba"]))):
        with pytest.raises(InputError, match=message):
            function(*sides, **limits)


def test_scores_that_would_overflow_are_refused() -> None:
    search = Search(Scoring(match=2**40))
    assert score_type(search, 2**20) == np.int64
    with pytest.raises(InputError, match="do not fit 64 bits over 4,194,304 tokens"):
        score_type(search, 2**22)


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.int64])
def test_the_smallest_type_still_holds_the_extreme_scores(kind: type) -> None:
    largest = np.iinfo(kind).max // (2 * 20 + 8) - 1
    extreme = min(largest, 2**40)
    search = Search(Scoring(extreme, -extreme, -extreme, 1 - extreme))
    assert score_type(search, 20) == kind
    found = align("a" * 10, "b" * 10, match=extreme, mismatch=-extreme, gap=-extreme)
    assert found.score == -10 * extreme
    assert align("a" * 10, "a" * 10, match=extreme, gap_extend=1 - extreme, gap=-extreme).score == (
        10 * extreme
    )
