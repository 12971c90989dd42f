"""Conventions of other tools, reproduced under their own names to replay published figures.

None of these is what steelyard recommends; each docstring says what differs.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import Any

from steelyard.stats.checks import (
    check_count,
    check_open_unit,
    check_outcomes,
    check_positive_count,
    check_quantile,
    check_scores,
    check_successes,
)
from steelyard.stats.intervals import Interval
from steelyard.stats.permutation import PermutationTest
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.score import check_table, falling_root

PLUMBLINE_Z = 1.959963984540054


def plumbline_wilson(successes: int, total: int, z: float = PLUMBLINE_Z) -> Interval:
    """Return the Wilson interval as Plumbline prints it.

    Two things differ from :func:`steelyard.stats.wilson_interval`: without trials the estimate is
    0 and the interval [0, 0], a certainty drawn from no evidence; and at n/n the upper limit may
    be a rounding error below 1.

    Parameters
    ----------
    successes, total : int
        Counts with ``0 <= successes <= total``.
    z : float, default 1.959963984540054
        The normal quantile.

    Returns
    -------
    Interval

    Examples
    --------
    >>> plumbline_wilson(0, 0).high, plumbline_wilson(10, 10).high
    (0.0, 0.9999999999999999)
    """
    s, n = check_successes(successes, total)
    quantile = check_quantile(z)
    level = math.erf(quantile / math.sqrt(2.0))
    if n == 0:
        return Interval(0.0, 0.0, 0.0, level, "Wilson, Plumbline convention", 0)
    rate = s / n
    scale = 1 + quantile**2 / n
    centre = (rate + quantile**2 / (2 * n)) / scale
    half = quantile * math.sqrt(rate * (1 - rate) / n + quantile**2 / (4 * n * n)) / scale
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return Interval(rate, low, high, level, "Wilson, Plumbline convention", n)


def monte_carlo_permutation(a: Any, b: Any, draws: int = 20_000, seed: int = 11) -> PermutationTest:
    """Return the Monte-Carlo permutation test that Plumbline published.

    Use :func:`steelyard.stats.exact_permutation` for a p-value; this one estimates the same
    number, with the +1 that keeps it above 0.

    Parameters
    ----------
    a, b : array-like of {0, 1}
        Outcomes of the two groups. Their order matters to the draws, not to the estimand.
    draws : int, default 20,000
        Shuffles, each of the result of the one before.
    seed : int, default 11
        Of Python's own Mersenne Twister.

    Returns
    -------
    PermutationTest
        p = (extreme + 1)/(draws + 1); 1 when a group is empty.

    Raises
    ------
    InputError
        For outcomes other than 0 and 1, or a parameter out of range.

    Notes
    -----
    A shuffle counts when its absolute difference of rates is at least the observed one less
    1e-12. The shuffle is the Fisher-Yates walk of Python's ``random.shuffle``, written out here
    so that the draws cannot change with the version of Python.

    Examples
    --------
    >>> monte_carlo_permutation([1] * 5 + [0] * 5, [1] * 9 + [0], draws=1000, seed=0).p_value
    0.12787212787212787
    """
    first, second = check_outcomes("a", a), check_outcomes("b", b)
    shuffles, checked_seed = check_positive_count("draws", draws), check_count("seed", seed)
    n_a, n_b = len(first), len(second)
    method = "Monte-Carlo permutation, absolute difference of rates"
    if n_a == 0 or n_b == 0:
        reason = f"{'a' if n_a == 0 else 'b'} has no trials"
        return PermutationTest(
            1.0, math.nan, method, False, n_a, n_b, shuffles, checked_seed, reason
        )
    s_a, marked = int(first.sum()), int(first.sum() + second.sum())
    difference = (marked - s_a) / n_b - s_a / n_a
    is_extreme = [
        abs((marked - x) / n_b - x / n_a) >= abs(difference) - 1e-12 for x in range(marked + 1)
    ]
    pool = bytearray(first.astype(int).tolist() + second.astype(int).tolist())
    possible = range(max(0, marked - n_b), min(marked, n_a) + 1)
    if all(is_extreme[x] for x in possible):  # every shuffle would count: no need to make them
        return PermutationTest(1.0, difference, method, False, n_a, n_b, shuffles, checked_seed, "")
    extreme = sum(
        is_extreme[x]
        for x in _shuffled_successes(pool, n_a, shuffles, random.Random(checked_seed))  # noqa: S311
    )
    p_value = (extreme + 1) / (shuffles + 1)
    return PermutationTest(p_value, difference, method, False, n_a, n_b, shuffles, checked_seed, "")


def _shuffled_successes(
    pool: bytearray, n_a: int, shuffles: int, generator: random.Random
) -> Sequence[int]:
    """Shuffle the pool again and again; return the successes among its first n_a each time."""
    draw_bits = generator.getrandbits
    walk = [(i, (i + 1).bit_length()) for i in reversed(range(1, len(pool)))]
    counts = []
    for _ in range(shuffles):
        for i, bits in walk:
            j = draw_bits(bits)
            while j > i:  # rejection: uniform on 0..i
                j = draw_bits(bits)
            pool[i], pool[j] = pool[j], pool[i]
        counts.append(pool.count(1, 0, n_a))
    return counts


def plumbline_bootstrap_interval(
    values: Any, n: int = 2_000, seed: int = 13, alpha: float = 0.05
) -> tuple[float, float]:
    """Return Plumbline's percentile bootstrap of a mean.

    Differs from :func:`steelyard.stats.bootstrap_interval` in what it gives where nothing is
    known: (0, 0) without values, and no width for one value.

    Parameters
    ----------
    values : array-like of float
        Finite numbers.
    n : int, default 2,000
        Resamples.
    seed : int, default 13
        Of Python's own Mersenne Twister.
    alpha : float, default 0.05
        One minus the confidence.

    Returns
    -------
    tuple of float
        The limits.

    Examples
    --------
    >>> plumbline_bootstrap_interval([0, 0, 0, 1])
    (0.0, 0.75)
    """
    checked = [float(v) for v in check_scores("values", values)]
    resamples, tail = check_positive_count("n", n), check_open_unit("alpha", alpha) / 2
    if not checked:
        return 0.0, 0.0
    generator = random.Random(check_count("seed", seed))  # noqa: S311
    means = sorted(
        sum(generator.choices(checked, k=len(checked))) / len(checked) for _ in range(resamples)
    )
    return means[int(tail * resamples)], means[min(int((1 - tail) * resamples), resamples - 1)]


def statsmodels_score_interval(
    a_successes: int, a_total: int, b_successes: int, b_total: int, confidence: float = 0.95
) -> tuple[float, float] | None:
    """Return the score interval of rate b minus rate a as statsmodels up to 0.15 computes it.

    It is meant to be Miettinen and Nurminen's, but one coefficient of the cubic for the
    restricted rate holds the successes of a where its trials belong (statsmodels issue 10269),
    so that the rates do not maximise the restricted likelihood and the limits are off by up to
    some hundredths. Use :func:`steelyard.stats.miettinen_nurminen_interval`.

    Parameters
    ----------
    a_successes, a_total, b_successes, b_total : int
        Counts of the two sides.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    tuple of float or None
        None where statsmodels ends in an error: its search starts from the Wald interval, which
        at 0/n and n/n does not enclose the limits.

    Examples
    --------
    >>> low, high = statsmodels_score_interval(52, 64, 56, 57)
    >>> round(low, 5), round(high, 5)  # Miettinen and Nurminen's is (0.07124, 0.28561)
    (0.06747, 0.29763)
    """
    s_a, n_a, s_b, n_b = table = check_table(a_successes, a_total, b_successes, b_total)
    z = normal_quantile(confidence)
    if n_a == 0 or n_b == 0:
        return None
    rate_a, rate_b = s_a / n_a, s_b / n_b
    difference = rate_b - rate_a
    half = z * math.sqrt(rate_a * (1 - rate_a) / n_a + rate_b * (1 - rate_b) / n_b)
    start = difference - half - 0.25 * abs(difference - half)
    end = min(difference + half + 0.5 * abs(difference + half), 0.99999)
    encloses = _slipped_score(table, start) > z and _slipped_score(table, end) < -z
    if not encloses or math.isnan(_slipped_score(table, difference)):
        return None
    low = falling_root(lambda delta: _slipped_score(table, delta) - z, start, difference)
    high = falling_root(lambda delta: _slipped_score(table, delta) + z, difference, end)
    return low, high


def _slipped_score(table: tuple[int, int, int, int], delta: float) -> float:
    """Return statsmodels' score: like ``score.score``, with the slip; NaN where it has none."""
    s_a, n_a, s_b, n_b = table
    total, marked = n_a + n_b, s_a + s_b
    if delta == 0:
        rate = marked / total
    else:
        square = ((n_b + 2 * n_a) * delta - total - marked) / (3 * total)
        linear = ((s_a * delta - total - 2 * s_a) * delta + marked) / (3 * total)  # slip: n_a
        constant = s_a * delta * (1 - delta) / (2 * total)
        q = square**3 - 1.5 * linear * square + constant
        inner = square**2 - linear
        p = math.copysign(math.sqrt(max(inner, 0.0)), q)
        if p == 0 or abs(q / p**3) > 1:
            return math.nan
        angle = (math.pi + math.acos(q / p**3)) / 3
        rate = 2 * p * math.cos(angle) - square
    other = rate + delta
    variance = (rate * (1 - rate) / n_a + other * (1 - other) / n_b) * total / (total - 1)
    return (s_b / n_b - s_a / n_a - delta) / math.sqrt(variance) if variance > 0 else math.nan
