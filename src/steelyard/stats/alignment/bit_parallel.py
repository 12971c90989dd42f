r"""Alignment by fewest edits for many pairs at once, one bit a cell.

When a :class:`~steelyard.stats.alignment.Scoring` is an edit distance, neighbouring cells of the
distance matrix D (rows: reference, columns: candidate) differ by -1, 0 or 1, so a column of
cells is a few bit masks, and one addition carries a whole column forward (Myers 1999, *J. ACM*
46(3):395-415, in the form of Hyyrö 2003, *Nordic J. Computing* 10:29-39):

- ``plus``, ``minus``: D[i, j] - D[i - 1, j] is +1, -1;
- ``h_plus``, ``h_minus``: D[i, j] - D[i, j - 1] is +1, -1;
- ``zero``: D[i, j] = D[i - 1, j - 1].

What the traceback needs follows from them. A cell's diagonal step attains the optimum when its
tokens are equal, or when D grew along the diagonal. So it does not where ``zero & ~equal``; there
the gap that consumes the reference attains it where ``plus`` is set, and else the gap that
consumes the candidate does. That is the tie order of the package, so the scripts are those of the
full score matrix.

Here numpy's arrays are the vector unit: every operation runs over all pairs of a batch.
References longer than 64 tokens take several words. Word w of column j needs the carry of word
w - 1 in the same column, so at step t word w works on column t - w (a skewed wavefront).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.stats.alignment.encoding import IntegerArray
from steelyard.stats.alignment.match_masks import Words, match_masks, word_type
from steelyard.stats.alignment.scripts import Placement, Scripts, write_placed
from steelyard.stats.alignment.traceback import trace

ONE = np.uint64(1)


@dataclass(frozen=True)
class Columns:
    """Masks of every column, shape (steps, words, pairs); step = column + word."""

    equal: Words
    off_diagonal: Words  # the diagonal step does not attain the optimum
    only_up: Words  # and the gap that consumes the reference does

    @classmethod
    def empty(cls, columns: int, words: int, pairs: int, kind: np.dtype[Any]) -> Columns:
        """Return masks to be filled."""
        shape = (columns + words - 1, words, pairs)
        return cls(*(np.empty(shape, dtype=kind) for _ in range(3)))

    def equal_by_column(self) -> Words:
        """View ``equal`` with shape (columns, words, pairs)."""
        steps, words, pairs = self.equal.shape
        by_step, by_word, by_pair = self.equal.strides
        return np.lib.stride_tricks.as_strided(
            self.equal, (steps - words + 1, words, pairs), (by_step, by_step + by_word, by_pair)
        )


def align_lanes(
    reference: IntegerArray,
    candidate: IntegerArray,
    reference_lengths: npt.NDArray[np.int64],
    candidate_lengths: npt.NDArray[np.int64],
) -> Scripts:
    """Align pairs side by side; pair p is column p of both arrays.

    Parameters
    ----------
    reference, candidate : numpy.ndarray of integers, shape (rows or columns, pairs)
        Tokens, padded below with anything: a cell depends only on the cells above it and to
        the left of it.
    reference_lengths, candidate_lengths : numpy.ndarray of int64, shape (pairs,)
        True lengths; those of the candidates must not decrease.

    Returns
    -------
    Scripts
    """
    rows, pairs = reference.shape
    columns = len(candidate)
    kind = word_type(rows)
    words = max(1, -(-rows // np.iinfo(kind).bits))
    masks = Columns.empty(columns, words, pairs, kind)
    match_masks(reference, candidate, masks.equal_by_column())
    if words > 1:
        _forward(masks, columns)
        return trace(_SkewedMasks.of(masks), reference_lengths, candidate_lengths)
    # The first pair whose candidate reaches each column.
    first = np.searchsorted(candidate_lengths, np.arange(columns), side="right").tolist()
    _forward_one_word(masks, first)
    placement = _place(masks, reference_lengths, [*first, pairs])
    return write_placed(placement, reference_lengths, candidate_lengths, first)


def _forward(masks: Columns, columns: int) -> None:
    """Fill ``off_diagonal`` and ``only_up`` from ``equal``, a step of the wavefront at a time."""
    steps, words, pairs = masks.equal.shape
    state = _State.start(words, pairs, masks.equal.dtype)
    whole = state.words(0, words)
    for step in range(steps):
        # Word w works on column step - w: those that have begun and not ended.
        low, high = max(0, step - columns + 1), min(words, step + 1)
        now = whole if high - low == words else state.words(low, high)
        _advance(
            now,
            masks.equal[step, low:high],
            masks.off_diagonal[step, low:high],
            masks.only_up[step, low:high],
        )
        state.hand_over(now, low, high)


def _forward_one_word(masks: Columns, first: list[int]) -> None:
    """Do the same without hand-over, and only for the pairs that reach each column."""
    columns, _, pairs = masks.equal.shape
    state = _State.start(1, pairs, masks.equal.dtype)
    for column in range(columns):
        now = slice(first[column], pairs)
        _advance(
            state.pairs(now),
            masks.equal[column, :, now],
            masks.off_diagonal[column, :, now],
            masks.only_up[column, :, now],
        )


@dataclass(frozen=True)
class _State:
    """The column before, as differences; every array has shape (words, pairs).

    Beside the differences of the column stand the two that enter it from above, and four arrays
    that hold what one step needs.
    """

    plus: Words
    minus: Words
    # Horizontal differences that enter each word from above, as bit 0. Above the first word
    # lies the border row, which grows by one edit a column.
    plus_in: Words
    minus_in: Words
    h_plus: Words
    h_minus: Words
    zero: Words
    spare: Words

    @classmethod
    def start(cls, words: int, pairs: int, kind: np.dtype[Any]) -> _State:
        """Return the border column, where each row adds one edit."""
        arrays = [np.zeros((words, pairs), dtype=kind) for _ in range(8)]
        state = cls(*arrays)
        state.plus[...] = np.iinfo(kind).max
        state.plus_in[0] = 1
        return state

    def words(self, low: int, high: int) -> _State:
        """View some of the words."""
        return _State(*(getattr(self, field.name)[low:high] for field in fields(self)))

    def pairs(self, which: slice) -> _State:
        """View some of the pairs."""
        return _State(*(getattr(self, field.name)[:, which] for field in fields(self)))

    def hand_over(self, now: _State, low: int, high: int) -> None:
        """Give the top row's horizontal differences to the words below, for the next step."""
        top = self.plus.dtype.type(np.iinfo(self.plus.dtype).bits - 1)
        below = min(len(self.plus), high + 1)
        count = below - low - 1
        np.right_shift(now.h_plus[:count], top, out=self.plus_in[low + 1 : below])
        np.right_shift(now.h_minus[:count], top, out=self.minus_in[low + 1 : below])


