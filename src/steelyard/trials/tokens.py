"""Tokens: steps as integers, with an equality that is ours and not the hash table's.

An alignment compares steps millions of times, so each distinct step becomes one integer. Two steps
share an integer exactly when their canonical texts are equal. Python's own equality would not do:
``1 == True``, and whatever is compared by hash alone takes ``2**61 - 1`` for 0.

A `Vocabulary` numbers its tokens in sorted order. The same trials give the same integers in
whatever order they are read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from steelyard.errors import InputError
from steelyard.trials.model import Arguments, Step, UnreadableArguments

MAX_DEPTH = 200
UNKNOWN_ARGUMENTS = "?"

# Python refuses to print integers of more than 4,300 digits; beyond this many bits we print
# hexadecimal, which has no such limit.
_DECIMAL_BITS = 13_000


def canonical_text(value: Any, *, _depth: int = 0) -> str:
    """Return one text per JSON value: the texts are equal exactly when the values are.

    Numbers are equal when they have the same value (``1`` and ``1.0``, ``0.0`` and ``-0.0``, but
    not ``1`` and ``true``); NaN equals itself here, because a token has to be found again. Texts
    are equal when their code points are: ``"é"`` written as one code point differs from ``"e"``
    with a combining accent. Objects are equal when they hold the same values under the same
    names, in whatever order; lists keep order and multiplicity.

    Parameters
    ----------
    value : Any
        None, a boolean, a number, text, a list or tuple, or a mapping with text keys, nested to
        at most ``MAX_DEPTH`` levels.

    Returns
    -------
    str
        ASCII only.

    Raises
    ------
    InputError
        A value that JSON cannot hold, a key that is not text, or nesting beyond ``MAX_DEPTH``.
    """
    if _depth > MAX_DEPTH:
        raise InputError(f"value is nested deeper than {MAX_DEPTH} levels")
    if value is None:
        return "null"
    if isinstance(value, bool | np.bool_):
        return "true" if value else "false"
    if isinstance(value, int | float | np.integer | np.floating):
        return _number_text(value)
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return _object_text(value, _depth)
    if isinstance(value, list | tuple):
        return "[" + ",".join([canonical_text(v, _depth=_depth + 1) for v in value]) + "]"
    raise InputError(
        f"a {type(value).__name__} is not a JSON value; accepted are null, booleans, numbers, "
        "text, lists and objects"
    )


def _number_text(value: Any) -> str:
    if isinstance(value, float | np.floating):
        number = float(value)
        if math.isnan(number):
            return "NaN"
        if math.isinf(number):
            return "Infinity" if number > 0 else "-Infinity"
        if not number.is_integer():
            return repr(number)
    integer = int(value)
    return str(integer) if integer.bit_length() <= _DECIMAL_BITS else hex(integer)


def _object_text(value: Mapping[Any, Any], depth: int) -> str:
    for key in value:
        if not isinstance(key, str):
            raise InputError(f"object key {key!r} is not text; JSON objects have text keys")
    items = [
        f"{json.dumps(key)}:{canonical_text(value[key], _depth=depth + 1)}" for key in sorted(value)
    ]
    return "{" + ",".join(items) + "}"


def arguments_text(arguments: Arguments) -> str:
    """Return one text per set of arguments.

    Unknown arguments get a text that no JSON value has, so they never equal empty ones; they do
    equal each other, for want of anything that tells them apart. Unreadable arguments are equal
    when what was recorded is.
    """
    if arguments is None:
        return UNKNOWN_ARGUMENTS
    if isinstance(arguments, UnreadableArguments):
        return "!" + canonical_text(arguments.raw)
    return canonical_text(arguments)


def unknown_arguments(steps: Iterable[Step]) -> tuple[int, int]:
    """Count the control steps whose arguments were not recorded.

    Parameters
    ----------
    steps : iterable of Step
        Of one or many trials.

    Returns
    -------
    tuple of (int, int)
        Control steps without recorded arguments, and all control steps. The share belongs beside
        every comparison of arguments, because tokens take unknown arguments for equal.
    """
    control = [step for step in steps if step.is_control]
    return sum(step.arguments is None for step in control), len(control)


class Token(NamedTuple):
    """What one integer stands for.

    Parameters
    ----------
    kind, name : str
        Of the step.
    arguments : str
        Their canonical text (see `arguments_text`); ``""`` in a vocabulary that does not look at
        arguments.
    """

    kind: str
    name: str
    arguments: str = ""


class Vocabulary:
    """The distinct tokens of a set of steps, numbered in sorted order from 0.

    Parameters
    ----------
    steps : iterable of Step
        The steps to number.
    arguments : bool, default False
        Whether steps of the same kind and name but other arguments are different tokens.

    Examples
    --------
    >>> steps = [Step("tool_call", "pay", {"amount": 5}), Step("tool_call", "log", {})]
    >>> vocabulary = Vocabulary(steps)
    >>> vocabulary.codes(steps).tolist()
    [1, 0]
    """

    def __init__(self, steps: Iterable[Step], *, arguments: bool = False) -> None:
        self.arguments = arguments
        self.tokens: tuple[Token, ...] = tuple(sorted({self._token(step) for step in steps}))
        self._numbers = {token: number for number, token in enumerate(self.tokens)}

    def _token(self, step: Step) -> Token:
        text = arguments_text(step.arguments) if self.arguments else ""
        return Token(step.kind, step.name, text)

    def __len__(self) -> int:
        return len(self.tokens)

    def code(self, step: Step) -> int:
        """Return the step's integer; `InputError` when the vocabulary was made without it."""
        token = self._token(step)
        try:
            return self._numbers[token]
        except KeyError:
            raise InputError(
                f"step {step.kind}:{step.name} is not in this vocabulary of {len(self)} tokens; "
                "make the vocabulary from all the steps that will be compared"
            ) from None

    def codes(self, steps: Sequence[Step]) -> NDArray[np.int64]:
        """Return the integers of the steps, in order; shape ``(len(steps),)``."""
        return np.fromiter((self.code(step) for step in steps), dtype=np.int64, count=len(steps))
