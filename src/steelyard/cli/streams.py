"""The three standard streams as a verb finds them, also where the caller has closed one."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn


class ClosedStream(io.TextIOBase):
    """Stands for a stream that was closed before the program began, where Python has None.

    Parameters
    ----------
    what : str
        The stream, for the message.

    Raises
    ------
    OSError
        When it is read or written, as for any other stream that fails.
    """

    def __init__(self, what: str) -> None:
        self._what = what

    @property
    def buffer(self) -> ClosedStream:
        """Bytes are refused like text."""
        return self

    def read(self, *_: Any) -> NoReturn:
        """Refuse."""
        self._refuse()

    readline = read

    def write(self, _: Any) -> NoReturn:
        """Refuse."""
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise OSError(errno.EBADF, f"{self._what} is closed")


def prepare_streams() -> None:
    """Replace closed streams, and keep names of any character printable in any encoding."""
    if sys.stdin is None:
        sys.stdin = ClosedStream("standard input")
    if sys.stdout is None:
        sys.stdout = ClosedStream("standard output")
    if sys.stderr is None:
        # Nobody wants to be told; and print would take None for standard output.
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123
    for stream in (sys.stdout, sys.stderr):
        getattr(stream, "reconfigure", lambda **_: None)(errors="backslashreplace")
