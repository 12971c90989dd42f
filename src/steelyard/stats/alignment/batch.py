"""Alignments of many pairs in arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.stats.alignment.results import Alignment, EditOperation
from steelyard.stats.alignment.scripts import EXTRA, MATCH, SKIPPED

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class AlignmentBatch:
    """Alignments of N pairs, of which D differ; equal pairs share one script.

    Attributes
    ----------
    index : numpy.ndarray of int64, shape (N,)
        Which of the D distinct alignments each pair has.
    operations : numpy.ndarray of uint8, shape (total,)
        Edit scripts of the distinct alignments, end to end: 0 match, 1 substitute, 2 skipped,
        3 extra.
    offsets : numpy.ndarray of int64, shape (D + 1,)
        Script d is ``operations[offsets[d]:offsets[d + 1]]``.
    distinct_scores : numpy.ndarray of int64 or float64, shape (D,)
    distinct_matches, distinct_substitutes : numpy.ndarray of int64, shape (D,)
    reference_lengths, candidate_lengths : numpy.ndarray of int64, shape (D,)
    distinct_exact : numpy.ndarray of bool, shape (D,)
        False where the search was confined to a band and a better alignment outside of it
        cannot be ruled out.

    Notes
    -----
    ``scores``, ``matches``, ``substitutes``, ``skipped``, ``extra``, ``edits``, ``similarity``,
    ``both_empty``, ``first_divergence`` and ``exact`` have one element a pair, and mean what the
    attributes of :class:`~steelyard.stats.alignment.results.Alignment` mean.
    """

    index: Integers
    operations: npt.NDArray[np.uint8]
    offsets: Integers
    distinct_scores: npt.NDArray[Any]
    distinct_matches: Integers
    distinct_substitutes: Integers
    reference_lengths: Integers
    candidate_lengths: Integers
    distinct_exact: npt.NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.index)

    @property
    def scores(self) -> npt.NDArray[Any]:
        """Score of each pair."""
        return self.distinct_scores[self.index]

    @property
    def matches(self) -> Integers:
        """Number of aligned equal tokens."""
        return self.distinct_matches[self.index]

    @property
    def substitutes(self) -> Integers:
        """Number of aligned tokens that differ."""
        return self.distinct_substitutes[self.index]

    @property
    def skipped(self) -> Integers:
        """Number of reference tokens without a counterpart."""
        return (self.reference_lengths - self._aligned)[self.index]

    @property
    def extra(self) -> Integers:
        """Number of candidate tokens without a counterpart."""
        return (self.candidate_lengths - self._aligned)[self.index]

    @property
    def _aligned(self) -> Integers:
        return self.distinct_matches + self.distinct_substitutes

    @property
    def edits(self) -> Integers:
        """Number of operations that are no match."""
        return (np.diff(self.offsets) - self.distinct_matches)[self.index]

    @property
    def both_empty(self) -> npt.NDArray[np.bool_]:
        """Whether nothing was compared."""
        empty: npt.NDArray[np.bool_] = np.diff(self.offsets) == 0
        return empty[self.index]

    @property
    def exact(self) -> npt.NDArray[np.bool_]:
        """Whether the alignment is known to be the best."""
        return self.distinct_exact[self.index]

    @property
    def similarity(self) -> npt.NDArray[np.float64]:
        """Normalized similarity: 1 - edits / max(lengths), at least 0; 1 for two empties."""
        longest = np.maximum(self.reference_lengths, self.candidate_lengths)
        edits = np.diff(self.offsets) - self.distinct_matches
        share = np.ones(len(longest))
        np.subtract(1.0, edits / np.maximum(longest, 1), out=share, where=longest > 0)
        return np.maximum(share, 0.0)[self.index]

    @property
    def first_divergence(self) -> Integers:
        """Position in the script of the first operation that is no match; -1 without one."""
        off = np.flatnonzero(self.operations != MATCH)
        nearest = np.searchsorted(off, self.offsets[:-1])
        found = np.append(off, len(self.operations))[nearest]
        position = np.where(found < self.offsets[1:], found - self.offsets[:-1], -1)
        return position[self.index]

    def codes(self, pair: int) -> npt.NDArray[np.uint8]:
        """Return the operation codes of one pair, from start to end."""
        distinct = self.index[pair]
        return self.operations[self.offsets[distinct] : self.offsets[distinct + 1]]

    def alignment(self, pair: int) -> Alignment:
        """Return the alignment of one pair."""
        distinct = self.index[pair]
        return Alignment(
            score=self.distinct_scores[distinct].item(),
            codes=self.codes(pair).tobytes(),
            reference_length=int(self.reference_lengths[distinct]),
            candidate_length=int(self.candidate_lengths[distinct]),
            exact=bool(self.distinct_exact[distinct]),
        )

    def script(self, pair: int) -> tuple[EditOperation, ...]:
        """Return the edit script of one pair."""
        return self.alignment(pair).script

    @cached_property
    def _indices(self) -> tuple[Integers, Integers]:
        lengths = np.diff(self.offsets)
        return (
            _running_index(self.operations != EXTRA, self.offsets, lengths),
            _running_index(self.operations != SKIPPED, self.offsets, lengths),
        )

    @property
    def ref_index(self) -> Integers:
        """Reference token of each element of ``operations``; -1 for None.

        For an extra token it is the reference token before it.
        """
        return self._indices[0]

    @property
    def cand_index(self) -> Integers:
        """Candidate token of each element of ``operations``; -1 for None."""
        return np.where(self.operations == SKIPPED, -1, self._indices[1])


def _running_index(
    consumes: npt.NDArray[np.bool_], offsets: Integers, lengths: Integers
) -> Integers:
    """Count the tokens consumed so far in each script, less one."""
    total = np.concatenate([[0], np.cumsum(consumes, dtype=np.int64)])
    index: Integers = total[1:] - 1 - np.repeat(total[offsets[:-1]], lengths)
    return index
