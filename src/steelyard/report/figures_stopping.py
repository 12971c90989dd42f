"""What a stopping policy saves against how often it stops too early."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.report import formats
from steelyard.report.drawing import INK, PALETTE, QUIET, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_LEFT = 0.62
_PANEL = 2.6  # inches
_BELOW = 1.02  # room for the axis and the key
_KEY = {
    "oracle": ("D", PALETTE[2], "oracle: the first right state"),
    "green": ("s", PALETTE[1], "the first state with every gate green"),
    "never": ("X", INK, "never: the agent's own stop"),
}
"""Marker, colour and words of the references, by the first word of their name."""

_ENDS = ("low", "high")
_SHADE = "#DCEAF5"

Row = dict[str, Any]
Point = tuple[float, float]


@drawn
def stopping_sweep_figure(
    frame: pd.DataFrame, *, title: str, subtitle: str, name: str = "sweep", labelled: int = 5
) -> Drawing:
    """Draw a threshold sweep: the share of steps avoided against the rate of false stops.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.stopping.stopping_sweep` returns it without ``by``: one row per
        threshold and reference. Thresholds without a rate are left out.
    title, subtitle : str
        The question, and what the axes are shares of.
    name : str
        The file name of the drawing.
    labelled : int
        About so many thresholds are written beside the curve.

    Returns
    -------
    Drawing
        The curve through the thresholds, its simultaneous band in both directions, and the
        references on the same axes.
    """
    rows = [row for row in records(frame) if not formats.is_missing(row["false_stop_rate"])]
    curve = [row for row in rows if row["setting"] == "threshold"]
    references = [row for row in rows if row["setting"] == "reference"]
    sheet = Sheet(title, subtitle, body_height=_PANEL + _BELOW)
    axes = sheet.axes(_LEFT, sheet.top + 0.05, WIDTH - _LEFT - 0.2, _PANEL)
    _scales(axes, rows)
    _band(axes, curve)
    axes.plot(*_points(curve), "-", color=PALETTE[0], linewidth=1.4)
    axes.plot(*_points(curve), "o", color=PALETTE[0], markersize=3.6, mec="white", mew=0.5)
    _labels(axes, curve, labelled)
    for row in references:
        marker, colour, _ = _look(row)
        axes.plot(
            [row["false_stop_rate"]], [row["steps_share"]], marker, color=colour, markersize=7,
            mec="white", mew=0.8, clip_on=False, zorder=5,
        )  # fmt: skip
    _key(sheet, references, sheet.top + _PANEL + 0.56)
    return sheet.finish(name, _describe(curve, references))


def _points(rows: list[Row]) -> tuple[list[float], list[float]]:
    """Return the false stops and the savings of rows, in their order."""
    return [float(r["false_stop_rate"]) for r in rows], [float(r["steps_share"]) for r in rows]


def _scales(axes: Axes, rows: list[Row]) -> None:
    highest = max((float(row["steps_share"]) for row in rows), default=1.0)
    bands = [
        row["steps_band_high"] for row in rows if not formats.is_missing(row["steps_band_high"])
    ]
    top = min(1.0, (int(max([highest, *map(float, bands)]) * 10) + 1) / 10)
    right = [row["false_stop_band_high"] for row in rows]
    widest = max([float(x) for x in right if not formats.is_missing(x)], default=1.0)
    limit = min(1.0, (int(widest * 10) + 1) / 10)
    for axis, end, label in (
        (axes.set_xlim, limit, axes.set_xticks),
        (axes.set_ylim, top, axes.set_yticks),
    ):
        step = 0.1 if end <= 0.6 else 0.2
        ticks = [step * i for i in range(int(end / step + 1e-9) + 1)]
        axis(-0.02 * end, end)
        label(ticks, [f"{100 * tick:.0f}%" for tick in ticks])
    axes.tick_params(axis="y", length=0)
    axes.grid(color=RULE, linewidth=0.8)
    axes.set_xlabel("false stops, of the trials that could be solved", fontsize=8.5)
    axes.set_ylabel("steps avoided", fontsize=8.5)


def _band(axes: Axes, curve: list[Row]) -> None:
    """Shade where the curve may run: each threshold's box, drawn out to that of the next one."""
    from matplotlib.patches import Polygon

    boxes = [box for box in map(_box, curve) if box is not None]
    for box, following in zip(boxes, [*boxes[1:], *boxes[-1:]], strict=True):
        axes.add_patch(Polygon(_hull([*box, *following]), color=_SHADE, linewidth=0, zorder=0))


def _box(row: Row) -> list[Point] | None:
    """Return the corners of a threshold's simultaneous limits; None where one is missing."""
    sides = [row[f"{what}_band_{end}"] for what in ("false_stop", "steps") for end in _ENDS]
    if any(formats.is_missing(side) for side in sides):
        return None
    left, right, low, high = map(float, sides)
    return [(left, low), (left, high), (right, low), (right, high)]


def _hull(points: list[Point]) -> list[Point]:
    """Return the corners of the smallest convex area that holds the points, in order."""

    def half(ordered: list[Point]) -> list[Point]:
        side: list[Point] = []
        for point in ordered:
            while len(side) > 1 and _turn(side[-2], side[-1], point) <= 0:
                side.pop()
            side.append(point)
        return side[:-1]

    ordered = sorted(set(points))
    return half(ordered) + half(ordered[::-1])


def _turn(a: Point, b: Point, c: Point) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _labels(axes: Axes, curve: list[Row], wanted: int) -> None:
    """Write some thresholds beside their points, never two at one place."""
    drawn_at: list[Point] = []
    every = max(1, round(len(curve) / max(wanted, 1)))
    limit, top = axes.get_xlim()[1], axes.get_ylim()[1]
    for place, row in enumerate(curve):
        x, y = float(row["false_stop_rate"]), float(row["steps_share"])
        near = any(abs(x - a) < 0.08 * limit and abs(y - b) < 0.1 * top for a, b in drawn_at)
        if near or (place % every and place != len(curve) - 1):
            continue
        drawn_at.append((x, y))
        beyond, bottom = x > 0.8 * limit, y < 0.02 * top
        axes.annotate(
            f"T = {float(row['threshold']):g}", (x, y), (-7 if beyond else 9, 0 if bottom else -2),
            textcoords="offset points", fontsize=8, ha="right" if beyond else "left",
            va="center" if bottom else "bottom" if beyond else "top", color=INK,
        )  # fmt: skip


def _look(row: Row) -> tuple[str, str, str]:
    """Return marker, colour and words of a reference."""
    policy = str(row["policy"])
    return _KEY.get(policy.split(maxsplit=1)[0], ("P", PALETTE[3], policy))


def _key(sheet: Sheet, references: list[Row], top: float) -> None:
    line = sheet.axes(0.1, top, WIDTH - 0.2, 0.4)
    line.axis("off")
    line.set_xlim(0, 1)
    line.set_ylim(0, 1)
    entries = [("o", PALETTE[0], "the policy, by threshold T"), *map(_look, references)]
    for place, (marker, colour, words) in enumerate(entries):
        x, y = 0.03 + 0.5 * (place % 2), 0.8 - 0.45 * (place // 2)
        line.plot([x], [y], marker, color=colour, markersize=6, mec="white", mew=0.6)
        line.text(x + 0.025, y, words, fontsize=8.5, va="center", color=QUIET)


def _describe(curve: list[Row], references: list[Row]) -> str:
    parts = []
    for row in [*curve, *references]:
        named = row["setting"] == "threshold"
        label = f"T = {float(row['threshold']):g}" if named else str(row["policy"])
        false_stops = formats.format_rate(row["false_stop_rate"])
        parts.append(f"{label}: {false_stops} false stops, {_saved(row)} of steps avoided")
    return "; ".join(parts) + "."


def _saved(row: Row) -> str:
    return formats.format_rate(row["steps_share"])
