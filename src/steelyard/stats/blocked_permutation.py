"""Permutation tests on similarities of pairs, labels exchanged within blocks.

Of n trials of a block some carry label 1 and the others label 0. The pairs of trials fall into
three classes: both 1, both 0, mixed. A contrast compares the mean similarity of the classes
within each block, and the test asks whether labels and similarities have to do with each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray, check_count, check_positive_count
from steelyard.stats.pair_blocks import (
    LARGEST_BLOCK,
    Contrast,
    PairBlock,
    distribution,
    merged,
    pair_blocks,
)
from steelyard.stats.results import Result

Alternative = Literal["two-sided", "greater"]

ALTERNATIVES = ("two-sided", "greater")

LARGEST_SUPPORT = 200_000
"""Different values of a sum over blocks that are kept."""

TIE = 1e-9
"""Statistics within this distance of the observed one are as extreme as it."""

CHUNK = 2_000_000
"""Permuted labels held in memory at a time."""


@dataclass(frozen=True)
class BlockedPermutationTest(Result):
    """A permutation test within blocks.

    Attributes
    ----------
    statistic : float
        The mean of the contrast over the blocks in which it is defined; NaN without one.
    p_value : float
        Above 0 and at most 1; NaN where no block has a contrast.
    alternative : str
    method : str
        What was computed.
    exact : bool
        True when all labellings are accounted for.
    n_blocks, n : int
        Blocks with a contrast, and the trials in them.
    n_resamples, seed : int or None
        Of a Monte-Carlo test; None for an exact one.
    reason : str
        Why no test was possible; empty otherwise.
    """

    statistic: float
    p_value: float
    alternative: str
    method: str
    exact: bool
    n_blocks: int
    n: int
    n_resamples: int | None
    seed: int | None
    reason: str


def pair_contrasts(similarities: Sequence[Any], labels: Sequence[Any], contrast: str) -> FloatArray:
    """Return the contrast of each block; NaN where it is not defined.

    Parameters
    ----------
    similarities, labels, contrast
        See :func:`blocked_permutation`.

    Returns
    -------
    numpy.ndarray of float64, shape (blocks,)
    """
    blocks = pair_blocks(similarities, labels, contrast)
    return np.array([math.nan if b is None else b.observed for b in blocks], dtype=np.float64)


def blocked_permutation(
    similarities: Sequence[Any],
    labels: Sequence[Any],
    contrast: Contrast,
    *,
    alternative: Alternative = "two-sided",
    n_resamples: int = 9_999,
    seed: int = 0,
) -> BlockedPermutationTest:
    """Test whether labels have to do with the similarity of pairs, block by block.

    Under the null hypothesis the labels of a block are exchangeable. The statistic is the mean
    over blocks of the contrast, so that differences between blocks (a task in which all trials
    resemble each other) play no part.

    Parameters
    ----------
    similarities : sequence of array_like, each of shape (n, n)
        One symmetric matrix a block. Its diagonal, the similarity of a trial with itself, only
        serves to recognise trials that are alike.
    labels : sequence of array_like of {0, 1}, each of shape (n,)
    contrast : {"ones-mixed", "zeros-mixed", "ones-zeros", "within-between"}
        A difference of mean similarities: pairs of ones less mixed pairs; pairs of zeros less
        mixed pairs; pairs of ones less pairs of zeros; or the mean of the two means within labels
        less the mean of the mixed pairs. The last one is the energy statistic of Székely and
        Rizzo for distance = 1 - similarity, without the pairs of a trial with itself; where one
        label has a single trial, the other's mean stands alone.
    alternative : {"two-sided", "greater"}
        Two-sided by the absolute value: a contrast has mean 0 over the labellings of its block.
    n_resamples : int, default 9,999
        Draws, where the exact distribution is out of reach.
    seed : int, default 0

    Returns
    -------
    BlockedPermutationTest

    Raises
    ------
    InputError
        Matrices that are not square, symmetric and finite, labels other than 0 and 1, sides that
        do not fit, an unknown contrast or alternative.

    Notes
    -----
    Exact where every block has at most 20,000 labellings and the sum over blocks at most 200,000
    different values: the distribution of each block is enumerated, and the blocks are convolved.
    Trials with equal rows are alike, and labellings that differ by such trials count once.
    Otherwise p = (1 + draws at least as extreme) / (1 + draws).

    References
    ----------
    Mielke and Berry (2007), Permutation Methods: A Distance Function Approach: tests on
    within-group distances. Székely and Rizzo (2013), Journal of Statistical Planning and
    Inference 143:1249-1272: energy statistics. Phipson and Smyth (2010), Statistical
    Applications in Genetics and Molecular Biology 9, article 39: the added one.

    Examples
    --------
    >>> alike = [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 1, 1], [0, 0, 1, 1]]
    >>> found = blocked_permutation([alike] * 3, [[1, 1, 0, 0]] * 3, "within-between")
    >>> found.statistic, found.exact, round(found.p_value * 27, 9)  # 2 of C(4, 2), three times
    (1.0, True, 1.0)
    """
    if alternative not in ALTERNATIVES:
        raise InputError(f"alternative is {alternative!r}; accepted: {', '.join(ALTERNATIVES)}")
    draws, start = check_positive_count("n_resamples", n_resamples), check_count("seed", seed)
    blocks = [b for b in pair_blocks(similarities, labels, contrast) if b is not None]
    observed = math.fsum(b.observed for b in blocks)
    if not blocks:
        reason = "no block holds both classes of pairs"
        return BlockedPermutationTest(
            math.nan, math.nan, alternative, "none", False, 0, 0, None, None, reason
        )
    exact = _exact(blocks, observed, alternative)
    if exact is None:
        sums = _resampled_sums(blocks, draws, start)
        p_value = (1 + int(_extreme(sums, observed, alternative).sum())) / (1 + draws)
        how = "Monte-Carlo permutation within blocks"
    else:
        p_value, how = exact, "exact permutation within blocks"
    return BlockedPermutationTest(
        statistic=observed / len(blocks),
        p_value=p_value,
        alternative=alternative,
        method=how,
        exact=exact is not None,
        n_blocks=len(blocks),
        n=sum(len(b.labels) for b in blocks),
        n_resamples=draws if exact is None else None,
        seed=start if exact is None else None,
        reason="",
    )


def _extreme(values: FloatArray, observed: float, alternative: str) -> npt.NDArray[np.bool_]:
    if alternative == "greater":
        return values >= observed - TIE
    return np.abs(values) >= abs(observed) - TIE


def _exact(blocks: Sequence[PairBlock], observed: float, alternative: str) -> float | None:
    """Return the exact p-value, or None where the distribution is too large."""
    if any(b.n_labellings > LARGEST_BLOCK for b in blocks):
        return None
    values, chances = np.zeros(1), np.ones(1)
    for block in blocks:
        own, share = distribution(block)
        if len(own) * len(values) > 10 * LARGEST_SUPPORT:
            return None
        values, chances = merged(
            np.add.outer(values, own).ravel(), np.multiply.outer(chances, share).ravel()
        )
        if len(values) > LARGEST_SUPPORT:
            return None
    return min(1.0, math.fsum(chances[_extreme(values, observed, alternative)]))


def _resampled_sums(blocks: Sequence[PairBlock], draws: int, seed: int) -> FloatArray:
    """Return the sum over blocks for each draw."""
    generator = np.random.default_rng(seed)
    sums = np.zeros(draws)
    for block in blocks:
        step = max(1, CHUNK // len(block.labels))
        for start in range(0, draws, step):
            size = min(step, draws - start)
            drawn = generator.permuted(np.tile(block.labels, (size, 1)), axis=1)
            sums[start : start + size] += block.contrast(drawn)
    return sums
