"""What an alignment is worth: scores of a match, a mismatch and a gap."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError

Score: TypeAlias = int | float
Table: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float64]
Similarity: TypeAlias = npt.ArrayLike | Callable[[Any, Any], Score]

# Scores are summed in 64-bit integers; a larger one could wrap silently.
LARGEST_INTEGER_SCORE = 2**40

# A similarity function is called for every ordered pair of distinct tokens, ahead of the work.
LARGEST_FUNCTION_TABLE = 4_000_000


@dataclass(frozen=True)
class Scoring:
    """Scores of a global alignment. Higher is better.

    A gap of length k scores ``gap + (k - 1) * gap_extend``: ``gap`` is the whole score of its
    first position. With ``gap_extend`` left out every position scores ``gap`` (linear gaps).

    Parameters
    ----------
    match, mismatch : int or float, default 2 and -1
        Score of two aligned tokens that are equal, or not.
    gap : int or float, default -2
        Score of the first (or only) position of a gap.
    gap_extend : int or float, optional
        Score of each further position of the same gap; not below ``gap``, because a longer gap
        would then be cheaper as several gaps side by side.

    Raises
    ------
    InputError
        A score that is not a finite number, or ``gap_extend`` below ``gap``.

    Examples
    --------
    >>> Scoring().is_edit_distance
    True
    >>> Scoring(gap=-5, gap_extend=-1).is_affine
    True
    """

    match: Score = 2
    mismatch: Score = -1
    gap: Score = -2
    gap_extend: Score | None = None

    def __post_init__(self) -> None:
        for name in ("match", "mismatch", "gap", "gap_extend"):
            value = getattr(self, name)
            if not (name == "gap_extend" and value is None):
                object.__setattr__(self, name, _finite_score(name, value))
        if self.gap_extend is not None and self.gap_extend < self.gap:
            raise InputError(
                f"gap_extend is {self.gap_extend}, below gap = {self.gap}; a further position of "
                "a gap may not score less than its first one"
            )

    @property
    def extension(self) -> Score:
        """Score of each further position of a gap."""
        return self.gap if self.gap_extend is None else self.gap_extend

    @property
    def is_affine(self) -> bool:
        """Whether the first position of a gap scores differently from the others."""
        return self.extension != self.gap

    @property
    def is_integer(self) -> bool:
        """Whether all scores are integers, so that every sum is exact."""
        return all(
            isinstance(s, int) for s in (self.match, self.mismatch, self.gap, self.extension)
        )

    @property
    def is_edit_distance(self) -> bool:
        r"""Whether the best alignments are those with the fewest edits.

        Let an alignment of lengths n and m have M matches, S substitutions and G gap positions.
        Then n + m = 2M + 2S + G, and its score is

        .. math:: M a + S b + G g = (n + m) a / 2 - S (a - b) - G (a / 2 - g).

        When both weights are the same positive number, 2b = a + 2g with a > b, the score falls
        by that number for each edit, whatever the edit: the Levenshtein distance. The default
        scores (2, -1, -2) are of this kind: score = n + m - 3 * edits.
        """
        return (
            self.is_integer
            and not self.is_affine
            and 2 * self.mismatch == self.match + 2 * self.gap
            and self.match > self.mismatch
        )

    @property
    def largest_magnitude(self) -> Score:
        """The largest absolute score of one column of an alignment."""
        return max(abs(s) for s in (self.match, self.mismatch, self.gap, self.extension))


def _finite_score(name: str, value: object) -> Score:
    """Return ``value`` as a Python int or float, or say why it cannot be a score."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} is {value!r}; a score is an integer or a finite float")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"{name} is {value}; a score is an integer or a finite float")
    if abs(value) > LARGEST_INTEGER_SCORE:
        raise InputError(f"{name} is {value}; a score lies within ±2**40, so that sums stay exact")
    return value


