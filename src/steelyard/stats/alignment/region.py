"""Which cells of a score matrix are computed: all of them, or a band along the diagonal."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError

# One byte a cell: a quarter of a gigabyte, or a pair of 15,800 tokens each.
MAX_CELLS = 250_000_000


@dataclass(frozen=True)
class Region:
    """The rows of each anti-diagonal that are computed.

    With a band of width b the cells are those whose diagonal j - i lies at most b outside of the
    diagonals of the two corners, 0 and (columns - rows). Every path has to visit those corners,
    so the band always holds a path.

    Attributes
    ----------
    rows, columns : int
        Lengths of the two sequences.
    low, high : list of int
        First and last row of each diagonal d = 0 ... rows + columns.
    start : numpy.ndarray of int64
        Number of cells on the diagonals before.
    """

    rows: int
    columns: int
    low: list[int]
    high: list[int]
    start: npt.NDArray[np.int64]

    @classmethod
    def of(cls, rows: int, columns: int, band: int | None) -> Region:
        """Lay out the whole matrix, or the band of it."""
        diagonal = np.arange(rows + columns + 1)
        low = np.maximum(0, diagonal - columns)
        high = np.minimum(rows, diagonal)
        if band is not None:
            # j - i = d - 2 i must stay between these two.
            lowest = min(0, columns - rows) - band
            highest = max(0, columns - rows) + band
            low = np.maximum(low, -((highest - diagonal) // 2))
            high = np.minimum(high, (diagonal - lowest) // 2)
        start = np.zeros(len(diagonal) + 1, dtype=np.int64)
        np.cumsum(high - low + 1, out=start[1:])
        return cls(rows, columns, low.tolist(), high.tolist(), start)

    @cached_property
    def first_cell(self) -> npt.NDArray[np.int64]:
        """Where row 0 of each diagonal would be, if it had one."""
        first: npt.NDArray[np.int64] = self.start[:-1] - np.array(self.low)
        return first

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.start[-1])


def count_cells(rows: int, columns: int, band: int | None) -> int:
    """Return how many cells a region has, at most; exact without a band."""
    whole = (rows + 1) * (columns + 1)
    if band is None:
        return whole
    return min(whole, (min(rows, columns) + 1) * (abs(columns - rows) + 2 * band + 1))


def require_cells(
    rows: int, columns: int, band: int | None, max_cells: int, which: str = ""
) -> None:
    """Refuse a pair whose score matrix is larger than ``max_cells``.

    Raises
    ------
    InputError
        The message names the size, the limit and the remedies.
    """
    cells = count_cells(rows, columns, band)
    if cells <= max_cells:
        return
    inside = "" if band is None else f" in a band of {band:,}"
    raise InputError(
        f"{which}aligning {rows:,} with {columns:,} tokens{inside} takes {cells:,} cells, "
        f"above max_cells = {max_cells:,}; pass a smaller band (band=... computes only the cells "
        "near the diagonal), or a larger max_cells (one byte a cell), or align parts of the two"
    )
