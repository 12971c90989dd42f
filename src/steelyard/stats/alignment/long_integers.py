"""Alignment by fewest edits for one pair, one bit a cell.

The recurrence of :mod:`steelyard.stats.alignment.bit_parallel` with a whole column in one Python
integer. For one long pair this beats arrays of machine words, whose carries would have to be
passed on one by one; for one short pair it beats arrays because nothing has to be set up.

Bit r stands for row r of the distance matrix, 0 to n; bit 0 is the border row, so that the
shifts need no carry in.
"""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.stats.alignment.scripts import EXTRA, MATCH, SKIPPED, SUBSTITUTE

# Bits that overflow the last row are cut off once in this many columns: they never move down.
COLUMNS_BETWEEN_TRIMS = 64


def align_fewest_edits(reference: Sequence[int], candidate: Sequence[int]) -> bytes:
    """Return the edit script of one pair as operation codes.

    Parameters
    ----------
    reference, candidate : sequence of int
        Token codes; their values do not matter.

    Returns
    -------
    bytes
        One operation code a byte, from start to end.
    """
    rows_of: dict[int, int] = {}
    for token, bit in zip(reference, _single_bits(len(reference)), strict=True):
        rows_of[token] = rows_of.get(token, 0) | bit
    equal = [rows_of.get(token, 0) for token in candidate]
    zero, plus = _forward(equal, len(reference))
    return _traceback(equal, zero, plus, len(reference))


def _single_bits(rows: int) -> list[int]:
    return [2 << row for row in range(rows)]


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
