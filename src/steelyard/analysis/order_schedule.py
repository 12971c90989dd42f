"""Which orders of the rules are evaluated, and when: the design of a check of order drift.

Every repeat of every order has a place in one schedule, and the schedule is shuffled. What an
evaluator returns because of the number of the call, or of what it was asked before, then falls on
all orders alike: it shows as disagreement between the repeats of one order and not as an effect of
the order. That the places were drawn at random is also what the tests of
`steelyard.analysis.order_randomisation` rest on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations, permutations

import numpy as np

from steelyard.errors import InputError
from steelyard.evaluators.contract.observations import Order
from steelyard.evaluators.contract.witnesses import swapped
from steelyard.stats.checks import IntArray, check_count

DRAWS, SWAPS, PLACES = 0, 1, 2  # streams of one seed: a larger sample begins with the smaller one


@dataclass(frozen=True)
class SwapDraw:
    """Two orders that differ in one pair of neighbours.

    Attributes
    ----------
    rule_a, rule_b : int
        Declared positions, ``rule_a < rule_b``.
    a_first, b_first : int
        Indexes of the two orders in the design.
    """

    rule_a: int
    rule_b: int
    a_first: int
    b_first: int


@dataclass
class Design:
    """The distinct orders of a check, and what they are there for.

    Attributes
    ----------
    orders : list of Order
        Distinct; the declared order is the first.
    sources : list of str
        What each was first needed for: ``all``, ``declared``, ``reversed``, ``adjacent``,
        ``random``, ``swap`` or ``bisection``.
    draws : list of int
        Indexes of the orders that were drawn at random, with repetition. Only these are a sample.
    swaps : list of SwapDraw
        The pairs of orders that differ in one swap.
    """

    orders: list[Order] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    draws: list[int] = field(default_factory=list)
    swaps: list[SwapDraw] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._index: dict[Order, int] = {}

    def add(self, order: Order, source: str) -> int:
        """Return the index of an order, which is added when it is new."""
        if order not in self._index:
            self._index[order] = len(self.orders)
            self.orders.append(order)
            self.sources.append(source)
        return self._index[order]

    def index(self, order: Order) -> int:
        """Return the index of an order of the design."""
        return self._index[order]

    def places(self) -> IntArray:
        """Return the place of each rule in each order, of shape (orders, rules)."""
        orders = np.array(self.orders, dtype=np.int64)
        places = np.empty_like(orders)
        np.put_along_axis(places, orders, np.arange(orders.shape[1])[None, :], axis=1)
        return places


@dataclass(frozen=True)
class CheckPlan:
    """A design and how it is to be run.

    Parameters
    ----------
    mode : {"exhaustive", "sampled"}
        Whether the design holds all orders.
    design : Design
        The orders.
    seed : int
        Of the schedule; 0 or more.
    repeats : int
        Calls per order; 2 or more.

    Raises
    ------
    InputError
        For another seed or number of repeats.
    """

    mode: str
    design: Design
    seed: int
    repeats: int

    def __post_init__(self) -> None:
        check_count("seed", self.seed)
        if check_count("repeats", self.repeats) < 2:
            raise InputError(f"repeats is {self.repeats}; instability shows from 2 calls per order")


def exhaustive_design(rule_count: int) -> Design:
    """Return all orders, and every pair of them that differs in one swap of neighbours."""
    design = Design()
    for order in permutations(range(rule_count)):
        design.add(order, "all")
    for left, order in enumerate(design.orders):
        for place in range(rule_count - 1):
            a, b = order[place], order[place + 1]
            if a < b:  # the other direction is the same pair of orders
                design.swaps.append(SwapDraw(a, b, left, design.index(swapped(order, place))))
    return design


def sampled_design(rule_count: int, sample: int, swaps_per_pair: int, seed: int) -> Design:
    """Return a few designed orders, a random sample, and random swaps of each pair.

    Parameters
    ----------
    rule_count : int
        Rules of the policy.
    sample : int
        Random orders: independent, uniform over all orders, drawn with replacement.
    swaps_per_pair : int
        Per pair of rules, orders in which the two are neighbours, uniform over all such orders;
        each comes with the pair swapped.
    seed : int
        Of all draws.

    Returns
    -------
    Design
        It begins with the declared order, the reversed one, and the declared one with each pair
        of neighbours swapped. These are no part of the sample.
    """
    declared = tuple(range(rule_count))
    design = Design()
    design.add(declared, "declared")
    design.add(declared[::-1], "reversed")
    for place in range(rule_count - 1):
        design.add(swapped(declared, place), "adjacent")
    random = np.random.default_rng([seed, DRAWS])
    for _ in range(sample):
        order = tuple(random.permutation(rule_count).tolist())
        design.draws.append(design.add(order, "random"))
    random = np.random.default_rng([seed, SWAPS])
    for a, b in combinations(range(rule_count), 2):
        for _ in range(swaps_per_pair):
            design.swaps.append(_drawn_swap(design, a, b, random))
    return design


def _drawn_swap(design: Design, a: int, b: int, random: np.random.Generator) -> SwapDraw:
    # A block of a and b among the others: its place and their order are uniform.
    rule_count = len(design.orders[0])
    others = [rule for rule in random.permutation(rule_count).tolist() if rule not in (a, b)]
    place = int(random.integers(rule_count - 1))
    left = (*others[:place], a, b, *others[place:])
    return SwapDraw(a, b, design.add(left, "swap"), design.add(swapped(left, place), "swap"))


def shuffled_places(order_count: int, repeats: int, seed: int) -> list[int]:
    """Return the schedule: the index of the order of each call, every order ``repeats`` times."""
    places = np.repeat(np.arange(order_count), repeats)
    random = np.random.default_rng([seed, PLACES])
    return [int(index) for index in random.permutation(places)]
