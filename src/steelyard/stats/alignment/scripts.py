"""Edit scripts of many pairs, laid end to end, one byte an operation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# An operation's code is its position in this tuple.
OPERATIONS = ("match", "substitute", "skipped", "extra")
MATCH, SUBSTITUTE, SKIPPED, EXTRA = range(4)


@dataclass(frozen=True, eq=False)
class Scripts:
    """Edit scripts of D pairs.

    Attributes
    ----------
    operations : numpy.ndarray of uint8, shape (total,)
        Codes of all scripts, each from start to end.
    offsets : numpy.ndarray of int64, shape (D + 1,)
        Script d is ``operations[offsets[d]:offsets[d + 1]]``.
    matches, substitutes : numpy.ndarray of int64, shape (D,)
        Operations of each kind. With the lengths they give the number of gap positions.
    """

    operations: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    matches: npt.NDArray[np.int64]
    substitutes: npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Placement:
    """Where each candidate token falls; every array has shape (columns, pairs).

    Attributes
    ----------
    row : numpy.ndarray of uint8
        Number of reference tokens consumed once the candidate token is.
    diagonal, equal : numpy.ndarray of bool
        Whether it is aligned with reference token ``row - 1``, and whether the two are equal.
    """

    row: npt.NDArray[np.uint8]
    diagonal: npt.NDArray[np.bool_]
    equal: npt.NDArray[np.bool_]


def write_placed(
    placement: Placement,
    reference_lengths: npt.NDArray[np.int64],
    candidate_lengths: npt.NDArray[np.int64],
    first: list[int],
) -> Scripts:
    """Write the scripts that a placement of the candidate tokens describes.

    A path through the score matrix is known once each column's row is: whatever reference
    tokens lie between two columns' rows are skipped there.

    Parameters
    ----------
    placement : Placement
        Cells beyond a pair's own length are ignored.
    reference_lengths, candidate_lengths : numpy.ndarray of int64, shape (pairs,)
        Those of the candidates must not decrease.
    first : list of int
        Of each column, the first pair that reaches it.
    """
    pairs = len(reference_lengths)
    aligned = np.zeros(pairs, dtype=np.int16)
    matches = np.zeros(pairs, dtype=np.int16)
    # Token j comes after j others and after the reference tokens skipped so far: those consumed
    # (row) less those aligned, this one included. So its position is j + shift[j].
    shift = np.empty(placement.row.shape, dtype=np.int16)
    for column, start in enumerate(first):
        aligned[start:] += placement.diagonal[column, start:]
        matches[start:] += placement.equal[column, start:]
        np.subtract(placement.row[column], aligned, out=shift[column])
    offsets = np.zeros(pairs + 1, dtype=np.int64)
    np.cumsum(reference_lengths + candidate_lengths - aligned, out=offsets[1:])
    operations = np.full(offsets[-1], SKIPPED, dtype=np.uint8)
    codes = _codes(placement)
    position = offsets[:-1].copy()
    places = np.empty_like(position)
    for column, start in enumerate(first):
        np.copyto(places, shift[column])
        np.add(places, position, out=places)
        operations[places[start:]] = codes[column, start:]
        np.add(position, 1, out=position)
    total = matches.astype(np.int64)
    return Scripts(operations, offsets, total, aligned - total)


def _codes(placement: Placement) -> npt.NDArray[np.uint8]:
    """Return EXTRA, less 2 where aligned (SUBSTITUTE), less 1 more where equal (MATCH)."""
    diagonal, equal = placement.diagonal.view(np.uint8), placement.equal.view(np.uint8)
    codes = EXTRA - diagonal
    np.subtract(codes, diagonal, out=codes)
    np.subtract(codes, equal, out=codes)
    return codes


def write_reversed(
    codes: npt.NDArray[np.uint8],
    steps: npt.NDArray[np.int64],
    rows_left: npt.NDArray[np.int64],
    columns_left: npt.NDArray[np.int64],
) -> Scripts:
    """Write scripts that were traced from end to start until one sequence was used up.

    Parameters
    ----------
    codes : numpy.ndarray of uint8, shape (longest script, pairs)
        Operations from the end; row s is the s-th from the end.
    steps : numpy.ndarray of int64, shape (pairs,)
        How many rows of ``codes`` are filled.
    rows_left, columns_left : numpy.ndarray of int64, shape (pairs,)
        Reference and candidate tokens left at the start; at least one of them is 0.
    """
    lengths = steps + rows_left + columns_left
    longest = int(lengths.max(initial=0))
    number = np.arange(longest - 1, -1, -1)
    start = np.where(rows_left > 0, SKIPPED, EXTRA).astype(np.uint8)
    # One row a pair, padded at the left.
    table = np.where(number < steps[:, None], codes[:longest][::-1].T, start[:, None])
    used = number < lengths[:, None]
    offsets = np.zeros(len(steps) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Scripts(
        operations=table[used],
        offsets=offsets,
        matches=np.count_nonzero((table == MATCH) & used, axis=1).astype(np.int64),
        substitutes=np.count_nonzero((table == SUBSTITUTE) & used, axis=1).astype(np.int64),
    )


def script_of(codes: bytes) -> Scripts:
    """Wrap one script."""
    operations = np.frombuffer(codes, dtype=np.uint8)
    return Scripts(
        operations=operations,
        offsets=np.array([0, len(codes)]),
        matches=np.array([codes.count(MATCH)]),
        substitutes=np.array([codes.count(SUBSTITUTE)]),
    )


def join_scripts(parts: list[Scripts]) -> Scripts:
    """Lay several batches end to end."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        nothing: npt.NDArray[Any] = np.zeros(0, dtype=np.int64)
        return Scripts(nothing.astype(np.uint8), np.zeros(1, dtype=np.int64), nothing, nothing)
    sizes = [len(part.operations) for part in parts]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    ends = [part.offsets[1:] + start for part, start in zip(parts, starts, strict=False)]
    offsets = np.concatenate([[0], *ends])
    return Scripts(
        operations=np.concatenate([part.operations for part in parts]),
        offsets=offsets,
        matches=np.concatenate([part.matches for part in parts]),
        substitutes=np.concatenate([part.substitutes for part in parts]),
    )
