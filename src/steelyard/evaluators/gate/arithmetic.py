"""Arithmetic in a query, computed without executing anything and within bounds.

The grammar is Python's; of its expressions only numbers, ``+ - * / // **`` and parentheses are
computed. Integers may have `MAX_BITS` bits: ``9**9**9`` is refused before it is computed.
"""

from __future__ import annotations

import ast
import operator
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_LENGTH = 1_000
"""Characters of an expression."""

MAX_BITS = 13_000
"""Bits of an integer result: about 3,900 digits; Python converts no more than 4,300 to text."""


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """What a query is as arithmetic.

    Attributes
    ----------
    eligible : bool
        Whether it has a value.
    value : int, float, complex, bool or None
        The value.
    division_by_zero : bool
        Whether it divides by zero.
    math_shaped : bool
        Whether it looks like mathematics that is not computed: a bare name, ``%``, or a
        division by zero.
    """

    eligible: bool = False
    value: Any = None
    division_by_zero: bool = False
    math_shaped: bool = False


class _RejectedError(Exception):
    """The expression is not computed."""

    def __init__(self, *, math_shaped: bool = False, division_by_zero: bool = False) -> None:
        super().__init__()
        self.math_shaped = math_shaped or division_by_zero
        self.division_by_zero = division_by_zero


_NOT_ARITHMETIC = Arithmetic()


def probe_expression(query: str) -> Arithmetic:
    """Compute a query if it is arithmetic.

    Parameters
    ----------
    query : str
        Any text, however hostile.

    Returns
    -------
    Arithmetic
        Without a value if it is not arithmetic, or too long, too deep or too large.
    """
    text = query.strip()
    if len(text) > MAX_LENGTH:
        return Arithmetic(math_shaped=text.isidentifier())
    return _probe(text)


@lru_cache(maxsize=512)
def _probe(text: str) -> Arithmetic:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser warns of odd literals such as "1if"
            tree = ast.parse(text, mode="eval")
        return Arithmetic(True, _value(tree.body))
    except _RejectedError as rejected:
        return Arithmetic(
            division_by_zero=rejected.division_by_zero, math_shaped=rejected.math_shaped
        )
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return _NOT_ARITHMETIC


def _value(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, int | float):
            return node.value
        raise _RejectedError
    if isinstance(node, ast.Name):
        raise _RejectedError(math_shaped=True)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        value = _value(node.operand)
        return -value if isinstance(node.op, ast.USub) else +value
    if isinstance(node, ast.BinOp):
        return _binary(node)
    raise _RejectedError


_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


def _binary(node: ast.BinOp) -> Any:
    left, right = _value(node.left), _value(node.right)
    operation = _OPERATIONS.get(type(node.op))
    if operation is None:
        raise _RejectedError(math_shaped=isinstance(node.op, ast.Mod))
    _check_size(node.op, left, right)
    try:
        return operation(left, right)
    except ZeroDivisionError:
        raise _RejectedError(division_by_zero=True) from None
    except TypeError:  # a complex number has no floor
        raise _RejectedError from None


def _check_size(operation: ast.operator, left: Any, right: Any) -> None:
    """Refuse a product or power of integers that would be too large, before computing it."""
    if not (isinstance(left, int) and isinstance(right, int)):
        return
    bits = left.bit_length() + right.bit_length()
    if isinstance(operation, ast.Pow):
        bits = left.bit_length() * right if right > 0 else 0
    if bits > MAX_BITS:
        raise _RejectedError
