"""Whether the repeats of a trial get the same verdict from every gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import pandas as pd

from steelyard.analysis.gates import gate_names, gate_values
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

VIEWS: Final = {"gate": "measure", "arm": "arm", "all": None}
CELL: Final = ["measure", "arm", "task", "perturbation", "variant"]
UNEVALUATED: Final = -1.0


def gate_repeats(
    tables: StudyTables, gates: Sequence[str] | None = None, *, by: str = "gate"
) -> pd.DataFrame:
    """Count the gates whose verdict depends on which repeat one looks at.

    A cell is one gate of one arm in one task, perturbation and variant, with two repeats or more
    that ran. That a gate was not evaluated is a verdict of its own here.

    Parameters
    ----------
    tables : StudyTables
        The study.
    gates : sequence of str, optional
        Measures of 0 and 1; when absent the study's primary measure and its gates.
    by : {"gate", "arm", "all"}, default "gate"
        What a row is about.

    Returns
    -------
    pandas.DataFrame
        ``gate`` or ``arm``; ``cells``, ``trials`` in them, ``differing`` (cells whose repeats do
        not all have one verdict), ``all_pass`` (cells in which every repeat passes), ``any_pass``
        (in which one does), ``all_rate`` and ``any_rate``: both of the cells, NaN without any.

    Raises
    ------
    UnknownNameError
        A gate that no trial has a row for.
    InputError
        ``by`` is another word, or a measure is not 0 or 1.
    """
    if by not in tuple(VIEWS):
        raise InputError(f"by is {by!r}; accepted: {', '.join(VIEWS)}")
    chosen = [tables.design.measures.primary, *gate_names(tables)] if gates is None else gates
    values = gate_values(tables, chosen).fillna({"value": UNEVALUATED})
    cells = values.groupby(CELL, observed=True)["value"].agg(["size", "min", "max"])
    cells = cells[cells["size"] >= 2].reset_index()
    column = VIEWS[by]
    if column is None:
        return pd.DataFrame([_counts(cells)])
    return pd.DataFrame(
        [
            {by: str(name), **_counts(part)}
            for name, part in cells.groupby(column, sort=True, observed=False)
        ]
    )


def _counts(cells: pd.DataFrame) -> dict[str, Any]:
    total = len(cells)
    all_pass, any_pass = int((cells["min"] == 1.0).sum()), int((cells["max"] == 1.0).sum())
    return {
        "cells": total,
        "trials": int(cells["size"].sum()),
        "differing": int((cells["min"] != cells["max"]).sum()),
        "all_pass": all_pass,
        "any_pass": any_pass,
        "all_rate": all_pass / total if total else float("nan"),
        "any_rate": any_pass / total if total else float("nan"),
    }
