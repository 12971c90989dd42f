"""Tables as Markdown, CSV, HTML and terminal text, all from one description of the columns.

A frame from the analysis room has one value per column. A printed table has fewer, wider cells
(``52/64``, ``[70.0%, 88.9%]``). A `Column` says how one printed cell is put together.
"""

from __future__ import annotations

import csv
import html
import io
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError
from steelyard.report import formats

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table as RichTable

Formatter = Callable[..., str]

KINDS: dict[str, Formatter] = {
    "text": formats.format_text,
    "code": formats.format_text,
    "flag": formats.format_flag,
    "count": formats.format_count,
    "rate": formats.format_rate,
    "points": formats.format_points,
    "size": formats.format_size,
    "p": formats.format_p,
    "number": formats.format_number,
}
_PAIRS = {"fraction", "rate interval", "points interval", "number interval"}
_LEFT = {"text", "code", "flag"}


@dataclass(frozen=True)
class Column:
    """One printed column.

    Parameters
    ----------
    header : str
        What stands above it.
    sources : tuple of str
        The frame's columns it is made of: one, or two for a fraction or an interval.
    kind : str
        A key of `KINDS`, or ``"fraction"``, ``"rate interval"``, ``"points interval"``,
        ``"number interval"``.
    """

    header: str
    sources: tuple[str, ...]
    kind: str = "text"

    def __post_init__(self) -> None:
        """Refuse a kind that does not exist or does not fit the number of sources."""
        if self.kind not in KINDS and self.kind not in _PAIRS:
            raise InputError(
                f"column {self.header!r}: kind {self.kind!r} is none of "
                f"{', '.join([*KINDS, *sorted(_PAIRS)])}"
            )
        if len(self.sources) != (2 if self.kind in _PAIRS else 1):
            raise InputError(f"column {self.header!r}: kind {self.kind!r} and {self.sources!r}")

    @property
    def numeric(self) -> bool:
        """Whether the cells stand right-aligned."""
        return self.kind not in _LEFT

    def cell(self, row: dict[str, Any]) -> str:
        """Return the printed text of this column for one row."""
        value, *second = (row[source] for source in self.sources)
        if self.kind == "fraction":
            return _fraction(value, second[0])
        if self.kind in _PAIRS:
            return formats.format_interval(value, second[0], KINDS[self.kind.split()[0]])
        return KINDS[self.kind](value)


def column(header: str, *sources: str, kind: str = "text") -> Column:
    """Return a `Column`; the short form for lists of columns."""
    return Column(header, sources, kind)


def markdown_table(frame: pd.DataFrame, columns: Sequence[Column]) -> str:
    """Return a Markdown table with one line per row, ending in a line break.

    A pipe or a line break inside a cell is escaped, so that the table stays one table.
    """
    lines = [
        _markdown_line(column.header for column in columns),
        _markdown_line("---:" if column.numeric else "---" for column in columns),
    ]
    lines += [
        _markdown_line(_markdown_cell(column, row) for column in columns) for row in records(frame)
    ]
    return "\n".join(lines) + "\n"


def html_table(frame: pd.DataFrame, columns: Sequence[Column], caption: str) -> str:
    """Return an HTML table inside a container that scrolls on its own.

    The first column of each row is a row header, so that a screen reader can name the cell.
    """
    head = "".join(
        f'<th scope="col"{_align(column)}>{html.escape(column.header)}</th>' for column in columns
    )
    body = []
    for row in records(frame):
        cells = [_html_cell(column, row, first=i == 0) for i, column in enumerate(columns)]
        body.append(f"<tr>{''.join(cells)}</tr>")
    label = html.escape(caption, quote=True)
    return (
        f'<div class="scroll" role="region" aria-label="{label}" tabindex="0">'
        f"<table><caption>{html.escape(caption)}</caption>"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n" + "\n".join(body) + "\n</tbody></table></div>"
    )


def csv_text(frame: pd.DataFrame) -> str:
    """Return the frame as CSV: header, LF line ends, fixed float formatting.

    Floats are written with ten significant digits (p-values with six), which is more than any
    interval here is good for and less than what differs between processors; a difference below
    5e-13 is zero. NaN and missing values are blank, infinities ``inf``, truth values ``true``
    and ``false``.
    """
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    names = [str(name) for name in frame.columns]
    writer.writerow(names)
    for row in records(frame):
        writer.writerow([_csv_cell(name, row[name]) for name in names])
    return buffer.getvalue()


def rich_table(
    frame: pd.DataFrame, columns: Sequence[Column] | None = None, title: str | None = None
) -> RichTable:
    """Return a table for the terminal; without ``columns``, every column by its usual kind."""
    from rich.table import Table as RichTable

    table = RichTable(title=title, title_justify="left")
    shown = default_columns(frame) if columns is None else columns
    for column in shown:
        table.add_column(
            column.header, justify="right" if column.numeric else "left", overflow="fold"
        )
    for row in records(frame):
        table.add_row(*(column.cell(row) for column in shown))
    return table


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as dictionaries, in order."""
    names = [str(name) for name in frame.columns]
    return [dict(zip(names, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


_RATES = {
    "estimate", "low", "high", "clustered_low", "clustered_high", "rate", "level", "bound",
    "pass_hat_k", "pass_at_k", "clustered_bound", "published_definition_bound",
}  # fmt: skip
_POINTS = {
    "difference", "newcombe_low", "newcombe_high", "miettinen_nurminen_low",
    "miettinen_nurminen_high", "clustered_difference", "margin", "smallest_margin",
}  # fmt: skip


def default_columns(frame: pd.DataFrame) -> list[Column]:
    """Return one `Column` per column of ``frame``, its kind chosen by its name and type."""
    return [Column(str(name), (str(name),), _kind(frame, str(name))) for name in frame.columns]


def _kind(frame: pd.DataFrame, name: str) -> str:
    dtype = frame[name].dtype
    if dtype.kind == "b":
        return "flag"
    if name.startswith("p_"):
        return "p"
    if name in _POINTS:
        return "points"
    if name in _RATES:
        return "rate"
    if dtype.kind in "iu":
        return "count"
    return "number" if dtype.kind == "f" else "text"


def _fraction(successes: Any, total: Any) -> str:
    if formats.is_missing(successes) or formats.is_missing(total):
        return formats.MISSING
    return f"{int(successes)}/{int(total)}"


def _markdown_line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _markdown_cell(column: Column, row: dict[str, Any]) -> str:
    text = " ".join(column.cell(row).split())
    if column.kind == "code" and text != formats.MISSING:
        return "`" + text.replace("`", "'").replace("|", "\\|") + "`"
    return text.replace("|", "\\|").replace("<", "&lt;")


def _html_cell(column: Column, row: dict[str, Any], *, first: bool) -> str:
    text = html.escape(column.cell(row))
    if column.kind == "code" and text != formats.MISSING:
        text = f"<code>{text}</code>"
    return (
        f'<th scope="row"{_align(column)}>{text}</th>'
        if first
        else f"<td{_align(column)}>{text}</td>"
    )


def _align(column: Column) -> str:
    return ' class="n"' if column.numeric else ""


def _csv_cell(name: str, value: Any) -> str:
    if formats.is_missing(value):
        return ""
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return "true" if value else "false"
    if isinstance(value, float):
        return _csv_float(name, float(value))
    return str(value)


def _csv_float(name: str, number: float) -> str:
    if math.isinf(number):
        return "inf" if number > 0 else "-inf"
    if name.startswith("p_"):
        return f"{number:.6g}"
    return f"{number:.10g}" if abs(number) >= 5e-13 else "0"
