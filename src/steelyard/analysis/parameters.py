"""Parameters from a file: what an analysis cannot take is the file's fault, told as such."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from steelyard.errors import SteelyardError, StudyError

LONGEST: Final = 200
"""Characters of the parameters that a message shows."""

WRONG_KIND: Final = (
    ArithmeticError,
    AttributeError,
    LookupError,
    NotImplementedError,
    TypeError,
    ValueError,
)
"""What Python raises where a value is of a kind that the code did not expect."""


@contextmanager
def told_of_parameters(what: str, parameters: Mapping[str, Any]) -> Iterator[None]:
    """Turn a failure over a value's kind into an error that names whose parameters it was.

    An analysis checks the values it takes. This is the net below: a file may hold any JSON value
    in any place, and whoever wrote it needs the place and not a traceback.

    Parameters
    ----------
    what : str
        Who takes the parameters: ``"question 'rates'"``.
    parameters : mapping
        As they were given.

    Raises
    ------
    StudyError
        In place of `WRONG_KIND`, which is kept as its cause. steelyard's own errors pass.
    """
    try:
        yield
    except SteelyardError:
        raise
    except WRONG_KIND as error:
        shown = repr(parameters)
        shown = shown if len(shown) <= LONGEST else f"{shown[:LONGEST]}..."
        raise StudyError(
            f"{what} cannot use its parameters {shown} ({type(error).__name__}: {error})"
        ) from error
