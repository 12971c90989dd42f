"""References and candidates that come as two lists: one set of sequences, and pairs of places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.alignment.encoding import (
    Label,
    Sequences,
    TokenSequences,
    encode,
    encode_listed,
)


@dataclass(frozen=True, eq=False)
class Sides:
    """Encoded sequences and the places of N pairs among them.

    Attributes
    ----------
    sequences : TokenSequences
    pairs : numpy.ndarray of int64, shape (N, 2)
    """

    sequences: TokenSequences
    pairs: npt.NDArray[np.int64]

    @classmethod
    def of(cls, references: Sequences, candidates: Sequences) -> Sides:
        """Encode both sides with one vocabulary.

        Raises
        ------
        InputError
            The sides are not equally many, or not lists of sequences of tokens.
        """
        one, other = _listed(references), _listed(candidates)
        count = len(one)
        if count != len(other):
            raise InputError(
                f"there are {count:,} references and {len(other):,} candidates; they are aligned "
                "one to one"
            )
        if (
            isinstance(one, np.ndarray)
            and isinstance(other, np.ndarray)
            and one.shape == other.shape
        ):
            places = np.arange(2 * count, dtype=np.int64)
            return cls(encode(np.concatenate([one, other])), places.reshape(2, count).T)

        def label(place: int) -> str:
            return f"reference {place}" if place < count else f"candidate {place - count}"

        sequences, places = _encode_objects([*one, *other], label)
        return cls(sequences, places.reshape(2, count).T)


def _listed(sequences: Any) -> list[Any] | npt.NDArray[Any]:
    """Return one side as a list, or as it is when it is a rectangle of integers."""
    if isinstance(sequences, TokenSequences):
        raise InputError(
            "sequences encoded apart have no common vocabulary; encode both sides together and "
            "name the pairs with align_pairs"
        )
    if isinstance(sequences, np.ndarray) and sequences.ndim == 2 and sequences.dtype.kind in "iu":
        return sequences
    if isinstance(sequences, str | bytes | Mapping) or not isinstance(sequences, Iterable):
        raise InputError(f"expected a list of sequences, got one {type(sequences).__name__}")
    return list(sequences)


def _encode_objects(
    sequences: list[Any], label: Label
) -> tuple[TokenSequences, npt.NDArray[np.int64]]:
    """Encode sequences, each object once; return them and the place of each one given.

    A path that is paired a thousand times is mostly one object a thousand times over. The list
    keeps the objects alive, so no id can come to mean two of them.
    """
    ids = list(map(id, sequences))
    distinct = dict(zip(ids, sequences, strict=True))
    if 2 * len(distinct) >= len(ids):
        return encode_listed(sequences, label), np.arange(len(ids), dtype=np.int64)
    place_of = {key: place for place, key in enumerate(distinct)}
    places = np.array(itemgetter(*ids, ids[-1])(place_of)[:-1], dtype=np.int64)
    objects = list(distinct.values())
    return (
        encode_listed(objects, lambda place: label(ids.index(id(objects[place])))),
        places,
    )
