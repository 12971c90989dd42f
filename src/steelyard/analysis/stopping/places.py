"""Trials as numbers: joining a selection of them in the database, and matching steps by key."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import duckdb
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
ObjectArray = npt.NDArray[np.object_]

_STEP_BITS = 32


@contextmanager
def trial_places(tables: StudyTables, trial_ids: pd.Series) -> Iterator[duckdb.DuckDBPyConnection]:
    """Give a connection whose queries can join ``trial_places``: trials' ids, places from 0."""
    ids = pa.array(trial_ids.tolist(), type=pa.string())
    places = pa.table({"trial_id": ids, "place": np.arange(len(trial_ids), dtype=np.int64)})
    # A connection of its own: the shared one may hold a result that someone is still reading.
    cursor = tables.connection.cursor()
    try:
        cursor.register("trial_places", places)
        yield cursor
    finally:
        cursor.close()


def place_keys(trial: IntArray, step: IntArray) -> IntArray:
    """Return one integer for each trial and step, in their order."""
    return (trial << _STEP_BITS) + step
