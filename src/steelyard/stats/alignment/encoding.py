"""Sequences of tokens as integer codes: equal codes mean equal tokens.

What makes two tokens equal is the matter of :mod:`steelyard.stats.alignment.token_keys`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment.numbering import number_tokens

IntegerArray: TypeAlias = npt.NDArray[np.integer[Any]]
TokenSequence: TypeAlias = Sequence[Hashable] | npt.NDArray[Any]

# Names a sequence in an error message by its place.
Label: TypeAlias = Callable[[int], str]


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

    @cached_property
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
    if isinstance(sequences, str | bytes | Mapping) or not isinstance(sequences, Iterable):
        raise InputError(f"expected a list of sequences, got one {type(sequences).__name__}")
    return encode_listed(list(sequences), lambda place: f"sequence {place}")


def encode_listed(sequences: list[Any], label: Label) -> TokenSequences:
    """Encode a list of sequences that error messages call ``label(place)``."""
    arrays = [s for s in sequences if _is_code_array(s)]
    # An empty list beside integer arrays is an empty integer array.
    if arrays and all(_is_code_array(s) or _is_empty_list(s) for s in sequences):
        codes = np.concatenate(arrays)
        if codes.dtype.kind in "iu":  # int64 beside uint64 becomes float64
            return TokenSequences(_narrow(codes), _offsets(sequences), None)
    if not set(map(type, sequences)) <= {list, tuple}:
        sequences = [_as_list(s, place, label) for place, s in enumerate(sequences)]
    numbers, vocabulary = number_tokens(sequences, label)
    return TokenSequences(_narrow(numbers), _offsets(sequences), vocabulary)


def _is_code_array(sequence: object) -> TypeGuard[IntegerArray]:
    return isinstance(sequence, np.ndarray) and sequence.ndim == 1 and sequence.dtype.kind in "iu"


def _is_empty_list(sequence: object) -> bool:
    return isinstance(sequence, list | tuple) and not sequence


def _offsets(sequences: list[Any]) -> npt.NDArray[np.int64]:
    offsets = np.zeros(len(sequences) + 1, dtype=np.int64)
    np.cumsum(list(map(len, sequences)), out=offsets[1:])
    return offsets


def _narrow(codes: IntegerArray) -> IntegerArray:
    """Store codes in the smallest unsigned type that holds them; the values do not change."""
    low, high = int(codes.min(initial=0)), int(codes.max(initial=0))
    if low < 0:
        return codes.astype(np.int64)
    for narrow in (np.uint8, np.uint16, np.uint32):
        if high <= np.iinfo(narrow).max:
            return codes.astype(narrow, copy=False)
    return codes


def _as_list(sequence: Any, place: int, label: Label) -> Sequence[Hashable]:
    """Return the tokens of one sequence in a list or tuple."""
    if isinstance(sequence, list | tuple):
        return sequence
    if isinstance(sequence, np.ndarray) and sequence.ndim == 1:
        listed: list[Hashable] = sequence.tolist()
        return listed
    unordered = isinstance(sequence, Set | Mapping | np.ndarray)
    if unordered or not (hasattr(sequence, "__len__") and hasattr(sequence, "__iter__")):
        raise InputError(
            f"{label(place)} is a {type(sequence).__name__}; a sequence of tokens is a list, "
            "a tuple, a text or a one-dimensional array"
        )
    return list(sequence)
