"""Readable twins of the fast procedures, straight from the definitions, for the tests.

Pure Python, no tricks, slow: each is compared with its fast form on generated input. Nothing in
the package calls them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction


def wilson(successes: int, total: int, z: float) -> tuple[float, float]:
    """Return the Wilson limits by the textbook formula."""
    if total == 0:
        return 0.0, 1.0
    rate = successes / total
    scale = 1 + z**2 / total
    centre = (rate + z**2 / (2 * total)) / scale
    half = z * math.sqrt(rate * (1 - rate) / total + z**2 / (4 * total**2)) / scale
    return max(centre - half, 0.0), min(centre + half, 1.0)


def exact_permutation(a: Sequence[int], b: Sequence[int]) -> float:
    """Return the two-sided permutation p-value by visiting every assignment of labels."""
    pool = [*a, *b]

    def statistic(chosen: Sequence[int]) -> Fraction:
        inside = sum(pool[i] for i in chosen)
        return abs(Fraction(sum(pool) - inside, len(b)) - Fraction(inside, len(a)))

    observed = statistic(range(len(a)))
    assignments = list(itertools.combinations(range(len(pool)), len(a)))
    return sum(statistic(c) >= observed for c in assignments) / len(assignments)


def stratified_permutation(strata: Sequence[tuple[Sequence[int], Sequence[int]]]) -> float:
    """Return the stratified p-value by visiting every combination of within-stratum labels."""
    used = [(a, b) for a, b in strata if a and b]
    options: list[list[Fraction]] = []
    for a, b in used:
        pool = [*a, *b]
        expected = Fraction(sum(pool) * len(a), len(pool))
        options.append([sum(c) - expected for c in itertools.combinations(pool, len(a))])
    excess = [sum(a) - Fraction(sum([*a, *b]) * len(a), len(a) + len(b)) for a, b in used]
    observed = abs(sum(excess, Fraction(0)))
    totals = [abs(sum(choice, Fraction(0))) for choice in itertools.product(*options)]
    return sum(total >= observed for total in totals) / len(totals)


def sign_flip(differences: Sequence[float]) -> float:
    """Return the sign-flip p-value by visiting every assignment of signs."""
    observed = abs(math.fsum(differences))
    slack = 1e-9 * observed + 1e-12 * math.fsum(abs(d) for d in differences)
    sums = [
        abs(math.fsum(s * d for s, d in zip(signs, differences, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(differences))
    ]
    return sum(total >= observed - slack for total in sums) / len(sums)


def clustered_standard_error(values: Sequence[float], clusters: Sequence[str]) -> float:
    """Return the clustered standard error by the literal double sum over pairs in a cluster."""
    mean = sum(values) / len(values)
    count = len(set(clusters))
    pairs = sum(
        (x - mean) * (y - mean)
        for x, c in zip(values, clusters, strict=True)
        for y, d in zip(values, clusters, strict=True)
        if c == d
    )
    return math.sqrt(max(pairs, 0.0) * count / (count - 1)) / len(values)


def pass_hat_k(outcomes: Sequence[int], k: int) -> float:
    """Return pass^k of one task by visiting every k of its trials."""
    draws = list(itertools.combinations(outcomes, k))
    return sum(all(draw) for draw in draws) / len(draws)


def pass_at_k(outcomes: Sequence[int], k: int) -> float:
    """Return pass@k of one task by visiting every k of its trials."""
    draws = list(itertools.combinations(outcomes, k))
    return sum(any(draw) for draw in draws) / len(draws)
