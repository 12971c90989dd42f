"""Blocks of labelled trials and the similarities of their pairs, and what labels could have been.

See :mod:`steelyard.stats.blocked_permutation` for the test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray, check_outcomes

Contrast = Literal["ones-mixed", "zeros-mixed", "ones-zeros", "within-between"]
CONTRASTS = ("ones-mixed", "zeros-mixed", "ones-zeros", "within-between")

LARGEST_BLOCK = 20_000
"""Labellings of one block that are enumerated, those that differ by trials that are alike once."""


@dataclass(frozen=True, eq=False)
class PairBlock:
    """One block: similarities, labels, and the weight of each pair (ones, zeros, mixed)."""

    similarity: FloatArray
    labels: FloatArray
    weights: tuple[float, float, float]

    @cached_property
    def kinds(self) -> npt.NDArray[np.int64]:
        """The kind of each trial: trials of one kind have the same row, and can be exchanged.

        With equal rows i and j the matrix has s_ii = s_ij = s_jj, so nothing changes when the two
        change places. A caller who leaves the diagonal empty loses speed and nothing else.
        """
        kinds = np.unique(self.similarity, axis=0, return_inverse=True)[1]
        return np.asarray(kinds, dtype=np.int64).reshape(-1)

    @property
    def kinds_table(self) -> FloatArray:
        """The similarity of each kind with each."""
        first = np.unique(self.kinds, return_index=True)[1]
        return self.similarity[np.ix_(first, first)]

    @cached_property
    def hollow(self) -> FloatArray:
        """The similarities without the diagonal."""
        return self.similarity - np.diag(np.diag(self.similarity))

    def contrast(self, labels: FloatArray) -> FloatArray:
        """Return the contrast under each row of labels.

        l'Sl counts a pair of ones twice, l'S1 a pair of ones twice and a mixed one once.
        """
        ones = ((labels @ self.hollow) * labels).sum(axis=1)
        return self.weigh(ones / 2.0, labels @ self.hollow.sum(axis=1) - ones)

    def weigh(self, ones: FloatArray, mixed: FloatArray) -> FloatArray:
        """Return the contrast from the sums over pairs of ones and over mixed pairs."""
        w11, w00, w10 = self.weights
        result: FloatArray = (
            w11 * ones + w00 * (self.hollow.sum() / 2.0 - ones - mixed) + w10 * mixed
        )
        return result

    @cached_property
    def observed(self) -> float:
        """The contrast under the labels that were found."""
        return float(self.contrast(self.labels[None, :])[0])

    @property
    def n_labellings(self) -> int:
        """The number of ways to spread the ones over the kinds, up to the largest of interest."""
        ways = np.ones(1)
        for size in np.bincount(self.kinds).tolist():
            ways = np.convolve(ways, np.ones(size + 1))
        return int(min(ways[int(self.labels.sum())], 2.0 * LARGEST_BLOCK))


def pair_blocks(
    similarities: Sequence[Any], labels: Sequence[Any], contrast: str
) -> list[PairBlock | None]:
    """Check the blocks; None for one in which the contrast is not defined."""
    if contrast not in CONTRASTS:
        raise InputError(f"contrast is {contrast!r}; accepted: {', '.join(CONTRASTS)}")
    if len(similarities) != len(labels):
        raise InputError(f"{len(similarities)} matrices but {len(labels)} sets of labels")
    blocks: list[PairBlock | None] = []
    for place, (matrix, marks) in enumerate(zip(similarities, labels, strict=True)):
        checked = check_outcomes(f"labels[{place}]", marks)
        similarity = _matrix(matrix, len(checked), place)
        weights = _weights(contrast, int(checked.sum()), len(checked))
        blocks.append(None if weights is None else PairBlock(similarity, checked, weights))
    return blocks


def _matrix(matrix: Any, size: int, place: int) -> FloatArray:
    array = np.array(matrix, dtype=np.float64)
    if array.shape != (size, size) and not (size == 0 and array.size == 0):
        raise InputError(
            f"similarities[{place}] has shape {array.shape}, but there are {size} labels"
        )
    array = array.reshape(size, size)
    if not np.isfinite(array).all() or not np.array_equal(array, array.T):
        raise InputError(f"similarities[{place}] must be finite and symmetric")
    return array


def _weights(contrast: str, ones: int, total: int) -> tuple[float, float, float] | None:
    """Return the weight of each pair of ones, of zeros and mixed; None where undefined."""
    zeros = total - ones
    n11, n00, n10 = math.comb(ones, 2), math.comb(zeros, 2), ones * zeros
    share = {
        "ones-mixed": (1.0, 0.0, -1.0),
        "zeros-mixed": (0.0, 1.0, -1.0),
        "ones-zeros": (1.0, -1.0, 0.0),
        "within-between": (
            (0.0 if not n11 else 0.5 if n00 else 1.0),
            (0.0 if not n00 else 0.5 if n11 else 1.0),
            -1.0,
        ),
    }[contrast]
    if contrast == "within-between" and not (n11 or n00):
        return None
    weights = []
    for part, pairs in zip(share, (n11, n00, n10), strict=True):
        if part and not pairs:
            return None
        weights.append(part / pairs if part else 0.0)
    return weights[0], weights[1], weights[2]


def distribution(block: PairBlock) -> tuple[FloatArray, FloatArray]:
    """Return the values of the contrast over all labellings of a block, and their chances."""
    counts, sizes = _labellings(block)
    table = block.kinds_table
    # Trials of one kind are alike, so a labelling is known by how many ones each kind has.
    ones = ((counts @ table) * counts).sum(axis=1) - counts @ np.diag(table)
    mixed = counts @ (table @ sizes - np.diag(table)) - ones
    values = block.weigh(ones / 2.0, mixed)
    return merged(values, _chances(counts, sizes))


def _labellings(block: PairBlock) -> tuple[FloatArray, FloatArray]:
    """Return every way to spread the ones over the kinds, one a row, and the kinds' sizes."""
    sizes = np.bincount(block.kinds)
    left, after = np.array([block.labels.sum()]), int(sizes.sum())
    counts = np.zeros((1, 0))
    for size in sizes.tolist():
        after -= size
        least = np.maximum(0, left - after)
        most = np.minimum(size, left)
        choices = (most - least + 1).astype(np.int64)
        rows = np.repeat(np.arange(len(left)), choices)
        first = np.repeat(np.cumsum(choices) - choices, choices)
        given = least[rows] + np.arange(len(rows)) - first
        counts = np.column_stack([counts[rows], given])
        left = left[rows] - given
    return counts, sizes.astype(np.float64)


def _chances(counts: FloatArray, sizes: FloatArray) -> FloatArray:
    """Return the multivariate hypergeometric chance of each row of counts, from integers."""
    ways = np.ones(len(counts), dtype=object)
    for kind, size in enumerate(sizes.astype(np.int64).tolist()):
        if size > 1:
            table = np.array([math.comb(size, k) for k in range(size + 1)], dtype=object)
            ways = ways * table[counts[:, kind].astype(np.int64)]
    total = math.comb(int(sizes.sum()), int(counts[0].sum()))
    return np.array([way / total for way in ways], dtype=np.float64)


def merged(values: FloatArray, chances: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Add up the chances of equal values; equal to twelve decimals, far below a tie."""
    distinct, place = np.unique(np.round(values, 12), return_inverse=True)
    summed = np.bincount(place, weights=chances, minlength=len(distinct))
    return distinct, summed.astype(np.float64)
