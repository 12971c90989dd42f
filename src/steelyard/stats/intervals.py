"""Intervals for one rate: Wilson, Clopper-Pearson and Jeffreys, for independent trials.

All three are two-sided and equal-tailed. Where trials share a task they are not independent:
see :mod:`steelyard.stats.clustered`.

The shared conventions, for scalars and arrays alike:

* no trials: the estimate is NaN (there is none) and the interval is the vacuous [0, 1];
* no success: ``low`` is exactly 0; no failure: ``high`` is exactly 1;
* every limit lies in [0, 1] as a double, not only up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt
import scipy

from steelyard.stats.checks import (
    FloatArray,
    check_count_arrays,
    check_open_unit,
    check_quantile,
    check_successes,
)
from steelyard.stats.quantiles import normal_quantile
from steelyard.stats.results import Result

Count: TypeAlias = int | np.integer[Any]
Counts: TypeAlias = Sequence[int] | npt.NDArray[Any]
Limits: TypeAlias = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class Interval(Result):
    """One rate and its interval.

    Attributes
    ----------
    estimate : float
        successes/total; NaN when there are no trials.
    low, high : float
        The limits.
    level : float
        The nominal confidence, for example 0.95.
    method : str
        The name of the formula.
    n : int
        The number of trials.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


@dataclass(frozen=True, eq=False)
class IntervalArray(Result):
    """Many rates and their intervals: the fields of :class:`Interval` as arrays of one shape.

    Attributes
    ----------
    estimate, low, high : numpy.ndarray of float64
        NaN estimates where there are no trials.
    level : float
        The nominal confidence of each interval (not a simultaneous one).
    method : str
        The name of the formula.
    n : numpy.ndarray of int64
        The numbers of trials.
    """

    estimate: FloatArray
    low: FloatArray
    high: FloatArray
    level: float
    method: str
    n: npt.NDArray[np.int64]


@overload
def wilson_interval(
    successes: Count, total: Count, confidence: float = ..., *, z: float | None = ...
) -> Interval: ...
@overload
def wilson_interval(
    successes: Counts, total: Counts | Count, confidence: float = ..., *, z: float | None = ...
) -> IntervalArray: ...
def wilson_interval(
    successes: Count | Counts,
    total: Count | Counts,
    confidence: float = 0.95,
    *,
    z: float | None = None,
) -> Interval | IntervalArray:
    """Return the Wilson score interval of a rate.

    The set of rates p that a score test with quantile z does not reject, that is the roots of
    (s/n - p)^2 = z^2 p(1 - p)/n.

    Parameters
    ----------
    successes, total : int or array of int
        Counts with ``0 <= successes <= total``. Arrays broadcast.
    confidence : float, default 0.95
        Strictly between 0 and 1.
    z : float, optional
        The normal quantile itself, in place of ``confidence`` (0 gives the bare estimate).

    Returns
    -------
    Interval or IntervalArray
        The former for scalars.

    Raises
    ------
    InputError
        For counts that are NaN, negative, fractional or boolean, successes above total, or a
        confidence outside (0, 1).

    Notes
    -----
    Written so that no step subtracts nearly equal numbers: with A = s + z^2/2 and
    B = z sqrt(s(n - s)/n + z^2/4), high = (A + B)/(n + z^2) and low = (s^2/n)/(A + B).

    References
    ----------
    Wilson (1927), J. Am. Stat. Assoc. 22:209-212. Brown, Cai and DasGupta (2001), Statistical
    Science 16:101-133, recommend it for small n.

    Examples
    --------
    >>> found = wilson_interval(52, 64)
    >>> round(found.low, 4), round(found.high, 4)
    (0.7003, 0.8894)
    >>> wilson_interval(0, 0)
    Interval(estimate=nan, low=0.0, high=1.0, level=0.95, method='Wilson score', n=0)
    """
    if z is None:
        quantile, level = normal_quantile(confidence), float(confidence)
    else:
        quantile = check_quantile(z)
        level = math.erf(quantile / math.sqrt(2.0))
    return _interval(
        successes, total, level, "Wilson score", lambda s, n: wilson_limits(s, n, quantile)
    )


