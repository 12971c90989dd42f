"""The score statistic for a difference of two independent rates.

Miettinen and Nurminen (1985) test the hypothesis rate b - rate a = delta with both rates
estimated under that hypothesis. The interval and the two one-sided tests are both read off it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from steelyard.stats.checks import check_successes

Table = tuple[int, int, int, int]

HALVINGS = 60
"""Steps of the bisection for a rate: to 2**-60, below the spacing of doubles near 1."""

RESOLUTION = 4e-16
"""Width at which the search for a limit ends."""


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

    for _ in range(HALVINGS):
        rate = (low + high) / 2
        other = rate + delta
        # the sign of the slope, multiplied out so that nothing is divided by 0
        slope = (s_a - n_a * rate) * other * (1 - other) + (s_b - n_b * other) * rate * (1 - rate)
        if slope > 0:
            low = rate
        else:
            high = rate
    return (low + high) / 2


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


def falling_root(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that falls from positive to negative crosses 0.

    False position with the Illinois rule (the value at an end that stays twice is halved, so that
    it does not stay for long), and every third step the middle, so that the bracket shrinks
    whatever the function does; infinite values at the ends are allowed.
    """
    value_low, value_high = function(low), function(high)
    if not (value_low > 0 > value_high):
        return low if value_low <= 0 else high
    step, moved = 0, ""
    while True:
        step += 1
        point = middle = low + (high - low) / 2
        if high - low <= RESOLUTION or not low < middle < high:
            return middle
        if step % 3 and math.isfinite(value_low) and math.isfinite(value_high):
            point = low + (high - low) * value_low / (value_low - value_high)
        value = function(point)
        if value > 0:
            value_high /= 2 if moved == "low" else 1
            low, value_low, moved = point, value, "low"
        elif value < 0:
            value_low /= 2 if moved == "high" else 1
            high, value_high, moved = point, value, "high"
        else:
            return point
