"""Verdicts on a rate of agreement: what the evidence shows, and what Plumbline says of it."""

from __future__ import annotations

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
        upper limit of some group stays below it; the limits are taken at 1 - (1 - confidence)/k
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
