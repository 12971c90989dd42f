"""Numbering the distinct tokens of many sequences."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Hashable, Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment.token_keys import token_key

# So many sequences are numbered at a time that their tokens are still in the cache at the end.
SEQUENCES_PER_BLOCK = 2048


def number_tokens(
    sequences: list[Sequence[Hashable]], label: Callable[[int], str]
) -> tuple[npt.NDArray[np.integer[Any]], tuple[Hashable, ...]]:
    """Give every distinct token a number, in order of first appearance.

    Parameters
    ----------
    sequences : list of lists or tuples
    label : callable
        Names a sequence in an error message by its place.

    Returns
    -------
    numbers : numpy.ndarray of integers, shape (total,)
        Equal numbers mean equal tokens, as :func:`token_key` has it.
    vocabulary : tuple
        The first token with each number.
    """
    number_of: dict[Hashable, int] = {}
    vocabulary: list[Hashable] = []
    blocks = []
    for start in range(0, len(sequences), SEQUENCES_PER_BLOCK):
        block = sequences[start : start + SEQUENCES_PER_BLOCK]
        flat = list(chain.from_iterable(block))
        if not flat:
            continue
        # Among exact str and int Python's equality is ours, and they are their own keys.
        keys = flat
        if not set(map(type, flat)) <= {str, int}:
            keys = _keys(flat, sequences, start, label)
        try:
            blocks.append(_look_up(number_of, keys))
        except KeyError:
            new = [key for key in dict.fromkeys(keys) if key not in number_of]
            number_of.update(
                zip(new, range(len(number_of), len(number_of) + len(new)), strict=True)
            )
            vocabulary += new if keys is flat else _first_tokens(flat, keys, new)
            blocks.append(_look_up(number_of, keys))
    numbers = np.concatenate(blocks) if blocks else np.zeros(0, dtype=np.uint8)
    return numbers, tuple(vocabulary)


def _look_up(number_of: dict[Hashable, int], keys: list[Hashable]) -> npt.NDArray[np.integer[Any]]:
    """Look up every key at once; the key added at the end makes the answer always a tuple."""
    numbers = itemgetter(*keys, keys[-1])(number_of)
    if len(number_of) <= 2**8:
        return np.frombuffer(bytes(numbers), dtype=np.uint8)[:-1]
    return np.frombuffer(array("q", numbers), dtype=np.int64)[:-1]


def _first_tokens(
    flat: list[Hashable], keys: list[Hashable], new: list[Hashable]
) -> list[Hashable]:
    """Return the first token of each new key, as it was given."""
    first: dict[Hashable, Hashable] = {}
    for key, token in zip(keys, flat, strict=True):
        first.setdefault(key, token)
    return [first[key] for key in new]


def _keys(
    flat: list[Hashable],
    sequences: list[Sequence[Hashable]],
    start: int,
    label: Callable[[int], str],
) -> list[Hashable]:
    """Return for each token a value that is equal, to Python, for equal tokens only."""
    try:
        keys = [token_key(token) for token in flat]
        for key in keys:
            hash(key)
    except (TypeError, RecursionError):
        raise _refusal(sequences, start, label) from None
    return keys


def _refusal(
    sequences: list[Sequence[Hashable]], start: int, label: Callable[[int], str]
) -> InputError:
    """Find the first token that has no key, from sequence ``start`` on."""
    for place, sequence in enumerate(sequences[start:], start):
        for step, token in enumerate(sequence):
            try:
                hash(token_key(token))
            except TypeError:
                return InputError(
                    f"token {step} of {label(place)} is a {type(token).__name__} that cannot be "
                    "hashed; use text, a number or a tuple (for arguments: their canonical text)"
                )
            except RecursionError:
                return InputError(f"token {step} of {label(place)} is nested too deeply")
    raise AssertionError("every token has a key")
