"""Splitting distinct pairs into batches of similar size, and aligning each batch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.stats.alignment.bit_parallel import align_lanes
from steelyard.stats.alignment.encoding import IntegerArray, TokenSequences
from steelyard.stats.alignment.long_integers import align_fewest_edits
from steelyard.stats.alignment.match_masks import word_type
from steelyard.stats.alignment.region import count_cells
from steelyard.stats.alignment.scoring import Search
from steelyard.stats.alignment.scripts import Scripts, join_scripts, script_of
from steelyard.stats.alignment.wavefront import align_wavefront

Index = npt.NDArray[np.int64]

# What the traceback of one batch reads takes about this many bytes, unless one pair takes more.
BATCH_BYTES = 2**25
# More pairs than this gain nothing from standing side by side, and their arrays leave the cache.
MOST_PAIRS = 2**15

# A size class with fewer pairs is not worth a batch of its own: an operation on so few short
# lanes costs the same as on twice as wide ones.
FEW_LANES = 4096

# References longer than a machine word are aligned one by one when there are fewer pairs.
FEW_LONG_PAIRS = 32
WORD = 64


@dataclass(frozen=True, eq=False)
class Work:
    """Distinct pairs to be aligned.

    Attributes
    ----------
    sequences : TokenSequences
    reference, candidate : numpy.ndarray of int64, shape (D,)
        Sequence numbers.
    search : Search
    """

    sequences: TokenSequences
    reference: Index
    candidate: Index
    search: Search

    @cached_property
    def rows(self) -> Index:
        """Length of each reference."""
        return self.sequences.lengths[self.reference]

    @cached_property
    def columns(self) -> Index:
        """Length of each candidate."""
        return self.sequences.lengths[self.candidate]

    def run(self) -> tuple[Index, Scripts, npt.NDArray[Any]]:
        """Align all pairs.

        Returns
        -------
        order : numpy.ndarray of int64, shape (D,)
            The pairs in the order of the results.
        scripts : Scripts
        scores : numpy.ndarray of int64 or float64, shape (D,)
        """
        batches = list(self._batches())
        results = [self._align(batch) for batch in batches]
        scripts = join_scripts([scripts for scripts, _ in results])
        if not results:
            return np.zeros(0, dtype=np.int64), scripts, np.zeros(0, dtype=np.int64)
        return np.concatenate(batches), scripts, np.concatenate([scores for _, scores in results])

    def _batches(self) -> Iterator[Index]:
        """Yield pair numbers: references of one size class, candidates in order of length."""
        size = _size_class(self.rows)
        if self.search.band is not None:
            # A band is laid out for one pair of lengths.
            size = self.rows * (int(self.columns.max(initial=0)) + 1) + self.columns
        order = np.arange(len(size))
        if not (_is_sorted(size) and _is_sorted(self.columns)):
            order = np.lexsort((self.columns, size))
            size = size[order]
        bounds = np.flatnonzero(size[1:] != size[:-1]) + 1
        for group in np.split(order, bounds):
            rows = int(self.rows[group].max(initial=0))
            rest = group
            while len(rest):
                count = self._fitting(rows, rest)
                yield rest[:count]
                rest = rest[count:]

    def _fitting(self, rows: int, members: Index) -> int:
        """Return how many of the first members fit one batch, their candidates sorted by length."""
        columns = self.columns[members]

        def size(count: int) -> int:
            longest = int(columns[count - 1])
            if not self.search.fewest_edits:
                return count * count_cells(rows, longest, self.search.band)
            bits = int(np.iinfo(word_type(rows)).bits)
            return count * longest * 3 * -(-rows // bits) * bits // 8

        counts = range(1, min(len(members), MOST_PAIRS) + 1)
        return max(1, bisect_right(counts, BATCH_BYTES, key=size))

    def _align(self, batch: Index) -> tuple[Scripts, npt.NDArray[Any]]:
        rows, columns = self.rows[batch], self.columns[batch]
        if self.search.fewest_edits and rows.max() > WORD and len(batch) < FEW_LONG_PAIRS:
            scripts = join_scripts([self._align_one(pair) for pair in batch.tolist()])
            return scripts, self._scores(scripts, rows, columns)
        reference = self._lanes(self.reference[batch], int(rows.max()))
        candidate = self._lanes(self.candidate[batch], int(columns.max()))
        if self.search.fewest_edits:
            scripts = align_lanes(reference, candidate, rows, columns)
            return scripts, self._scores(scripts, rows, columns)
        return align_wavefront(reference, candidate, rows, columns, self.search)

    def _align_one(self, pair: int) -> Scripts:
        reference = self.sequences[int(self.reference[pair])]
        candidate = self.sequences[int(self.candidate[pair])]
        return script_of(align_fewest_edits(reference, candidate))

    def _scores(self, scripts: Scripts, rows: Index, columns: Index) -> Index:
        """Add up the scores of scripts without affine gaps."""
        scoring = self.search.scoring
        match, mismatch, gap = int(scoring.match), int(scoring.mismatch), int(scoring.gap)
        gaps = rows + columns - 2 * (scripts.matches + scripts.substitutes)
        scores: Index = scripts.matches * match + scripts.substitutes * mismatch + gaps * gap
        return scores

    @cached_property
    def _padded_codes(self) -> IntegerArray:
        """All codes, followed by as many zeros as the longest sequence has tokens."""
        codes = self.sequences.codes
        longest = int(self.sequences.lengths.max(initial=0))
        return np.concatenate([codes, np.zeros(longest, dtype=codes.dtype)])

    def _lanes(self, numbers: Index, length: int) -> IntegerArray:
        """Lay sequences side by side, shape (length, sequences), padded with anything."""
        offsets = self.sequences.offsets
        begin, count = int(numbers[0]), len(numbers)
        in_a_row = begin + count <= len(self.sequences) and bool(
            np.array_equal(numbers, np.arange(begin, begin + count))
        )
        if in_a_row and bool(np.all(self.sequences.lengths[begin : begin + count] == length)):
            table = self.sequences.codes[offsets[begin] : offsets[begin + count]]
            return np.ascontiguousarray(table.reshape(count, length).T)
        place = np.arange(length)[:, None] + offsets[numbers][None, :]
        lanes: IntegerArray = self._padded_codes[place]
        return lanes


def _size_class(rows: Index) -> Index:
    """Round lengths up to 8, 16, 32, 64 or a power of two of words."""
    if len(rows) and rows.min() == rows.max():
        return np.full(len(rows), rows[0])
    _, exponent = np.frexp(np.maximum(rows, 8) - 1)
    size: Index = np.left_shift(1, exponent.astype(np.int64))
    for smaller, larger in ((8, 16), (16, 32), (32, 64)):
        members = size == smaller
        if np.any(size > smaller) and np.count_nonzero(members) < FEW_LANES:
            size[members] = larger
    return size


def _is_sorted(values: Index) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))
