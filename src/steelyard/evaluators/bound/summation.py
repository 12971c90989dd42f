"""Sums of doubles that lose nothing to the order of small and large terms, and means of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


def compensated_sum(values: Iterable[float]) -> float:
    """Return the sum with Neumaier's compensation.

    Python's own ``sum`` does the same from 3.12 on, but not in 3.11; BOUND's published scores
    hold to the last bit only with it.

    References
    ----------
    Neumaier (1974), ZAMM 54:39-51.

    Examples
    --------
    >>> compensated_sum([0.1, 0.2, 0.3])
    0.6
    """
    total = lost = 0.0
    for value in values:
        new = total + value
        if abs(total) >= abs(value):
            lost += (total - new) + value
        else:
            lost += (value - new) + total
        total = new
    return total + lost if lost and math.isfinite(lost) else total


def compensated_mean(values: Sequence[float]) -> float:
    """Return the compensated sum over the number of values, of which there is at least one."""
    return compensated_sum(values) / len(values)


class RowSums:
    """Compensated sums of many rows at once; not every row has every term.

    Finite terms only. Adding the columns in an order gives each row the bits that
    :func:`compensated_sum` gives its own terms in that order.

    Parameters
    ----------
    rows : int
    """

    def __init__(self, rows: int) -> None:
        self._total: FloatArray = np.zeros(rows)
        self._lost: FloatArray = np.zeros(rows)
        self._new: FloatArray = np.empty(rows)
        self._scratch: FloatArray = np.empty(rows)
        self._is_empty = True
        self.terms: npt.NDArray[np.int8] = np.zeros(rows, dtype=np.int8)

    def add(self, column: FloatArray, present: BoolArray | None = None) -> None:
        """Add a term to the rows in which it is present; elsewhere it may be anything."""
        self.terms += np.int8(1) if present is None else present
        # Adding 0.0 changes neither a total nor what it lost.
        value = column if present is None else np.where(present, column, 0.0)
        total, new, scratch = self._total, self._new, self._scratch
        if self._is_empty:
            np.add(total, value, out=total)  # a first term loses nothing
            self._is_empty = False
            return
        # What rounding lost, exactly: Knuth's TwoSum, which does not ask which term is larger.
        # With added = new - total it is (total - (new - added)) + (value - added).
        np.add(total, value, out=new)
        added = new - total
        np.subtract(new, added, out=scratch)
        np.subtract(total, scratch, out=scratch)
        np.subtract(value, added, out=added)
        scratch += added
        self._lost += scratch
        self._total, self._new = new, total

    def sums(self) -> FloatArray:
        """Return the sum of each row."""
        return self._total + self._lost

    def means(self) -> FloatArray:
        """Return the mean of each row; NaN where it has no term."""
        means: FloatArray = np.full(len(self.terms), np.nan)
        np.divide(self.sums(), self.terms, out=means, where=self.terms > 0)
        return means
