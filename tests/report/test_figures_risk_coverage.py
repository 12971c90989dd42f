"""The risk-coverage figure."""

from __future__ import annotations

import math

import pandas as pd

from steelyard.report.figures_risk_coverage import risk_coverage_figure


def frame(*points: tuple[float, float, float, float]) -> pd.DataFrame:
    rows = [
        {
            "threshold": math.nan,
            "coverage": 0.0,
            "risk": math.nan,
            "risk_clustered_low": math.nan,
            "risk_clustered_high": math.nan,
        }
    ]
    rows += [
        {
            "threshold": place / 10,
            "coverage": coverage,
            "risk": risk,
            "risk_clustered_low": low,
            "risk_clustered_high": high,
        }
        for place, (coverage, risk, low, high) in enumerate(points)
    ]
    return pd.DataFrame(rows).assign(cases=40, harmful_cases=10)


def draw(table: pd.DataFrame):
    return risk_coverage_figure(table, title="Risk?", subtitle="of acts", acted="executed")


def test_every_threshold_with_a_risk_is_a_point() -> None:
    found = draw(frame((0.2, 0.1, 0.05, 0.3), (0.6, 0.2, 0.1, 0.4), (1.0, 0.25, 0.2, 0.3)))
    assert found.name == "risk_coverage"
    assert found.description == (
        "threshold 0: 20.0% executed, 10.0% of these harmful; "
        "threshold 0.1: 60.0% executed, 20.0% of these harmful; "
        "threshold 0.2: 100.0% executed, 25.0% of these harmful."
    )
    assert draw(frame((0.2, 0.1, 0.05, 0.3))).svg != found.svg


def test_points_without_a_band_and_no_points_at_all() -> None:
    assert "20.0% executed" in draw(frame((0.2, 0.1, math.nan, math.nan))).description
    assert draw(frame()).description == "."
