"""Signals that cannot be true: found in the database, named by field, value and step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
import pyarrow as pa

from steelyard.analysis.stopping.places import FloatArray, trial_places
from steelyard.evaluators.bound import SIGNAL_NAMES
from steelyard.store.schema import SIGNALS

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

_SHARE: Final = "0 to 1"
_AMOUNT: Final = "0 or more, finite"
_COUNT: Final = "0 or more"
# In DuckDB NaN is larger than every number, so that no range holds it.
_CONDITIONS: Final = {
    _SHARE: "NOT (s.{name} BETWEEN 0 AND 1)",
    _AMOUNT: "NOT (s.{name} BETWEEN 0 AND 1.7976931348623157e308)",
    _COUNT: "s.{name} < 0",
}


def _accepted(name: str) -> str | None:
    if name in ("test_pass_rate", "required_checks_passed"):
        return _SHARE
    kind = SIGNALS.column(name).type
    return {"DOUBLE": _AMOUNT, "BIGINT": _COUNT, "INTEGER": _COUNT}.get(kind)


RANGES: Final = {
    name: accepted
    for name in ("step_index", *SIGNAL_NAMES)
    if (accepted := _accepted(name)) is not None
}
"""What a column of ``signals`` accepts beyond its type; truth values accept both."""


def has_fault(rows: pa.Table, values: Mapping[str, FloatArray]) -> bool:
    """Tell whether any value of some states is one that no signal can have.

    Parameters
    ----------
    rows : pyarrow.Table
        The states as read; NULL and NaN are still two things here.
    values : mapping of str to numpy.ndarray of float64
        Their columns, NULL as NaN.
    """
    for name, accepted in RANGES.items():
        column = values[name]
        highest = 1.0 if accepted == _SHARE else np.finfo(np.float64).max
        if np.fmin.reduce(column, initial=0.0) < 0 or np.fmax.reduce(column, initial=0.0) > highest:
            return True
        is_double = SIGNALS.column(name).type == "DOUBLE"
        if is_double and np.isnan(column).sum() > rows.column(name).null_count:
            return True
    return False


def find_faults(tables: StudyTables, trial_ids: pd.Series) -> Iterator[tuple[int, str]]:
    """Yield the trials that hold a value no signal can have, with the first such value.

    Parameters
    ----------
    tables : StudyTables
    trial_ids : pandas.Series
        The trials in question.

    Yields
    ------
    tuple of int and str
        The trial's place in ``trial_ids``, and a sentence that names field, value, step and what
        is accepted.
    """
    conditions = [_CONDITIONS[accepted].format(name=name) for name, accepted in RANGES.items()]
    query = f"""
        SELECT p.place, {", ".join(f"s.{name}" for name in RANGES)}
        FROM signals s JOIN trial_places p USING (trial_id)
        WHERE s.study = ? AND ({" OR ".join(conditions)})
        QUALIFY row_number() OVER (PARTITION BY p.place ORDER BY s.step_index) = 1
        ORDER BY p.place
    """
    with trial_places(tables, trial_ids) as connection:
        rows = connection.execute(query, [tables.study]).fetchall()
    for place, *values in rows:
        step = values[0]
        name, value = next(
            (name, value)
            for name, value in zip(RANGES, values, strict=True)
            if value is not None and not _holds(RANGES[name], value)
        )
        yield int(place), f"{name} is {value!r} at step {step}; accepted: {RANGES[name]}"


def _holds(accepted: str, value: float) -> bool:
    if accepted == _SHARE:
        return 0 <= value <= 1
    return 0 <= value < float("inf")
