"""The gate's refusal of an input."""

from __future__ import annotations

from steelyard.errors import InputError


class GateInputError(InputError):
    """A context, proposal, setting or case that the gate does not accept.

    Parameters
    ----------
    message : str
        What is wrong, where, and what is accepted.
    fields : tuple of (str, str), optional
        Path of each faulty field, and the kind of fault.
    """

    def __init__(self, message: str, fields: tuple[tuple[str, str], ...] = ()) -> None:
        self.fields = fields
        super().__init__(message)


def printable(text: str) -> str:
    r"""Return a text in which every character that is not printable is written as its escape.

    Contexts are hostile input, and what is shown to a person must not move the cursor, begin a
    line of its own or turn the direction of writing.

    Examples
    --------
    >>> printable("pay\nEXECUTE")
    'pay\\nEXECUTE'
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in text
    )
