"""Alignment straight from its definition: what the fast forms are compared with in the tests.

Every cell of the score matrix is a Python number, and every step of the traceback asks which
predecessor attains the score. Nothing here is fast, and nothing here is shared with
:mod:`steelyard.stats.alignment`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

Number = int | float

# The score of a path that does not exist.
NO_PATH = -math.inf


class Operation(NamedTuple):
    """One operation of an edit script."""

    operation: str
    ref_index: int | None
    cand_index: int | None


class Matrices(NamedTuple):
    """Best scores of prefixes; element [i][j] is about i reference and j candidate tokens."""

    best: list[list[Number]]
    skipping: list[list[Number]]  # of those that end with a skipped reference token
    adding: list[list[Number]]  # of those that end with an extra candidate token


def match_score(match: Number = 2, mismatch: Number = -1) -> Callable[[Any, Any], Number]:
    """Return the similarity of tokens that are either equal or not."""
    return lambda r, c: match if r == c else mismatch


def everywhere(_i: int, _j: int) -> bool:
    """Allow every cell."""
    return True


def fill(
    reference: Sequence[Any],
    candidate: Sequence[Any],
    *,
    similarity: Callable[[Any, Any], Number],
    gap: Number,
    gap_extend: Number,
    allowed: Callable[[int, int], bool] = everywhere,
) -> Matrices:
    """Compute the score matrices.

    Parameters
    ----------
    reference, candidate : sequence
        Tokens, compared with ``==``.
    similarity : callable
        Score of aligning a reference token with a candidate token.
    gap, gap_extend : int or float
        Score of the first and of each further position of a gap.
    allowed : callable, optional
        Whether cell (i, j) may be on a path.
    """
    rows, columns = len(reference) + 1, len(candidate) + 1
    best, skipping, adding = ([[NO_PATH] * columns for _ in range(rows)] for _ in range(3))
    for i in range(rows):
        for j in range(columns):
            if not allowed(i, j):
                continue
            if i == 0 and j == 0:
                best[i][j] = 0
                continue
            if i > 0:
                skipping[i][j] = max(best[i - 1][j] + gap, skipping[i - 1][j] + gap_extend)
            if j > 0:
                adding[i][j] = max(best[i][j - 1] + gap, adding[i][j - 1] + gap_extend)
            aligned = NO_PATH
            if i > 0 and j > 0:
                aligned = best[i - 1][j - 1] + similarity(reference[i - 1], candidate[j - 1])
            best[i][j] = max(aligned, skipping[i][j], adding[i][j])
    return Matrices(best, skipping, adding)


def naive_align(
    reference: Sequence[Any],
    candidate: Sequence[Any],
    *,
    similarity: Callable[[Any, Any], Number] | None = None,
    gap: Number = -2,
    gap_extend: Number | None = None,
    allowed: Callable[[int, int], bool] = everywhere,
) -> tuple[Number, list[Operation]]:
    """Return the best score and the edit script, ties resolved in the fixed order.

    From the end: the diagonal whenever it attains the score, then the gap that consumes the
    reference, then the gap that consumes the candidate. Inside a gap, its beginning whenever
    that attains the gap's score, then its continuation.

    Parameters
    ----------
    reference, candidate, similarity, gap, gap_extend, allowed
        As for :func:`fill`; +2 and -1 for equal and other tokens, and linear gaps, by default.

    Examples
    --------
    >>> naive_align("abd", "abcd")[1][2]
    Operation(operation='extra', ref_index=1, cand_index=2)
    """
    similarity = similarity or match_score()
    extend = gap if gap_extend is None else gap_extend
    matrices = fill(
        reference, candidate, similarity=similarity, gap=gap, gap_extend=extend, allowed=allowed
    )
    best, skipping, adding = matrices
    i, j = len(reference), len(candidate)
    going_on = ""
    script = []
    while i > 0 or j > 0:
        if not going_on and i > 0 and j > 0:
            score = similarity(reference[i - 1], candidate[j - 1])
            if best[i][j] == best[i - 1][j - 1] + score:
                same = reference[i - 1] == candidate[j - 1]
                script.append(Operation("match" if same else "substitute", i - 1, j - 1))
                i, j = i - 1, j - 1
                continue
        skip = going_on == "skipped" or (not going_on and best[i][j] == skipping[i][j])
        if skip:
            script.append(Operation("skipped", i - 1, None))
            begins = skipping[i][j] == best[i - 1][j] + gap
            i -= 1
        else:
            script.append(Operation("extra", i - 1 if i > 0 else None, j - 1))
            begins = adding[i][j] == best[i][j - 1] + gap
            j -= 1
        going_on = "" if begins else script[-1].operation
    return best[-1][-1], script[::-1]
