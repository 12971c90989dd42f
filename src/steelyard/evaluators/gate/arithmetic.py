"""Arithmetic in a query, computed without executing anything and within bounds.

The grammar is Python's; of its expressions only numbers, ``+ - * / // **`` and parentheses are
computed, and only if nothing else stands in the text. Integers may have `MAX_BITS` bits:
``9**9**9`` is refused before it is computed. No step recurses, so that a long sum is computed
wherever the caller stands.
"""

from __future__ import annotations

import ast
import math
import operator
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

MAX_LENGTH = 5_000
"""Characters of an expression."""

MAX_BITS = 14_285
"""Bits of an integer of 4,300 digits, the most that Python converts to text."""

_TOO_LARGE = 10**4_300


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
        Whether it is arithmetic that divides by zero.
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
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the parser warns of odd literals such as "1if"
            tree = ast.parse(text, mode="eval")
        operations = _postfix(tree.body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return _NOT_ARITHMETIC
    if not all(map(_computable, operations)):
        return Arithmetic(math_shaped=any(map(_looks_like_mathematics, operations)))
    try:
        return Arithmetic(eligible=True, value=_computed(operations))
    except ZeroDivisionError:
        return Arithmetic(division_by_zero=True, math_shaped=True)
    except (ValueError, OverflowError, TypeError):  # a complex number has no floor: TypeError
        return _NOT_ARITHMETIC


_OPERATIONS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Pow: operator.pow,
}


def _postfix(root: ast.expr) -> list[ast.expr]:
    """Return the operands and operations of an expression, each after its own operands.

    What is neither is not looked into: ``f(a % b)`` is one operand.
    """
    found: list[ast.expr] = []
    pending = [root]
    while pending:
        node = pending.pop()
        found.append(node)
        if isinstance(node, ast.UnaryOp):
            pending.append(node.operand)
        elif isinstance(node, ast.BinOp):
            pending += [node.left, node.right]
    return found[::-1]


def _computable(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float)
    return isinstance(node, ast.UnaryOp | ast.BinOp) and type(node.op) in _OPERATIONS


def _looks_like_mathematics(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod)
    )


def _computed(operations: Sequence[ast.expr]) -> Any:
    """Return the value of a computable expression; whatever Python raises is raised."""
    values: list[Any] = []
    for node in operations:
        if isinstance(node, ast.Constant):
            values.append(node.value)
        elif isinstance(node, ast.UnaryOp):
            values.append(_OPERATIONS[type(node.op)](values.pop()))
        elif isinstance(node, ast.BinOp):
            right, left = values.pop(), values.pop()
            if isinstance(left, int) and isinstance(right, int):
                _check_size(node.op, left, right)
            values.append(_OPERATIONS[type(node.op)](left, right))
    value = values.pop()
    if isinstance(value, int) and abs(value) >= _TOO_LARGE:
        raise OverflowError("the integer is too large")
    return value


def _check_size(operation: ast.operator, left: int, right: int) -> None:
    """Raise before an integer would be computed that is too large, as far as bits tell."""
    bits = max(left.bit_length(), right.bit_length())
    if isinstance(operation, ast.Pow):
        if right > 0 and abs(left) > 1:
            bits = math.floor(right * math.log2(abs(left))) + 1
    elif isinstance(operation, ast.Mult):
        bits = left.bit_length() + right.bit_length() - 1
    if bits > MAX_BITS:
        raise OverflowError("the integer would be too large")
