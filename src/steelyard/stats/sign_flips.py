"""The sign-flip test over tasks of a zero mean difference."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from steelyard.stats.checks import FloatArray, check_count, check_positive_count, check_scores
from steelyard.stats.results import SMALLEST_P, Result

RELATIVE_TIE = 1e-9
"""Sums within this share of the observed one count as equal to it, so as extreme."""

ROUNDING = 1e-12
"""Share of the sum of absolute differences that rounding alone may move a sum by."""

LARGEST_ENUMERATION = 40
"""Non-zero differences up to which all signs can be accounted for (2^20 sums on each side)."""

QUICK_ENUMERATION = 20
"""Differences up to which that is done before a lattice is looked for."""

LARGEST_DENOMINATOR = 1_000
LARGEST_LATTICE = 2_000_000
CHUNK = 2**16


@dataclass(frozen=True)
class SignFlipTest(Result):
    """A sign-flip test.

    Attributes
    ----------
    p_value : float
        Two-sided, above 0 and at most 1.
    mean : float
        The mean of all differences, zeros included; NaN without any.
    method : str
        Which of the three computations gave the p-value.
    exact : bool
        True when all sign assignments are accounted for.
    n, n_nonzero : int
        The differences, and those that are not zero (only these carry evidence).
    n_resamples, seed : int or None
        Of a Monte-Carlo test; None for an exact one.
    reason : str
        Why no test was possible (p is then 1); empty otherwise.
    """

    p_value: float
    mean: float
    method: str
    exact: bool
    n: int
    n_nonzero: int
    n_resamples: int | None
    seed: int | None
    reason: str


def sign_flip(
    differences: Any,
    exact_limit: int = LARGEST_ENUMERATION,
    n_resamples: int = 100_000,
    seed: int = 0,
) -> SignFlipTest:
    """Return the two-sided sign-flip test of per-task differences.

    Under the null the two arms are exchangeable within a task, so each task's difference is as
    likely with either sign. The statistic is the absolute sum; the p-value is the share of sign
    assignments that give at least the observed one.

    Parameters
    ----------
    differences : array-like of float, shape (tasks,)
        One difference per task, for example of the two arms' success rates.
    exact_limit : int, default 40
        Up to this many non-zero differences all 2^m assignments are enumerated; at most 40.
    n_resamples : int, default 100,000
        Draws of the Monte-Carlo test.
    seed : int, default 0
        Of the Monte-Carlo test.

    Returns
    -------
    SignFlipTest

    Raises
    ------
    InputError
        For a difference that is NaN or infinite, or a parameter out of range.

    Notes
    -----
    A zero difference adds nothing to any sum and halves nothing: it is left out of the
    enumeration without changing the p-value. Sums within 1e-9 of the observed one, relatively,
    count as extreme, because 0.1 + 0.2 and 0.3 are the same difference.

    With more than 20 differences, and any number of them, the test is exact when they are
    fractions with a common denominator (rates of few repeats are): the sums then lie on a lattice
    and their distribution is a convolution. Only where neither this nor the enumeration is
    possible signs are drawn, and p = (extreme + 1)/(n_resamples + 1), which counts the observed
    assignment and cannot be 0.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21. Phipson and Smyth (2010), Statistical
    Applications in Genetics and Molecular Biology 9:39, for the + 1.

    Examples
    --------
    >>> sign_flip([1, 1, 1, 1, 1, 1]).p_value
    0.03125
    >>> sign_flip([0.5, -0.25, 0, 0]).p_value
    1.0
    """
    values = check_scores("differences", differences)
    limit = min(check_count("exact_limit", exact_limit), LARGEST_ENUMERATION)
    draws = check_positive_count("n_resamples", n_resamples)
    checked_seed = check_count("seed", seed)
    # sorted, so that the order of the tasks cannot show in the last digit
    moving = np.sort(np.abs(values[values != 0]))
    mean = math.fsum(values) / len(values) if len(values) else math.nan
    threshold = _threshold(abs(math.fsum(values)), moving)

    def result(p: float, method: str, *, drawn: bool = False, reason: str = "") -> SignFlipTest:
        return SignFlipTest(
            p_value=min(max(p, SMALLEST_P), 1.0),
            mean=mean,
            method=method,
            exact=not drawn,
            n=len(values),
            n_nonzero=len(moving),
            n_resamples=draws if drawn else None,
            seed=checked_seed if drawn else None,
            reason=reason,
        )

    if not len(moving):
        why = "all differences are 0" if len(values) else "no differences"
        return result(1.0, "sign flip, enumerated", reason=why)
    few = len(moving) <= min(limit, QUICK_ENUMERATION)
    lattice = None if few else _lattice(moving)
    if lattice is not None:
        numerators, denominator = lattice
        p = _convolved(numerators, threshold * denominator)
        return result(p, "sign flip, convolved")
    if len(moving) <= limit:
        return result(_enumerated(moving, threshold), "sign flip, enumerated")
    p = _drawn(moving, threshold, draws, checked_seed)
    return result(p, "sign flip, Monte Carlo", drawn=True)


def _threshold(observed: float, magnitudes: FloatArray) -> float:
    """Return the least absolute sum that counts as extreme.

    Relative to the observed sum, and less what rounding may do to sums that nearly cancel.
    """
    return observed * (1.0 - RELATIVE_TIE) - ROUNDING * math.fsum(magnitudes)


def _enumerated(magnitudes: FloatArray, threshold: float) -> float:
    """Return the share of all sign assignments whose absolute sum reaches the threshold.

    The first sign is held at plus: flipping all signs leaves the absolute sum as it is. The sums
    of the first half of the differences are paired with those of the second by their order
    (Horowitz and Sahni 1974, Journal of the ACM 21:277-292), so that 2^20 sums stand for 2^40.
    """
    half = (len(magnitudes) + 1) // 2
    held = _signed_sums(magnitudes[:1], magnitudes[1:half])
    others = np.sort(_signed_sums(np.zeros(1), magnitudes[half:]))
    above = len(others) - np.searchsorted(others, threshold - held, side="left")
    below = np.searchsorted(others, -threshold - held, side="right")
    reached = int(np.minimum(above + below, len(others)).sum())
    return reached / (len(held) * len(others))


def _signed_sums(start: FloatArray, magnitudes: FloatArray) -> FloatArray:
    """Return start + every signed sum of the magnitudes."""
    sums = start
    for magnitude in magnitudes:
        sums = np.concatenate([sums + magnitude, sums - magnitude])
    return sums


def _lattice(magnitudes: FloatArray) -> tuple[list[int], int] | None:
    """Return the differences as integers over one common denominator, or None.

    A float within 1e-12 of a fraction with a denominator up to 1,000 is taken as that fraction:
    floats that are no rates practically never come that close to one.
    """
    fractions = []
    # relative to the largest: differences of 1e-13 that are alone are no zeros
    rounding = ROUNDING * min(1.0, float(magnitudes[-1]))
    for magnitude in magnitudes:
        fraction = Fraction(float(magnitude)).limit_denominator(LARGEST_DENOMINATOR)
        if abs(float(fraction) - magnitude) > max(rounding, ROUNDING * magnitude):
            return None
        fractions.append(fraction)
    denominator = math.lcm(*(f.denominator for f in fractions))
    numerators = [int(f * denominator) for f in fractions]
    return (numerators, denominator) if sum(numerators) <= LARGEST_LATTICE else None


def _convolved(numerators: list[int], threshold: float) -> float:
    """Return the same share from the distribution of the sum, one difference at a time.

    ``chances[i]`` is the probability of the sum i - (sum of numerators so far). Every term is
    positive, so the tails keep their relative precision.
    """
    chances = np.ones(1)
    for k in numerators:
        wider = np.zeros(len(chances) + 2 * k)
        wider[: len(chances)] += 0.5 * chances
        wider[2 * k :] += 0.5 * chances
        chances = wider
    reach = sum(numerators)
    sums = np.arange(-reach, reach + 1, dtype=np.float64)
    return math.fsum(chances[np.abs(sums) >= threshold])


def _drawn(magnitudes: FloatArray, threshold: float, draws: int, seed: int) -> float:
    """Return the Monte-Carlo p-value, the observed assignment counted in."""
    generator = np.random.default_rng(seed)
    extreme = 0
    for start in range(0, draws, CHUNK):
        size = min(CHUNK, draws - start)
        signs = generator.integers(0, 2, size=(size, len(magnitudes)), dtype=np.int8)
        sums = (2.0 * signs - 1.0) @ magnitudes
        extreme += int(np.count_nonzero(np.abs(sums) >= threshold))
    return (extreme + 1) / (draws + 1)
