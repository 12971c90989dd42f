"""The errors a user can meet: each says what was wrong, where, and what is accepted."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from pathlib import Path


class SteelyardError(Exception):
    """Base of every error that steelyard raises on purpose.

    The command line prints its text to standard error and exits with code 2.
    """


class InputError(SteelyardError, ValueError):
    """A value that no computation can accept: NaN counts, successes > total, an empty group."""


class UnknownNameError(SteelyardError, LookupError):
    """A study, arm, task, perturbation, measure or trial that is not in the tables.

    Parameters
    ----------
    kind : str
        What was looked up, in the singular: ``"arm"``.
    name : str
        The name that was asked for.
    choices : iterable of str
        The names that exist. The message lists the nearest of them first.
    where : str, optional
        The place that was searched, for example ``"study plumbline_retry"``.
    """

    def __init__(self, kind: str, name: str, choices: Iterable[str], where: str = "") -> None:
        self.kind = kind
        self.name = name
        self.choices = sorted(set(choices))
        self.nearest = nearest_names(name, self.choices) if isinstance(name, str) else []
        place = f" in {where}" if where else ""
        super().__init__(f"unknown {kind} {name!r}{place}; {self._hint()}")

    def _hint(self) -> str:
        if not self.choices:
            return "there are none"
        if self.nearest:
            return "did you mean " + " or ".join(repr(n) for n in self.nearest) + "?"
        shown = ", ".join(self.choices[:12])
        more = len(self.choices) - 12
        return f"known: {shown}" + (f" and {more} more" if more > 0 else "")


class DataError(SteelyardError):
    """A data file that cannot be read as declared. The message names file, line and field."""


class ManifestError(DataError):
    """A data file that differs from the manifest, or is absent from it."""


class StudyError(SteelyardError):
    """A ``study.toml``, ``columns.toml`` or ``pins.toml`` that breaks its schema."""


class StoreError(SteelyardError):
    """A database that is locked, foreign, of another schema version, or cannot be written."""


def nearest_names(name: str, choices: Iterable[str], limit: int = 3) -> list[str]:
    """Return the choices that look most like ``name``, best first, ignoring case.

    Parameters
    ----------
    name : str
        What was typed.
    choices : iterable of str
        The names that exist.
    limit : int, default 3
        The largest number of suggestions.

    Returns
    -------
    list of str
        Possibly empty; never more than ``limit``.
    """
    by_folded: dict[str, str] = {}
    for choice in sorted(choices, reverse=True):
        by_folded[choice.casefold()] = choice
    found = difflib.get_close_matches(name.casefold(), sorted(by_folded), n=limit, cutoff=0.5)
    return [by_folded[f] for f in found]


def printable(text: str) -> str:
    r"""Return a text in which every character that is not printable is written as its escape.

    Input may be hostile, and what is shown to a person must not move the cursor, begin a line of
    its own or turn the direction of writing.

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


def shown_file(path: str | Path) -> str:
    """Return a path as messages show it: below the working directory, else as it was given.

    Parameters
    ----------
    path : str or pathlib.Path

    Returns
    -------
    str
        Enough to find the file from where the user stands.
    """
    given = Path(path)
    try:
        return str(given.absolute().relative_to(Path.cwd()))
    except (ValueError, OSError):  # elsewhere, or the working directory has gone
        return str(given)
