"""pass^k: how often all of k attempts at a task succeed, as k grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.report import formats
from steelyard.report.drawing import INK, PALETTE, QUIET, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LEFT = 0.55
_BETWEEN = 0.22
_ALONE = 2.5  # height of the panel of a single series, in inches
_PANEL = 0.95  # height of one panel among several
_HEAD = 0.3  # room above each of several panels for its name

Row = dict[str, Any]


@drawn
def reliability_figure(
    frame: pd.DataFrame,
    *,
    title: str,
    subtitle: str,
    name: str = "reliability",
    series: str = "arm",
    limits: tuple[str, str] = ("low", "high"),
) -> Drawing:
    """Draw pass^k against k with its interval over tasks, one panel per series.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.reliability` returns it: ``k``, ``pass_hat_k``, ``tasks_used``,
        the two limits and the series column. Series keep their order of first appearance.
    title, subtitle : str
        The question, and what a success is.
    name : str
        The file name of the drawing.
    series : str
        The column that makes the panels.
    limits : tuple of str
        The columns of the interval. One that reaches from 0 to 1 is dotted: it says nothing.

    Returns
    -------
    Drawing
    """
    rows = [row for row in records(frame) if not formats.is_missing(row["pass_hat_k"])]
    names = list(dict.fromkeys(str(row[series]) for row in rows))
    ks = sorted({int(row["k"]) for row in rows})
    description = _describe(rows, series, limits)
    if len(names) == 1:
        sheet = Sheet(title, subtitle, body_height=_ALONE + 0.78)
        axes = sheet.axes(_LEFT, sheet.top + 0.1, WIDTH - _LEFT - 0.2, _ALONE)
        _scales(axes, ks, _top(rows, limits))
        used = {int(row["k"]): int(row["tasks_used"]) for row in rows}
        axes.set_xticks(ks, [f"{k}\n{used[k]} tasks" for k in ks])
        axes.set_xlabel("k attempts at the same task, all of them successful", fontsize=8.5)
        _line(axes, rows, limits, labelled=True)
        return sheet.finish(name, description)
    lines = -(-len(names) // 2)
    sheet = Sheet(title, subtitle, body_height=lines * (_PANEL + _HEAD) + 0.62)
    width = (WIDTH - _LEFT - _BETWEEN - 0.15) / 2
    for index, series_name in enumerate(names):
        left = _LEFT + (index % 2) * (width + _BETWEEN)
        top = sheet.top + (index // 2) * (_PANEL + _HEAD) + _HEAD
        line = [row for row in rows if str(row[series]) == series_name]
        sheet.text(left, top - 0.13, f"{series_name}, {_tasks(line)}", size=8.5)
        axes = sheet.axes(left, top, width, _PANEL)
        _scales(axes, ks, 1.0)
        last = index + 2 >= len(names)
        axes.set_xticks(ks, [str(k) if last else "" for k in ks])
        axes.tick_params(axis="y", labelleft=index % 2 == 0)
        _line(axes, line, limits, labelled=False)
    bottom = sheet.top + lines * (_PANEL + _HEAD) + 0.4
    sheet.text(_LEFT, bottom, "k attempts at the same task, all of them successful")
    return sheet.finish(name, description)


def _tasks(line: list[Row]) -> str:
    """Return how many tasks the first and the last point of a line rest on."""
    first, last = int(line[0]["tasks_used"]), int(line[-1]["tasks_used"])
    if first == last:
        return f"{first} task{'' if first == 1 else 's'}"
    return f"{first} to {last} tasks"


def _top(rows: list[Row], limits: tuple[str, str]) -> float:
    """Return the quarter above everything that is drawn, and at least one half."""
    highest = max(
        float(row[column]) for row in rows for column in ("pass_hat_k", limits[1])
        if not formats.is_missing(row[column])
    )  # fmt: skip
    return min(1.0, max(0.5, (int(highest * 4) + 1) / 4))


def _scales(axes: Axes, ks: list[int], top: float) -> None:
    axes.set_xlim(ks[0] - 0.4, ks[-1] + 0.4)
    axes.set_ylim(0, top)
    step = 0.25 if top < 1 else 0.5
    ticks = [step * i for i in range(int(top / step) + 1)]
    axes.set_yticks(ticks, [f"{100 * tick:.0f}%" for tick in ticks])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=RULE, linewidth=0.8)


def _line(axes: Axes, line: list[Row], limits: tuple[str, str], *, labelled: bool) -> None:
    ks = [int(row["k"]) for row in line]
    rates = [float(row["pass_hat_k"]) for row in line]
    axes.plot(ks, rates, color=PALETTE[0], linewidth=1.4)
    for k, rate, row in zip(ks, rates, line, strict=True):
        low, high = row[limits[0]], row[limits[1]]
        known = not formats.is_missing(low) and not formats.is_missing(high)
        if known:
            vague = float(low) <= 0 and float(high) >= 1
            axes.plot(
                [k, k], [float(low), float(high)], color=QUIET if vague else PALETTE[0],
                linewidth=1.0 if vague else 2.0, alpha=0.6,
                linestyle=(0, (1, 1.6)) if vague else "solid",
            )  # fmt: skip
        axes.plot(
            [k], [rate], "o", markersize=5 if labelled else 3.8, color=PALETTE[0], mec="white",
            mew=0.5, clip_on=False,
        )  # fmt: skip
        if labelled:
            axes.annotate(
                formats.format_rate(rate), (k, float(high) if known else rate), (0, 4),
                textcoords="offset points", fontsize=8.5, ha="center", va="bottom", color=INK,
            )  # fmt: skip


def _describe(rows: list[Row], series: str, limits: tuple[str, str]) -> str:
    parts = []
    for row in rows:
        interval = formats.format_interval(row[limits[0]], row[limits[1]])
        rate = formats.format_rate(row["pass_hat_k"])
        parts.append(f"{row[series]}, k = {int(row['k'])}: {rate} {interval}")
    return "; ".join(parts) + "."
