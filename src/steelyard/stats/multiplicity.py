"""Adjusting p-values for the number of tests in the family."""

from __future__ import annotations

from typing import Any

import numpy as np

from steelyard.errors import InputError
from steelyard.stats.checks import FloatArray, number_array


def holm(p_values: Any) -> FloatArray:
    """Return Holm's adjusted p-values (family-wise error rate), in input order.

    Parameters
    ----------
    p_values : array-like of float, shape (m,)
        Values in [0, 1]. NaN (or None) means that no test was made: it stays NaN and does not
        count towards the size of the family.

    Returns
    -------
    numpy.ndarray of float64, shape (m,)
        At most 1, in the order of the raw values.

    Raises
    ------
    InputError
        For a value outside [0, 1].

    Notes
    -----
    With the k tests made in ascending order, adjusted p_(i) = max over j <= i of
    min(1, (k - j + 1) p_(j)). Valid under any dependence between the tests.

    References
    ----------
    Holm (1979), Scandinavian Journal of Statistics 6:65-70.

    Examples
    --------
    >>> [float(p) for p in holm([0.01, 0.02, None, 0.04])]
    [0.03, 0.04, nan, 0.04]
    """
    raw, made, order = _ranked(p_values)
    sizes = np.arange(len(order), 0, -1)
    return _spread(raw, made, order, np.maximum.accumulate(sizes * raw[made][order]))


def benjamini_hochberg(p_values: Any) -> FloatArray:
    """Return Benjamini and Hochberg's adjusted p-values (false discovery rate), in input order.

    Parameters
    ----------
    p_values : array-like of float, shape (m,)
        As :func:`holm`.

    Returns
    -------
    numpy.ndarray of float64, shape (m,)
        At most 1, in the order of the raw values.

    Raises
    ------
    InputError
        For a value outside [0, 1].

    Notes
    -----
    With the k tests made in ascending order, adjusted p_(i) = min over j >= i of k p_(j) / j.
    Valid for independent and for positively dependent tests.

    References
    ----------
    Benjamini and Hochberg (1995), Journal of the Royal Statistical Society B 57:289-300.

    Examples
    --------
    >>> [float(p) for p in benjamini_hochberg([0.04, 0.01, 0.03])]
    [0.04, 0.03, 0.04]
    """
    raw, made, order = _ranked(p_values)
    family = len(order)
    scaled = raw[made][order] * family / np.arange(1, family + 1)
    return _spread(raw, made, order, np.minimum.accumulate(scaled[::-1])[::-1])


def family_size(p_values: Any) -> int:
    """Return the number of tests made: the values that are not NaN or None.

    Examples
    --------
    >>> family_size([0.01, None, 0.2])
    2
    """
    return len(_ranked(p_values)[2])


def _ranked(p_values: Any) -> tuple[FloatArray, np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the values as floats, where a test was made, and the ascending order of those."""
    try:
        listed = [np.nan if p is None else p for p in p_values]
    except TypeError as error:  # a single value
        raise InputError(f"p_values must be a sequence of numbers ({error})") from error
    if any(isinstance(p, bool | np.bool_) for p in listed):
        raise InputError("p_values must be a sequence of numbers (it holds truth values)")
    raw = number_array("p_values", listed)
    made = ~np.isnan(raw)
    outside = np.flatnonzero(made & ~((raw >= 0) & (raw <= 1)))
    if outside.size:
        first = int(outside[0])
        raise InputError(f"p_values[{first}] is {raw[first]}; a p-value lies between 0 and 1")
    return raw, made, np.argsort(raw[made], kind="stable")


def _spread(
    raw: FloatArray,
    made: np.ndarray[Any, Any],
    order: np.ndarray[Any, Any],
    adjusted: FloatArray,
) -> FloatArray:
    """Put the adjusted values, now ascending, back where they came from."""
    result = np.full(raw.shape, np.nan)
    inner = np.empty(len(order))
    inner[order] = np.minimum(adjusted, 1.0)
    result[made] = inner
    return result
