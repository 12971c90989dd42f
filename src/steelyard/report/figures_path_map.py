"""How alike the trials of one task are: every trial against every other, one panel per task."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from steelyard.report.drawing import INK, QUIET, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.formats import format_rate
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.patches import PathPatch

Floats = npt.NDArray[np.float64]
Rectangle = tuple[int, int, int, int]

_SIDE = 1.7  # inches, of one panel
_BETWEEN = 0.16
_LINE = 0.155
_LEFT = WIDTH - 2 * _SIDE - _BETWEEN - 0.1
_LETTERS = 26  # in one line above a panel
_SMALLEST = 0.082  # inches between two labels of rows
_MOST = 12
_BOLD_LETTER = 0.088  # inches, of 8.5 points
MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True, eq=False)
class _Panel:
    """Trials of one task, or of several in which the same would be drawn."""

    tasks: list[str]
    cells: list[dict[str, Any]]
    matrix: Floats

    @property
    def counts(self) -> list[int]:
        """How many trials each row of ``cells`` stands for."""
        return [int(cell["trials"]) for cell in self.cells]

    @property
    def total(self) -> int:
        """How many trials of one task are drawn."""
        return sum(self.counts)

    def starts(self, *columns: str) -> list[tuple[int, int, dict[str, Any]]]:
        """Return first trial, number of trials and first cell of each group of rows."""
        found: list[tuple[int, int, dict[str, Any]]] = []
        place = 0
        for cell, count in zip(self.cells, self.counts, strict=True):
            if found and all(found[-1][2][name] == cell[name] for name in columns):
                found[-1] = (found[-1][0], found[-1][1] + count, found[-1][2])
            else:
                found.append((place, count, cell))
            place += count
        return found


@drawn
def path_map_figure(
    trials: pd.DataFrame,
    similarities: pd.DataFrame,
    *,
    title: str,
    subtitle: str,
    name: str = "path_map",
) -> Drawing:
    """Draw each task's trials against each other; the darker, the less alike.

    Parameters
    ----------
    trials, similarities : pandas.DataFrame
        As :class:`steelyard.analysis.path_map.PathMap` holds them. Trials stand in the order of
        the frame: by arm, perturbation and path. Neighbours with one path are one rectangle, and
        tasks in which the same would be drawn share a panel. At most twelve panels are drawn,
        those with the least similar trials; the subtitle then says so.
    title, subtitle : str
        The question, and what a path is.
    name : str
        The file name of the drawing.

    Returns
    -------
    Drawing
    """
    every = _panels(records(trials), records(similarities))
    panels = _least_alike(every)
    if len(panels) < len(every):
        subtitle += f" The {len(panels)} of {len(every)} panels with the least similar trials."
    heads = [_head(panel) for panel in panels]
    lines = [heads[start : start + 2] for start in range(0, len(heads), 2)]
    tops = [_LINE * max(len(head) for head in line) + 0.07 for line in lines]
    height = sum(tops) + len(lines) * (_SIDE + 0.1)
    sheet = Sheet(title, subtitle, body_height=height + 0.62)
    least = _floor(panels)
    top = sheet.top
    for index, (panel, head) in enumerate(zip(panels, heads, strict=True)):
        column = index % 2
        if column == 0:
            top += tops[index // 2]
        left = _LEFT + column * (_SIDE + _BETWEEN)
        for number, line in enumerate(reversed(head)):
            sheet.text(left, top - 0.1 - _LINE * number, line, size=8.5)
        _draw(sheet.axes(left, top, _SIDE, _SIDE), panel, least)
        if column == 0:
            _labels(sheet, top, panel)
        if column == 1:
            top += _SIDE + 0.1
    _legend(sheet, sheet.top + height + 0.2, least)
    return sheet.finish(name, " ".join(_describe(panel) for panel in every))


def _panels(trials: list[dict[str, Any]], similarities: list[dict[str, Any]]) -> list[_Panel]:
    """Return one panel for all tasks in which the same would be drawn."""
    values: dict[str, dict[tuple[int, int], float]] = {}
    for row in similarities:
        pairs = values.setdefault(str(row["task"]), {})
        pairs[row["path"], row["other"]] = pairs[row["other"], row["path"]] = row["similarity"]
    found: dict[Any, _Panel] = {}
    for task in dict.fromkeys(str(row["task"]) for row in trials):
        cells = [row for row in trials if str(row["task"]) == task]
        matrix = np.array([[values[task][a["path"], b["path"]] for b in cells] for a in cells])
        key = (
            tuple((c["arm"], c["perturbation"], c["trials"]) for c in cells),
            matrix.round(9).tobytes(),
        )
        found.setdefault(key, _Panel([], cells, matrix)).tasks.append(task)
    return list(found.values())


def _least_alike(panels: list[_Panel]) -> list[_Panel]:
    def mean(panel: _Panel) -> float:
        return float(np.average(panel.matrix, weights=np.outer(panel.counts, panel.counts)))

    kept = sorted(panels, key=mean)[:_MOST]
    return [panel for panel in panels if any(panel is one for one in kept)]


def _head(panel: _Panel) -> list[str]:
    shown = panel.tasks[:4]
    rest = len(panel.tasks) - len(shown)
    names = ", ".join(shown) + (f" and {rest} more" if rest else "")
    each = "each " if len(panel.tasks) > 1 else ""
    return [*textwrap.wrap(names, _LETTERS), f"{each}n = {panel.total}"]


def _floor(panels: Sequence[_Panel]) -> float:
    """Return the fifth below the least similarity, at most 0.6: where the ink is darkest."""
    least = min((float(panel.matrix.min()) for panel in panels), default=0.0)
    return float(min(0.6, max(-1.0, np.floor(least * 5 + 1e-9) / 5)))


def _draw(axes: Axes, panel: _Panel, least: float) -> None:
    axes.set_xlim(0, panel.total)
    axes.set_ylim(panel.total, 0)
    axes.set_xticks([])
    axes.set_yticks([])
    for place, _, _ in panel.starts("arm", "perturbation")[1:]:
        axes.axhline(place, color=RULE, linewidth=0.4, zorder=1)
        axes.axvline(place, color=RULE, linewidth=0.4, zorder=1)
    for value, boxes in _runs(panel).items():
        axes.add_patch(_patch(boxes, _shade(value, least)))
    for place, _, _ in panel.starts("arm")[1:]:
        axes.axhline(place, color=INK, linewidth=0.9, zorder=3)
        axes.axvline(place, color=INK, linewidth=0.9, zorder=3)
    for side in ("left", "right", "top", "bottom"):
        axes.spines[side].set_visible(True)


def _runs(panel: _Panel) -> dict[float, list[Rectangle]]:
    """Return, by similarity, the rectangles of trials that are not all on one path."""
    edges = np.cumsum([0, *panel.counts]).tolist()
    found: dict[float, list[Rectangle]] = {}
    for row, values in enumerate(panel.matrix.round(9).tolist()):
        start = 0
        for end in range(1, len(values) + 1):
            if end < len(values) and values[end] == values[start]:
                continue
            if values[start] < 1:
                box = (edges[start], edges[row], edges[end], edges[row + 1])
                found.setdefault(values[start], []).append(box)
            start = end
    return found


def _patch(boxes: Sequence[Rectangle], color: tuple[float, float, float]) -> PathPatch:
    """Return all rectangles of one shade as one shape."""
    from matplotlib.patches import PathPatch
    from matplotlib.path import Path

    points: list[tuple[int, int]] = []
    for left, top, right, bottom in boxes:
        points += [(left, top), (right, top), (right, bottom), (left, bottom), (left, top)]
    codes = [Path.MOVETO, Path.LINETO, Path.LINETO, Path.LINETO, Path.CLOSEPOLY] * len(boxes)
    return PathPatch(Path(points, codes), facecolor=color, edgecolor="none", zorder=2)


def _shade(value: float, least: float) -> tuple[float, float, float]:
    """Return white for equal paths, dark blue for the least similar ones."""
    part = (1 - value) / (1 - least)
    light, dark = (1.0, 1.0, 1.0), (0.02, 0.19, 0.38)
    red, green, blue = (a + (b - a) * part for a, b in zip(light, dark, strict=True))
    return red, green, blue


def _labels(sheet: Sheet, top: float, panel: _Panel) -> None:
    """Write the perturbations, and the arms above them, left of a panel."""
    scale = _SIDE / panel.total
    for place, count, cell in panel.starts("arm"):
        y = top + (place + count / 2) * scale
        lines = textwrap.wrap(str(cell["arm"]).replace("_", "_ "), 9)
        text = "\n".join(lines).replace("_ ", "_")
        size = _size(text.splitlines(), count * scale)
        sheet.text(0.2, y, text, size=size, rotation=90, ha="center", weight="bold")
    parts = [part for part in panel.starts("arm", "perturbation") if part[1] * scale >= _SMALLEST]
    # A letter of 1/72 inch fills nine tenths of its line: neighbours' letters must not touch.
    size = min([7.5, *(0.9 * 72 * count * scale for _, count, _ in parts)])
    for place, count, cell in parts:
        y = top + (place + count / 2) * scale
        sheet.text(_LEFT - 0.05, y, str(cell["perturbation"]), size=size, ha="right")


def _size(lines: Sequence[str], room: float) -> float:
    """Return the size of letters at which an arm's name stays beside its rows of a panel."""
    longest = max((len(line) for line in lines), default=1)
    fitting = 8.5 * room / (longest * _BOLD_LETTER)
    return min(8.5 if len(lines) < 3 else 7.0, fitting)


