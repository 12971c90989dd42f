"""Comparing fast alignments with their definition: inputs for hypothesis, and one assertion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from steelyard.stats.alignment import Alignment
from steelyard.stats.naive_alignment import match_score, naive_align

# Few distinct tokens and small scores: the more ties, the better.
tokens = st.integers(0, 3)
paths = st.lists(tokens, max_size=12)
pairs = st.tuples(paths, paths)
batches = st.lists(pairs, max_size=12)


@dataclass(frozen=True)
class Costs:
    """Scores, in the forms that the fast functions and the definition take."""

    fast: dict[str, Any]
    naive: dict[str, Any]


def _plain(match: float, mismatch: float, gap: float, extra: float | None) -> Costs:
    extend = None if extra is None else gap + extra
    fast = {"match": match, "mismatch": mismatch, "gap": gap, "gap_extend": extend}
    return Costs(
        fast, {"similarity": match_score(match, mismatch), "gap": gap, "gap_extend": extend}
    )


def _table(rows: list[list[int]], gap: int, extra: int | None) -> Costs:
    extend = None if extra is None else gap + extra
    fast = {"similarity": rows, "gap": gap, "gap_extend": extend}
    naive = {"similarity": lambda r, c: rows[r][c], "gap": gap, "gap_extend": extend}
    return Costs(fast, naive)


small = st.integers(-4, 4)
steps = st.none() | st.integers(0, 3)
integer_costs = st.builds(_plain, small, small, small, steps)
# Tenths are not exact in binary, so sums in another order would break ties in another way.
tenths = st.sampled_from([-0.7, -0.3, -0.1, 0.1, 0.2, 0.3])
float_costs = st.builds(
    _plain, tenths, tenths, tenths, st.none() | st.sampled_from([0.0, 0.1, 0.3])
)
edit_costs = st.sampled_from([(2, -1, -2), (0, -1, -1), (4, 1, -1), (2, 0, -1)]).map(
    lambda scores: _plain(*scores, None)
)
table_costs = st.builds(
    _table, st.lists(st.lists(small, min_size=4, max_size=4), min_size=4, max_size=4), small, steps
)
costs = st.one_of(edit_costs, integer_costs, float_costs)


def assert_is_the_definition(
    found: Alignment, reference: Sequence[Any], candidate: Sequence[Any], scores: Costs
) -> None:
    score, script = naive_align(reference, candidate, **scores.naive)
    assert [tuple(operation) for operation in found.script] == [tuple(o) for o in script]
    assert found.score == score
