"""Two-sided quantiles of the normal and of Student's t distribution."""

from __future__ import annotations

import scipy

from steelyard.stats.checks import check_open_unit

# ``scipy.special`` loads at its first use, so importing the stats room stays cheap.


def normal_quantile(confidence: float) -> float:
    """Return z with P(-z < Z < z) = confidence for a standard normal Z.

    Taken from the lower tail, so that a confidence close to 1 keeps its digits.

    Examples
    --------
    >>> round(normal_quantile(0.95), 9)
    1.959963985
    """
    tail = (1.0 - check_open_unit("confidence", confidence)) / 2.0
    return float(-scipy.special.ndtri(tail))


def student_t_quantile(confidence: float, degrees_of_freedom: float) -> float:
    """Return t with P(-t < T < t) = confidence for Student's t with these degrees of freedom.

    Examples
    --------
    >>> round(student_t_quantile(0.95, 7), 6)
    2.364624
    """
    tail = (1.0 - check_open_unit("confidence", confidence)) / 2.0
    return float(-scipy.special.stdtrit(degrees_of_freedom, tail))


def student_t_tail(statistic: float, degrees_of_freedom: float) -> float:
    """Return P(T > statistic) for Student's t with these degrees of freedom."""
    return float(scipy.special.stdtr(degrees_of_freedom, -statistic))


def normal_tail(statistic: float) -> float:
    """Return P(Z > statistic) for a standard normal Z."""
    return float(scipy.special.ndtr(-statistic))