def _legend(sheet: Sheet, y: float, least: float) -> None:
    from matplotlib.patches import Rectangle as Box

    sheet.text(0.1, y, "Similarity of two trials:", size=8, color=QUIET)
    steps = np.linspace(1, least, 5)
    left, width = 1.55, 0.56
    for index, value in enumerate(steps.tolist()):
        box = (left + index * (width + 0.05), y - 0.07)
        axes = sheet.axes(box[0], box[1], 0.2, 0.14)
        axes.set_axis_off()
        axes.add_patch(
            Box((0, 0), 1, 1, facecolor=_shade(value, least), edgecolor=QUIET, linewidth=0.6)
        )
        sheet.text(box[0] + 0.24, y, format_rate(value, 0), size=8)
    words = f"1 {MINUS} edits / longer path. White: the same calls in the same order."
    sheet.text(0.1, y + 0.2, words, size=8, color=QUIET)


def _describe(panel: _Panel) -> str:
    who = ", ".join(panel.tasks)
    each = "each " if len(panel.tasks) > 1 else ""
    apart = [cell for cell in panel.cells if cell["path"] != 1]
    parts = [
        f"{cell['trials']} of {cell['arm']}, {cell['perturbation']}, on path {cell['path']} "
        f"({format_rate(_to_first(panel, cell), 0)} like path 1)"
        for cell in apart
    ]
    same = panel.total - sum(int(cell["trials"]) for cell in apart)
    return (
        f"{who}: {each}{same} of {panel.total} trials on path 1; "
        + ("; ".join(parts) or "no other")
        + "."
    )


def _to_first(panel: _Panel, cell: dict[str, Any]) -> float:
    first = next((i for i, one in enumerate(panel.cells) if one["path"] == 1), 0)
    own = next(i for i, one in enumerate(panel.cells) if one is cell)
    return float(panel.matrix[first, own])
