"""Differences with their intervals against the margin within which two arms count as the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.report import formats
from steelyard.report.drawing import INK, PALETTE, PAPER, QUIET, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROW = 0.38
_LEFT = 1.25
_PANEL = 2.5
_BOLD_LETTER = 0.082  # inches, of 9 points
_SAME = "#009E73"  # the band within which two arms count as the same
_INTERVALS = (
    ("difference", "newcombe_low", "newcombe_high"),
    ("clustered_difference", "clustered_low", "clustered_high"),
)


@drawn
def difference_figure(
    frame: pd.DataFrame,
    *,
    title: str,
    subtitle: str,
    name: str = "differences",
    label: str = "stratum",
    group: str | None = None,
) -> Drawing:
    """Draw each difference (candidate minus reference) with two intervals and the margin.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.compare` returns it: ``difference``, ``newcombe_low``,
        ``newcombe_high``, ``clustered_difference``, ``clustered_low``, ``clustered_high``,
        ``margin``, ``verdict`` and the two sides' successes and totals.
    title, subtitle : str
        The question, and which two sides are compared.
    name : str
        The file name of the drawing.
    label : str
        The column that names the rows.
    group : str, optional
        The column whose values head blocks of rows.

    Returns
    -------
    Drawing
    """
    rows = records(frame)
    places, heads, height = _places(rows, group)
    sheet = Sheet(title, subtitle, body_height=height + 1.2)
    top = sheet.top + 0.3
    axes = sheet.axes(_LEFT, top, _PANEL, height)
    _prepare(axes, rows, height)
    sheet.text(WIDTH - 0.1, sheet.top + 0.12, "verdict", size=8, ha="right", color=QUIET)
    for text, y in heads:
        behind = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.2}
        size = min(9.0, 9.0 * (WIDTH - 0.2) / (len(text) * _BOLD_LETTER))
        sheet.text(0.1, top + y, text, size=size, weight="bold", bbox=behind)
    for row, y in zip(rows, places, strict=True):
        sheet.text(0.1, top + y - 0.085, str(row[label]), size=8.5)
        sheet.text(0.1, top + y + 0.085, _counts(row), size=7.5, color=QUIET)
        sheet.text(WIDTH - 0.1, top + y, formats.format_text(row["verdict"]), size=8.5, ha="right")
        _margin(axes, row, y)
        for which in (0, 1):
            _interval(axes, row, y, which)
    _key(sheet, top + height + 0.42)
    return sheet.finish(name, "; ".join(_describe(row, label) for row in rows) + ".")


def _places(
    rows: list[dict[str, Any]], group: str | None
) -> tuple[list[float], list[tuple[str, float]], float]:
    """Return each row's centre, each block's heading, and the height, in inches."""
    places: list[float] = []
    heads: list[tuple[str, float]] = []
    y = 0.0
    previous = None
    for row in rows:
        block = None if group is None else str(row[group])
        if block is not None and block != previous:
            y += 0.08 if heads else 0.0
            heads.append((block, y + 0.11))
            y += 0.24
        previous = block
        places.append(y + _ROW / 2)
        y += _ROW
    return places, heads, y


def _ends(row: dict[str, Any], which: int) -> tuple[float, float] | None:
    """Return the limits of one interval, or None where it is absent or says nothing."""
    low, high = (row[name] for name in _INTERVALS[which][1:])
    if formats.is_missing(low) or formats.is_missing(high) or (low <= -1 and high >= 1):
        return None
    return float(low), float(high)


def _prepare(axes: Axes, rows: list[dict[str, Any]], height: float) -> None:
    ends = [_ends(row, which) for row in rows for which in (0, 1)]
    limits = [abs(limit) for pair in ends if pair is not None for limit in pair]
    limits += [float(row["margin"]) for row in rows if not formats.is_missing(row["margin"])]
    reach = min(1.0, max([0.1, *limits]) * 1.05)
    axes.set_xlim(-reach, reach)
    axes.set_ylim(height, 0)
    axes.set_yticks([])
    step = next(s for s in (0.05, 0.1, 0.2, 0.5) if reach / s < 3.5)
    count = int(reach / step)
    ticks = [step * i for i in range(-count, count + 1)]
    axes.set_xticks(ticks, [formats.format_points(tick, 0) for tick in ticks])
    axes.set_xlabel("candidate − reference, percentage points", fontsize=8.5)  # noqa: RUF001
    for tick in ticks:
        axes.axvline(tick, color=RULE, linewidth=0.8, zorder=0)
    axes.axvline(0, color=INK, linewidth=1.0, zorder=1)


def _margin(axes: Axes, row: dict[str, Any], y: float) -> None:
    from matplotlib.patches import Rectangle

    if formats.is_missing(row["margin"]):
        return
    margin = float(row["margin"])
    axes.add_patch(
        Rectangle(
            (-margin, y - 0.17), 2 * margin, 0.34, facecolor=_SAME, alpha=0.16, edgecolor="none"
        )
    )


def _interval(axes: Axes, row: dict[str, Any], y: float, which: int) -> None:
    """Draw the interval that takes trials (0) or tasks (1) as independent, above and below."""
    ends, middle = _ends(row, which), row[_INTERVALS[which][0]]
    y += (-0.07, 0.07)[which]
    if ends is None:
        text = (" no interval", " no clustered interval")[which]
        axes.text(axes.get_xlim()[0], y, text, fontsize=7, color=QUIET, va="center")
        return
    axes.plot(list(ends), [y, y], color=PALETTE[which], linewidth=2.0)
    axes.plot(
        [float(middle)], [y], "os"[which], markersize=4.8, color=PALETTE[which], mec="white",
        mew=0.6,
    )  # fmt: skip


def _key(sheet: Sheet, y: float) -> None:
    axes = sheet.axes(0.1, y + 0.06, WIDTH - 0.2, 0.24)
    axes.set_xlim(0, WIDTH - 0.2)
    axes.set_ylim(1, 0)
    axes.set_axis_off()
    items = (
        (0.0, "trials as independent", 0), (1.8, "tasks as the unit", 1), (3.3, "within margin", 2)
    )  # fmt: skip
    for x, text, which in items:
        if which == 2:
            axes.fill_between([x, x + 0.26], 0.1, 0.9, color=_SAME, alpha=0.16, linewidth=0)
        else:
            axes.plot([x, x + 0.26], [0.5, 0.5], color=PALETTE[which], linewidth=2)
            axes.plot([x + 0.13], [0.5], "os"[which], markersize=4.8, color=PALETTE[which])
        axes.text(x + 0.33, 0.5, text, fontsize=8, va="center")


def _counts(row: dict[str, Any]) -> str:
    return (
        f"{int(row['reference_successes'])}/{int(row['reference_total'])} \N{RIGHTWARDS ARROW} "
        f"{int(row['candidate_successes'])}/{int(row['candidate_total'])}"
    )


def _describe(row: dict[str, Any], label: str) -> str:
    points = formats.format_points
    verdict = formats.format_text(row["verdict"])
    return (
        f"{row[label]}: {_counts(row)}, difference {points(row['difference'])} points, independent "
        f"{formats.format_interval(row['newcombe_low'], row['newcombe_high'], points)}, clustered "
        f"{formats.format_interval(row['clustered_low'], row['clustered_high'], points)}, "
        f"margin {formats.format_size(row['margin'])}, verdict {verdict}"
    )
