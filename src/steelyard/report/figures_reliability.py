"""pass^k: how often all of k attempts at a task succeed, as k grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.report import formats
from steelyard.report.drawing import INK, MARKERS, PALETTE, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_HEIGHT = 2.5
_LEFT = 0.55
_LETTER = 0.0625  # inches per letter of a label
_LABEL = 0.17  # inches between two labels that would otherwise touch


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
    """Draw pass^k against k, one line per series, with its interval over tasks.

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
        The column that makes the lines.
    limits : tuple of str
        The columns of the interval.

    Returns
    -------
    Drawing
    """
    rows = [row for row in records(frame) if not formats.is_missing(row["pass_hat_k"])]
    names = list(dict.fromkeys(str(row[series]) for row in rows))
    sheet = Sheet(title, subtitle, body_height=_HEIGHT + (0.62 if len(names) > 1 else 0.78))
    right = 0.25 + _LETTER * max(len(name) + 12 for name in names) if len(names) > 1 else 0.2
    axes = sheet.axes(_LEFT, sheet.top + 0.1, WIDTH - _LEFT - right, _HEIGHT)
    top = _prepare(axes, rows, limits, alone=len(names) == 1)
    ends = []
    for which, series_name in enumerate(names):
        line = [row for row in rows if str(row[series]) == series_name]
        _line(axes, line, which, len(names), limits)
        ends.append((float(line[-1]["pass_hat_k"]) / top, which, _end_label(line[-1], series)))
    if len(names) > 1:
        place = sheet.axes(WIDTH - right, sheet.top + 0.1, right, _HEIGHT)
        _labels(place, right, ends)
    return sheet.finish(name, _describe(rows, series, limits))


def _prepare(
    axes: Axes, rows: list[dict[str, Any]], limits: tuple[str, str], *, alone: bool
) -> float:
    """Set the scales; return the top of the vertical one."""
    ks = sorted({int(row["k"]) for row in rows})
    used = {int(row["k"]): int(row["tasks_used"]) for row in rows}
    highest = max(
        float(row[c]) for row in rows for c in ("pass_hat_k", limits[1])
        if not formats.is_missing(row[c])
    )  # fmt: skip
    top = min(1.0, max(0.5, (int(highest * 4) + 1) / 4))
    axes.set_xlim(ks[0] - 0.3, ks[-1] + 0.3)
    axes.set_ylim(0, top)
    axes.set_xticks(ks, [f"{k}\n{used[k]} tasks" if alone else str(k) for k in ks])
    ticks = [i / 4 for i in range(int(top * 4) + 1)]
    axes.set_yticks(ticks, [f"{100 * tick:.0f}%" for tick in ticks])
    axes.tick_params(axis="y", length=0)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    axes.set_xlabel("k attempts at the same task, all of them successful", fontsize=8.5)
    return top


def _line(
    axes: Axes, line: list[dict[str, Any]], which: int, count: int, limits: tuple[str, str]
) -> None:
    color, marker = PALETTE[which % len(PALETTE)], MARKERS[which % len(MARKERS)]
    shift = (which - (count - 1) / 2) * min(0.06, 0.4 / count)
    xs = [int(row["k"]) + shift for row in line]
    axes.plot(xs, [float(row["pass_hat_k"]) for row in line], color=color, linewidth=1.4)
    for x, row in zip(xs, line, strict=True):
        rate = float(row["pass_hat_k"])
        low, high = row[limits[0]], row[limits[1]]
        if not formats.is_missing(low) and not formats.is_missing(high):
            axes.plot([x, x], [float(low), float(high)], color=color, linewidth=1.8, alpha=0.55)
        axes.plot(
            [x], [rate], marker, markersize=5.5, color=color, mec="white", mew=0.6, clip_on=False
        )
        if count == 1:
            above = rate if formats.is_missing(high) else float(high)
            axes.annotate(
                formats.format_rate(rate), (x, above), (0, 4), textcoords="offset points",
                fontsize=8.5, ha="center", va="bottom", color=INK,
            )  # fmt: skip


def _end_label(row: dict[str, Any], series: str) -> str:
    count = int(row["tasks_used"])
    return f"{row[series]} ({count} task{'' if count == 1 else 's'})"


def _labels(axes: Axes, width: float, ends: list[tuple[float, int, str]]) -> None:
    """Write each line's name beside its end, moved apart where two would touch."""
    axes.set_axis_off()
    axes.set_xlim(0, width)
    axes.set_ylim(_HEIGHT, 0)
    wanted = sorted(((1 - value) * _HEIGHT, which, label) for value, which, label in ends)
    places = _apart([y for y, _, _ in wanted])
    for (_, which, label), y in zip(wanted, places, strict=True):
        marker, color = MARKERS[which % len(MARKERS)], PALETTE[which % len(PALETTE)]
        axes.plot([0.08], [y], marker, markersize=5.5, color=color, mec="white", mew=0.6,
                  clip_on=False)  # fmt: skip
        axes.text(0.19, y, label, fontsize=8, va="center", color=INK)


def _apart(wanted: list[float]) -> list[float]:
    """Return ascending places at least `_LABEL` apart, pushed up again where they run out."""
    places: list[float] = []
    for y in wanted:
        places.append(y if not places else max(y, places[-1] + _LABEL))
    ceiling = _HEIGHT
    for index in range(len(places) - 1, -1, -1):
        places[index] = min(places[index], ceiling)
        ceiling = places[index] - _LABEL
    return places


def _describe(rows: list[dict[str, Any]], series: str, limits: tuple[str, str]) -> str:
    parts = []
    for row in rows:
        interval = formats.format_interval(row[limits[0]], row[limits[1]])
        rate = formats.format_rate(row["pass_hat_k"])
        parts.append(f"{row[series]}, k = {int(row['k'])}: {rate} {interval}")
    return "; ".join(parts) + "."
