"""The input checks of the stats room: every refusal names the argument and the value."""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from steelyard.errors import InputError

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

LARGEST_EXACT_COUNT = 2**53
"""Every integer up to this one is a double; a larger count would be rounded in silence."""


def check_count(name: str, value: Any) -> int:
    """Return ``value`` as a Python ``int``, or refuse it.

    Integers of any kind pass, and floats that hold one (a column of counts with a gap becomes
    float in pandas). Booleans do not: ``True`` as a count is a mask passed by mistake.
    """
    if isinstance(value, bool | np.bool_):
        raise InputError(f"{name} is {value!r}; a count is an integer, not a truth value")
    whole = isinstance(value, float | np.floating) and float(value).is_integer()
    if not whole and not isinstance(value, int | np.integer):
        raise InputError(f"{name} is {value!r}; a count is an integer of 0 or more")
    number = int(value)
    if not 0 <= number <= LARGEST_EXACT_COUNT:
        raise InputError(f"{name} is {number}; a count lies between 0 and 2**53")
    return number


def check_positive_count(name: str, value: object) -> int:
    """Return ``value`` as an ``int`` of at least 1, or refuse it."""
    number = check_count(name, value)
    if number == 0:
        raise InputError(f"{name} is 0; at least 1 is needed")
    return number


def check_successes(
    successes: object, total: object, names: tuple[str, str] = ("successes", "total")
) -> tuple[int, int]:
    """Return the pair as two ints with ``0 <= successes <= total``, or refuse it."""
    checked_successes = check_count(names[0], successes)
    checked_total = check_count(names[1], total)
    if checked_successes > checked_total:
        raise InputError(
            f"{names[0]} is {checked_successes} but {names[1]} is {checked_total}; "
            f"{names[0]} cannot be the larger"
        )
    return checked_successes, checked_total


def check_count_arrays(
    successes: object, total: object, names: tuple[str, str] = ("successes", "total")
) -> tuple[FloatArray, FloatArray]:
    """Return the two arrays broadcast against each other as float64, every entry checked."""
    s, n = (
        _count_array(name, values) for name, values in zip(names, (successes, total), strict=True)
    )
    try:
        s, n = np.broadcast_arrays(s, n)
    except ValueError as error:
        raise InputError(
            f"{names[0]} has shape {s.shape} and {names[1]} has shape {n.shape}; "
            "they must broadcast against each other"
        ) from error
    above = np.flatnonzero(s > n)
    if above.size:
        i = int(above[0])
        check_successes(s.flat[i], n.flat[i], (f"{names[0]}[{i}]", f"{names[1]}[{i}]"))
    return s, n


def _count_array(name: str, values: object) -> FloatArray:
    """Return counts as float64; the first that is none is refused by the scalar rule."""
    try:
        raw = np.asarray(values)
    except ValueError as error:  # rows of unequal lengths
        raise InputError(f"{name} must be an array of counts ({error})") from error
    suspect = np.arange(raw.size)
    if raw.dtype.kind in "iuf":
        suspect = np.flatnonzero(
            ~((raw >= 0) & (raw <= LARGEST_EXACT_COUNT) & (raw == np.trunc(raw)))
        )
    for i in suspect:
        check_count(f"{name}[{i}]", raw.flat[i])
    return raw.astype(np.float64)


LARGEST_MAGNITUDE = 1e150
"""Squares of numbers up to this one, and sums of them, are doubles; larger ones overflow."""


def check_number(name: str, value: object) -> float:
    """Return ``value`` as a finite float, or refuse it."""
    if isinstance(value, bool | np.bool_) or not isinstance(
        value, int | float | np.integer | np.floating
    ):
        raise InputError(f"{name} is {value!r}; it must be a number")
    try:
        number = float(value)
    except OverflowError:  # an integer beyond the range of a double
        number = math.inf
    if not math.isfinite(number):
        raise InputError(f"{name} is {number}; it must be finite")
    return number


def check_quantile(value: object) -> float:
    """Return a quantile ``z`` of the normal distribution, of which a square is a double."""
    quantile = check_number("z", value)
    if not 0 <= quantile <= LARGEST_MAGNITUDE:
        raise InputError(f"z is {quantile}; it must lie between 0 and 1e150")
    return quantile


def check_open_unit(name: str, value: object) -> float:
    """Return ``value`` as a float strictly between 0 and 1 (a confidence, an alpha, a bound)."""
    number = check_number(name, value)
    if not 0 < number < 1:
        raise InputError(f"{name} is {number}; it must lie strictly between 0 and 1")
    return number


def check_probability(name: str, value: object) -> float:
    """Return ``value`` as a float in [0, 1], or refuse it."""
    number = check_number(name, value)
    if not 0 <= number <= 1:
        raise InputError(f"{name} is {number}; it must lie between 0 and 1")
    return number


def check_margin(value: object) -> float:
    """Return an equivalence margin: a difference of rates strictly between 0 and 1."""
    margin = check_number("margin", value)
    if not 0 < margin < 1:
        raise InputError(
            f"margin is {margin}; it must be a difference of rates strictly between 0 and 1 "
            "(0.05 is five points)"
        )
    return margin


def check_values(name: str, values: Any) -> FloatArray:
    """Return ``values`` as a one-dimensional float64 array without NaN or infinity."""
    array = number_array(name, values)
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        first = int(bad[0])
        raise InputError(
            f"{name}[{first}] is {array[first]}; leave unmeasured trials out or score them first"
        )
    return array


def number_array(name: str, values: Any) -> FloatArray:
    """Return ``values`` as a one-dimensional float64 array, which may hold NaN and infinity."""
    try:
        raw = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name} must be a sequence of numbers ({error})") from error
    other = _other_than_numbers(raw)
    if other:
        raise InputError(f"{name} must be a sequence of numbers (it holds {other})")
    try:
        array = raw.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be a sequence of numbers ({error})") from error
    if array.ndim != 1:
        raise InputError(f"{name} has {array.ndim} dimensions; it must have one")
    return array


def check_scores(name: str, values: Any) -> FloatArray:
    """Return :func:`check_values` of numbers whose squares can be summed in doubles."""
    array = check_values(name, values)
    large = np.flatnonzero(np.abs(array) > LARGEST_MAGNITUDE)
    if large.size:
        first = int(large[0])
        raise InputError(
            f"{name}[{first}] is {array[first]}; accepted are numbers within ±1e150, whose "
            "squares can be summed"
        )
    return array


_OTHERS = {
    "text": (str, bytes),
    "complex numbers": (complex, np.complexfloating),
    "times": (np.datetime64, np.timedelta64),
}
"""What numpy turns into floats although it is none: "1", the real part, counts of nanoseconds."""

_OTHER_KINDS = {"U": "text", "S": "text", "c": "complex numbers", "M": "times", "m": "times"}


def _other_than_numbers(array: npt.NDArray[Any]) -> str:
    """Return what an array holds that is no number, or an empty text."""
    if array.dtype.kind != "O":
        return _OTHER_KINDS.get(array.dtype.kind, "")
    for value in array.flat:
        for what, kinds in _OTHERS.items():
            if isinstance(value, kinds):
                return what
    return ""


def check_outcomes(name: str, values: Any) -> FloatArray:
    """Return ``values`` as a float64 array of zeros and ones, or refuse the first other value."""
    array = check_values(name, values)
    bad = np.flatnonzero((array != 0) & (array != 1))
    if bad.size:
        first = int(bad[0])
        raise InputError(f"{name}[{first}] is {array[first]}; an outcome is 0 or 1")
    return array
