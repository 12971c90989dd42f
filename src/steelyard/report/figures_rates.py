"""Rates with their intervals: as published, and with the task as the unit, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.report import formats
from steelyard.report.drawing import MARKERS, PALETTE, QUIET, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROW = 0.205
_GAP = 0.13
_BETWEEN = 0.26
_RIGHT = 0.76
_LETTER = 0.064  # inches per letter of a row label
_LONGEST = 30  # letters


@drawn
def rates_figure(
    frame: pd.DataFrame,
    *,
    title: str,
    subtitle: str,
    name: str = "rates",
    group: str | None = "perturbation",
    series: str = "arm",
    panels: tuple[str, str] = ("Trials as\nindependent", "Tasks as\nthe unit"),
) -> Drawing:
    """Draw one line per group and series: successes, and two intervals on one scale.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.rates` returns it: ``successes``, ``total``, ``estimate``,
        ``low``, ``high``, ``clustered_low``, ``clustered_high`` and the two label columns.
        Rows are drawn in the order of the frame; a row without an estimate keeps its place.
    title, subtitle : str
        The question, and what the rates are rates of.
    name : str
        The file name of the drawing.
    group : str or None
        The column that makes blocks of rows; None for one block.
    series : str
        The column that tells the rows of a block apart (colour, marker and label).
    panels : tuple of str
        What the two intervals stand for.

    Returns
    -------
    Drawing
    """
    rows = records(frame)
    places, heads, height = _places(rows, group)
    sheet = Sheet(title, subtitle, body_height=height + 0.82)
    top = sheet.top + 0.42
    series_names = list(dict.fromkeys(str(row[series]) for row in rows))
    indent = 0.22 if heads else 0.1
    longest = max((len(text) for text in series_names), default=0)
    start = indent + _LETTER * min(longest, _LONGEST) + 0.12
    start = max(start, 1.3)
    panel = (WIDTH - start - _BETWEEN - _RIGHT) / 2
    for text, y in heads:
        sheet.text(0.1, top + y, text, size=9, weight="bold")
    for row, y in zip(rows, places, strict=True):
        sheet.text(indent, top + y, _short(str(row[series]), _LONGEST), size=8.5)
        fraction = f"{int(row['successes'])}/{int(row['total'])}"
        sheet.text(WIDTH - 0.1, top + y, fraction, size=8, ha="right")
    sheet.text(WIDTH - 0.1, sheet.top + 0.28, "passed/n", size=8, ha="right", color=QUIET)
    floor = _floor(rows)
    for index, limits in enumerate((("low", "high"), ("clustered_low", "clustered_high"))):
        left = start + index * (panel + _BETWEEN)
        axes = sheet.axes(left, top, panel, height)
        sheet.text(left, sheet.top + 0.2, panels[index], size=8.5, linespacing=1.15)
        _prepare(axes, floor, height)
        for row, y in zip(rows, places, strict=True):
            which = series_names.index(str(row[series])) % len(PALETTE)
            _interval(axes, row, y, limits, which)
    return sheet.finish(name, _describe(rows, group, series))


def _places(
    rows: list[dict[str, Any]], group: str | None
) -> tuple[list[float], list[tuple[str, float]], float]:
    """Return each row's centre, each block's heading, and the height, in inches."""
    names = [] if group is None else list(dict.fromkeys(str(row[group]) for row in rows))
    places: list[float] = []
    heads: list[tuple[str, float]] = []
    y = 0.0
    previous = None
    for row in rows:
        block = None if group is None else str(row[group])
        if len(names) > 1 and block != previous and block is not None:
            y += _GAP if previous is not None else 0.0
            heads.append((block, y + _ROW / 2))
            y += _ROW
        previous = block
        places.append(y + _ROW / 2)
        y += _ROW
    return places, heads, y + 0.06


def _floor(rows: list[dict[str, Any]]) -> float:
    """Return where the scale begins: the tenth below the lowest limit that says anything."""
    limits = [
        float(row[low])
        for row in rows
        for low, high in (("low", "high"), ("clustered_low", "clustered_high"))
        if not formats.is_missing(row[low]) and not _vacuous(row[low], row[high])
    ]
    lowest = min(limits, default=0.0)
    return max(0, min(8, int(lowest * 10))) / 10


def _vacuous(low: float, high: float) -> bool:
    return low <= 0 and high >= 1


def _prepare(axes: Axes, floor: float, height: float) -> None:
    span = 1 - floor
    axes.set_xlim(floor - 0.03 * span, 1 + 0.04 * span)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    ticks = [floor, floor + span / 2, 1.0]
    axes.set_xticks(ticks, [f"{100 * tick:.0f}%" for tick in ticks])
    first, _, last = axes.get_xticklabels()
    first.set_horizontalalignment("left")
    last.set_horizontalalignment("right")
    for tick in ticks:
        axes.axvline(tick, color=RULE, linewidth=0.8, zorder=0)


def _interval(
    axes: Axes, row: dict[str, Any], y: float, limits: tuple[str, str], which: int
) -> None:
    color, marker = PALETTE[which], MARKERS[which]
    low, high = row[limits[0]], row[limits[1]]
    if formats.is_missing(low) or formats.is_missing(high):
        axes.text(axes.get_xlim()[0], y, " no interval", fontsize=7.5, color=QUIET, va="center")
        return
    style = (0, (1, 1.6)) if _vacuous(low, high) else "solid"
    start = max(float(low), axes.get_xlim()[0])
    axes.plot([start, float(high)], [y, y], color=color, linewidth=2.0, linestyle=style)
    if not formats.is_missing(row["estimate"]):
        axes.plot(
            [float(row["estimate"])], [y], marker=marker, markersize=5.2, color=color, mec="white",
            mew=0.6, clip_on=False,
        )  # fmt: skip


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _describe(rows: list[dict[str, Any]], group: str | None, series: str) -> str:
    lines = []
    for row in rows:
        label = f"{row[series]}" if group is None else f"{row[series]}, {row[group]}"
        lines.append(
            f"{label}: {int(row['successes'])}/{int(row['total'])}, "
            f"independent {formats.format_interval(row['low'], row['high'])}, "
            f"clustered {formats.format_interval(row['clustered_low'], row['clustered_high'])}"
        )
    return "; ".join(lines) + "."
