"""Alignment of many pairs at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment.batch import AlignmentBatch
from steelyard.stats.alignment.chunks import Work
from steelyard.stats.alignment.distinct import distinct_pairs
from steelyard.stats.alignment.encoding import Sequences, encode
from steelyard.stats.alignment.pairwise import with_similarity
from steelyard.stats.alignment.region import MAX_CELLS, count_cells, require_cells
from steelyard.stats.alignment.scoring import Score, Scoring, Search, Similarity, check_limits
from steelyard.stats.alignment.sides import Sides

Index = npt.NDArray[np.int64]


def align_many(
    references: Sequences,
    candidates: Sequences,
    *,
    match: Score = 2,
    mismatch: Score = -1,
    gap: Score = -2,
    gap_extend: Score | None = None,
    similarity: Similarity | None = None,
    band: int | None = None,
    max_cells: int = MAX_CELLS,
) -> AlignmentBatch:
    """Align each of many references with the candidate at the same place.

    Equal pairs are aligned once. The results are those of
    :func:`~steelyard.stats.alignment.pairwise.align`, pair by pair, whatever the batch.

    Parameters
    ----------
    references, candidates : iterable of N sequences, or integer array of shape (N, length)
        See :func:`~steelyard.stats.alignment.encoding.encode`.
    match, mismatch, gap, gap_extend, similarity, band, max_cells
        See :func:`~steelyard.stats.alignment.pairwise.align`; ``max_cells`` is about one pair.

    Returns
    -------
    AlignmentBatch

    Raises
    ------
    InputError
        As ``align``; or the two sides are not equally many.

    Examples
    --------
    >>> batch = align_many([["fetch", "pay"], ["fetch"]], [["pay"], ["fetch"]])
    >>> batch.scores.tolist(), batch.similarity.tolist()
    ([0, 2], [0.5, 1.0])
    >>> batch.script(0)[0]
    EditOperation(operation='skipped', ref_index=0, cand_index=None)
    """
    sides = Sides.of(references, candidates)
    return align_pairs(
        sides.sequences,
        sides.pairs,
        match=match,
        mismatch=mismatch,
        gap=gap,
        gap_extend=gap_extend,
        similarity=similarity,
        band=band,
        max_cells=max_cells,
    )


def align_pairs(
    sequences: Sequences,
    pairs: npt.ArrayLike,
    *,
    match: Score = 2,
    mismatch: Score = -1,
    gap: Score = -2,
    gap_extend: Score | None = None,
    similarity: Similarity | None = None,
    band: int | None = None,
    max_cells: int = MAX_CELLS,
) -> AlignmentBatch:
    """Align pairs of sequences that are named by their positions.

    This is the form for comparing some trials with each other, many times over: encode the
    sequences once, and pass the result.

    Parameters
    ----------
    sequences : TokenSequences, iterable of sequences, or two-dimensional integer array
    pairs : array_like of int, shape (N, 2)
        Positions of the reference and of the candidate of each pair.
    match, mismatch, gap, gap_extend, similarity, band, max_cells
        See :func:`~steelyard.stats.alignment.pairwise.align`; ``max_cells`` is about one pair.

    Returns
    -------
    AlignmentBatch

    Raises
    ------
    InputError
        As ``align``; or a position that no sequence has.

    Examples
    --------
    >>> trials = encode(["abcd", "abd", "abcd"])
    >>> align_pairs(trials, [(0, 1), (0, 2), (1, 2)]).similarity.tolist()
    [0.75, 1.0, 0.75]
    """
    scoring = Scoring(match, mismatch, gap, gap_extend)
    check_limits(band, max_cells)
    encoded = encode(sequences)
    if encoded.codes.dtype.kind == "i" and similarity is None:
        encoded = encoded.with_vocabulary()  # negative codes cannot index the bit masks
    positions = _positions(pairs, len(encoded))
    distinct = distinct_pairs(encoded, positions[:, 0], positions[:, 1])
    rows, columns = encoded.lengths[distinct.reference], encoded.lengths[distinct.candidate]
    _require_cells(rows, columns, band, max_cells, distinct.index)
    encoded, search = with_similarity(encoded, Search(scoring, band=band), similarity)
    order, scripts, scores = Work(encoded, distinct.reference, distinct.candidate, search).run()
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    rows, columns = rows[order], columns[order]
    exact = np.ones(len(order), dtype=np.bool_)
    if band is not None:
        sizes = zip(scores.tolist(), rows.tolist(), columns.tolist(), strict=True)
        exact[...] = [search.is_exact(score, n, m) for score, n, m in sizes]
    return AlignmentBatch(
        index=place[distinct.index],
        operations=scripts.operations,
        offsets=scripts.offsets,
        distinct_scores=scores,
        distinct_matches=scripts.matches,
        distinct_substitutes=scripts.substitutes,
        reference_lengths=rows,
        candidate_lengths=columns,
        distinct_exact=exact,
    )


def _positions(pairs: npt.ArrayLike, count: int) -> npt.NDArray[np.int64]:
    """Return the pairs as an array, or say what is wrong with them."""
    positions = np.asarray(pairs)
    if positions.size == 0:
        return np.zeros((0, 2), dtype=np.int64)
    if positions.ndim != 2 or positions.shape[1] != 2 or positions.dtype.kind not in "iu":
        raise InputError(
            f"pairs has shape {positions.shape} and holds {positions.dtype}; it must hold one "
            "row of two integer positions a pair"
        )
    low, high = int(positions.min()), int(positions.max())
    if low < 0 or high >= count:
        wrong = low if low < 0 else high
        row = int(np.flatnonzero((positions == wrong).any(axis=1))[0])
        raise InputError(f"pair {row} names sequence {wrong}; there are {count} (from 0)")
    return positions.astype(np.int64, order="F")  # one side after the other


def _require_cells(
    rows: Index, columns: Index, band: int | None, max_cells: int, index: Index
) -> None:
    """Refuse the first pair that takes too much memory."""
    if not len(rows) or (int(rows.max()) + 1) * (int(columns.max()) + 1) <= max_cells:
        return
    sizes = zip(rows.tolist(), columns.tolist(), strict=True)
    too_large = {d for d, (n, m) in enumerate(sizes) if count_cells(n, m, band) > max_cells}
    for pair, distinct in enumerate(index.tolist()):
        if distinct in too_large:
            require_cells(
                int(rows[distinct]), int(columns[distinct]), band, max_cells, f"pair {pair}: "
            )
