"""The spread of a graded measure: counts, costs, times, by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import pandas as pd

from steelyard.analysis.denominators import strata
from steelyard.analysis.names import Filters, resolve_by, resolve_measure, sort_by_design
from steelyard.analysis.selection import select

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


def measure_summary(
    tables: StudyTables,
    measure: str | None = None,
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    missing: str = "exclude",
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Return sum, mean, quartiles and extremes of a measure.

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        Any number; the study's primary measure when absent.
    by : str or sequence of str, default ("arm", "perturbation")
    missing : {"exclude", "recorded"}, default "exclude"
        A trial without a value is never given one here.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group: the ``by`` columns, ``measure``, ``intended``, ``scored``, ``sum``,
        ``mean``, ``minimum``, ``lower_quartile``, ``median``, ``upper_quartile``, ``maximum``
        (quantiles by linear interpolation); NaN without a scored trial.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.select`.
    """
    columns, name = resolve_by(by), resolve_measure(tables, measure)
    trials = select(tables, name, missing, binary=False, **filters)
    rows = []
    for place, part in strata(trials, columns):
        values = part["value"].dropna()
        quartiles = values.quantile([0.25, 0.5, 0.75]).tolist()
        rows.append(
            place
            | {
                "measure": name,
                "intended": len(part),
                "scored": len(values),
                "sum": float(values.sum()) if len(values) else float("nan"),
                "mean": float(values.mean()),
                "minimum": float(values.min()),
                "lower_quartile": quartiles[0],
                "median": quartiles[1],
                "upper_quartile": quartiles[2],
                "maximum": float(values.max()),
            }
        )
    return sort_by_design(tables, pd.DataFrame(rows), columns)
