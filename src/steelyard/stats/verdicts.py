"""What a comparison supports: different, equivalent or inconclusive, and the smallest margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol

from steelyard.errors import InputError
from steelyard.stats.checks import check_margin
from steelyard.stats.results import Result


class HasLimits(Protocol):
    """Anything with an interval: every difference result of this package."""

    @property
    def low(self) -> float:
        """The lower limit."""

    @property
    def high(self) -> float:
        """The upper limit."""


def smallest_margin(interval: HasLimits) -> float:
    """Return the least margin that an interval at level 1 - 2 alpha supports.

    Parameters
    ----------
    interval : object with ``low`` and ``high``
        Of a difference, at level 1 - 2 alpha.

    Returns
    -------
    float
        The larger of the absolute limits; NaN where a limit is NaN. Every larger margin would
        have been met.

    Examples
    --------
    >>> from steelyard.stats import miettinen_nurminen_interval
    >>> round(smallest_margin(miettinen_nurminen_interval(64, 64, 56, 57, 0.90)), 4)
    0.0753
    """
    return max(abs(interval.low), abs(interval.high)) if has_limits(interval) else math.nan


@dataclass(frozen=True)
class Verdict(Result):
    """What a comparison supports.

    Attributes
    ----------
    verdict : {"different", "equivalent", "inconclusive"}
        See :func:`verdict`.
    reason : str
        Why, in a few words.
    """

    verdict: Literal["different", "equivalent", "inconclusive"]
    reason: str


def verdict(difference: HasLimits, equivalence: HasLimits, margin: float | None = None) -> Verdict:
    """Return the verdict on a comparison: different, equivalent or inconclusive.

    Parameters
    ----------
    difference : object with ``low`` and ``high``
        The interval of the difference at level 1 - alpha.
    equivalence : object with ``low`` and ``high``
        The interval at level 1 - 2 alpha.
    margin : float, optional
        The largest difference that would not matter, in (0, 1). Without one nothing can be
        called equivalent.

    Returns
    -------
    Verdict

    Raises
    ------
    InputError
        For a margin out of range, or an ``equivalence`` interval wider than ``difference``.

    Notes
    -----
    In this order:

    1. inconclusive, when a limit is NaN (no trials, one task);
    2. equivalent, when the 1 - 2 alpha interval lies strictly inside (-margin, margin). This
       comes first on purpose: a difference can be significant and yet smaller than anything that
       matters. The reason then says that it is also significant;
    3. different, when the 1 - alpha interval leaves out 0;
    4. inconclusive otherwise.

    Examples
    --------
    >>> from steelyard.stats import miettinen_nurminen_interval
    >>> wide = miettinen_nurminen_interval(64, 64, 56, 57)
    >>> narrow = miettinen_nurminen_interval(64, 64, 56, 57, 0.90)
    >>> verdict(wide, narrow, margin=0.05).verdict
    'inconclusive'
    >>> verdict(wide, narrow, margin=0.10).verdict
    'equivalent'
    """
    limit = None if margin is None else check_margin(margin)
    if not has_limits(difference) or not has_limits(equivalence):
        return Verdict("inconclusive", "no interval")
    if equivalence.low < difference.low or equivalence.high > difference.high:
        raise InputError(
            f"the equivalence interval [{equivalence.low}, {equivalence.high}] is wider than the "
            f"difference interval [{difference.low}, {difference.high}]; it must be the one at "
            "level 1 - 2 alpha"
        )
    significant = difference.low > 0 or difference.high < 0
    if limit is not None and -limit < equivalence.low and equivalence.high < limit:
        also = "; the difference is significant, but inside the margin" if significant else ""
        return Verdict("equivalent", f"the interval lies within ±{limit:g}{also}")
    if significant:
        return Verdict("different", "the interval leaves out 0")
    if limit is None:
        return Verdict("inconclusive", "the interval holds 0, and no margin is stated")
    return Verdict("inconclusive", f"the interval holds 0 and reaches beyond ±{limit:g}")


def has_limits(interval: HasLimits) -> bool:
    """Return whether both limits are numbers."""
    return not (math.isnan(interval.low) or math.isnan(interval.high))
