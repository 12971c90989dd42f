"""``experiments/<study>/pins.toml``: the schema of the file that holds a study's pinned numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from steelyard.analysis.estimands import FIGURES
from steelyard.store.toml_files import Declared, read_toml

ABOUT_THE_TABLES = "data."
"""How the ids of numbers begin that a data README states in passing; they are no claims."""

Text = Annotated[str, Field(min_length=1)]
# Strict: a number written as text is a slip, and an infinite tolerance would let every number pass.
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Count = Annotated[int, Field(strict=True, ge=0)]
Tolerance = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=0)]


class Figures(Declared):
    """The figures of one published number; those that were not printed are absent."""

    successes: Count | None = None
    total: Count | None = None
    value: Number | None = None
    low: Number | None = None
    high: Number | None = None
    p_value: Annotated[Number, Field(ge=0, le=1)] | None = None
    text: Text | None = None

    def figures(self) -> dict[str, int | float | str]:
        """Return the figures that exist, by name, in the order of ``FIGURES``."""
        found = {name: getattr(self, name) for name in FIGURES}
        return {name: figure for name, figure in found.items() if figure is not None}


class Pin(Figures):
    """One published number. What it leaves out, its group says."""

    id: Text
    parameters: dict[str, Any] = Field(default_factory=dict)
    evidence: Figures | None = None
    why: Text | None = None
    source: Text | None = None
    p_tolerance: Tolerance | None = None


class Group(Declared):
    """Pins that share an estimand, a rounding and a reason.

    Attributes
    ----------
    name : str
        What the numbers are, the missing policy included.
    estimand : str or list of str
        The question (:mod:`steelyard.analysis.estimands`). With several, each must give the
        number, from the same parameters.
    parameters : dict
        Shared by all pins; a pin's own parameters are added to them.
    tolerance : float
        Largest accepted distance between a printed ``value``, ``low`` or ``high`` and the
        computed one. Counts and words must be equal.
    p_tolerance : float
        The same for ``p_value``.
    reason : str
        Why this tolerance: how the source printed its numbers.
    source : str
        Where the numbers were published.
    status : {"reproduced", "disputed"}
        What the pins are expected to be.
    why : str, optional
        In a disputed group, what is wrong with the printed numbers; a pin may give its own.
    printed_with : dict, optional
        In a disputed group, the parameters under which the printed numbers do come out.
    """

    name: Text
    estimand: Text | list[Text]
    parameters: dict[str, Any] = Field(default_factory=dict)
    tolerance: Tolerance = 0.0
    p_tolerance: Tolerance = 0.0
    reason: Text
    source: Text
    status: Literal["reproduced", "disputed"] = "reproduced"
    why: Text | None = None
    printed_with: dict[str, Any] | None = None
    pins: Annotated[list[Pin], Field(min_length=1)]

    @property
    def estimands(self) -> list[str]:
        """The estimands, as a list."""
        return [self.estimand] if isinstance(self.estimand, str) else list(self.estimand)

    @model_validator(mode="after")
    def _check(self) -> Self:
        disputed = self.status == "disputed"
        for pin in self.pins:
            if not pin.figures():
                raise ValueError(f"pin {pin.id!r} prints no figure")
            if disputed and (pin.evidence is None or not (pin.why or self.why)):
                raise ValueError(f"disputed pin {pin.id!r} needs evidence and why")
            if not disputed and (pin.evidence or pin.why):
                raise ValueError(f"pin {pin.id!r} has evidence or why; its group is not disputed")
        if not disputed and (self.why or self.printed_with):
            raise ValueError("why and printed_with belong to disputed groups")
        return self


class NotDeterminable(Declared):
    """Published numbers that the committed tables cannot give."""

    reason: Text
    ids: Annotated[list[Text], Field(min_length=1)]


class Pins(Declared):
    """A whole ``pins.toml``."""

    study: Text
    group: list[Group] = Field(default_factory=list)
    not_determinable: list[NotDeterminable] = Field(default_factory=list)

    @model_validator(mode="after")
    def _check_ids(self) -> Self:
        twice = [name for name, count in Counter(self.ids()).items() if count > 1]
        if twice:
            raise ValueError(f"pinned twice: {', '.join(sorted(twice))}")
        return self

    def ids(self) -> list[str]:
        """Return the id of every number in the file, in order."""
        pinned = [pin.id for _, pin in self.pinned()]
        return pinned + [name for entry in self.not_determinable for name in entry.ids]

    def pinned(self) -> Iterator[tuple[Group, Pin]]:
        """Yield every pin that can be checked, with its group."""
        for group in self.group:
            for pin in group.pins:
                yield group, pin


def read_pins(path: Path, shown_as: str = "") -> Pins:
    """Read one ``pins.toml``.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    shown_as : str, optional
        How messages name the file; its own name when absent.

    Returns
    -------
    Pins

    Raises
    ------
    StudyError
        If the file breaks the schema, naming file, line and field.
    """
    return read_toml(path, Pins, shown_as)
