"""Sequences of tokens as integer codes: equal codes mean equal tokens.

What makes two tokens equal is the matter of :mod:`steelyard.stats.alignment.token_keys`.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment.token_keys import token_key

IntegerArray: TypeAlias = npt.NDArray[np.integer[Any]]
TokenSequence: TypeAlias = Sequence[Hashable] | npt.NDArray[Any]

SEQUENCES_PER_BLOCK = 2048


@dataclass(frozen=True, eq=False)
class TokenSequences:
    """Many sequences of tokens, stored one after the other as integer codes.

    Attributes
    ----------
    codes : numpy.ndarray of integers, shape (total,)
        The codes of all sequences.
    offsets : numpy.ndarray of int64, shape (number of sequences + 1,)
        Sequence i is ``codes[offsets[i]:offsets[i + 1]]``.
    vocabulary : tuple or None
        The token of each code, in order of first appearance. None when the sequences came as
        integer arrays: then the codes are the tokens.
    """

    codes: IntegerArray
    offsets: npt.NDArray[np.int64]
    vocabulary: tuple[Hashable, ...] | None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, position: int) -> IntegerArray:
        if not -len(self) <= position < len(self):
            raise IndexError(f"sequence {position} of {len(self)}")
        position %= len(self)
        return self.codes[self.offsets[position] : self.offsets[position + 1]]

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Length of each sequence."""
        return np.diff(self.offsets)

    def with_vocabulary(self) -> TokenSequences:
        """Return the same sequences with a vocabulary: integer codes become tokens."""
        if self.vocabulary is not None:
            return self
        values, codes = np.unique(self.codes, return_inverse=True)
        return TokenSequences(_narrow(codes), self.offsets, tuple(values.tolist()))

    def tokens(self, position: int) -> list[Hashable]:
        """Return the tokens of one sequence as they were first given."""
        codes: list[int] = self[position].tolist()
        return list(codes) if self.vocabulary is None else [self.vocabulary[c] for c in codes]


Sequences: TypeAlias = TokenSequences | Iterable[TokenSequence] | npt.NDArray[Any]


def encode(sequences: Sequences) -> TokenSequences:
    """Give every distinct token an integer code.

    Parameters
    ----------
    sequences : iterable of sequences, or two-dimensional integer array
        Each sequence is a list, tuple, text or one-dimensional array of hashable tokens. When
        all of them are integer arrays their values are kept as the codes; an integer array with
        one row a sequence is the quickest form. A `TokenSequences` is returned as it is.

    Returns
    -------
    TokenSequences

    Raises
    ------
    InputError
        A sequence without an order (a set, a mapping), something that is no sequence, or a token
        that cannot be hashed. The message names the sequence and the position.

    Examples
    --------
    >>> encoded = encode([["look", "pay"], ["pay", 1, True, 1.0]])
    >>> encoded[1].tolist()
    [1, 2, 3, 4]
    >>> encoded.tokens(0)
    ['look', 'pay']
    """
    if isinstance(sequences, TokenSequences):
        return sequences
    if isinstance(sequences, np.ndarray) and sequences.ndim == 2 and sequences.dtype.kind in "iu":
        rows, width = sequences.shape
        offsets = np.arange(rows + 1, dtype=np.int64) * width
        return TokenSequences(_narrow(sequences.reshape(-1)), offsets, None)
    if isinstance(sequences, str | bytes | dict):
        raise InputError(f"expected a list of sequences, got one {type(sequences).__name__}")
    try:
        listed = list(sequences)
    except TypeError:
        raise InputError(f"expected a list of sequences, got {type(sequences).__name__}") from None
    arrays = [s for s in listed if _is_code_array(s)]
    # An empty list beside integer arrays is an empty integer array.
    if arrays and all(_is_code_array(s) or _is_empty_list(s) for s in listed):
        codes = np.concatenate(arrays)
        if codes.dtype.kind in "iu":  # int64 beside uint64 becomes float64
            return TokenSequences(_narrow(codes), _offsets([len(s) for s in listed]), None)
    return _encode_tokens(listed)


def _is_code_array(sequence: object) -> TypeGuard[IntegerArray]:
    return isinstance(sequence, np.ndarray) and sequence.ndim == 1 and sequence.dtype.kind in "iu"


def _is_empty_list(sequence: object) -> bool:
    return isinstance(sequence, list | tuple) and not sequence


