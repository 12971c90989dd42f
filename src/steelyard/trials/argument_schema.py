"""How arguments are declared to be compared, and what a comparison reports."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from steelyard.errors import InputError

SEVERITIES = ("critical", "high", "medium", "low")
POLICIES = ("exact", "numeric", "text", "set", "multiset", "ignore")


@dataclass(frozen=True, slots=True)
class FieldPolicy:
    """How one argument is compared, and how much a difference in it matters.

    Parameters
    ----------
    policy : str
        ``exact``: equal JSON values. ``numeric``: equal numbers, within the tolerances; text in
        the form of a JSON number counts as one (``"49"``, but not ``"007"``, ``" 1e2 "`` or
        ``"1_000"``). ``text``: equal after Unicode NFC, case folding and collapsing of white
        space. ``set``: lists as sets. ``multiset``: lists without order, with multiplicity.
        ``ignore``: never a difference.
    absolute_tolerance, relative_tolerance : float, default 0
        For ``numeric``: the difference allowed is the larger of the absolute tolerance and the
        relative one times the larger magnitude. Tolerances apply to the numbers as they are
        written in decimal, so 0.7 and 0.8 differ by exactly 0.1.
    severity : str, default ``"high"``
        ``critical``, ``high``, ``medium`` or ``low``.
    """

    policy: str = "exact"
    absolute_tolerance: float = 0.0
    relative_tolerance: float = 0.0
    severity: str = "high"


@dataclass(frozen=True, slots=True)
class ArgumentSchema:
    """The declared comparison of one tool's arguments.

    Parameters
    ----------
    fields : mapping of str to FieldPolicy
        By argument name.
    default : FieldPolicy or None
        For arguments that ``fields`` does not name. None: ``exact``, severity ``high``.
    """

    fields: Mapping[str, FieldPolicy] = field(default_factory=dict)
    default: FieldPolicy | None = None


@dataclass(frozen=True, slots=True)
class ArgumentDifference:
    """One argument in which two calls differ.

    Parameters
    ----------
    tool, field : str
        Where. ``field`` is empty when the arguments as a whole cannot be compared.
    expected, got : Any
        The two values; None on the side where the argument is absent.
    policy, severity : str
        As declared; the policy is ``"unknown"`` or ``"unreadable"`` when one side was not
        recorded or is not an object.
    magnitude : float or None
        got / expected for two numbers, None otherwise or when expected is 0.
    absent : {"expected", "got"} or None
        The side that lacks the argument: an explicit null is not absence.
    """

    tool: str
    field: str
    expected: Any
    got: Any
    policy: str
    severity: str
    magnitude: float | None = None
    absent: Literal["expected", "got"] | None = None


def check_policy(rule: FieldPolicy, where: str) -> None:
    """Raise `InputError` for a policy, tolerance or severity that is not defined."""
    if rule.policy not in POLICIES:
        raise InputError(f"{where}: policy is {rule.policy!r}; accepted are " + ", ".join(POLICIES))
    if rule.severity not in SEVERITIES:
        raise InputError(
            f"{where}: severity is {rule.severity!r}; accepted are " + ", ".join(SEVERITIES)
        )
    for tolerance in (rule.absolute_tolerance, rule.relative_tolerance):
        number = isinstance(tolerance, int | float) and not isinstance(tolerance, bool)
        if not (number and 0 <= tolerance < math.inf):
            raise InputError(f"{where}: tolerance is {tolerance!r}; accepted are 0 and above")


def argument_names(expected: Mapping[str, Any], got: Mapping[str, Any]) -> list[str]:
    """Return the names of the arguments of either call, sorted; raise `InputError` for no text."""
    names = expected.keys() | got.keys()
    for name in names:
        if not isinstance(name, str):
            raise InputError(f"argument name {name!r} is not text; JSON objects have text keys")
    return sorted(names)
