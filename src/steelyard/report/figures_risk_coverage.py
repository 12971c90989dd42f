"""Risk against coverage: the share of harmful acts as an arm acts more often."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.report import formats
from steelyard.report.drawing import INK, PALETTE, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LEFT = 0.62
_PANEL = 2.4  # inches
_BELOW = 0.55
_SHADE = "#DCEAF5"

Row = dict[str, Any]


@drawn
def risk_coverage_figure(
    frame: pd.DataFrame,
    *,
    title: str,
    subtitle: str,
    name: str = "risk_coverage",
    acted: str = "acted on",
    labelled: int = 4,
) -> Drawing:
    """Draw the risk among acts against the share of cases acted on, with its band.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.risk_coverage` returns it. Thresholds at which nothing is acted on
        have no risk and are left out.
    title, subtitle : str
        The question, and what the risk is.
    name : str
        The file name of the drawing.
    acted : str
        What acting is called on the axes.
    labelled : int
        About so many thresholds are written beside the curve.

    Returns
    -------
    Drawing
        The curve, the pointwise band of the risk over resampled tasks, and a line at the risk of
        acting on everything.
    """
    rows = [row for row in records(frame) if not formats.is_missing(row["risk"])]
    sheet = Sheet(title, subtitle, body_height=_PANEL + _BELOW)
    axes = sheet.axes(_LEFT, sheet.top + 0.05, WIDTH - _LEFT - 0.2, _PANEL)
    _scales(axes, acted)
    banded = [row for row in rows if not formats.is_missing(row["risk_clustered_low"])]
    axes.fill_between(
        [float(row["coverage"]) for row in banded],
        [float(row["risk_clustered_low"]) for row in banded],
        [float(row["risk_clustered_high"]) for row in banded],
        color=_SHADE,
        linewidth=0,
    )
    coverage = [float(row["coverage"]) for row in rows]
    risk = [float(row["risk"]) for row in rows]
    axes.plot(coverage, risk, "-", color=PALETTE[0], linewidth=1.4)
    axes.plot(coverage, risk, "o", color=PALETTE[0], markersize=4, mec="white", mew=0.5)
    _everything(axes, rows)
    _labels(axes, rows, labelled)
    return sheet.finish(name, _describe(rows, acted))


def _scales(axes: Axes, acted: str) -> None:
    ticks = [0.2 * i for i in range(6)]
    names = [f"{100 * tick:.0f}%" for tick in ticks]
    axes.set_xlim(-0.02, 1.0)
    axes.set_ylim(-0.02, 1.0)
    axes.set_xticks(ticks, names)
    axes.set_yticks(ticks, names)
    axes.tick_params(axis="y", length=0)
    axes.grid(color=RULE, linewidth=0.8)
    axes.set_xlabel(f"cases {acted}", fontsize=8.5)
    axes.set_ylabel(f"harmful, of those {acted}", fontsize=8.5)


def _everything(axes: Axes, rows: list[Row]) -> None:
    """Draw the risk of acting on every case: what no score is needed for."""
    if not rows:
        return
    share = int(rows[0]["harmful_cases"]) / int(rows[0]["cases"])
    axes.plot([0, 1], [share, share], color=INK, linewidth=0.9, linestyle=(0, (4, 3)))
    axes.annotate(
        "every case", (0.01, share), (0, 3), textcoords="offset points", fontsize=8, color=INK
    )


def _labels(axes: Axes, rows: list[Row], wanted: int) -> None:
    """Write some thresholds beside their points, never two at one place."""
    every = max(1, round(len(rows) / max(wanted, 1)))
    written: list[float] = []
    for place, row in enumerate(rows):
        x, y = float(row["coverage"]), float(row["risk"])
        if any(abs(x - other) < 0.13 for other in written):
            continue
        if place % every and place != len(rows) - 1:
            continue
        written.append(x)
        axes.annotate(
            f"{float(row['threshold']):.3g}", (x, y), (0, -11), textcoords="offset points",
            fontsize=8, ha="center", color=INK,
        )  # fmt: skip


def _describe(rows: list[Row], acted: str) -> str:
    parts = [
        f"threshold {float(row['threshold']):.3g}: {formats.format_rate(row['coverage'])} {acted}, "
        f"{formats.format_rate(row['risk'])} of these harmful"
        for row in rows
    ]
    return "; ".join(parts) + "."
