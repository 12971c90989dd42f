"""Which tokens are equal, as bit masks: the input of the bit-parallel recurrence."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from steelyard.stats.alignment.encoding import IntegerArray

Words: TypeAlias = npt.NDArray[np.unsignedinteger[Any]]

# Comparisons are made for this many cells at once: one byte each, inside a second-level cache.
CELLS_PER_BLOCK = 2**19


def word_type(longest: int) -> np.dtype[Any]:
    """Return the smallest unsigned type whose bits hold ``longest`` rows, at most 64 of them."""
    for kind in (np.uint8, np.uint16, np.uint32):
        if longest <= np.iinfo(kind).bits:
            return np.dtype(kind)
    return np.dtype(np.uint64)


def match_masks(reference: IntegerArray, candidate: IntegerArray, out: Words) -> None:
    """Set bit i of ``out[j, w, p]`` where reference token (bits of a word) w + i is candidate's j.

    Parameters
    ----------
    reference : numpy.ndarray of integers, shape (rows, pairs)
        Tokens of the references, one pair a column.
    candidate : numpy.ndarray of integers, shape (columns, pairs)
        Tokens of the candidates.
    out : numpy.ndarray of unsigned integers, shape (columns, words, pairs)
        Receives the masks. Bits beyond ``rows`` are 0.

    Notes
    -----
    With few distinct tokens and many columns it is cheaper to compare each reference with each
    token once, and look the columns up.
    """
    columns, pairs = candidate.shape
    highest = int(candidate.max(initial=0))
    if 4 * (highest + 1) > columns:
        _compare(reference, candidate, out)
        return
    tokens = np.repeat(np.arange(highest + 1, dtype=candidate.dtype)[:, None], pairs, axis=1)
    of_token = np.empty((len(tokens), *out.shape[1:]), dtype=out.dtype)
    _compare(reference, tokens, of_token)
    lanes = np.arange(pairs)
    for word in range(out.shape[1]):
        out[:, word] = of_token[candidate, word, lanes]


def _compare(reference: IntegerArray, candidate: IntegerArray, out: Words) -> None:
    """Compare every cell, eight rows and many columns at a time."""
    rows, pairs = reference.shape
    bits = np.iinfo(out.dtype).bits
    step = max(1, min(len(candidate), CELLS_PER_BLOCK // (8 * pairs)))
    # Allocated once: fresh memory would cost as much as the comparisons.
    equal = np.empty((step, 8, pairs), dtype=np.bool_)
    packed = np.empty((step, pairs), dtype=np.uint8)
    widened = np.empty((step, pairs), dtype=out.dtype)
    for start in range(0, len(candidate), step):
        columns = candidate[start : start + step, None, :]
        count = len(columns)
        for word in range(out.shape[1]):
            masks = out[start : start + step, word]
            masks[...] = 0
            for low in range(word * bits, min(rows, (word + 1) * bits), 8):
                octet = reference[low : min(low + 8, rows)]
                block = equal[:count, : len(octet)]
                np.equal(octet, columns, out=block)
                _pack_rows(block.view(np.uint8), packed[:count])
                np.copyto(widened[:count], packed[:count])
                np.left_shift(widened[:count], low - word * bits, out=widened[:count])
                np.bitwise_or(masks, widened[:count], out=masks)


def _pack_rows(bits: npt.NDArray[np.uint8], out: npt.NDArray[np.uint8]) -> None:
    """Pack up to eight 0/1 rows (second axis, lowest bit first) into one byte.

    Doubling and adding keeps to operations that numpy runs on whole vector registers;
    ``numpy.packbits`` along this axis works byte by byte.
    """
    last = bits.shape[1] - 1
    np.copyto(out, bits[:, last])
    for row in range(last - 1, -1, -1):
        np.add(out, out, out=out)
        np.bitwise_or(out, bits[:, row], out=out)
