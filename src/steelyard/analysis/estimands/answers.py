"""Any cell of a study's own tables as a pinned number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from steelyard.analysis.estimands.registry import FIGURES, Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.questions import ask as ask_question
from steelyard.errors import InputError, UnknownNameError

_COUNTS = ("successes", "total")


@estimand
def answer(
    evidence: Evidence,
    *,
    ask: str,
    where: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    column: str | None = None,
    columns: Mapping[str, str] | None = None,
) -> Computed:
    """Return cells of one row of a question's answer.

    ``ask`` and ``parameters`` are those of a study's own table, ``where`` the values that only the
    wanted row has. ``column`` gives ``value``, or ``text`` where the cell is a word (``yes`` or
    ``no`` for a truth value); ``columns`` names one column for each figure that is wanted besides:
    ``{successes = "events", high = "upper"}``.
    """
    table = ask_question(evidence, ask, parameters or {})
    row = _only_row(table, ask, where or {})
    figures: dict[str, Any] = {}
    for figure, name in (columns or {}).items():
        if figure not in FIGURES:
            raise UnknownNameError("figure", figure, FIGURES)
        figures[figure] = _figure(figure, _cell(row, ask, name), name)
    if column is not None:
        cell = _cell(row, ask, column)
        figure = "text" if isinstance(cell, str) else "value"
        figures[figure] = _figure(figure, cell, column)
    if not figures:
        raise InputError("answer: neither column nor columns names a cell")
    return Computed(**figures)


def _only_row(table: pd.DataFrame, ask: str, where: Mapping[str, Any]) -> pd.Series:
    chosen = pd.Series(data=True, index=table.index)
    for name, wanted in where.items():
        if name not in table.columns:
            raise UnknownNameError("column", name, map(str, table.columns), f"the answer to {ask}")
        chosen &= table[name].map(lambda cell, wanted=wanted: _same(cell, wanted))
    rows = table[chosen]
    if len(rows) != 1:
        asked = ", ".join(f"{name}={wanted!r}" for name, wanted in where.items())
        raise InputError(f"{ask}: {len(rows)} rows with {asked or 'no condition'}; need one")
    return rows.iloc[0]


def _same(cell: Any, wanted: Any) -> bool:
    """Tell whether a cell has a value; a truth value is no number."""
    cell = _plain(cell)
    return isinstance(cell, bool) == isinstance(wanted, bool) and bool(cell == wanted)


def _cell(row: pd.Series, ask: str, name: str) -> Any:
    if name not in row.index:
        raise UnknownNameError("column", name, map(str, row.index), f"the answer to {ask}")
    cell = _plain(row[name])
    return ("yes" if cell else "no") if isinstance(cell, bool) else cell


def _plain(cell: Any) -> Any:
    """Return a cell in Python's own types, every kind of missing value as None."""
    if isinstance(cell, np.generic):
        cell = cell.item()
    if cell is pd.NA or cell is pd.NaT or (isinstance(cell, float) and math.isnan(cell)):
        return None
    return cell


def _figure(figure: str, cell: Any, column: str) -> Any:
    if cell is None:
        raise InputError(f"column {column!r} holds no value in this row")
    if figure == "text":
        return str(cell)
    if not isinstance(cell, int | float):
        raise InputError(f"column {column!r} holds {cell!r}, which is no number for {figure!r}")
    if figure in _COUNTS:
        if cell != int(cell):
            raise InputError(f"column {column!r} holds {cell!r}, which is no count")
        return int(cell)
    return float(cell)
