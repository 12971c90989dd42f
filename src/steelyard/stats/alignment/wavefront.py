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
    filling = _Filling.start(reference, candidate, search, region)
    totals = reference_lengths + candidate_lengths
    exact = filling.kind.kind == "i"
    scores = np.zeros(len(totals), dtype=np.int64 if exact else np.float64)
    ends = {int(total): np.flatnonzero(totals == total) for total in np.unique(totals)}
    for diagonal in range(len(region.low)):
        best = filling.fill(diagonal)
        if diagonal in ends:
            pairs = ends[diagonal]
            scores[pairs] = best[reference_lengths[pairs] + 1, pairs]
    step_by_step = trace if len(totals) >= FEW_PAIRS else trace_each
    scripts = step_by_step(
        filling.directions, reference_lengths, candidate_lengths, affine=search.scoring.is_affine
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
    # The bound leaves room for the value that stands for "no path", see _Filling.
    bound = (2 * tokens + 8) * max(1, largest)
    for kind in (np.int16, np.int32, np.int64):
        if bound < np.iinfo(kind).max:
            return np.dtype(kind)
    raise InputError(
        f"scores of magnitude {largest} do not fit 64 bits over {tokens:,} tokens; scale them down"
    )


@dataclass
class _Filling:
    """The last diagonals of the score matrix, and the directions of all of them.

    A diagonal's cell in row i stands at i + 1 of its arrays. The cells just outside of the
    region hold ``nothing``, which stands for "no path": lower than any score, so that no
    maximum comes from there.
    """

    reference: IntegerArray  # one row of padding above
    reversed_candidate: IntegerArray  # one row of padding below
    search: Search
    region: Region
    directions: Directions
    best: list[Scores]  # diagonals d, d - 1, d - 2
    reference_gap: list[Scores]  # U of diagonals d, d - 1
    candidate_gap: list[Scores]
    nothing: Any

    @property
    def kind(self) -> np.dtype[Any]:
        """Type of the scores."""
        return self.best[0].dtype

    @classmethod
    def start(
        cls,
        reference: IntegerArray,
        candidate: IntegerArray,
        search: Search,
        region: Region,
    ) -> _Filling:
        """Allocate the arrays."""
        rows, pairs = reference.shape
        kind = score_type(search, rows + len(candidate))
        nothing = kind.type(-np.inf if kind.kind == "f" else -(np.iinfo(kind).max // 2))
        padding = np.zeros((1, pairs), dtype=reference.dtype)
        gaps = 2 if search.scoring.is_affine else 0
        arrays = [np.full((rows + 2, pairs), nothing, dtype=kind) for _ in range(3 + 2 * gaps)]
        cells = np.empty((region.cells, pairs), dtype=np.uint8)
        return cls(
            reference=np.concatenate([padding, reference]),
            reversed_candidate=np.concatenate([candidate[::-1], padding.astype(candidate.dtype)]),
            search=search,
            region=region,
            directions=Directions(cells, region),
            best=arrays[:3],
            reference_gap=arrays[3 : 3 + gaps],
            candidate_gap=arrays[3 + gaps :],
            nothing=nothing,
        )

    def fill(self, diagonal: int) -> Scores:
        """Compute one diagonal and return its best scores."""
        self.best.insert(0, self.best.pop())
        low, high = self.region.low[diagonal], self.region.high[diagonal]
        here, above = slice(low + 1, high + 2), slice(low, high + 1)
        now, before, before_that = self.best
        if diagonal == 0:
            now[1] = 0
            return now
        equal, similarity = self._compare(diagonal, low, high)
        aligned = before_that[above] + similarity
        if self.search.scoring.is_affine:
            up, up_opens = self._extend_gap(self.reference_gap, before, above, here)
            left, left_opens = self._extend_gap(self.candidate_gap, before, here, here)
        else:
            gap = self.kind.type(self.search.scoring.gap)
            up, left = before[above] + gap, before[here] + gap
        best = now[here]
        np.maximum(aligned, up, out=best)
        np.maximum(best, left, out=best)
        self._fence(now, low, high)
        code = self.directions.diagonal(diagonal)
        _operation(best != aligned, best != up, equal, code)
        if self.search.scoring.is_affine:
            code += up_opens * np.uint8(OPEN_REFERENCE_GAP)
            code += left_opens * np.uint8(OPEN_CANDIDATE_GAP)
            self._fence(self.reference_gap[0], low, high)
            self._fence(self.candidate_gap[0], low, high)
        return now

    def _compare(self, diagonal: int, low: int, high: int) -> tuple[npt.NDArray[np.bool_], Scores]:
        """Return which tokens of the diagonal are equal, and what aligning them scores."""
        shift = len(self.reversed_candidate) - 1 - diagonal
        rows = self.reference[low : high + 1]
        columns = self.reversed_candidate[low + shift : high + 1 + shift]
        equal = rows == columns
        kind = self.kind.type
        if self.search.table is None:
            return equal, np.where(
                equal, kind(self.search.scoring.match), kind(self.search.scoring.mismatch)
            )
        return equal, self.search.table[rows, columns].astype(kind, copy=False)

    def _extend_gap(
        self, gap: list[Scores], before: Scores, source: slice, here: slice
    ) -> tuple[Scores, npt.NDArray[np.bool_]]:
        """Return the best scores of gaps that end here, and which of those gaps begin here."""
        gap.insert(0, gap.pop())
        begun = before[source] + self.kind.type(self.search.scoring.gap)
        ends = gap[0][here]
        np.add(gap[1][source], self.kind.type(self.search.scoring.extension), out=ends)
        np.maximum(ends, begun, out=ends)
        return ends, ends == begun

    def _fence(self, scores: Scores, low: int, high: int) -> None:
        scores[low] = self.nothing
        scores[high + 2 : high + 3] = self.nothing


def _operation(
    off_diagonal: npt.NDArray[np.bool_],
    not_up: npt.NDArray[np.bool_],
    equal: npt.NDArray[np.bool_],
    out: npt.NDArray[np.uint8],
) -> None:
    """Write operation codes: diagonal first, then the reference gap, then the candidate gap."""
    np.logical_and(not_up, off_diagonal, out=not_up)
    np.logical_or(equal, off_diagonal, out=equal)
    np.logical_not(equal, out=equal)
    np.logical_or(equal, not_up, out=equal)
    np.add(off_diagonal.view(np.uint8), off_diagonal.view(np.uint8), out=out)
    np.add(out, equal.view(np.uint8), out=out)
