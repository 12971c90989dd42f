"""A finding of the bundle checks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

ERROR, WARNING, OK = "error", "warning", "ok"


@dataclass(frozen=True)
class Issue:
    """One thing that is wrong with a bundle.

    Attributes
    ----------
    severity : str
        ``error`` or ``warning``.
    category : str
        A fixed name, for counting.
    message : str
        What is wrong and what is accepted.
    path : str or None
        The file, relative to the bundle; ``.`` for the bundle as a whole, None when there is none.
    """

    severity: str
    category: str
    message: str
    path: str | None = None


@dataclass(frozen=True)
class Check:
    """One named comparison and how it came out: ``ok``, ``warning`` or ``error``."""

    name: str
    status: str
    message: str


def errors_of(issues: Iterable[Issue]) -> list[Issue]:
    """Return the issues that are errors."""
    return [issue for issue in issues if issue.severity == ERROR]


def passes(checks: Iterable[Check]) -> bool:
    """Return whether no check is an error."""
    return all(check.status != ERROR for check in checks)


def fault(category: str, message: str, path: str | None = None) -> Issue:
    """Return an error."""
    return Issue(ERROR, category, message, path)


def caution(category: str, message: str, path: str | None = None) -> Issue:
    """Return a warning."""
    return Issue(WARNING, category, message, path)
