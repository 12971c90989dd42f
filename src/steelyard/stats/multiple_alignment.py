"""Multiple alignment of weighted token sequences, seeded by the most frequent one.

Sequences are added one after the other to a growing table of columns (a profile). An earlier
sequence is never moved again, which makes this a heuristic for the sum-of-pairs score, as every
progressive alignment is; for two sequences it is the exact pairwise alignment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment import Scoring, TokenSequences, align_pairs, encode
from steelyard.stats.alignment.encoding import Sequences
from steelyard.stats.alignment.scripts import EXTRA, MATCH, SKIPPED, SUBSTITUTE
from steelyard.stats.checks import check_positive_count

Integers = npt.NDArray[np.int64]

MAX_CELLS = 50_000_000
"""Largest table, one byte a cell, that is made when one sequence is added."""

NOTHING = 4
"""Code of a cell in which neither the reference nor the sequence has a token."""

_SCORING = Scoring()


@dataclass(frozen=True, eq=False)
class MultipleAlignment:
    """D distinct sequences in common columns.

    Attributes
    ----------
    reference : int
        The sequence that the others are read against.
    positions : numpy.ndarray of int64, shape (D, columns)
        Which of its tokens a sequence has in a column; -1 for none.
    step : numpy.ndarray of int64, shape (columns,)
        The reference token of a column. For an inserted column, in which the reference has none,
        the one before it; -1 before the first.
    inserted : numpy.ndarray of bool, shape (columns,)
        Columns in which the reference has no token.
    operations : numpy.ndarray of uint8, shape (D, columns)
        0 match, 1 substitute, 2 skipped, 3 extra, as in an edit script against the reference; 4
        where an inserted column holds no token of the sequence.
    """

    reference: int
    positions: Integers
    step: Integers
    inserted: npt.NDArray[np.bool_]
    operations: npt.NDArray[np.uint8]


def central_sequence(sequences: Sequences, weights: npt.ArrayLike | None = None) -> int:
    """Return the position of the most frequent sequence.

    Parameters
    ----------
    sequences : TokenSequences or iterable of D sequences
        Distinct ones.
    weights : array_like of int, shape (D,), optional
        How often each occurs; once where absent.

    Returns
    -------
    int
        Of equally frequent sequences the one with the fewest edits to all (weighted), and then
        the first. Where every sequence occurs once this is the medoid, the centre of a star
        alignment.

    Raises
    ------
    InputError
        No sequence, or weights that do not fit.

    Examples
    --------
    >>> central_sequence(["", "ab", "abc", "xyz"])  # 2 + 1 + 3 edits are the fewest
    1
    """
    encoded = encode(sequences)
    counts = _weights(weights, len(encoded))
    tied = np.flatnonzero(counts == counts.max())
    if len(tied) == 1:
        return int(tied[0])
    every = np.arange(len(encoded))
    pairs = np.column_stack([np.repeat(tied, len(every)), np.tile(every, len(tied))])
    edits = align_pairs(encoded, pairs).edits.reshape(len(tied), len(every))
    return int(tied[np.argmin(edits @ counts)])


def multiple_alignment(
    sequences: Sequences,
    weights: npt.ArrayLike | None = None,
    reference: int | None = None,
    *,
    scoring: Scoring = _SCORING,
    max_cells: int = MAX_CELLS,
) -> MultipleAlignment:
    """Align distinct sequences into common columns.

    Parameters
    ----------
    sequences : TokenSequences or iterable of D sequences
        Distinct ones, in an order that settles ties.
    weights : array_like of int, shape (D,), optional
        How often each occurs; once where absent.
    reference : int, optional
        The sequence to begin with; :func:`central_sequence` where absent.
    scoring : Scoring
        Integer scores without affine gaps.
    max_cells : int
        Largest table for one sequence.

    Returns
    -------
    MultipleAlignment

    Raises
    ------
    InputError
        No sequence; weights or a reference that do not fit; scores that are not plain integers;
        sequences too long.

    Notes
    -----
    The reference comes first, the others follow by falling weight, then by position. Each is
    aligned with the columns so far by the sum-of-pairs score: a token in a column scores
    ``match``, ``mismatch`` or ``gap`` with every sequence already there. Sums are integers, and
    ties go to aligning a token, then to leaving a column out, then to a new column, from the end
    to the start, as in :func:`steelyard.stats.alignment.align`.

    References
    ----------
    Feng and Doolittle (1987), Journal of Molecular Evolution 25:351-360: progressive alignment.
    Gusfield (1997), Algorithms on Strings, Trees and Sequences, chapter 14: sum of pairs, centre
    star.

    Examples
    --------
    >>> found = multiple_alignment(["abd", "ad", "abxd"], [3, 1, 1])
    >>> found.step.tolist(), found.inserted.tolist()
    ([0, 1, 1, 2], [False, False, True, False])
    >>> found.operations.tolist()
    [[0, 0, 4, 0], [0, 2, 4, 0], [0, 0, 3, 0]]
    """
    encoded = encode(sequences).with_vocabulary()
    counts = _weights(weights, len(encoded))
    if scoring.is_affine or not scoring.is_integer:
        raise InputError("a multiple alignment needs integer scores without affine gaps")
    if reference is None:
        reference = central_sequence(encoded, counts)
    elif not 0 <= reference < len(encoded):
        raise InputError(f"reference is {reference}; there are {len(encoded)} sequences (from 0)")
    order = sorted(range(len(encoded)), key=lambda d: (d != reference, -counts[d], d))
    profile = _Profile(len(encoded.vocabulary or ()), scoring, max_cells)
    for place in order:
        profile.add(encoded[place].astype(np.int64), int(counts[place]), place)
    positions = np.empty_like(profile.positions)
    positions[order] = profile.positions
    return _read(encoded, positions, reference)


def _read(encoded: TokenSequences, positions: Integers, reference: int) -> MultipleAlignment:
    """Compare every sequence with the reference, column by column."""
    tokens = np.full(positions.shape, -1, dtype=np.int64)
    for place in range(len(encoded)):
        present = positions[place] >= 0
        tokens[place, present] = encoded[place]
    inserted = positions[reference] < 0
    absent = positions < 0
    aligned = np.where(tokens == tokens[reference], MATCH, SUBSTITUTE)
    operations = np.where(
        inserted, np.where(absent, NOTHING, EXTRA), np.where(absent, SKIPPED, aligned)
    )
    step = np.cumsum(~inserted) - 1
    return MultipleAlignment(reference, positions, step, inserted, operations.astype(np.uint8))


def _weights(weights: npt.ArrayLike | None, count: int) -> Integers:
    """Return one positive integer a sequence."""
    if not count:
        raise InputError("no sequence was given; an alignment needs at least one")
    if weights is None:
        return np.ones(count, dtype=np.int64)
    listed: Sequence[Any] = np.asarray(weights).tolist()
    if not isinstance(listed, list) or len(listed) != count:
        raise InputError(f"weights must hold one number for each of the {count} sequences")
    checked = [check_positive_count(f"weights[{i}]", weight) for i, weight in enumerate(listed)]
    return np.array(checked, dtype=np.int64)


@dataclass
class _Profile:
    """The columns so far, and how often each token stands in each of them."""

    vocabulary: int
    scoring: Scoring
    max_cells: int
    weight: int = 0
    positions: Integers = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    tokens: Integers = field(init=False)

    def __post_init__(self) -> None:
        self.tokens = np.zeros((0, self.vocabulary), dtype=np.int64)

    def add(self, sequence: Integers, weight: int, place: int) -> None:
        """Align one more sequence and give it its columns."""
        columns, length = len(self.tokens), len(sequence)
        cells = (columns + 1) * max(length + 1, self.vocabulary)
        if cells > self.max_cells:
            raise InputError(
                f"sequence {place} of {length:,} tokens cannot be aligned with {columns:,} "
                f"columns: that takes {cells:,} cells, and at most {self.max_cells:,} are made"
            )
        columns_of, tokens_of = self._trace(self._directions(sequence), length)
        old = np.array(columns_of, dtype=np.int64)
        new = np.array(tokens_of, dtype=np.int64)
        kept, present = old >= 0, np.flatnonzero(new >= 0)
        positions = np.full((len(self.positions) + 1, len(old)), -1, dtype=np.int64)
        positions[:-1, kept] = self.positions[:, old[kept]]
        positions[-1] = new
        tokens = np.zeros((len(old), self.vocabulary), dtype=np.int64)
        tokens[kept] = self.tokens[old[kept]]
        tokens[present, sequence] += weight
        self.positions, self.tokens, self.weight = positions, tokens, self.weight + weight

    def _directions(self, sequence: Integers) -> npt.NDArray[np.uint8]:
        """Fill the score table row by row; return the preferred last operation of each cell.

        Within a row a new column may follow another, so the row is a running maximum: a cell is
        the best of the cells to its left less one gap for each place between them.
        """
        occupied = self.tokens.sum(axis=1)
        match, mismatch, gap = int(self.scoring.match), int(self.scoring.mismatch), self.scoring.gap
        added = int(gap) * self.weight * np.arange(len(sequence) + 1, dtype=np.int64)
        row = added.copy()
        directions = np.full((len(occupied) + 1, len(row)), EXTRA, dtype=np.uint8)
        for column, filled in enumerate(occupied.tolist(), start=1):
            same = self.tokens[column - 1, sequence]
            gaps = int(gap) * (self.weight - filled)
            diagonal = row[:-1] + same * match + (filled - same) * mismatch + gaps
            best = row + int(gap) * filled
            skipped = best.copy()
            np.maximum(best[1:], diagonal, out=best[1:])
            row = np.maximum.accumulate(best - added) + added
            directions[column, row == skipped] = SKIPPED
            directions[column, 1:][row[1:] == diagonal] = MATCH
        return directions

    @staticmethod
    def _trace(directions: npt.NDArray[np.uint8], length: int) -> tuple[list[int], list[int]]:
        """Follow the directions from the end; return the old column and token of each column."""
        columns: list[int] = []
        tokens: list[int] = []
        i, j = len(directions) - 1, length
        while i or j:
            operation = SKIPPED if not j else directions[i, j] if i else EXTRA
            i -= operation != EXTRA
            j -= operation != SKIPPED
            columns.append(-1 if operation == EXTRA else i)
            tokens.append(-1 if operation == SKIPPED else j)
        return columns[::-1], tokens[::-1]
