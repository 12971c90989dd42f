"""The score statistic for a difference of two independent rates.

Miettinen and Nurminen (1985) test the hypothesis rate b - rate a = delta with both rates
estimated under that hypothesis. The interval and the two one-sided tests are both read off it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from steelyard.stats.checks import check_successes

Table = tuple[int, int, int, int]


def check_table(a_successes: int, a_total: int, b_successes: int, b_total: int) -> Table:
    """Return the four counts as ints, or refuse them."""
    return (
        *check_successes(a_successes, a_total, ("a_successes", "a_total")),
        *check_successes(b_successes, b_total, ("b_successes", "b_total")),
    )


def restricted_rate(table: Table, delta: float) -> float:
    """Return the maximum-likelihood rate of a given that rate b = rate a + delta.

    The likelihood equation is a cubic in the rate; Miettinen and Nurminen solve it with a cosine,
    which loses its digits where two roots meet (at the borders, which is where agents live). The
    log-likelihood is concave, so its slope falls from positive to negative over the feasible
    rates, and bisection finds the same root safely.
    """
    s_a, n_a, s_b, n_b = table
    low, high = max(0.0, -delta), min(1.0, 1.0 - delta)

    def slope(rate: float) -> float:
        other = rate + delta
        # the sign of the derivative, multiplied out so that nothing is divided by 0
        return (s_a - n_a * rate) * other * (1 - other) + (s_b - n_b * other) * rate * (1 - rate)

    return bisect(lambda rate: slope(rate) > 0, low, high)


def score(table: Table, delta: float) -> float:
    """Return the standardised distance of the observed difference above ``delta``.

    (d - delta)/sqrt(V), with V = [pa(1 - pa)/na + pb(1 - pb)/nb] N/(N - 1) at the restricted
    rates and N = na + nb. Where V is 0 the hypothesis admits one outcome only: the score is 0 if
    that was observed, else infinite.
    """
    s_a, n_a, s_b, n_b = table
    distance = s_b / n_b - s_a / n_a - delta
    rate = restricted_rate(table, delta)
    other = min(max(rate + delta, 0.0), 1.0)
    total = n_a + n_b
    variance = (rate * (1 - rate) / n_a + other * (1 - other) / n_b) * total / (total - 1)
    if variance > 0:
        return distance / math.sqrt(variance)
    return math.copysign(math.inf, distance) if distance else 0.0


def bisect(is_left: Callable[[float], bool], low: float, high: float) -> float:
    """Return the point of [low, high] where ``is_left`` turns false, to the last digit."""
    while True:
        middle = low + (high - low) / 2
        if not low < middle < high:
            return middle
        if is_left(middle):
            low = middle
        else:
            high = middle
