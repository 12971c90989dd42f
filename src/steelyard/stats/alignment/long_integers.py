"""Alignment by fewest edits for one pair, one bit a cell.

The recurrence of :mod:`steelyard.stats.alignment.bit_parallel` with a whole column in one Python
integer. For one long pair this beats arrays of machine words, whose carries would have to be
passed on one by one; for one short pair it beats arrays because nothing has to be set up.

Bit r stands for row r of the distance matrix, 0 to n; bit 0 is the border row, so that the
shifts need no carry in.
"""

from __future__ import annotations

import numpy as np

from steelyard.stats.alignment.encoding import IntegerArray
from steelyard.stats.alignment.scripts import EXTRA, MATCH, SKIPPED, SUBSTITUTE

# Bits that overflow the last row are cut off once in this many columns: they never move down.
COLUMNS_BETWEEN_TRIMS = 64

# From this length on, and with this many rows to a distinct token, it is quicker to compare the
# whole reference with each token than to set one bit a row.
LONG = 512
ROWS_PER_TOKEN = 32


def align_fewest_edits(reference: IntegerArray, candidate: IntegerArray) -> bytes:
    """Return the edit script of one pair as operation codes.

    Parameters
    ----------
    reference, candidate : numpy.ndarray of integers
        Token codes; their values do not matter.

    Returns
    -------
    bytes
        One operation code a byte, from start to end.
    """
    rows_of = _rows_of_tokens(reference)
    equal = [rows_of.get(token, 0) for token in candidate.tolist()]
    zero, plus = _forward(equal, len(reference))
    return _traceback(equal, zero, plus, len(reference))


def _rows_of_tokens(reference: IntegerArray) -> dict[int, int]:
    """Return for each token the rows that hold it; row 1 is bit 1."""
    distinct = np.unique(reference) if len(reference) >= LONG else None
    if distinct is not None and len(distinct) * ROWS_PER_TOKEN <= len(reference):
        packed = [np.packbits(reference == token, bitorder="little") for token in distinct]
        rows = [int.from_bytes(bits.tobytes(), "little") << 1 for bits in packed]
        return dict(zip(distinct.tolist(), rows, strict=True))
    rows_of: dict[int, int] = {}
    for row, token in enumerate(reference.tolist(), start=1):
        rows_of[token] = rows_of.get(token, 0) | 1 << row
    return rows_of


def _forward(equal: list[int], rows: int) -> tuple[list[int], list[int]]:
    """Return, of each column, where D[i, j] = D[i-1, j-1] and where D[i, j] = D[i-1, j] + 1."""
    border_and_rows = (2 << rows) - 1
    only_rows = border_and_rows - 1
    plus, minus = only_rows, 0
    zeros, pluses = [], []
    for column, same in enumerate(equal):
        spare = same | minus
        zero = (((spare & plus) + plus) ^ plus) | spare
        # Rows where the horizontal difference is +1 and -1, moved one row down. The border row
        # grows with every column; its bit comes out of the complement.
        h_plus = (minus | ((zero | plus) ^ border_and_rows)) << 1
        h_minus = (zero & plus) << 1
        minus = h_plus & zero
        plus = h_minus | ((h_plus | zero) ^ only_rows)
        if column % COLUMNS_BETWEEN_TRIMS == 0:
            plus &= only_rows
            minus &= only_rows
        zeros.append(zero)
        pluses.append(plus)
    return zeros, pluses


def _traceback(equal: list[int], zeros: list[int], pluses: list[int], rows: int) -> bytes:
    """Follow the path from the end: diagonal, then reference gap, then candidate gap."""
    codes = bytearray()
    here = 1 << rows  # the bit of the row, bit 0 once no row is left
    for same, zero, plus in zip(reversed(equal), reversed(zeros), reversed(pluses), strict=True):
        while True:
            if here == 1:
                codes.append(EXTRA)
                break
            if not zero & here:
                codes.append(SUBSTITUTE)
                here >>= 1
                break
            if same & here:
                codes.append(MATCH)
                here >>= 1
                break
            if not plus & here:
                codes.append(EXTRA)
                break
            codes.append(SKIPPED)
            here >>= 1
    codes.extend([SKIPPED] * (here.bit_length() - 1))
    codes.reverse()
    return bytes(codes)
