"""Which sequences, and which pairs of them, are the same."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from steelyard.stats.alignment.encoding import TokenSequences

Index = npt.NDArray[np.int64]

# Odd multipliers of a 64-bit mixing function (Steele, Lea and Flood 2014, SplitMix64).
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
# Tells the reference of a pair from the candidate (2**64 over the golden ratio).
_ORDERED = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, eq=False)
class DistinctPairs:
    """The distinct ones of N pairs.

    Attributes
    ----------
    reference, candidate : numpy.ndarray of int64, shape (D,)
        Sequence numbers of each distinct pair.
    index : numpy.ndarray of int64, shape (N,)
        Which distinct pair each pair is.
    """

    reference: Index
    candidate: Index
    index: Index


def distinct_pairs(sequences: TokenSequences, reference: Index, candidate: Index) -> DistinctPairs:
    """Find the pairs that hold the same two sequences.

    Parameters
    ----------
    sequences : TokenSequences
        Equal sequences may stand at several places.
    reference, candidate : numpy.ndarray of int64, shape (N,)
        Sequence numbers of each pair.
    """
    digest = _digests(sequences)
    # Equal pairs have equal digests, so where all digests differ nothing need be compared.
    if _all_differ(digest[reference] * _ORDERED + digest[candidate]):
        return DistinctPairs(reference, candidate, np.arange(len(reference)))
    same_as = first_equal(sequences)
    if same_as is not None:
        reference, candidate = same_as[reference], same_as[candidate]
    key = reference * len(sequences) + candidate
    if len(sequences) ** 2 <= 4 * len(key):
        return _by_counting(key, len(sequences))
    _, first, index = np.unique(key, return_index=True, return_inverse=True)
    return DistinctPairs(reference[first], candidate[first], index)


def _by_counting(key: Index, sequences: int) -> DistinctPairs:
    """Mark the pairs that occur in a table of all possible ones."""
    occurs = np.zeros(sequences**2, dtype=np.bool_)
    occurs[key] = True
    keys = np.flatnonzero(occurs)
    number = np.cumsum(occurs, dtype=np.int64) - 1
    return DistinctPairs(keys // sequences, keys % sequences, number[key])


def _all_differ(key: npt.NDArray[np.int64] | npt.NDArray[np.uint64]) -> bool:
    # Sorting the values alone is several times quicker than sorting their positions.
    ordered = np.sort(key)
    return not np.any(ordered[1:] == ordered[:-1])


def first_equal(sequences: TokenSequences) -> Index | None:
    """Return the number of the first sequence equal to each; None when all differ.

    A hash brings equal sequences together and a comparison decides, so that the answer does not
    rest on the hash.
    """
    digest = _digests(sequences)
    if _all_differ(digest):
        return None
    order = np.argsort(digest, kind="stable")
    ordered = digest[order]
    begins = np.concatenate([[True], ordered[1:] != ordered[:-1]])
    # The first of each run of equal digests, which has the least number as the sort is stable.
    leader = order[np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))]
    equal = _equal(sequences, order, leader)
    same_as = np.empty_like(order)
    same_as[order] = np.where(equal, leader, order)
    if not equal.all():
        _separate(sequences, order[~equal], same_as)
    return same_as


def _separate(sequences: TokenSequences, colliding: Index, same_as: Index) -> None:
    """Compare sequences in full where two of them share a digest without being equal."""
    first: dict[bytes, int] = {}
    for number in np.sort(colliding).tolist():
        same_as[number] = first.setdefault(sequences[number].tobytes(), number)


def _digests(sequences: TokenSequences) -> npt.NDArray[np.uint64]:
    """Return a 64-bit hash of each sequence: a sum of its words, weighted by place."""
    lengths = sequences.lengths
    count = len(lengths)
    width = int(lengths.max(initial=0))
    if count and lengths.min() == width:
        rows = sequences.codes.reshape(count, width)
        size = -(-width * rows.itemsize // 8) * 8
        padded = np.zeros((count, size), dtype=np.uint8)
        padded[:, : width * rows.itemsize] = rows.view(np.uint8).reshape(count, -1)
        words = padded.view(np.uint64)
        total = np.full(count, width, dtype=np.uint64)
        for place, multiplier in enumerate(_multiplier(np.arange(words.shape[1]))):
            total += words[:, place] * multiplier
        return total
    within = np.arange(len(sequences.codes)) - np.repeat(sequences.offsets[:-1], lengths)
    words = (sequences.codes.astype(np.uint64) + np.uint64(1)) * _multiplier(within)
    total = lengths.astype(np.uint64)
    filled = lengths > 0
    if filled.any():
        total[filled] += np.add.reduceat(words, sequences.offsets[:-1][filled])
    return total


def _multiplier(place: Index) -> npt.NDArray[np.uint64]:
    """Return an odd multiplier for each place in a sequence."""
    return _mix(place.astype(np.uint64) + np.uint64(1)) | np.uint64(1)


def _mix(value: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Spread every bit of a value over all bits, one to one."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


def _equal(sequences: TokenSequences, left: Index, right: Index) -> npt.NDArray[np.bool_]:
    """Say of each pair of sequence numbers whether the sequences are equal."""
    lengths = sequences.lengths
    equal: npt.NDArray[np.bool_] = lengths[left] == lengths[right]
    compared = np.flatnonzero(equal & (left != right) & (lengths[left] > 0))
    if len(compared):
        size = lengths[left[compared]]
        begin = np.concatenate([[0], np.cumsum(size)[:-1]])
        within = np.arange(size.sum()) - np.repeat(begin, size)
        start = sequences.offsets[:-1]
        one = sequences.codes[np.repeat(start[left[compared]], size) + within]
        other = sequences.codes[np.repeat(start[right[compared]], size) + within]
        equal[compared] = np.logical_and.reduceat(one == other, begin)
    return equal
