"""Gates against arms: how often each gate passes each arm, and what only it catches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError
from steelyard.report import formats
from steelyard.report.drawing import INK, QUIET, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROW = 0.125  # inches
_GAP = 0.2  # above a group of gates, where its name stands
_RIGHT = 0.08
_LETTER = 0.0079  # inches per letter and point of size, a little more than most take
_POINT = 1 / 72  # inches
_LARGEST, _SMALLEST = 7.0, 4.5  # points
_NOTHING, _HATCH = "#efefef", "#c4c4c4"
_FAILS = (0.835, 0.369, 0.0)  # Okabe and Ito's vermilion
_PASSES = (0.925, 0.955, 0.975)
_SHOWN = (1.0, 0.75, 0.5, 0.25, 0.0)  # rates in the legend

Row = dict[str, Any]


@drawn
def gate_matrix_figure(
    frame: pd.DataFrame,
    *,
    title: str,
    subtitle: str,
    groups: Sequence[Mapping[str, Any]],
    name: str = "gate_matrix",
) -> Drawing:
    """Draw one cell per gate and arm, the darker the more of its trials fail the gate.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.gates_caught.gate_matrix` returns it: ``gate``, ``arm``,
        ``passed``, ``evaluated``, ``rate``, ``alone``. Arms keep their order of appearance. A cell
        without an evaluated trial is grey and hatched; a cell in which the gate catches a trial
        alone has a dot.
    title, subtitle : str
        The question, and what the colours are.
    groups : sequence of mapping
        The blocks of rows, in order: the ``name`` of each, and its ``gates`` in order.
    name : str
        The file name of the drawing.

    Returns
    -------
    Drawing

    Raises
    ------
    InputError
        A gate of the frame is in no group or in two, or a group names one that is not there.
    """
    rows = records(frame)
    arms = list(dict.fromkeys(str(row["arm"]) for row in rows))
    cells = {(str(row["gate"]), str(row["arm"])): row for row in rows}
    blocks = _blocks(groups, {gate for gate, _ in cells})
    longest = max(len(gate) for gate, _ in cells)
    left = 0.1 + longest * _LETTER * 6.3 + 0.06
    width = (WIDTH - left - _RIGHT) / len(arms)
    size = max(_SMALLEST, min(_LARGEST, width / _POINT))
    head = max(len(arm) for arm in arms) * _LETTER * size + 0.04
    height = sum(_GAP + _ROW * len(gates) for _, gates in blocks)
    sheet = Sheet(title, subtitle, body_height=head + height + 0.62)
    top = sheet.top + head
    for index, arm in enumerate(arms):
        x = left + (index + 0.5) * width
        sheet.text(x, top + 0.03, arm, ha="center", va="bottom", rotation=90, size=size)
    for label, gates in blocks:
        sheet.text(0.1, top + _GAP * 0.62, label, size=7.5, weight="bold")
        top += _GAP
        axes = sheet.axes(left, top, width * len(arms), _ROW * len(gates))
        _block(axes, gates, arms, cells)
        for index, gate in enumerate(gates):
            sheet.text(0.1, top + (index + 0.5) * _ROW, gate, size=6.3)
        top += _ROW * len(gates)
    _legend(sheet, top + 0.16)
    return sheet.finish(name, _describe(blocks, arms, cells))


Block = tuple[str, list[str]]


def _blocks(groups: Sequence[Mapping[str, Any]], known: set[str]) -> list[Block]:
    """Return the groups as names and gates, each gate of the frame in one of them."""
    blocks = [(str(group["name"]), [str(gate) for gate in group["gates"]]) for group in groups]
    named = [gate for _, gates in blocks for gate in gates]
    twice = sorted({gate for gate in named if named.count(gate) > 1})
    for what, wrong in (
        ("named twice", twice),
        ("in no group", sorted(known - set(named))),
        ("no gate of the frame", sorted(set(named) - known)),
    ):
        if wrong:
            raise InputError(f"groups: {', '.join(wrong)}: {what}")
    return blocks


def _block(
    axes: Axes, gates: Sequence[str], arms: Sequence[str], cells: Mapping[tuple[str, str], Row]
) -> None:
    from matplotlib.patches import Rectangle

    axes.set_xlim(0, len(arms))
    axes.set_ylim(len(gates), 0)
    axes.set_axis_off()
    # Most cells pass: one rectangle for all of them keeps the file small.
    axes.add_patch(Rectangle((0, 0), len(arms), len(gates), facecolor=_shade(1.0)))
    for y, gate in enumerate(gates):
        for x, arm in enumerate(arms):
            _cell(axes, cells.get((gate, arm)), x, y)
    axes.vlines(range(1, len(arms)), 0, len(gates), color="white", linewidth=0.8)
    axes.hlines(range(1, len(gates)), 0, len(arms), color="white", linewidth=0.8)


def _cell(axes: Axes, row: Row | None, x: float, y: float) -> None:
    from matplotlib.patches import Rectangle

    if row is None or int(row["evaluated"]) == 0:
        axes.add_patch(
            Rectangle(
                (x, y), 1, 1, facecolor=_NOTHING, hatch="//////", edgecolor=_HATCH, linewidth=0
            )
        )
    elif float(row["rate"]) < 1.0:
        axes.add_patch(Rectangle((x, y), 1, 1, facecolor=_shade(float(row["rate"]))))
    if row is not None and int(row["alone"]):
        axes.plot(x + 0.5, y + 0.5, "o", color=INK, markersize=2.3, mec="white", mew=0.35, zorder=3)


def _shade(rate: float) -> tuple[float, float, float]:
    """Return a colour from nearly white (all pass) to vermilion (all fail).

    A single failure is told from none: a rate below 1 begins a step away from white.
    """
    share = 0.0 if rate >= 1.0 else 0.18 + 0.82 * (1.0 - rate)
    first, second, third = (
        light + (dark - light) * share for light, dark in zip(_PASSES, _FAILS, strict=True)
    )
    return first, second, third


def _legend(sheet: Sheet, y: float) -> None:
    scale = [{"gate": "", "arm": str(r), "evaluated": 1, "rate": r, "alone": 0} for r in _SHOWN]
    axes = sheet.axes(0.1, y - 0.06, 0.12 * len(scale), 0.12)
    _block(axes, [""], [str(rate) for rate in _SHOWN], {("", str(r["arm"])): r for r in scale})
    text = "passes: all, 3/4, half, 1/4, none of the trials evaluated"
    sheet.text(0.16 + 0.12 * len(scale), y, text, size=7.5, color=QUIET)
    marks = sheet.axes(0.1, y + 0.13, 0.24, 0.12)
    alone = {"evaluated": 1, "rate": 0.0, "alone": 1}
    _block(marks, [""], ["", "alone"], {("", "alone"): alone})
    text = "hatched: never evaluated; dot: catches a trial that no other gate does"
    sheet.text(0.4, y + 0.19, text, size=7.5, color=QUIET)


def _describe(
    blocks: Sequence[Block],
    arms: Sequence[str],
    cells: Mapping[tuple[str, str], Row],
) -> str:
    """Say what every gate sees: the arms that do not always pass it."""
    parts = []
    for label, gates in blocks:
        lines = []
        for gate in gates:
            found = [(arm, cells[gate, arm]) for arm in arms if (gate, arm) in cells]
            seen = [
                f"{arm} {formats.format_rate(row['rate'], 0)}{' alone' if row['alone'] else ''}"
                for arm, row in found
                if int(row["evaluated"]) and float(row["rate"]) < 1.0
            ]
            lines.append(f"{gate}: {', '.join(seen) or 'every arm passes'}")
        parts.append(f"{label}. {'; '.join(lines)}")
    return ". ".join(parts) + "."