def _offsets(lengths: Sequence[int] | npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def _narrow(codes: IntegerArray) -> IntegerArray:
    """Store codes in the smallest unsigned type that holds them; the values do not change."""
    if codes.size == 0:
        return codes.astype(np.uint8)
    low, high = int(codes.min()), int(codes.max())
    if low < 0:
        return codes.astype(np.int64) if codes.dtype.kind == "i" else codes
    for narrow in (np.uint8, np.uint16, np.uint32):
        if high <= np.iinfo(narrow).max:
            return codes.astype(narrow)
    return codes


def _encode_tokens(sequences: list[Any]) -> TokenSequences:
    """Encode every distinct object once, then lay the codes side by side."""
    if len(set(map(id, sequences))) == len(sequences):
        positions = list(range(len(sequences)))
        distinct = sequences
    else:
        # A path that occurs a thousand times is mostly one object a thousand times over. The
        # list keeps the objects alive, so no id can come to mean two of them.
        first_of: dict[int, int] = {}
        for position, sequence in enumerate(sequences):
            first_of.setdefault(id(sequence), position)
        positions = list(first_of.values())
        distinct = [sequences[position] for position in positions]
    if set(map(type, distinct)) <= {list, tuple}:
        tokens = distinct
    else:
        tokens = [_as_list(s, position) for s, position in zip(distinct, positions, strict=True)]
    codes, vocabulary = _number(tokens, positions)
    packed = _offsets(list(map(len, tokens)))
    if len(positions) == len(sequences):
        return TokenSequences(codes, packed, vocabulary)
    row_of = {key: row for row, key in enumerate(first_of)}
    index = np.array([row_of[id(s)] for s in sequences], dtype=np.int64)
    lengths = np.diff(packed)[index]
    offsets = _offsets(lengths)
    source = np.arange(offsets[-1]) + np.repeat(packed[index] - offsets[:-1], lengths)
    return TokenSequences(codes[source], offsets, vocabulary)


def _as_list(sequence: Any, position: int) -> Sequence[Hashable]:
    """Return the tokens of one sequence in a list or tuple."""
    if isinstance(sequence, list | tuple):
        return sequence
    if isinstance(sequence, np.ndarray) and sequence.ndim == 1:
        listed: list[Hashable] = sequence.tolist()
        return listed
    unordered = isinstance(sequence, Set | Mapping | np.ndarray)
    if unordered or not (hasattr(sequence, "__len__") and hasattr(sequence, "__iter__")):
        raise InputError(
            f"sequence {position} is a {type(sequence).__name__}; a sequence of tokens is a list, "
            "a tuple, a text or a one-dimensional array"
        )
    return list(sequence)


class _Numbering(dict[Hashable, int]):
    """Gives the next number to a key that it has not met."""

    def __missing__(self, key: Hashable) -> int:
        number = self[key] = len(self)
        return number


def _number(
    sequences: list[Sequence[Hashable]], positions: list[int]
) -> tuple[IntegerArray, tuple[Hashable, ...]]:
    """Give numbers to the distinct tokens, in order of first appearance."""
    numbering = _Numbering()
    vocabulary: list[Hashable] = []
    blocks: list[IntegerArray] = []
    # A block of sequences at a time, so that its tokens are still in the cache at the last step.
    for start in range(0, len(sequences), SEQUENCES_PER_BLOCK):
        block = sequences[start : start + SEQUENCES_PER_BLOCK]
        flat = list(chain.from_iterable(block))
        if not flat:
            continue
        simple = set(map(type, flat)) <= {str, int}
        keys = flat if simple else _keys(flat, block, positions[start:])
        known = len(numbering)
        # One call makes all look-ups; the key added at the end lets it always return a tuple.
        numbers = array("q", itemgetter(*keys, keys[-1])(numbering))
        if len(numbering) > known:
            vocabulary += _first_tokens(flat, keys, list(numbering)[known:])
        blocks.append(np.frombuffer(numbers, dtype=np.int64)[:-1])
    codes = np.concatenate(blocks) if blocks else np.empty(0, dtype=np.int64)
    return _narrow(codes), tuple(vocabulary)


def _first_tokens(
    flat: list[Hashable], keys: list[Hashable], new: list[Hashable]
) -> list[Hashable]:
    """Return the first token of each new key, as it was given."""
    if keys is flat:
        return new
    first: dict[Hashable, Hashable] = {}
    for key, token in zip(keys, flat, strict=True):
        first.setdefault(key, token)
    return [first[key] for key in new]


def _keys(
    flat: list[Hashable], sequences: list[Sequence[Hashable]], positions: list[int]
) -> list[Hashable]:
    """Return for each token a value that is equal, to Python, for equal tokens only."""
    try:
        keys = [token_key(token) for token in flat]
        for key in keys:
            hash(key)
    except (TypeError, RecursionError):
        raise _refusal(sequences, positions) from None
    return keys


def _refusal(sequences: list[Sequence[Hashable]], positions: list[int]) -> InputError:
    """Find the first token that has no key."""
    for position, sequence in zip(positions, sequences, strict=False):
        for step, token in enumerate(sequence):
            try:
                hash(token_key(token))
            except TypeError:
                return InputError(
                    f"token {step} of sequence {position} is a {type(token).__name__} that cannot "
                    "be hashed; use text, a number or a tuple (for arguments: their canonical text)"
                )
            except RecursionError:
                return InputError(f"token {step} of sequence {position} is nested too deeply")
    raise AssertionError("every token has a key")
