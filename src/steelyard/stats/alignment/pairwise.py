"""Alignment of one pair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.alignment.encoding import TokenSequence, TokenSequences, encode_listed
from steelyard.stats.alignment.long_integers import align_fewest_edits
from steelyard.stats.alignment.region import MAX_CELLS, require_cells
from steelyard.stats.alignment.results import Alignment
from steelyard.stats.alignment.scoring import (
    Score,
    Scoring,
    Search,
    Similarity,
    check_limits,
    similarity_table,
)
from steelyard.stats.alignment.scripts import EXTRA, MATCH, SKIPPED, SUBSTITUTE
from steelyard.stats.alignment.wavefront import align_wavefront


def align(
    reference: TokenSequence,
    candidate: TokenSequence,
    *,
    match: Score = 2,
    mismatch: Score = -1,
    gap: Score = -2,
    gap_extend: Score | None = None,
    similarity: Similarity | None = None,
    band: int | None = None,
    max_cells: int = MAX_CELLS,
) -> Alignment:
    """Align two sequences globally (Needleman-Wunsch; Gotoh with affine gaps).

    Of the alignments with the highest score the one returned is fixed by the order in which ties
    are broken, from the end to the start: aligning two tokens whenever that attains the score,
    then skipping a reference token, then adding a candidate token. A gap begins where beginning
    it attains its score, and else goes on.

    Parameters
    ----------
    reference, candidate : sequence of hashable, or one-dimensional integer array
        The two sides; either may be empty. Tokens are the same when type and value are, see
        :mod:`steelyard.stats.alignment.encoding`.
    match, mismatch : int or float, default 2 and -1
        Scores of aligned tokens that are equal, or not.
    gap : int or float, default -2
        Score of a gap's first position.
    gap_extend : int or float, optional
        Score of each further position of a gap: k positions score ``gap + (k - 1) * gap_extend``.
        The default is ``gap``.
    similarity : array_like of shape (K, K), or callable, optional
        Score of aligning a reference token (row, first argument) with a candidate token (column,
        second argument), in place of ``match`` and ``mismatch``. An array needs integer tokens.
        The operation of equal tokens is still called a match.
    band : int, optional
        Compute only cells within this many diagonals of those that join the two corners; at
        least 1. For long sequences that hardly differ. The result says whether it is ``exact``.
    max_cells : int, default 250,000,000
        Refuse more than this many cells of the score matrix, at one byte each.

    Returns
    -------
    Alignment

    Raises
    ------
    InputError
        Tokens or scores that are not accepted, or a pair that needs more than ``max_cells``.

    Examples
    --------
    >>> alignment = align(["fetch", "check", "pay", "log"], ["fetch", "pay", "log", "wait"])
    >>> for operation in alignment.script:
    ...     print(*operation)
    match 0 0
    skipped 1 None
    match 2 1
    match 3 2
    extra 3 3
    >>> alignment.score, alignment.similarity
    (2, 0.5)
    """
    scoring = Scoring(match, mismatch, gap, gap_extend)
    check_limits(band, max_cells)
    sequences = encode_listed([reference, candidate], ("reference", "candidate").__getitem__)
    rows, columns = sequences.lengths.tolist()
    require_cells(rows, columns, band, max_cells)
    sequences, search = with_similarity(sequences, Search(scoring, band=band), similarity)
    if search.fewest_edits:
        codes = align_fewest_edits(sequences[0], sequences[1])
        return Alignment(_score(codes, scoring), codes, rows, columns)
    scripts, scores = align_wavefront(
        sequences[0][:, None],
        sequences[1][:, None],
        np.array([rows]),
        np.array([columns]),
        search,
    )
    score: Score = scores[0].item()
    exact = search.is_exact(score, rows, columns)
    return Alignment(score, scripts.operations.tobytes(), rows, columns, exact)


def with_similarity(
    sequences: TokenSequences, search: Search, similarity: Similarity | None
) -> tuple[TokenSequences, Search]:
    """Evaluate the similarity; its rows and columns are the codes of the sequences returned."""
    if similarity is None:
        return sequences, search
    if callable(similarity):
        sequences = sequences.with_vocabulary()
    codes = sequences.codes
    if codes.size and codes.min() < 0:
        raise InputError(f"code {codes.min()} is negative; a similarity array has no such row")
    size = int(codes.max(initial=0)) + 1 if codes.size else 0
    table = similarity_table(similarity, size, sequences.vocabulary)
    return sequences, replace(search, table=table)


def _score(codes: bytes, scoring: Scoring) -> Score:
    """Add up the scores of an edit script without affine gaps."""
    return (
        codes.count(MATCH) * scoring.match
        + codes.count(SUBSTITUTE) * scoring.mismatch
        + (codes.count(SKIPPED) + codes.count(EXTRA)) * scoring.gap
    )
