"""Published and hand-made reference values, each with its source in ``reference.csv``."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from steelyard import stats

with (Path(__file__).parent / "reference.csv").open(encoding="utf-8", newline="") as file:
    ROWS = list(csv.DictReader(file))


@pytest.mark.parametrize("row", ROWS, ids=[f"{r['case']}{r['input'][:40]}" for r in ROWS])
def test_reference_value(row: dict[str, str]) -> None:
    found = getattr(stats, row["case"])(*json.loads(row["input"]))
    expected: Any = json.loads(row["expected"])
    tolerance = float(row["tolerance"])
    if isinstance(expected, dict):
        for name, value in expected.items():
            assert getattr(found, name) == pytest.approx(value, abs=tolerance), name
    else:
        as_floats = np.array(expected, dtype=np.float64)
        np.testing.assert_allclose(found, as_floats, rtol=0, atol=tolerance)


def test_every_row_names_its_source() -> None:
    assert all(row["source"].strip() for row in ROWS)
