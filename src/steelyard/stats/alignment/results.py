"""The alignment of one pair: score, edit script and what can be read from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from steelyard.stats.alignment.scoring import Score
from steelyard.stats.alignment.scripts import EXTRA, MATCH, OPERATIONS, SKIPPED, SUBSTITUTE


class EditOperation(NamedTuple):
    """One operation of an edit script.

    Attributes
    ----------
    operation : str
        ``"match"`` (equal tokens), ``"substitute"`` (other tokens, aligned), ``"skipped"`` (a
        reference token that the candidate lacks) or ``"extra"`` (a candidate token that the
        reference lacks).
    ref_index : int or None
        The reference token. For ``"extra"`` the one before it, None at the start.
    cand_index : int or None
        The candidate token; None for ``"skipped"``.
    """

    operation: str
    ref_index: int | None
    cand_index: int | None


@dataclass(frozen=True)
class Alignment:
    """The best global alignment of a candidate with a reference.

    Attributes
    ----------
    score : int or float
        Sum of the scores of all operations; an integer, and exact, when the scores are integers.
    codes : bytes
        The edit script, one operation a byte: 0 match, 1 substitute, 2 skipped, 3 extra.
    reference_length, candidate_length : int
        Numbers of tokens.
    exact : bool
        False when the search was confined to a band and a better alignment outside of it cannot
        be ruled out.
    """

    score: Score
    codes: bytes
    reference_length: int
    candidate_length: int
    exact: bool = True

    @cached_property
    def script(self) -> tuple[EditOperation, ...]:
        """The edit script from start to end."""
        return read_script(self.codes)

    @property
    def matches(self) -> int:
        """Number of aligned equal tokens."""
        return self.codes.count(MATCH)

    @property
    def substitutes(self) -> int:
        """Number of aligned tokens that differ."""
        return self.codes.count(SUBSTITUTE)

    @property
    def skipped(self) -> int:
        """Number of reference tokens without a counterpart."""
        return self.codes.count(SKIPPED)

    @property
    def extra(self) -> int:
        """Number of candidate tokens without a counterpart."""
        return self.codes.count(EXTRA)

    @property
    def edits(self) -> int:
        """Number of operations that are no match."""
        return len(self.codes) - self.matches

    @property
    def both_empty(self) -> bool:
        """Whether nothing was compared: the similarity is then 1 by definition only."""
        return not self.codes

    @property
    def similarity(self) -> float:
        """Normalized similarity: 1 - edits / max(lengths), at least 0.

        With the default scores this is the normalized Levenshtein similarity, since the best
        alignment has the fewest edits. It is 1 for equal sequences, 0 when one of them is empty,
        and 1 when both are (see ``both_empty``). Only where a scoring prefers two gaps to a
        substitution can edits outnumber the longer sequence; the similarity is then 0.
        """
        longest = max(self.reference_length, self.candidate_length)
        return max(0.0, 1.0 - self.edits / longest) if longest else 1.0

    @property
    def first_divergence(self) -> int | None:
        """Position in the script of the first operation that is no match; None without one."""
        trimmed = self.codes.lstrip(bytes([MATCH]))
        return len(self.codes) - len(trimmed) if trimmed else None


def read_script(codes: bytes) -> tuple[EditOperation, ...]:
    """Spell out operation codes.

    Parameters
    ----------
    codes : bytes
        Operation codes from start to end.

    Returns
    -------
    tuple of EditOperation
    """
    script = []
    ref, cand = -1, -1
    for code in codes:
        ref += code != EXTRA
        cand += code != SKIPPED
        before_first = code == EXTRA and ref < 0
        script.append(
            EditOperation(
                OPERATIONS[code],
                None if before_first else ref,
                None if code == SKIPPED else cand,
            )
        )
    return tuple(script)
