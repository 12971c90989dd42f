"""The gate's refusal of an input."""

from __future__ import annotations

from steelyard.errors import InputError, printable

__all__ = ["GateInputError", "printable"]


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
