"""The drawing of a threshold sweep."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from steelyard.report.drawings import draw
from steelyard.report.figures import stopping_sweep_figure

SHADE = r"(?i)fill: #dceaf5"
HEAD = {"title": "What does it save?", "subtitle": "made up"}


def sweep(rows):
    """Make a sweep of (setting, policy, threshold, false stops, steps); bands are 0.1 wide."""
    frame = pd.DataFrame(
        rows, columns=["setting", "policy", "threshold", "false_stop_rate", "steps_share"]
    )
    for what, column in (("false_stop", "false_stop_rate"), ("steps", "steps_share")):
        frame[f"{what}_band_low"] = frame[column] - 0.05
        frame[f"{what}_band_high"] = frame[column] + 0.05
    return frame


CURVE = [("threshold", f"T={t}", t, 0.9 - t / 1.2, 0.8 - t / 2) for t in (0.0, 0.5, 1.0)]
BESIDE = [
    ("reference", "oracle", np.nan, 0.0, 0.3),
    ("reference", "never", np.nan, 0.0, 0.0),
    ("reference", "green", np.nan, 0.3, 0.4),
    ("reference", "step 10", np.nan, 0.2, 0.2),
]


def test_draws_the_curve_the_bands_and_the_references():
    drawing = stopping_sweep_figure(sweep([*CURVE, *BESIDE]), **HEAD)
    ET.fromstring(drawing.svg)  # noqa: S314 - our own
    for words in ("T = 0: 90.0% false stops, 80.0% of steps avoided", "oracle: 0.0%", "step 10"):
        assert words in drawing.description
    assert len(re.findall(SHADE, drawing.svg)) == len(CURVE)


def test_a_threshold_without_a_rate_is_left_out():
    with_gap = [*CURVE, ("threshold", "T=2", 2.0, np.nan, 0.1)]
    drawing = stopping_sweep_figure(sweep(with_gap), **HEAD)
    assert "T = 2" not in drawing.description


def test_a_band_that_is_not_known_is_not_drawn():
    frame = sweep(CURVE).assign(steps_band_low=np.nan, steps_band_high=np.nan)
    drawing = stopping_sweep_figure(frame, **HEAD)
    assert not re.findall(SHADE, drawing.svg)


def test_references_alone_can_be_drawn():
    assert "oracle" in stopping_sweep_figure(sweep(BESIDE), **HEAD).description


@pytest.mark.parametrize("order", [1, -1])
def test_the_registry_draws_it_from_one_table(order):
    frame = sweep(CURVE[::order])
    found = draw("stopping_sweep", [frame], HEAD | {"name": "sweep"}, {"labelled": 3})
    assert found.name == "sweep"
