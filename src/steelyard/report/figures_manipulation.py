"""Did the perturbation reach the agent? Applied over assigned, as a map of cells."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from steelyard.report import formats
from steelyard.report.drawing import INK, QUIET, WIDTH, Drawing, Sheet, drawn
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_ROW = 0.44
_LEFT = 1.05
_LETTER = 0.072  # inches per letter of an arm at full size


@drawn
def manipulation_figure(
    frame: pd.DataFrame, *, title: str, subtitle: str, name: str = "manipulation"
) -> Drawing:
    """Draw one cell per perturbation and arm: how many assigned trials met the perturbation.

    Parameters
    ----------
    frame : pandas.DataFrame
        As `steelyard.analysis.manipulation` returns it: ``arm``, ``perturbation``,
        ``assigned``, ``recorded``, ``applied``, ``rate``. Order of first appearance is kept.
        A cell where nothing was recorded is grey and hatched: unknown is not zero.
    title, subtitle : str
        The question, and what counts as applied.
    name : str
        The file name of the drawing.

    Returns
    -------
    Drawing
    """
    rows = records(frame)
    arms = list(dict.fromkeys(str(row["arm"]) for row in rows))
    perturbations = list(dict.fromkeys(str(row["perturbation"]) for row in rows))
    heads = [arm.replace(":", ":\n").splitlines() for arm in arms]
    head = 0.16 * _deepest(heads) + 0.12
    sheet = Sheet(title, subtitle, body_height=head + _ROW * len(perturbations) + 0.42)
    width = min(1.5, (WIDTH - _LEFT - 0.1) / len(arms))
    letters = max(len(line) for lines in heads for line in lines)
    size = max(5.5, min(8.5, 8.5 * width / (_LETTER * letters)))
    for index, lines in enumerate(heads):
        for line_index, line in enumerate(lines):
            y = sheet.top + 0.1 + 0.16 * (line_index + _deepest(heads) - len(lines))
            sheet.text(_LEFT + (index + 0.5) * width, y, line, ha="center", size=size)
    top = sheet.top + head
    axes = sheet.axes(_LEFT, top, width * len(arms), _ROW * len(perturbations))
    axes.set_xlim(0, len(arms))
    axes.set_ylim(len(perturbations), 0)
    axes.set_axis_off()
    for index, perturbation in enumerate(perturbations):
        sheet.text(0.1, top + (index + 0.5) * _ROW, perturbation, size=9)
    for row in rows:
        _cell(axes, row, arms.index(str(row["arm"])), perturbations.index(row["perturbation"]))
    _legend(sheet, top + _ROW * len(perturbations) + 0.22)
    return sheet.finish(name, "; ".join(_describe(row) for row in rows) + ".")


def _deepest(heads: list[list[str]]) -> int:
    return max(len(lines) for lines in heads)


def _cell(axes: Axes, row: dict[str, Any], x: int, y: int) -> None:
    from matplotlib.patches import Rectangle

    box = (x + 0.03, y + 0.06)
    known = int(row["recorded"]) > 0
    color = _shade(float(row["rate"])) if known else "#efefef"
    axes.add_patch(Rectangle(box, 0.94, 0.88, facecolor=color, edgecolor="none"))
    if not known:
        axes.add_patch(
            Rectangle(box, 0.94, 0.88, fill=False, hatch="////", edgecolor="#c4c4c4", linewidth=0)
        )
    ink = "white" if known and float(row["rate"]) > 0.7 else INK
    main = _applied(row) if known else "unknown"
    note = formats.format_rate(row["rate"], 0) if known else f"{int(row['assigned'])} assigned"
    backing = None if known else {"facecolor": "#efefef", "edgecolor": "none", "pad": 0.8}
    axes.text(
        x + 0.5, y + 0.36, main, ha="center", va="center", color=ink, fontsize=9,
        weight="bold" if known else "normal", bbox=backing,
    )  # fmt: skip
    axes.text(
        x + 0.5, y + 0.7, note, ha="center", va="center", color=ink, fontsize=7.5, bbox=backing
    )


def _applied(row: dict[str, Any]) -> str:
    return f"{int(row['applied'])}/{int(row['recorded'])}"


def _shade(rate: float) -> tuple[float, float, float]:
    """Return a blue between nearly white (none applied) and Okabe-Ito's blue (all applied)."""
    light, dark = (0.93, 0.96, 0.98), (0.0, 0.447, 0.698)
    return (
        light[0] + (dark[0] - light[0]) * rate,
        light[1] + (dark[1] - light[1]) * rate,
        light[2] + (dark[2] - light[2]) * rate,
    )


def _legend(sheet: Sheet, y: float) -> None:
    text = "applied/recorded, of the trials assigned; hatched: nobody recorded it"
    sheet.text(0.1, y, text, size=8, color=QUIET)


def _describe(row: dict[str, Any]) -> str:
    label = f"{row['arm']}, {row['perturbation']}"
    if int(row["recorded"]) == 0:
        return f"{label}: not recorded for any of {int(row['assigned'])} trials"
    return f"{label}: applied in {_applied(row)}"