def _advance(now: _State, equal: Words, off_diagonal: Words, only_up: Words) -> None:
    """Move ``now`` one column on; fill ``off_diagonal`` and ``only_up`` of that column."""
    plus, minus, zero, spare = now.plus, now.minus, now.zero, now.spare
    h_plus, h_minus = now.h_plus, now.h_minus
    np.bitwise_or(equal, minus, spare)
    np.bitwise_or(spare, now.minus_in, spare)
    # The carries of the addition run down each column of matches. In one line, the next four:
    # (((spare & plus) + plus) ^ plus) | spare.
    np.bitwise_and(spare, plus, zero)
    np.add(zero, plus, zero)
    np.bitwise_xor(zero, plus, zero)
    np.bitwise_or(zero, spare, zero)
    # Horizontal differences: -1 in zero & plus, +1 in minus | ~(zero | plus).
    np.bitwise_and(zero, plus, h_minus)
    np.bitwise_or(zero, plus, h_plus)
    np.invert(h_plus, h_plus)
    np.bitwise_or(h_plus, minus, h_plus)
    # Moved one row down they give the vertical ones: -1 in h_plus & zero, +1 in
    # h_minus | ~(h_plus | zero).
    np.add(h_plus, h_plus, spare)
    np.bitwise_or(spare, now.plus_in, spare)
    np.bitwise_and(spare, zero, minus)
    np.bitwise_or(spare, zero, spare)
    np.invert(spare, spare)
    np.add(h_minus, h_minus, plus)
    np.bitwise_or(plus, now.minus_in, plus)
    np.bitwise_or(plus, spare, plus)
    # Equal tokens imply zero, so xor takes them out of it.
    np.bitwise_xor(zero, equal, off_diagonal)
    np.bitwise_and(off_diagonal, plus, only_up)


