"""The drawings that a ``study.toml`` may name for its own figures.

Each is a function that takes one frame per table and the keywords ``name``, ``title`` and
``subtitle``, besides whatever else it declares, and returns a `Drawing`. Its module is imported
when it is first asked for. A new drawing is one line here.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.analysis.parameters import told_of_parameters
from steelyard.errors import StudyError, UnknownNameError
from steelyard.report.drawing import Drawing

if TYPE_CHECKING:
    import pandas as pd

DRAWINGS: dict[str, str] = {
    "differences": "steelyard.report.figures_differences:difference_figure",
    "gate_matrix": "steelyard.report.figures_gates:gate_matrix_figure",
    "manipulation": "steelyard.report.figures_manipulation:manipulation_figure",
    "rates": "steelyard.report.figures_rates:rates_figure",
    "reliability": "steelyard.report.figures_reliability:reliability_figure",
    "risk_coverage": "steelyard.report.figures_risk_coverage:risk_coverage_figure",
    "stopping_sweep": "steelyard.report.figures_stopping:stopping_sweep_figure",
}
"""Name to ``"module:function"``."""


def find(name: str) -> Callable[..., Drawing]:
    """Return the function behind a drawing.

    Raises
    ------
    UnknownNameError
        No drawing of that name.
    """
    if name not in DRAWINGS:
        raise UnknownNameError("drawing", name, DRAWINGS)
    module, _, attribute = DRAWINGS[name].partition(":")
    function: Callable[..., Drawing] = getattr(importlib.import_module(module), attribute)
    return function


def draw(
    drawing: str, frames: Sequence[pd.DataFrame], head: Mapping[str, str], more: Mapping[str, Any]
) -> Drawing:
    """Draw a figure by the name of its drawing.

    Parameters
    ----------
    drawing : str
        One of `DRAWINGS`.
    frames : sequence of pandas.DataFrame
        What the drawing is given, in its order.
    head : mapping
        ``name``, ``title`` and ``subtitle`` of the figure.
    more : mapping
        The drawing's other keywords.

    Raises
    ------
    UnknownNameError
        No drawing of that name.
    StudyError
        Frames, keywords or columns that do not fit the drawing, or a keyword's value of a kind
        that it cannot use.
    """
    function = find(drawing)
    try:
        inspect.signature(function).bind(*frames, **head, **more)
    except TypeError as error:
        raise StudyError(f"drawing {drawing!r}: {error}; it takes {_taken(function)}") from None
    with told_of_parameters(f"drawing {drawing!r}", more):
        try:
            return function(*frames, **head, **more)
        except KeyError as error:
            raise StudyError(f"drawing {drawing!r} needs the column {error}") from None


def _taken(function: Callable[..., Drawing]) -> str:
    return ", ".join(inspect.signature(function).parameters)
