"""The figures of the report: coverage by number of tasks, and how often tests reject true nulls."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd
from cells import MODELS
from findings import CONFIDENCE, KINDS, LEVEL, Tables, null_kinds

from steelyard.report.drawing import INK, PALETTE, QUIET, RULE, WIDTH, Drawing, Sheet, drawn
from steelyard.report.formats import format_rate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LEFT, _BETWEEN, _PANEL, _HEAD = 0.55, 0.22, 1.1, 0.46
_USUAL, _OVER = "Wilson", "Wilson, over tasks"
_STYLES = {
    _USUAL: ("trials as independent", PALETTE[1], "D", -0.13),
    _OVER: ("tasks as the sample", PALETTE[0], "o", 0.13),
}


@drawn
def coverage_figure(tables: Tables) -> Drawing:
    """Draw the coverage of both Wilson intervals by number of tasks, one panel a model."""
    rates = tables["rates"]
    equal = rates[rates["repeats"] != "unequal"]
    sheet = Sheet(
        "How often does a 95% interval hold the truth?",
        "Marks: a true rate and a number of repeats each. Lines: their means.",
        body_height=3 * (_PANEL + _HEAD) + 0.5,
    )
    width = (WIDTH - _LEFT - _BETWEEN - 0.15) / 2
    tasks = sorted(int(count) for count in equal["tasks"].unique())
    floor = int(equal["coverage"].min() * 10) / 10
    said = []
    for index, model in enumerate(MODELS):
        left = _LEFT + (index % 2) * (width + _BETWEEN)
        top = sheet.top + (index // 2) * (_PANEL + _HEAD) + _HEAD
        sheet.text(left, top - 0.14, model)
        axes = sheet.axes(left, top, width, _PANEL)
        _coverage_scales(axes, tasks, floor, labelled=index % 2 == 0)
        for procedure in _STYLES:
            part = equal[(equal["model"] == model) & (equal["procedure"] == procedure)]
            said.append(_coverage_line(axes, part, tasks, model, procedure))
    _key(sheet, _LEFT + width + _BETWEEN, sheet.top + 2 * (_PANEL + _HEAD) + _HEAD)
    sheet.text(_LEFT, sheet.height - 0.14, "number of tasks")
    return sheet.finish("coverage", "; ".join(said) + ".")


def _coverage_scales(axes: Axes, tasks: list[int], floor: float, *, labelled: bool) -> None:
    axes.set_xlim(-0.5, len(tasks) - 0.5)
    axes.set_ylim(floor, 1.0)
    axes.set_xticks(range(len(tasks)), [str(count) for count in tasks])
    ticks = [level / 100 for level in range(100, round(100 * floor) - 1, -20)]
    axes.set_yticks(ticks, [f"{100 * tick:.0f}%" for tick in ticks])
    axes.tick_params(axis="y", length=0, labelleft=labelled)
    axes.grid(axis="y", color=RULE, linewidth=0.8)
    axes.axhline(CONFIDENCE, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))


def _coverage_line(
    axes: Axes, part: pd.DataFrame, tasks: list[int], model: str, procedure: str
) -> str:
    """Draw one interval's marks and the line of their means; say the means in words."""
    name, colour, marker, shift = _STYLES[procedure]
    means = []
    for place, count in enumerate(tasks):
        found = part.loc[part["tasks"] == count, "coverage"]
        means.append(float(found.mean()))
        axes.plot(
            [place + shift] * len(found), found, marker, markersize=2.6, color=colour, alpha=0.55,
            mec="none", clip_on=False,
        )  # fmt: skip
    axes.plot([place + shift for place in range(len(tasks))], means, color=colour, linewidth=1.4)
    words = ", ".join(
        f"{count} tasks {format_rate(mean)}" for count, mean in zip(tasks, means, strict=True)
    )
    return f"{model}, {name}, mean coverage: {words}"


def _key(sheet: Sheet, left: float, top: float) -> None:
    """Explain the marks in the place of the sixth panel."""
    for index, (name, colour, marker, _) in enumerate(_STYLES.values()):
        y = top + 0.2 + 0.24 * index
        axes = sheet.axes(left, y - 0.08, 0.3, 0.16)
        axes.set_axis_off()
        axes.plot([0, 1], [0, 0], color=colour, linewidth=1.4)
        axes.plot([0.5], [0], marker, color=colour, markersize=4)
        sheet.text(left + 0.4, y, name)
    axes = sheet.axes(left, top + 0.6, 0.3, 0.16)
    axes.set_axis_off()
    axes.plot([0, 1], [0, 0], color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
    sheet.text(left + 0.4, top + 0.68, f"promised: {100 * CONFIDENCE:.0f}%")


_ROW, _LABELS = 0.21, 2.35


@drawn
def rejections_figure(tables: Tables) -> Drawing:
    """Draw how often each test rejects where the arms are equally good over tasks."""
    tests = null_kinds(tables)
    names = list(dict.fromkeys(tests["procedure"]))
    height = len(KINDS) * (len(names) * _ROW + 0.36)
    sheet = Sheet(
        "How often is a difference found without one?",
        "Two arms with the same rate over tasks; a mark is one simulated world.",
        body_height=height + 0.65,
    )
    right = float(tests["rejected_rate"].max())
    top, said = sheet.top + 0.3, []
    for index, kind in enumerate(KINDS):
        sheet.text(0.1, top - 0.12, kind, weight="bold")
        axes = sheet.axes(_LABELS, top, WIDTH - _LABELS - 0.25, len(names) * _ROW)
        axes.set_xlim(0, right * 1.02)
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_yticks([])
        ticks = [tick / 100 for tick in range(0, int(100 * right) + 1, 20)]
        last = index == len(KINDS) - 1
        axes.set_xticks(ticks, [f"{100 * tick:.0f}%" if last else "" for tick in ticks])
        axes.axvline(LEVEL, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        for row, name in enumerate(names):
            found = tests[(tests["kind"] == kind) & (tests["procedure"] == name)]
            rates = found["rejected_rate"]
            meant = bool(found["meant"].all())
            axes.axhline(row, color=RULE, linewidth=0.8, zorder=0)
            axes.plot(
                rates, [row] * len(rates), "o" if meant else "D", markersize=4, alpha=0.7,
                color=PALETTE[0] if meant else PALETTE[1], mec="none", clip_on=False,
            )  # fmt: skip
            sheet.text(0.2, top + (row + 0.5) * _ROW, name, color=INK if meant else QUIET)
            said.append(f"{kind}, {name}: {format_rate(rates.min())} to {format_rate(rates.max())}")
        top += len(names) * _ROW + 0.36
    sheet.text(
        0.1, sheet.height - 0.3, "Rejected at 5% (dashed). Blue: the test's own null is true;"
    )
    sheet.text(
        0.1,
        sheet.height - 0.13,
        "orange: it speaks of these very tasks, or of independent trials.",
    )
    return sheet.finish("rejections", "; ".join(said) + ".")
