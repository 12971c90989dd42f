"""What a set of orders is certain to show, whatever its size.

If every relative order of any three rules occurs in some order that was evaluated, then drift that
is decided by the relative order of three given rules, or of two, cannot have been missed.
"""

from __future__ import annotations

from itertools import combinations
from math import perm

import numpy as np

from steelyard.stats.checks import IntArray

MOST_RULES = 32
"""Rules up to which triples are counted; there are 29,760 ordered ones then."""


def ordered_triples(places: IntArray) -> tuple[int, int] | None:
    """Return how many relative orders of three rules occur, and how many there are.

    Parameters
    ----------
    places : array of int, shape (orders, rules)
        The place of each rule in each order.

    Returns
    -------
    (int, int) or None
        Of n rules there are n(n - 1)(n - 2) ordered triples. None for fewer than three rules and
        more than `MOST_RULES`.
    """
    rules = places.shape[1]
    if not 3 <= rules <= MOST_RULES:
        return None
    ahead = places[:, :, None] < places[:, None, :]
    seen = 0
    for a, b, c in combinations(range(rules), 3):
        # Three comparisons tell the six relative orders apart; the other two codes are impossible.
        code = 4 * ahead[:, a, b] + 2 * ahead[:, b, c] + ahead[:, a, c]
        seen += len(np.unique(code))
    return seen, perm(rules, 3)
