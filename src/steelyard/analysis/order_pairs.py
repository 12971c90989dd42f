"""Which pair of rules must not change places: order drift, attributed.

Two measures per pair, and they answer different questions:

* the swap share: of the orders in which the two rules are neighbours, in how many does exchanging
  them change the meaning of the result? Nothing else differs between the two orders, so this is
  an effect of the pair;
* the difference in drift between orders with the one rule first and orders with the other first.
  It takes all orders, but pairs overlap (when a precedes b, a is likely to precede c too), so a
  pair can show a difference because of another pair.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from steelyard.analysis.order_runs import OrderResults
from steelyard.analysis.order_schedule import Design
from steelyard.stats.differences import newcombe_interval
from steelyard.stats.intervals import clopper_pearson_interval
from steelyard.stats.results import Result


@dataclass(frozen=True)
class PairEffect(Result):
    """What the relative order of two rules does.

    Attributes
    ----------
    rule_a, rule_b : str
        The rules, in declared order.
    swaps, swaps_changing : int
        Pairs of orders that differ only in the two rules being exchanged as neighbours, and those
        whose results mean different things.
    swap_share, swap_low, swap_high : float
        Their share. Exhaustive: over all such pairs, without uncertainty. Sampled: with the
        Clopper-Pearson interval, simultaneous over the pairs of rules; NaN without swaps.
    drift_if_a_first, drift_if_b_first : float
        Share of drifting orders among those with the one rule before the other.
    difference, difference_low, difference_high : float
        The first less the second. Sampled: with Newcombe's interval, simultaneous likewise.
    determines : bool
        Whether the meaning of every result that was seen follows from which of the two came first.
    """

    rule_a: str
    rule_b: str
    swaps: int
    swaps_changing: int
    swap_share: float
    swap_low: float
    swap_high: float
    drift_if_a_first: float
    drift_if_b_first: float
    difference: float
    difference_low: float
    difference_high: float
    determines: bool


def pair_effects(
    design: Design,
    results: OrderResults,
    rule_ids: tuple[str, ...],
    *,
    exhaustive: bool,
    confidence: float,
) -> list[PairEffect]:
    """Return the effect of every pair of rules, those with the largest swap share first.

    Parameters
    ----------
    design : Design
        The orders.
    results : OrderResults
        Their results.
    rule_ids : tuple of str
        Ids by declared position.
    exhaustive : bool
        Whether the design holds all orders; the shares are then exact.
    confidence : float
        Of all intervals of one kind together (Bonferroni over the pairs of rules).
    """
    pairs = list(combinations(range(len(rule_ids)), 2))
    table = _PairTable(design, results, exhaustive, 1.0 - (1.0 - confidence) / len(pairs))
    effects = [table.effect(a, b, rule_ids) for a, b in pairs]
    return sorted(effects, key=_by_strength)


def _by_strength(effect: PairEffect) -> tuple[float, float, str, str]:
    share = -1.0 if math.isnan(effect.swap_share) else effect.swap_share
    difference = 0.0 if math.isnan(effect.difference) else abs(effect.difference)
    return -share, -difference, effect.rule_a, effect.rule_b


class _PairTable:
    """Counts that all pairs share, made once."""

    def __init__(
        self, design: Design, results: OrderResults, exhaustive: bool, level: float
    ) -> None:
        self.exhaustive, self.level = exhaustive, level
        self.swaps: Counter[tuple[int, int]] = Counter()
        self.changing: Counter[tuple[int, int]] = Counter()
        for swap in design.swaps:
            pair = swap.rule_a, swap.rule_b
            self.swaps[pair] += 1
            self.changing[pair] += results.keys[swap.a_first] != results.keys[swap.b_first]
        kinds = {key: number for number, key in enumerate(dict.fromkeys(results.keys))}
        self.kinds = np.array([kinds[key] for key in results.keys])
        self.places = design.places()
        drawn = range(len(design.orders)) if exhaustive else design.draws
        self.drawn = np.array(drawn, dtype=np.int64)
        drifting = np.array([index in results.drifting for index in range(len(design.orders))])
        self.drifts: npt.NDArray[np.bool_] = drifting[self.drawn]

    def effect(self, a: int, b: int, rule_ids: tuple[str, ...]) -> PairEffect:
        a_first = self.places[:, a] < self.places[:, b]
        share, low, high = self._swap_share((a, b))
        return PairEffect(
            rule_ids[a],
            rule_ids[b],
            self.swaps[a, b],
            self.changing[a, b],
            share,
            low,
            high,
            *self._drift(a_first[self.drawn]),
            self._is_determined(a_first),
        )

    def _swap_share(self, pair: tuple[int, int]) -> tuple[float, float, float]:
        swaps, changing = self.swaps[pair], self.changing[pair]
        if not swaps:
            return math.nan, math.nan, math.nan
        if self.exhaustive:
            return (changing / swaps,) * 3
        found = clopper_pearson_interval(changing, swaps, self.level)
        return found.estimate, found.low, found.high

    def _drift(self, a_first: npt.NDArray[np.bool_]) -> tuple[float, float, float, float, float]:
        n_a, n_b = int(a_first.sum()), int((~a_first).sum())
        k_a, k_b = int(self.drifts[a_first].sum()), int(self.drifts[~a_first].sum())
        share_a, share_b = (k / n if n else math.nan for k, n in ((k_a, n_a), (k_b, n_b)))
        if self.exhaustive:
            return share_a, share_b, *(share_a - share_b,) * 3
        found = newcombe_interval(k_b, n_b, k_a, n_a, self.level)
        return share_a, share_b, found.estimate, found.low, found.high

    def _is_determined(self, a_first: npt.NDArray[np.bool_]) -> bool:
        if self.kinds.max() != 1:  # one meaning: nothing to determine; three: not by one pair
            return False
        second = self.kinds == 1
        return bool((second == a_first).all() or (second != a_first).all())
