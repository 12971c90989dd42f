"""Outcome: whether the system of record ended in the state that the task calls for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from steelyard.errors import InputError
from steelyard.trials.tokens import canonical_text


@dataclass(frozen=True, slots=True)
class ExpectedState:
    """The terminal state that counts as success.

    Parameters
    ----------
    values : mapping of str to Any
        The expected JSON value of each member that is graded; other members are not looked at.
    tolerance : mapping of str to float, optional
        For members that are numbers: they agree when they are less than this far apart.

    Raises
    ------
    InputError
        Nothing to grade, or a tolerance that is not positive or is not that of a number.
    """

    values: Mapping[str, Any]
    tolerance: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.values:
            raise InputError("an expected state needs at least one member to grade")
        for name, size in self.tolerance.items():
            if not _is_number(self.values.get(name)):
                raise InputError(f"tolerance of {name!r}: the expected state has no such number")
            if not (0 < size < math.inf):
                raise InputError(f"tolerance of {name!r} is {size!r}; accepted are numbers above 0")

    def met_by(self, state: Mapping[str, Any] | None) -> bool | None:
        """Return whether a state is the expected one.

        Parameters
        ----------
        state : mapping or None
            The terminal state; None when it was not read.

        Returns
        -------
        bool or None
            None for a state that was not read: it is neither success nor failure. A member that
            is lacking or of another type does not agree.
        """
        if state is None:
            return None
        return all(
            name in state and self._agrees(name, expected, state[name])
            for name, expected in self.values.items()
        )

    def _agrees(self, name: str, expected: Any, got: Any) -> bool:
        if name not in self.tolerance:
            return canonical_text(expected) == canonical_text(got)
        try:
            return _is_number(got) and abs(got - expected) < self.tolerance[name]
        except OverflowError:  # an integer beyond the range of a double
            return False


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
