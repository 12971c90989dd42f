"""Whether what an adapter gave equals what a reference vector expects.

Values are compared as JSON: a list may be given as a tuple, a number as a NumPy scalar. An object
must have exactly the expected members (an `AtLeast` may have more), a boolean never equals a
number, null equals only null.

What JSON cannot say is encoded: ``{"$float": "nan" | "inf" | "-inf"}``, ``{"$complex": [re, im]}``
and ``{"$set": [...]}``, whose order does not count. ``{"$error": "Name"}`` is the runner's: an
error is raised, not returned.

``"raises"`` in an expected object marks an input on which the published tool crashed. Ours gives a
verdict there: only the other members that are not null are compared, unless the adapter names the
crash itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


class Unordered(list[Any]):
    """The members of a set, which JSON cannot hold as one when they are lists or objects."""


class AtLeast(dict[str, Any]):
    """What an adapter gives where a case lists only the members that it is about."""


def decode(value: Any) -> Any:
    """Turn encoded and Python-only values into those that are compared.

    Mappings become dicts (an :class:`AtLeast` remains one), tuples lists, sets :class:`Unordered`,
    NumPy scalars and arrays the Python values they hold.
    """
    if isinstance(value, Mapping):
        return _decode_mapping(value)
    if isinstance(value, list | tuple):
        return [decode(member) for member in value]
    if isinstance(value, set | frozenset):
        return Unordered(decode(member) for member in value)
    if hasattr(value, "tolist"):
        return decode(value.tolist())
    return value


def _decode_mapping(value: Mapping[Any, Any]) -> Any:
    match value:
        case {"$float": str(text), **rest} if not rest:
            return float(text)
        case {"$complex": [real, imaginary], **rest} if not rest:
            return complex(real, imaginary)
        case {"$set": list(members), **rest} if not rest:
            return Unordered(decode(member) for member in members)
    kind = AtLeast if isinstance(value, AtLeast) else dict
    return kind({key: decode(member) for key, member in value.items()})


def first_difference(expected: Any, got: Any, tolerance: float, at: str = "result") -> str | None:
    """Say where and how ``got`` differs first, or return None.

    ``tolerance`` is absolute and for numbers; with 0 they must be equal.
    """
    return _difference(decode(expected), decode(got), tolerance, at)


def _difference(expected: Any, got: Any, tolerance: float, at: str) -> str | None:
    if isinstance(expected, Unordered) and isinstance(got, list):
        return _set_difference(expected, got, tolerance, at)
    if isinstance(expected, dict) and isinstance(got, dict):
        return _object_difference(expected, got, tolerance, at)
    if isinstance(expected, list) and isinstance(got, list):
        return _list_difference(expected, got, tolerance, at)
    if _scalars_agree(expected, got, tolerance):
        return None
    return f"{at}: expected {_shown(expected)}, got {_shown(got)}"


def _object_difference(
    expected: dict[Any, Any], got: dict[Any, Any], tolerance: float, at: str
) -> str | None:
    if "raises" in expected and "raises" not in got:
        expected = {key: it for key, it in expected.items() if key != "raises" and it is not None}
        got = AtLeast(got)
    if lacking := [key for key in expected if key not in got]:
        return f"{at}: lacks {', '.join(map(str, lacking))}"
    extra = [key for key in got if key not in expected]
    if extra and not isinstance(got, AtLeast):
        return f"{at}: has also {', '.join(map(str, extra))}"
    parts = (_difference(expected[key], got[key], tolerance, f"{at}.{key}") for key in expected)
    return next(filter(None, parts), None)


def _list_difference(expected: list[Any], got: list[Any], tolerance: float, at: str) -> str | None:
    pairs = enumerate(zip(expected, got, strict=False))
    parts = (_difference(e, g, tolerance, f"{at}[{index}]") for index, (e, g) in pairs)
    if difference := next(filter(None, parts), None):
        return difference
    if len(expected) != len(got):
        return f"{at}: expected {len(expected)} items, got {len(got)}"
    return None


def _set_difference(expected: Unordered, got: list[Any], tolerance: float, at: str) -> str | None:
    left = list(got)
    for member in expected:
        found = [g for g in left if _difference(member, g, tolerance, at) is None]
        if not found:
            return f"{at}: the set lacks {_shown(member)}"
        left.remove(found[0])
    return f"{at}: the set has also {_shown(left[0])}" if left else None


def _scalars_agree(expected: Any, got: Any, tolerance: float) -> bool:
    if not (_is_number(expected) and _is_number(got)):
        return type(expected) is type(got) and bool(expected == got)
    if expected == got:
        return True
    if expected != expected or got != got:  # noqa: PLR0124 - NaN, also in a complex number
        return expected != expected and got != got  # noqa: PLR0124
    try:
        return bool(abs(expected - got) <= tolerance)
    except OverflowError:  # an integer beyond the range of a double
        return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | complex) and not isinstance(value, bool)


def _shown(value: Any, width: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= width else text[: width - 4] + " ..."
