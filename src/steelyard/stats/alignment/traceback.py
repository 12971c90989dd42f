"""Following many paths at once from the end of a score matrix to its start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from steelyard.stats.alignment.region import Region
from steelyard.stats.alignment.scripts import (
    EXTRA,
    MATCH,
    SKIPPED,
    SUBSTITUTE,
    Scripts,
    join_scripts,
    script_of,
    write_reversed,
)

# What each operation consumes, by its code.
REFERENCE_STEP = np.array([1, 1, 1, 0])
CANDIDATE_STEP = np.array([1, 1, 0, 1])

# A direction byte holds the operation that ends the best path to a cell (bits 0 and 1), and
# whether a gap that ends here begins here: bit 2 for one that consumes the reference, bit 3 for
# one that consumes the candidate. Without affine scores every gap position begins a gap, and
# bits 2 and 3 are neither written nor read.
OPEN_REFERENCE_GAP, OPEN_CANDIDATE_GAP = 1 << SKIPPED, 1 << EXTRA


class DirectionsOf(Protocol):
    """The direction byte of any cell of any pair."""

    def __call__(
        self,
        row: npt.NDArray[np.int64],
        column: npt.NDArray[np.int64],
        pair: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.uint8]:
        """Return the direction bytes at (row, column), counted from 0, of each pair."""


@dataclass(frozen=True)
class Directions:
    """Direction bytes of all cells of a region, one column a pair."""

    cells: npt.NDArray[np.uint8]  # shape (cells of the region, pairs)
    region: Region

    def diagonal(self, number: int) -> npt.NDArray[np.uint8]:
        """View one diagonal, shape (rows of it, pairs)."""
        start = self.region.start
        return self.cells[start[number] : start[number + 1]]

    def __call__(
        self,
        row: npt.NDArray[np.int64],
        column: npt.NDArray[np.int64],
        pair: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.uint8]:
        """Return the direction bytes at (row, column) of each pair."""
        # Token 0 stands in row 1 and in column 1 of the score matrix.
        diagonal = row + column
        diagonal += 2
        at = self.region.first_cell[diagonal] + row
        found: npt.NDArray[np.uint8] = self.cells[at + 1, pair]
        return found

    def path(self, row: int, column: int, pair: int, affine: bool) -> bytes:
        """Return the operations of one pair from (row, column) to the start, end first."""
        cell = np.ascontiguousarray(self.cells[:, pair]).data
        first = self.region.first_cell.tolist()
        codes = bytearray()
        gap = 0
        while row >= 0 and column >= 0:
            direction = cell[first[row + column + 2] + row + 1]
            if affine:
                direction |= gap
                gap = _GAP_GOING_ON[direction]
                code = _OPERATION[direction]
            else:
                code = direction
            codes.append(code)
            if code != EXTRA:
                row -= 1
            if code != SKIPPED:
                column -= 1
        return bytes(codes) + bytes([SKIPPED]) * (row + 1) + bytes([EXTRA]) * (column + 1)


def _transitions() -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint8]]:
    """Tabulate the operation, and the gap that must go on, by 16 x (gap going on) + direction.

    Inside a gap that did not begin here, the next operation is that gap's, whatever the best
    path to the cell would be. The gap going on is 0 (none), SKIPPED or EXTRA.
    """
    operation = np.zeros(64, dtype=np.uint8)
    going_on = np.zeros(64, dtype=np.uint8)
    for gap in (0, SKIPPED, EXTRA):
        for direction in range(16):
            code = gap or direction & 3
            begins = code in (MATCH, SUBSTITUTE) or direction >> code & 1
            operation[16 * gap + direction] = code
            going_on[16 * gap + direction] = 0 if begins else 16 * code
    return operation, going_on


OPERATION, GAP_GOING_ON = _transitions()
_OPERATION, _GAP_GOING_ON = OPERATION.tobytes(), GAP_GOING_ON.tobytes()


def trace(
    directions: DirectionsOf,
    reference_lengths: npt.NDArray[np.int64],
    candidate_lengths: npt.NDArray[np.int64],
    affine: bool = False,
) -> Scripts:
    """Follow every pair from its last cell until one of its sequences is used up.

    Parameters
    ----------
    directions : callable
        Gives direction bytes; without ``affine`` only bits 0 and 1 are read.
    reference_lengths, candidate_lengths : numpy.ndarray of int64, shape (pairs,)
        The last cell of each pair is (reference length - 1, candidate length - 1).
    affine : bool, default False
        Whether gaps can go on.
    """
    row, column = reference_lengths - 1, candidate_lengths - 1
    longest = int((reference_lengths + candidate_lengths).max(initial=0))
    codes = np.empty((longest, len(row)), dtype=np.uint8)
    steps = np.zeros(len(row), dtype=np.int64)
    pair = np.flatnonzero((row >= 0) & (column >= 0))
    at_row, at_column, gap = row[pair], column[pair], np.zeros(len(pair), dtype=np.uint8)
    done = 0
    while len(pair):
        # No path can reach a border sooner than this, so nothing need be checked meanwhile.
        safe = int(np.minimum(at_row, at_column).min()) + 1
        for step in range(done, done + safe):
            direction = directions(at_row, at_column, pair)
            if affine:
                direction = gap | direction
                gap = GAP_GOING_ON[direction]
                code = OPERATION[direction]
            else:
                code = direction
            codes[step, pair] = code
            at_row -= REFERENCE_STEP[code]
            at_column -= CANDIDATE_STEP[code]
        done += safe
        steps[pair] = done
        row[pair], column[pair] = at_row, at_column
        on = (at_row >= 0) & (at_column >= 0)
        pair, at_row, at_column, gap = pair[on], at_row[on], at_column[on], gap[on]
    return write_reversed(codes, steps, row + 1, column + 1)


def trace_each(
    directions: Directions,
    reference_lengths: npt.NDArray[np.int64],
    candidate_lengths: npt.NDArray[np.int64],
    affine: bool = False,
) -> Scripts:
    """Do what :func:`trace` does, one pair after the other."""
    lengths = zip(reference_lengths.tolist(), candidate_lengths.tolist(), strict=True)
    return join_scripts(
        [
            script_of(directions.path(rows - 1, columns - 1, pair, affine)[::-1])
            for pair, (rows, columns) in enumerate(lengths)
        ]
    )