@dataclass(frozen=True, eq=False)
class Search:
    """How alignments are scored, and where they are looked for.

    Attributes
    ----------
    scoring : Scoring
    table : numpy.ndarray or None
        Score of every ordered pair of codes, in place of ``match`` and ``mismatch``.
    band : int or None
        See :class:`~steelyard.stats.alignment.region.Region`.
    """

    scoring: Scoring
    table: Table | None = None
    band: int | None = None

    @property
    def fewest_edits(self) -> bool:
        """Whether the best alignments are those with the fewest edits, anywhere."""
        return self.table is None and self.band is None and self.scoring.is_edit_distance

    def is_exact(self, score: Score, rows: int, columns: int) -> bool:
        """Say whether no alignment that leaves the band can score as much.

        An alignment that leaves the band has at least ``band + 1`` gap positions on either side
        beyond those that the lengths require, so at most ``min(rows, columns) - band - 1``
        aligned tokens. If even the best conceivable score of such an alignment is lower, every
        optimal path lies in the band, and with them all that the tie-breaks look at.
        """
        if self.band is None or min(rows, columns) <= self.band:
            return True
        scoring = self.scoring
        best_pair: Score = max(scoring.match, scoring.mismatch)
        if self.table is not None:
            best_pair = self.table.max().item()
        openings = 2 * (scoring.gap - scoring.extension)
        bound = max(
            aligned * best_pair + (rows + columns - 2 * aligned) * scoring.extension + openings
            for aligned in (0, min(rows, columns) - self.band - 1)
        )
        rounding = 0 if isinstance(score, int) else 1e-9 * (abs(score) + abs(bound))
        return score > bound + rounding


def similarity_table(
    similarity: Similarity, size: int, vocabulary: tuple[Hashable, ...] | None
) -> Table:
    """Return the score of every ordered pair of tokens as a square array.

    Parameters
    ----------
    similarity : array_like of shape (K, K), or callable
        Row: token of the reference; column: token of the candidate. An array is indexed by
        integer codes. A callable gets two tokens and is called once for each ordered pair of
        the distinct tokens.
    size : int
        Number of distinct codes that occur, plus those below the largest of them.
    vocabulary : tuple or None
        The token of each code; None when the codes are themselves the tokens.

    Returns
    -------
    numpy.ndarray of int64 or float64, shape (size, size) or larger

    Raises
    ------
    InputError
        The array is not square, too small or not finite, or the callable returned no number.
    """
    if callable(similarity):
        return _table_from_function(similarity, size, vocabulary)
    if vocabulary:
        raise InputError(
            "a similarity array is indexed by integer codes, and these sequences hold other "
            "tokens; pass integer arrays, or a function of two tokens"
        )
    table = np.asarray(similarity)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise InputError(f"the similarity array has shape {table.shape}; it must be square")
    if table.shape[0] < size:
        raise InputError(
            f"the similarity array has {table.shape[0]} rows, and code {size - 1} occurs; "
            "it needs a row and a column for every code"
        )
    if table.dtype.kind not in "iuf":
        raise InputError(f"the similarity array holds {table.dtype} values, not numbers")
    if not np.all(np.isfinite(table)):
        raise InputError("the similarity array holds a value that is not finite")
    if table.size and np.max(np.abs(table.astype(np.float64))) > LARGEST_INTEGER_SCORE:
        raise InputError("the similarity array holds a value outside ±2**40")
    return table.astype(np.float64) if table.dtype.kind == "f" else table.astype(np.int64)


def _table_from_function(
    similarity: Callable[[Any, Any], Score], size: int, vocabulary: tuple[Hashable, ...] | None
) -> Table:
    """Call ``similarity`` on every ordered pair of tokens."""
    if size * size > LARGEST_FUNCTION_TABLE:
        raise InputError(
            f"a similarity function would be called {size * size:,} times for {size:,} distinct "
            f"tokens (limit {LARGEST_FUNCTION_TABLE:,}); pass an array over integer codes"
        )
    tokens = range(size) if vocabulary is None else vocabulary
    rows = [
        [_finite_score(f"similarity({r!r}, {c!r})", similarity(r, c)) for c in tokens]
        for r in tokens
    ]
    exact = all(isinstance(value, int) for row in rows for value in row)
    table = np.array(rows, dtype=np.float64).reshape(len(rows), len(rows))
    return table.astype(np.int64) if exact else table


def check_limits(band: object, max_cells: object) -> None:
    """Check the two limits of the search.

    Raises
    ------
    InputError
        ``band`` is neither None nor a positive integer, or ``max_cells`` no positive integer.
    """
    for name, value in (("band", band), ("max_cells", max_cells)):
        if name == "band" and value is None:
            continue
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise InputError(f"{name} is {value!r}; it must be an integer of at least 1")
