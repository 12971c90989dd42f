"""How numbers are written: one function per kind of quantity, the same in every table.

A formatted number never says more than the value does: a rate just below one is not written
``100.0%``, a p-value is never written as zero, and a missing value is a dash, not a zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

MISSING = "\N{EN DASH}"
_MINUS = "\N{MINUS SIGN}"


def is_missing(value: Any) -> bool:
    """Return whether ``value`` is one of the ways a frame says "no value"."""
    if value is None:
        return True
    if isinstance(value, str):
        return value == ""
    if isinstance(value, float):
        return math.isnan(value)
    return type(value).__name__ in {"NAType", "NaTType"}  # pandas, without importing it


def format_text(value: Any) -> str:
    """Write a label; a missing one is a dash."""
    return MISSING if is_missing(value) else str(value)


def format_flag(value: Any) -> str:
    """Write a truth value as ``yes`` or ``no``."""
    if is_missing(value):
        return MISSING
    return "yes" if bool(value) else "no"


def format_count(value: Any) -> str:
    """Write a whole number with thin groups of thousands: ``25,869``."""
    if is_missing(value):
        return MISSING
    return f"{int(value):,}"


def format_rate(value: Any, decimals: int = 1) -> str:
    """Write a proportion as a percentage: ``81.2%``.

    A proportion strictly between 0 and 1 is never written as 0 or 100 percent: it becomes
    ``<0.1%`` or ``>99.9%``.
    """
    if is_missing(value):
        return MISSING
    number = float(value)
    text = f"{100 * number:.{decimals}f}"
    step = 10.0**-decimals
    if number > 0 and float(text) == 0:
        return f"<{step:.{decimals}f}%"
    if number < 1 and float(text) == 100:
        return f">{100 - step:.{decimals}f}%"
    return f"{_plain(text)}%"


def format_points(value: Any, decimals: int = 1) -> str:
    """Write a difference of proportions in percentage points, with its sign: ``+17.0``."""
    if is_missing(value):
        return MISSING
    text = f"{100 * float(value):+.{decimals}f}"
    if float(text) == 0:
        text = f"{0:.{decimals}f}"
    return text.replace("-", _MINUS)


def format_size(value: Any, decimals: int = 1) -> str:
    """Write a size in percentage points, without a sign: a margin, a standard error."""
    if is_missing(value):
        return MISSING
    return f"{100 * float(value):.{decimals}f}"


def format_p(value: Any) -> str:
    """Write a p-value: four decimals, five below 0.001, then powers of ten.

    Never zero, and ``1`` only for one.
    """
    if is_missing(value):
        return MISSING
    number = float(value)
    if number == 1:
        return "1"
    if number > 0.9999:
        return ">0.9999"
    if number >= 0.0001:
        return f"{number:.4f}" if number >= 0.001 else f"{number:.5f}"
    if number < 1e-300:
        return "<1e-300"  # an exact p-value is positive; only its float can underflow
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def format_number(value: Any) -> str:
    """Write any other number with up to four significant digits."""
    if is_missing(value):
        return MISSING
    number = float(value)
    if math.isinf(number):
        return "∞" if number > 0 else f"{_MINUS}∞"
    if number.is_integer() and abs(number) < 1e15:
        return _plain(f"{int(number):,}")
    digits = f"{number:.4g}"
    if "e" not in digits and abs(number) >= 1000:
        digits = f"{number:,.1f}"
    return _plain(digits)


def format_interval(low: Any, high: Any, scale: Callable[[Any], str] = format_rate) -> str:
    """Write an interval: ``[70.0%, 88.9%]``; a missing limit makes the whole a dash."""
    if is_missing(low) or is_missing(high):
        return MISSING
    return f"[{scale(low)}, {scale(high)}]"


def _plain(text: str) -> str:
    """Return ``text`` with a real minus sign, and without a minus before zero."""
    if text.startswith("-"):
        bare = text[1:]
        if float(bare.replace(",", "")) == 0:
            return bare
        return _MINUS + bare
    return text