def _place(masks: Columns, reference_lengths: npt.NDArray[np.int64], first: list[int]) -> Placement:
    """Trace pairs whose reference fits one word, a column at a time; overwrites the masks.

    In each column a path goes up over the rows whose only optimal step that is, and leaves from
    the nearest other row. A position is the mask of the rows up to it.
    """
    equal, off_diagonal, only_up = (
        array[:, 0] for array in (masks.equal, masks.off_diagonal, masks.only_up)
    )
    kind = equal.dtype
    bits = np.iinfo(kind).bits
    entry = np.right_shift(kind.type(np.iinfo(kind).max), (bits - reference_lengths).astype(kind))
    # Pairs whose candidate is shorter wait at 0, where no row is left.
    here = np.zeros(equal.shape[1], dtype=kind)
    highest = np.empty_like(here)
    for column in range(len(equal) - 1, -1, -1):
        entering = slice(first[column], first[column + 1])
        here[entering] = entry[entering]
        reached, taken, same = only_up[column], off_diagonal[column], equal[column]
        np.bitwise_and(reached, here, reached)
        np.bitwise_xor(reached, here, reached)
        shift = 1
        while shift < bits:
            np.right_shift(reached, kind.type(shift), highest)
            np.bitwise_or(reached, highest, reached)
            shift *= 2
        np.right_shift(reached, kind.type(1), highest)
        np.bitwise_xor(reached, highest, highest)
        np.bitwise_and(same, highest, same)
        np.bitwise_and(taken, highest, taken)
        np.bitwise_xor(taken, highest, taken)
        np.bitwise_xor(reached, taken, here)
    return Placement(np.bitwise_count(only_up), off_diagonal != 0, equal != 0)


@dataclass(frozen=True)
class _SkewedMasks:
    """Directions read from masks of several words, kept flat."""

    # Bit 0 and bit 1 of the operation's code, the first inverted.
    low: Words
    high: Words
    words: int
    pairs: int

    @classmethod
    def of(cls, masks: Columns) -> _SkewedMasks:
        """MATCH and SKIPPED have an even code; SKIPPED and EXTRA are off the diagonal."""
        _, words, pairs = masks.equal.shape
        even = np.bitwise_xor(masks.only_up, masks.equal, out=masks.only_up)
        return cls(even.reshape(-1), masks.off_diagonal.reshape(-1), words, pairs)

    def __call__(
        self,
        row: npt.NDArray[np.int64],
        column: npt.NDArray[np.int64],
        pair: npt.NDArray[np.int64],
    ) -> npt.NDArray[np.uint8]:
        """Return operation codes."""
        # Word w of column j stands at step j + w.
        at = (row >> 6) * ((self.words + 1) * self.pairs)
        at += column * (self.words * self.pairs)
        at += pair
        bit = (row & 63).view(np.uint64)
        even = (self.low[at] >> bit) & ONE
        code = (self.high[at] >> bit) & ONE
        code += code
        code += even ^ ONE
        codes: npt.NDArray[np.uint8] = code.astype(np.uint8)
        return codes