@overload
def clopper_pearson_interval(
    successes: Count, total: Count, confidence: float = ...
) -> Interval: ...
@overload
def clopper_pearson_interval(
    successes: Counts, total: Counts | Count, confidence: float = ...
) -> IntervalArray: ...
def clopper_pearson_interval(
    successes: Count | Counts, total: Count | Counts, confidence: float = 0.95
) -> Interval | IntervalArray:
    """Return the Clopper-Pearson ("exact") interval of a rate.

    Its coverage is never below the confidence, at the price of width.

    Parameters
    ----------
    successes, total : int or array of int
        Counts with ``0 <= successes <= total``. Arrays broadcast.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    Interval or IntervalArray
        The former for scalars.

    Raises
    ------
    InputError
        As :func:`wilson_interval`.

    References
    ----------
    Clopper and Pearson (1934), Biometrika 26:404-413: the a/2 quantile of Beta(s, n - s + 1) and
    the 1 - a/2 quantile of Beta(s + 1, n - s).

    Examples
    --------
    >>> found = clopper_pearson_interval(0, 10)
    >>> found.low, round(found.high, 6)
    (0.0, 0.308497)
    """
    level = check_open_unit("confidence", confidence)
    tail = (1.0 - level) / 2.0

    def limits(s: FloatArray, n: FloatArray) -> Limits:
        low = scipy.special.betaincinv(np.maximum(s, 1), n - s + 1, tail)
        high = scipy.special.betainccinv(s + 1, np.maximum(n - s, 1), tail)
        return _fix_ends(s, n, low, high)

    return _interval(successes, total, level, "Clopper-Pearson", limits)


@overload
def jeffreys_interval(successes: Count, total: Count, confidence: float = ...) -> Interval: ...
@overload
def jeffreys_interval(
    successes: Counts, total: Counts | Count, confidence: float = ...
) -> IntervalArray: ...
def jeffreys_interval(
    successes: Count | Counts, total: Count | Counts, confidence: float = 0.95
) -> Interval | IntervalArray:
    """Return the Jeffreys interval of a rate, in its boundary-modified form.

    The equal-tailed posterior interval under the Beta(1/2, 1/2) prior, with ``low`` set to 0
    where there is no success and ``high`` set to 1 where there is no failure.

    Parameters
    ----------
    successes, total : int or array of int
        Counts with ``0 <= successes <= total``. Arrays broadcast.
    confidence : float, default 0.95
        Strictly between 0 and 1.

    Returns
    -------
    Interval or IntervalArray
        The former for scalars.

    Raises
    ------
    InputError
        As :func:`wilson_interval`.

    References
    ----------
    Brown, Cai and DasGupta (2001), Statistical Science 16:101-133.

    Examples
    --------
    >>> found = jeffreys_interval(1, 5)
    >>> round(found.low, 6), round(found.high, 6)
    (0.022513, 0.628626)
    """
    level = check_open_unit("confidence", confidence)
    tail = (1.0 - level) / 2.0

    def limits(s: FloatArray, n: FloatArray) -> Limits:
        low = scipy.special.betaincinv(s + 0.5, n - s + 0.5, tail)
        high = scipy.special.betainccinv(s + 0.5, n - s + 0.5, tail)
        return _fix_ends(s, n, low, high)

    return _interval(successes, total, level, "Jeffreys", limits)


def wilson_limits(successes: FloatArray, total: FloatArray, z: float) -> Limits:
    """Return the Wilson limits for real-valued counts (an effective sample size is not an integer).

    No checks: the callers have made them. Totals of 0 give [0, 1].
    """
    n = np.where(total > 0, total, 1.0)
    s = np.where(total > 0, successes, 0.0)
    centre = s + z * z / 2.0
    spread = z * np.sqrt(s * (n - s) / n + z * z / 4.0)
    # at z = 0 without a success both are 0; the end is then set to 0 below, whatever is divided
    denominator = np.where(centre + spread > 0, centre + spread, 1.0)
    low = s * (s / n) / denominator
    high = (centre + spread) / (n + z * z)
    if z == 0:
        return np.where(total > 0, s / n, 0.0), np.where(total > 0, s / n, 1.0)
    return _fix_ends(successes, total, np.minimum(low, s / n), np.maximum(high, s / n))


def _fix_ends(s: FloatArray, n: FloatArray, low: FloatArray, high: FloatArray) -> Limits:
    """Make the ends exact: 0 without a success, 1 without a failure, never outside [0, 1]."""
    return (
        np.where(s <= 0, 0.0, np.clip(low, 0.0, 1.0)),
        np.where(s >= n, 1.0, np.clip(high, 0.0, 1.0)),
    )


def _is_array(counts: Any) -> bool:
    """Return whether there is more than one number; rows of unequal lengths are refused later."""
    return isinstance(counts, list | tuple) or np.ndim(counts) > 0


def _interval(
    successes: Count | Counts,
    total: Count | Counts,
    level: float,
    method: str,
    limits: Callable[[FloatArray, FloatArray], Limits],
) -> Interval | IntervalArray:
    """Check the counts, compute the limits, and wrap them as a scalar or an array result."""
    if not (_is_array(successes) or _is_array(total)):
        one_successes, one_total = check_successes(successes, total)
        s, n = np.array(one_successes, np.float64), np.array(one_total, np.float64)
        low, high = limits(s, n)
        estimate = one_successes / one_total if one_total else math.nan
        return Interval(estimate, float(low), float(high), level, method, one_total)
    s, n = check_count_arrays(successes, total)
    low, high = limits(s, n)
    estimates = np.where(n > 0, s / np.where(n > 0, n, 1.0), np.nan)
    return IntervalArray(estimates, low, high, level, method, n.astype(np.int64))
