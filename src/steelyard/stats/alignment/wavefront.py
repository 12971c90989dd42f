r"""Alignment under any scores, an anti-diagonal of the score matrix at a time.

Best scores H of prefixes (rows: reference, columns: candidate), with the gap that ends at a cell
kept apart (Gotoh 1982, *J. Mol. Biol.* 162:705-708):

.. math::
   U_{ij} &= \max(H_{i-1,j} + \mathrm{gap},\ U_{i-1,j} + \mathrm{extend}) \\
   L_{ij} &= \max(H_{i,j-1} + \mathrm{gap},\ L_{i,j-1} + \mathrm{extend}) \\
   H_{ij} &= \max(H_{i-1,j-1} + s(r_i, c_j),\ U_{ij},\ L_{ij})

Without affine scores U and L are the first terms alone (Needleman and Wunsch 1970, *J. Mol. Biol.*
48:443-453). Cells with the same i + j do not depend on each other, so each diagonal of all pairs
of a batch is a few operations on whole arrays. What the traceback needs is kept in one byte a
cell; of the scores only three diagonals are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment.encoding import IntegerArray
from steelyard.stats.alignment.region import Region
from steelyard.stats.alignment.scoring import Search
from steelyard.stats.alignment.scripts import Scripts
from steelyard.stats.alignment.traceback import (
    OPEN_CANDIDATE_GAP,
    OPEN_REFERENCE_GAP,
    Directions,
    trace,
    trace_each,
)

Scores = npt.NDArray[Any]

# Below this many pairs, following each path by itself is quicker than all in step.
FEW_PAIRS = 32


def align_wavefront(
    reference: IntegerArray,
    candidate: IntegerArray,
    reference_lengths: npt.NDArray[np.int64],
    candidate_lengths: npt.NDArray[np.int64],
    search: Search,
) -> tuple[Scripts, Scores]:
    """Align pairs side by side; pair p is column p of both token arrays.

    Parameters
    ----------
    reference, candidate : numpy.ndarray of integers, shape (rows or columns, pairs)
        Tokens, padded below with anything that the similarity table has.
    reference_lengths, candidate_lengths : numpy.ndarray of int64, shape (pairs,)
        True lengths.
    search : Search
        With a band all pairs must have equal lengths.

    Returns
    -------
    Scripts
    numpy.ndarray of int64 or float64, shape (pairs,)
        Scores.
    """
    region = Region.of(len(reference), len(candidate), search.band)
    weights = _Weights.of(search, len(reference) + len(candidate))
    filling = _Filling.start(reference, candidate, weights, region)
    totals = reference_lengths + candidate_lengths
    exact = isinstance(weights.gap, np.integer)
    scores = np.zeros(len(totals), dtype=np.int64 if exact else np.float64)
    ends = {int(total): np.flatnonzero(totals == total) for total in np.unique(totals)}
    for diagonal in range(len(region.low)):
        best = filling.fill(diagonal)
        if diagonal in ends:
            pairs = ends[diagonal]
            scores[pairs] = best[reference_lengths[pairs] + 1, pairs]
    step_by_step = trace if len(totals) >= FEW_PAIRS else trace_each
    scripts = step_by_step(
        filling.directions, reference_lengths, candidate_lengths, affine=weights.affine
    )
    return scripts, scores


def score_type(search: Search, tokens: int) -> np.dtype[Any]:
    """Return the smallest type in which no score of ``tokens`` tokens in all can overflow.

    Raises
    ------
    InputError
        Not even 64-bit integers hold them.
    """
    scoring, table = search.scoring, search.table
    if not scoring.is_integer or (table is not None and table.dtype.kind == "f"):
        return np.dtype(np.float64)
    largest = int(scoring.largest_magnitude)
    if table is not None:
        largest = max(largest, int(np.abs(table).max(initial=0)))
    # The bound leaves room for the value that stands for "no path", see _Weights.
    bound = (2 * tokens + 8) * max(1, largest)
    for kind in (np.int16, np.int32, np.int64):
        if bound < np.iinfo(kind).max:
            return np.dtype(kind)
    raise InputError(
        f"scores of magnitude {largest} do not fit 64 bits over {tokens:,} tokens; scale them down"
    )


@dataclass(frozen=True)
class _Weights:
    """Scores as numbers of one type."""

    match: Any
    mismatch: Any
    gap: Any
    extension: Any
    affine: bool
    table: Scores | None
    # Stands for "no path": lower than any score, so that no maximum comes from there.
    nothing: Any

    @classmethod
    def of(cls, search: Search, tokens: int) -> _Weights:
        """Convert the scores to the smallest type that will do."""
        kind = score_type(search, tokens)
        scoring = search.scoring
        lowest = -np.inf if kind.kind == "f" else -(np.iinfo(kind).max // 2)
        return cls(
            match=kind.type(scoring.match),
            mismatch=kind.type(scoring.mismatch),
            gap=kind.type(scoring.gap),
            extension=kind.type(scoring.extension),
            affine=scoring.is_affine,
            table=None if search.table is None else search.table.astype(kind),
            nothing=kind.type(lowest),
        )

    def similarity(
        self, rows: IntegerArray, columns: IntegerArray, differ: npt.NDArray[np.bool_]
    ) -> Scores:
        """Return the scores of aligning tokens of which ``differ`` says whether they differ."""
        if self.table is not None:
            found: Scores = self.table[rows, columns]
            return found
        # Many times quicker than np.where; one of the two terms is 0, so the sum is exact.
        similarity: Scores = np.multiply(differ, self.mismatch)
        similarity += np.multiply(~differ, self.match)
        return similarity


@dataclass
class _Filling:
    """The last diagonals of the score matrix, and the directions of all of them.

    A diagonal's cell in row i stands at i + 1 of its arrays. The cells just outside of the
    region hold ``weights.nothing``.
    """

    reference: IntegerArray  # one row of padding above
    reversed_candidate: IntegerArray  # one row of padding below
    weights: _Weights
    directions: Directions
    best: list[Scores]  # diagonals d, d - 1, d - 2
    reference_gap: list[Scores]  # U of diagonals d, d - 1
    candidate_gap: list[Scores]

    @classmethod
    def start(
        cls, reference: IntegerArray, candidate: IntegerArray, weights: _Weights, region: Region
    ) -> _Filling:
        """Allocate the arrays."""
        rows, pairs = reference.shape
        padding = np.zeros((1, pairs), dtype=reference.dtype)
        gaps = 2 if weights.affine else 0
        shape = (rows + 2, pairs)
        arrays = [np.full(shape, weights.nothing) for _ in range(3 + 2 * gaps)]
        cells = np.empty((region.cells, pairs), dtype=np.uint8)
        return cls(
            reference=np.concatenate([padding, reference]),
            reversed_candidate=np.concatenate([candidate[::-1], padding]),
            weights=weights,
            directions=Directions(cells, region),
            best=arrays[:3],
            reference_gap=arrays[3 : 3 + gaps],
            candidate_gap=arrays[3 + gaps :],
        )

    def fill(self, diagonal: int) -> Scores:
        """Compute one diagonal and return its best scores."""
        self.best.insert(0, self.best.pop())
        now, before, before_that = self.best
        if diagonal == 0:
            now[1] = 0
            return now
        region, weights = self.directions.region, self.weights
        low, high = region.low[diagonal], region.high[diagonal]
        here, above = slice(low + 1, high + 2), slice(low, high + 1)
        rows = self.reference[low : high + 1]
        shift = len(self.reversed_candidate) - 1 - diagonal
        columns = self.reversed_candidate[low + shift : high + 1 + shift]
        differ = rows != columns
        aligned = weights.similarity(rows, columns, differ)
        aligned += before_that[above]
        if weights.affine:
            up, up_opens = self._extend_gap(self.reference_gap, before, above, here)
            left, left_opens = self._extend_gap(self.candidate_gap, before, here, here)
        else:
            up, left = before[above] + weights.gap, before[here] + weights.gap
        best = now[here]
        np.maximum(aligned, up, out=best)
        np.maximum(best, left, out=best)
        self._fence(now, low, high)
        code = self.directions.diagonal(diagonal)
        _write_operations(best != aligned, best != up, differ, code)
        if weights.affine:
            code += up_opens * np.uint8(OPEN_REFERENCE_GAP)
            code += left_opens * np.uint8(OPEN_CANDIDATE_GAP)
            self._fence(self.reference_gap[0], low, high)
            self._fence(self.candidate_gap[0], low, high)
        return now

    def _extend_gap(
        self, gap: list[Scores], before: Scores, source: slice, here: slice
    ) -> tuple[Scores, npt.NDArray[np.bool_]]:
        """Return the best scores of gaps that end here, and which of those gaps begin here."""
        gap.insert(0, gap.pop())
        begun = before[source] + self.weights.gap
        ends = gap[0][here]
        np.add(gap[1][source], self.weights.extension, ends)
        np.maximum(ends, begun, out=ends)
        return ends, ends == begun

    def _fence(self, scores: Scores, low: int, high: int) -> None:
        scores[low] = self.weights.nothing
        scores[high + 2 : high + 3] = self.weights.nothing


def _write_operations(
    off_diagonal: npt.NDArray[np.bool_],
    not_up: npt.NDArray[np.bool_],
    differ: npt.NDArray[np.bool_],
    out: npt.NDArray[np.uint8],
) -> None:
    """Write operation codes: diagonal first, then the reference gap, then the candidate gap."""
    # Bit 1 says off the diagonal. Bit 0 tells apart the two operations there (not up), and the
    # two on it (tokens differ): differ ^ (off_diagonal & (differ ^ not_up)).
    np.logical_xor(not_up, differ, not_up)
    np.logical_and(not_up, off_diagonal, not_up)
    np.logical_xor(not_up, differ, not_up)
    np.add(off_diagonal.view(np.uint8), off_diagonal.view(np.uint8), out)
    np.add(out, not_up.view(np.uint8), out)
