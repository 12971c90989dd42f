"""The registry of estimands and the one way to compute them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Protocol

from steelyard.analysis.evidence import Evidence
from steelyard.analysis.parameters import told_of_parameters
from steelyard.errors import StudyError, UnknownNameError


@dataclass(frozen=True)
class Computed:
    """What the evidence gives for one estimand; a figure it does not have is None.

    Attributes
    ----------
    successes, total : int or None
        The counts behind a rate.
    value : float or None
        The estimate, in the unit that the estimand's docstring states.
    low, high : float or None
        Confidence limits.
    p_value : float or None
        Two-sided.
    text : str or None
        An answer that is a word: a grade, a perturbation.
    """

    successes: int | None = None
    total: int | None = None
    value: float | None = None
    low: float | None = None
    high: float | None = None
    p_value: float | None = None
    text: str | None = None

    def to_row(self) -> dict[str, Any]:
        """Return the figures that exist, by name."""
        figures = {name: getattr(self, name) for name in FIGURES}
        return {name: figure for name, figure in figures.items() if figure is not None}


FIGURES = tuple(field.name for field in fields(Computed))
"""The figures a pin may print, in the order in which they are written."""


class Estimand(Protocol):
    """A function of the evidence and keyword parameters."""

    def __call__(self, evidence: Evidence, **parameters: Any) -> Computed:
        """Compute it."""


_ESTIMANDS: dict[str, Callable[..., Computed]] = {}


def estimand(function: Callable[..., Computed]) -> Callable[..., Computed]:
    """Register a function under its own name."""
    name = function.__name__
    if name in _ESTIMANDS:
        raise StudyError(f"two estimands are called {name!r}")
    _ESTIMANDS[name] = function
    return function


def estimand_names() -> list[str]:
    """Return the names of all estimands, sorted."""
    return sorted(_ESTIMANDS)


def compute(evidence: Evidence, name: str, parameters: Mapping[str, Any]) -> Computed:
    """Compute one estimand.

    Parameters
    ----------
    evidence : Evidence
        The study.
    name : str
        One of :func:`estimand_names`.
    parameters : mapping
        The estimand's keyword parameters.

    Returns
    -------
    Computed

    Raises
    ------
    UnknownNameError
        No estimand of that name, or a name in the parameters that the study does not hold.
    StudyError
        Parameters that the estimand does not take, one that it needs and was not given, or a
        value of a kind that it cannot use.
    """
    function = _ESTIMANDS.get(name) if isinstance(name, str) else None
    if function is None:
        raise UnknownNameError("estimand", name, _ESTIMANDS)
    signature = inspect.signature(function)
    try:
        signature.bind(evidence, **parameters)
    except TypeError as error:
        accepted = ", ".join(list(signature.parameters)[1:])
        raise StudyError(f"estimand {name!r}: {error}; it takes {accepted}") from None
    with told_of_parameters(f"estimand {name!r}", parameters):
        return function(evidence, **parameters)
