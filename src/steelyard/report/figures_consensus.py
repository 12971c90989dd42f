"""Where trials leave their task's usual path: one column per step, one row per arm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.report.drawing import QUIET, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLORS = {"skipped": "#D55E00", "substitute": "#0072B2", "extra": "#009E73"}
WORDS = {
    "skipped": "left out",
    "substitute": "another call in its place",
    "extra": "a call added after it",
}
SIGNS = {"skipped": "\N{MINUS SIGN}", "substitute": "\N{ALMOST EQUAL TO}", "extra": "+"}
_ROW = 0.245
_NUMBER = 0.085  # from the top of a row to the middle of its numbers
_BARS = {"skipped": 0.15, "substitute": 0.15, "extra": 0.21}
_THICK = 0.05
_DEEPER = 0.06  # a row in which calls are added, too
_HEAD = 0.21
_LETTER = 0.062
_SMALL_LETTER = 0.055  # inches, of 7.5 points
_LINE = 0.125
_MOST = 12
_COLUMNS = 7  # side by side; a longer path goes on below
_BEFORE = "before the first"

Column = tuple[int, str]
Events = dict[str, dict[str, Any]]


@dataclass(frozen=True, eq=False)
class _Strip:
    """One task, or several whose strips are alike.

    ``rows`` holds by series and step the rows of the frame by event.
    """

    tasks: list[str]
    columns: tuple[Column, ...]
    rows: dict[str, dict[int, Events]]

    @property
    def highest(self) -> float:
        """The highest rate of divergence of a cell."""
        return max(
            (_rate(row) for cells in self.rows.values() for events in cells.values()
             for row in events.values()), default=0.0
        )  # fmt: skip

    def has(self, event: str) -> bool:
        """Return whether any trial has the event."""
        return any(
            event in events and _count(events[event])
            for cells in self.rows.values()
            for events in cells.values()
        )

    @property
    def row_height(self) -> float:
        """Inches of one row: its numbers, and a bar or two."""
        return _ROW + (_DEEPER if self.has("extra") else 0)

    def total(self, series: str) -> int:
        """How many trials a row stands for."""
        return max(
            (int(row["total"]) for events in self.rows[series].values() for row in events.values()),
            default=0,
        )


@drawn
def consensus_figure(
    frame: pd.DataFrame,
    *,
    title: str,
    subtitle: str,
    name: str = "consensus",
    series: str = "arm",
) -> Drawing:
    """Draw for each task a strip: how often trials leave each step of the reference path.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.consensus` returns it for ``by=series``. Tasks with equal steps
        and counts share a strip; at most twelve strips are drawn, those with the highest rates.
    title, subtitle : str
        The question, and which calls are on a path.
    name : str
        The file name of the drawing.
    series : str
        The column that makes the rows.

    Returns
    -------
    Drawing
    """
    every = _strips(records(frame), series)
    kept = sorted(every, key=lambda strip: -strip.highest)[:_MOST]
    strips = [strip for strip in every if any(strip is one for one in kept)]
    if len(strips) < len(every):
        subtitle += f" The {len(strips)} of {len(every)} strips with the highest rates."
    bands = _bands(strips)
    sheet = Sheet(title, subtitle, body_height=sum(_height(*band) for band in bands) + 0.62)
    left = 0.18 + _LETTER * max((len(one) for strip in strips for one in strip.rows), default=0)
    across = max((len(columns) for columns, _ in bands), default=1)
    width = (WIDTH - left - 0.1) / across
    y = sheet.top
    for columns, members in bands:
        y = _draw_band(sheet, y, (left, width), columns, members)
    _legend(sheet, y + 0.14, strips)
    return sheet.finish(name, " ".join(_describe(strip) for strip in every))


def _strips(rows: list[dict[str, Any]], series: str) -> list[_Strip]:
    """Return one strip for all tasks with the same steps and the same counts."""
    found: dict[Any, _Strip] = {}
    for task in dict.fromkeys(str(row["task"]) for row in rows):
        mine = [row for row in rows if str(row["task"]) == task]
        cells: dict[str, dict[int, Events]] = {}
        names: dict[int, str] = {}
        for row in mine:
            step = int(row["step"])
            names[step] = str(row["name"]) or _BEFORE
            if row["event"] in COLORS:
                place = cells.setdefault(str(row[series]), {}).setdefault(step, {})
                place[row["event"]] = row
        if not any(_count(row) for row in mine if int(row["step"]) < 0):
            names.pop(-1, None)
        counts = tuple(
            (str(row[series]), int(row["step"]), row["event"], _count(row), int(row["total"]))
            for row in mine
        )
        columns = tuple(sorted(names.items()))
        found.setdefault((columns, counts), _Strip([], columns, cells)).tasks.append(task)
    return list(found.values())


def _bands(strips: list[_Strip]) -> list[tuple[tuple[Column, ...], list[_Strip]]]:
    """Return the strips under common headings, long paths in several pieces."""
    groups: dict[tuple[Column, ...], list[_Strip]] = {}
    for strip in strips:
        groups.setdefault(strip.columns, []).append(strip)
    return [
        (columns[start : start + _COLUMNS], members)
        for columns, members in groups.items()
        for start in range(0, len(columns), _COLUMNS)
    ]


def _lines(name: str) -> list[str]:
    """Return a step's name in lines of at most nine letters where it can be broken.

    An underscore at which a line ends is left out; a word of more than ten letters is divided.
    """
    lines: list[str] = []
    for word in name.replace(" ", "_").split("_"):
        if lines and len(lines[-1]) + len(word) < 9:
            lines[-1] += f"_{word}" if "_" in name else f" {word}"
        else:
            middle = len(word) // 2
            lines += [f"{word[:middle]}-", word[middle:]] if len(word) > 10 else [word]
    return lines


def _height(columns: tuple[Column, ...], strips: list[_Strip]) -> float:
    rows = sum(len(strip.rows) * strip.row_height for strip in strips)
    return _heading(columns) + rows + len(strips) * (_HEAD + 0.05) + 0.06


def _heading(columns: tuple[Column, ...]) -> float:
    return 0.1 + _LINE * max((len(_lines(name)) for _, name in columns), default=0)


def _size(columns: tuple[Column, ...], width: float) -> float:
    """Return the size of letters at which no line of a heading runs into the next column."""
    longest = max((len(line) for _, name in columns for line in _lines(name)), default=1)
    return min(7.5, 7.5 * (width - 0.03) / (longest * _SMALL_LETTER))


def _draw_band(
    sheet: Sheet,
    y: float,
    place: tuple[float, float],
    columns: tuple[Column, ...],
    strips: list[_Strip],
) -> float:
    """Draw the strips below one heading and return where the next band starts."""
    left, width = place
    bottom = y + _heading(columns)
    size = _size(columns, width)
    for index, (_, name) in enumerate(columns):
        lines = _lines(name)
        for number, line in enumerate(lines):
            height = bottom - 0.06 - _LINE * (len(lines) - number - 0.5)
            sheet.text(left + index * width, height, line, size=size, color=QUIET)
    y = bottom
    for strip in strips:
        sheet.text(0.1, y + _HEAD / 2, _who(strip), size=8.5, weight="bold")
        counts = ", ".join(str(strip.total(series)) for series in strip.rows)
        sheet.text(WIDTH - 0.1, y + _HEAD / 2, f"n = {counts}", size=8, color=QUIET, ha="right")
        y += _HEAD
        tracks = [event for event in COLORS if event != "extra" or strip.has(event)]
        step_down = strip.row_height
        height = step_down * len(strip.rows)
        axes = sheet.axes(left, y, width * len(columns), height)
        axes.set_xlim(0, width * len(columns))
        axes.set_ylim(height, 0)
        axes.set_axis_off()
        for number, (series, cells) in enumerate(strip.rows.items()):
            sheet.text(0.1, y + step_down * number + 0.13, series, size=8)
            for index, (step, _) in enumerate(columns):
                _cell(
                    axes,
                    cells.get(step, {}),
                    (index * width, step_down * number),
                    width - 0.06,
                    tracks,
                )
        y += height + 0.05
    return y + 0.06


def _cell(
    axes: Axes, events: Events, corner: tuple[float, float], width: float, tracks: list[str]
) -> None:
    """Draw what happened at one step: a grey track, coloured as far as the rates reach."""
    from matplotlib.patches import Rectangle

    left, top = corner
    for y in sorted({_BARS[event] for event in tracks}):
        axes.add_patch(Rectangle((left, top + y), width, _THICK, facecolor="#e6e6e6", linewidth=0))
    ends = dict.fromkeys(_BARS.values(), left)
    x = left
    for event, color in COLORS.items():
        row = events.get(event)
        if row is None or not _count(row):
            continue
        y = _BARS[event]
        length = max(_rate(row) * width, 0.02)
        axes.add_patch(Rectangle((ends[y], top + y), length, _THICK, facecolor=color, linewidth=0))
        ends[y] += length
        text = f"{SIGNS[event]}{_count(row)}"
        axes.text(x, top + _NUMBER, text, fontsize=8, color=color, weight="bold", va="center")
        x += 0.075 * len(text) + 0.05


def _legend(sheet: Sheet, y: float, strips: list[_Strip]) -> None:
    from matplotlib.patches import Rectangle

    for index, (event, color) in enumerate(COLORS.items()):
        place = y + 0.155 * index
        axes = sheet.axes(0.1, place - _THICK / 2, 0.22, _THICK)
        axes.set_axis_off()
        axes.add_patch(Rectangle((0, 0), 1, 1, facecolor=color, linewidth=0))
        sheet.text(0.38, place, f"{SIGNS[event]}n", size=8, color=color, weight="bold")
        found = any(strip.has(event) for strip in strips)
        words = WORDS[event] + ("" if found else " (none)")
        sheet.text(0.66, place, words, size=8, color=QUIET)
    sheet.text(2.75, y, "n: trials, by row in the heading.", size=8, color=QUIET)
    sheet.text(2.75, y + 0.155, "A full bar is all of them.", size=8, color=QUIET)


def _rate(row: dict[str, Any]) -> float:
    return _count(row) / int(row["total"]) if int(row["total"]) and row["event"] in COLORS else 0.0


def _count(row: dict[str, Any]) -> int:
    return int(row["count"]) if row["event"] in COLORS else 0


def _who(strip: _Strip) -> str:
    shown = strip.tasks[:4]
    rest = len(strip.tasks) - len(shown)
    return (
        ", ".join(shown)
        + (f" and {rest} more" if rest else "")
        + (", each" if len(strip.tasks) > 1 else "")
    )


def _describe(strip: _Strip) -> str:
    names = dict(strip.columns)
    parts = [
        f"{series}, {names[step]}: {WORDS[event]} in {_count(row)} of {row['total']}"
        for series, cells in strip.rows.items()
        for step, events in sorted(cells.items())
        for event, row in events.items()
        if _count(row)
    ]
    return f"{_who(strip)}: " + ("; ".join(parts) or "no trial leaves the path") + "."
