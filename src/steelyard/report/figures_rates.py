"""Rates with their intervals: as published, and with the task as the unit, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.report import formats
from steelyard.report.drawing import MARKERS, PALETTE, QUIET, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

Bar: TypeAlias = tuple[str, ...]

_ROW = 0.205
_GAP = 0.13
_BETWEEN = 0.36
_RIGHT = 0.74
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
    bars: tuple[Bar, Bar] = (("low", "high"), ("clustered_low", "clustered_high")),
    estimate: str = "estimate",
    counted: str = "passed/n",
) -> Drawing:
    """Draw one line per group and series: counts, and two intervals on one scale.

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
    bars : tuple of tuple of str
        For each panel the columns of its limits, or one column with a half-width around the
        estimate.
    estimate : str
        The column of the estimate.
    counted : str
        The heading of the counts.

    Returns
    -------
    Drawing
    """
    rows = [row | {"estimate": row[estimate]} for row in records(frame)]
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
        sheet.text(WIDTH - 0.1, top + y, _count(row), size=8, ha="right")
    heading = counted if "successes" in frame else "n"
    sheet.text(WIDTH - 0.1, sheet.top + 0.28, heading, size=8, ha="right", color=QUIET)
    scale = _scale(rows, bars)
    for index, bar in enumerate(bars):
        left = start + index * (panel + _BETWEEN)
        axes = sheet.axes(left, top, panel, height)
        sheet.text(left, sheet.top + 0.2, panels[index], size=8.5, linespacing=1.15)
        _prepare(axes, scale, height)
        for row, y in zip(rows, places, strict=True):
            # Rows of one block are told apart by their labels; only a series that comes back in
            # several blocks needs a colour to be followed by.
            which = series_names.index(str(row[series])) % len(PALETTE) if heads else 0
            _interval(axes, _limits(row, bar), row["estimate"], y, which)
    return sheet.finish(name, _describe(rows, group, series, panels, bars))


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


def _count(row: dict[str, Any]) -> str:
    if "successes" in row:
        return f"{int(row['successes'])}/{int(row['total'])}"
    return f"{int(row['scored'])}"


def _limits(row: dict[str, Any], bar: Bar) -> tuple[float, float] | None:
    """Return the ends of one bar, or None where the frame gives none."""
    values = [row[name] for name in bar]
    if any(formats.is_missing(value) for value in values):
        return None
    if len(values) == 1:
        return float(row["estimate"]) - float(values[0]), float(row["estimate"]) + float(values[0])
    return float(values[0]), float(values[1])


def _scale(rows: list[dict[str, Any]], bars: tuple[Bar, Bar]) -> tuple[float, float]:
    """Return the tenths around the limits that say anything, at least four tenths apart."""
    found = [limits for row in rows for bar in bars if (limits := _limits(row, bar)) is not None]
    drawn = [limits for limits in found if not _vacuous(*limits)]
    low = max(0, int(min((low for low, _ in drawn), default=0.0) * 10))
    high = min(10, int(max((high for _, high in drawn), default=1.0) * 10 + 0.999))
    while high - low < 4 or (high - low) % 2:
        low, high = (low, high + 1) if high < 10 else (low - 1, high)
    return low / 10, high / 10


def _vacuous(low: float, high: float) -> bool:
    return low <= 0 and high >= 1


def _prepare(axes: Axes, scale: tuple[float, float], height: float) -> None:
    low, high = scale
    axes.set_xlim(low - 0.03 * (high - low), high + 0.04 * (high - low))
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    ticks = [low, (low + high) / 2, high]
    axes.set_xticks(ticks, [f"{100 * tick:.0f}%" for tick in ticks], fontsize=8)
    for tick in ticks:
        axes.axvline(tick, color=RULE, linewidth=0.8, zorder=0)


def _interval(
    axes: Axes, limits: tuple[float, float] | None, estimate: Any, y: float, which: int
) -> None:
    if limits is None:
        axes.text(axes.get_xlim()[0], y, " no interval", fontsize=7.5, color=QUIET, va="center")
    else:
        vague = _vacuous(*limits)
        start, end = axes.get_xlim()
        axes.plot(
            [max(limits[0], start), min(limits[1], end)], [y, y], color=PALETTE[which],
            linewidth=2.0, linestyle=(0, (1, 1.6)) if vague else "solid",
        )  # fmt: skip
    if not formats.is_missing(estimate):
        axes.plot(
            [float(estimate)], [y], marker=MARKERS[which], markersize=4.7, color=PALETTE[which],
            mec="white", mew=0.6, clip_on=False,
        )  # fmt: skip


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"


def _describe(
    rows: list[dict[str, Any]],
    group: str | None,
    series: str,
    panels: tuple[str, str],
    bars: tuple[Bar, Bar],
) -> str:
    lines = []
    for row in rows:
        label = f"{row[series]}" if group is None else f"{row[series]}, {row[group]}"
        parts = [f"{label}: {formats.format_rate(row['estimate'])} of {_count(row)}"]
        for panel, bar in zip(panels, bars, strict=True):
            limits = _limits(row, bar) or (None, None)
            parts.append(f"{' '.join(panel.split())} {formats.format_interval(*limits)}")
        lines.append(", ".join(parts))
    return "; ".join(lines) + "."
