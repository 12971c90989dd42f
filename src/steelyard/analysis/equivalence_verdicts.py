"""Verdicts on a rate of agreement: what the evidence shows, and what Plumbline says of it."""

from __future__ import annotations

import math

import pandas as pd

from steelyard.errors import InputError
from steelyard.stats import wilson_interval

TARGET = 0.95

# Plumbline's thresholds on its retirement bound.
NEAR, DIVERGING = 0.85, 0.60


def bounded_verdict(table: pd.DataFrame, target: float, confidence: float) -> str:
    """Return what rates of agreement in groups show about a target that all should reach.

    Parameters
    ----------
    table : pandas.DataFrame
        A result of :func:`steelyard.analysis.proportion.proportions_by`.
    target : float
        The rate of agreement, strictly between 0 and 1, that every group should reach.
    confidence : float
        Level of the statement.

    Returns
    -------
    str
        ``"equivalent"``: the lower limit of every group reaches the target. ``"different"``: the
        upper limit of some group stays below it; the limits are taken at 1 − (1 − confidence)/k
        for k groups, because each group is another chance to find one low. ``"inconclusive"``:
        neither, or a group has no scored pair.

    Notes
    -----
    "Equivalent" needs no adjustment for the number of groups: all of them must pass (an
    intersection-union test, Berger 1982, Technometrics 24:295-300).
    """
    if not (0 < target < 1):
        raise InputError(f"target is {target!r}; accepted are rates strictly between 0 and 1")
    scored = table[table["total"] > 0]
    if not scored.empty:
        adjusted = 1 - (1 - confidence) / len(scored)
        high = wilson_interval(
            scored["successes"].to_numpy(), scored["total"].to_numpy(), adjusted
        ).high
        if (high < target).any():
            return "different"
        if len(scored) == len(table) and (scored["low"] >= target).all():
            return "equivalent"
    return "inconclusive"


def published_verdict(bound: float, divergences: int) -> str:
    """Return Plumbline 0.3.0's verdict on a retirement bound.

    Parameters
    ----------
    bound : float
        The retirement bound.
    divergences : int
        Divergences found in all pairs together.

    Returns
    -------
    str
        ``equivalent`` from 0.95; else ``insufficient_evidence`` when nothing diverged, then
        ``near_equivalent`` from 0.85, ``diverges`` from 0.60, ``materially_different`` below. It
        looks at outcomes only: a replacement that drops a control and ends in the same states is
        called equivalent.
    """
    if bound >= TARGET:
        return "equivalent"
    if divergences == 0:
        return "insufficient_evidence"
    if bound >= NEAR:
        return "near_equivalent"
    return "diverges" if bound >= DIVERGING else "materially_different"


def runs_needed(bound: float, confidence: float = 0.95) -> int:
    """Return how many pairs, all agreeing, give a lower Wilson limit of at least ``bound``.

    Parameters
    ----------
    bound : float
        From 0 to below 1.
    confidence : float, default 0.95
        Level of the two-sided interval.

    Returns
    -------
    int
        The smallest n with n/(n + z²) ≥ bound, which is the Wilson limit of n of n; at least 1.

    Raises
    ------
    InputError
        No number of runs shows a rate of 1.
    """
    if not (0 <= bound < 1):
        raise InputError(
            f"bound is {bound!r}; accepted are numbers from 0 to below 1, because no number of "
            "runs shows that a rate is 1"
        )
    low = 1
    while wilson_interval(low, low, confidence).low < bound:
        low *= 2
    return _least(low // 2 + 1, low, bound, confidence) if low > 1 else 1


def _least(first: int, last: int, bound: float, confidence: float) -> int:
    """Return the smallest n in first..last that suffices; ``last`` does."""
    while first < last:
        middle = (first + last) // 2
        if wilson_interval(middle, middle, confidence).low >= bound:
            last = middle
        else:
            first = middle + 1
    return math.trunc(last)
