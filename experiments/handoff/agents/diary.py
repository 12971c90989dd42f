"""What the scripted agent says about itself, where no gate looks.

Whether a fault was committed is known to the agent alone: where there is nothing to do wrong, it
does nothing wrong. It writes so into a file outside the disposable root. Nobody but the study reads
that, and it says nothing about what a gate saw.
"""

from __future__ import annotations

from pathlib import Path


class Diary:
    """The faults that were committed, a line each, in order.

    Parameters
    ----------
    path : str or None
        The file; None keeps no diary.
    """

    def __init__(self, path: str | None) -> None:
        self._path = None if path is None else Path(path)
        self.role = "agent"

    def note(self, fault: str) -> None:
        """Write a fault down at once: what comes next may end the process."""
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as stream:
                stream.write(f"{self.role} {fault}\n")
