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
    computation = _Computation()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser warns of odd literals such as "1if"
            tree = ast.parse(text, mode="eval")
        value = computation.value(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return _NOT_ARITHMETIC
    by_zero = computation.division_by_zero
    return Arithmetic(value is not None, value, by_zero, computation.math_shaped or by_zero)


_OPERATIONS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


@dataclass(slots=True)
class _Computation:
    """One walk over an expression: its value, and what it looks like where it has none."""

    math_shaped: bool = False
    division_by_zero: bool = False

    def value(self, node: ast.expr) -> Any:
        """Return the value of a node, or None where it has none; look at every operand."""
        if isinstance(node, ast.Constant):
            return node.value if isinstance(node.value, int | float) else None
        if isinstance(node, ast.UnaryOp):
            return self._unary(node)
        if isinstance(node, ast.BinOp):
            return self._binary(node)
        self.math_shaped |= isinstance(node, ast.Name)
        return None

    def _unary(self, node: ast.UnaryOp) -> Any:
        value = self.value(node.operand)
        if value is None or not isinstance(node.op, ast.UAdd | ast.USub):
            return None
        return -value if isinstance(node.op, ast.USub) else +value

    def _binary(self, node: ast.BinOp) -> Any:
        left, right = self.value(node.left), self.value(node.right)
        self.math_shaped |= isinstance(node.op, ast.Mod)
        operation = _OPERATIONS.get(type(node.op))
        if operation is None or left is None or right is None:
            return None
        if _too_large(node.op, left, right):
            return None
        try:
            return operation(left, right)
        except ZeroDivisionError:
            self.division_by_zero = True
        except TypeError:  # a complex number has no floor
            pass
        return None


def _too_large(operation: ast.operator, left: Any, right: Any) -> bool:
    """Return whether a product or power of integers would be too large, before computing it."""
    if not (isinstance(left, int) and isinstance(right, int)):
        return False
    bits = left.bit_length() + right.bit_length()
    if isinstance(operation, ast.Pow):
        bits = left.bit_length() * right if right > 0 else 0
    return bits > MAX_BITS
