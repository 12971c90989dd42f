"""How a result is printed: a readable table, JSON or CSV. The only module of the room that prints.

The table shows the columns that answer the question, and below them what they are an estimate of
and which trials they rest on. JSON and CSV hold every column.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console

    from steelyard.report.tables import Column

WIDTH = 100
"""Width of a table that goes into a file or a pipe, where there is no terminal to ask."""

GAP = 2
"""Spaces between two columns."""

FOLDED = 16
"""A text is not folded into less than this."""

LONGEST_WORD = 40
"""A word of up to this length is not broken."""


@dataclass(frozen=True)
class Result:
    """What a verb has to say.

    Parameters
    ----------
    verb : str
        Its name, for the JSON document.
    frame : pandas.DataFrame
        Every row and column.
    columns : sequence of Column, optional
        What the readable table shows; every column when absent.
    caption : str
        Estimand, policy and denominators, in sentences.
    study : str, optional
        The study's id.
    sections : sequence of str, optional
        Columns of text; the readable output has a table for each combination of their values.
    """

    verb: str
    frame: pd.DataFrame
    columns: Sequence[Column] | None = None
    caption: str = ""
    study: str | None = None
    sections: Sequence[str] = ()


def check_format(as_json: bool, as_csv: bool) -> None:
    """Refuse two formats at once, before anything is computed."""
    if as_json and as_csv:
        raise InputError("--json and --csv exclude each other; give one of them")


def emit(result: Result, *, as_json: bool = False, as_csv: bool = False) -> None:
    """Print a result in the format that was asked for."""
    if as_json:
        document = {"verb": result.verb, "caption": result.caption, "rows": rows(result.frame)}
        if result.study is not None:
            document["study"] = result.study
        write(to_json(document))
    elif as_csv:
        from steelyard.report.tables import csv_text

        write(csv_text(result.frame))
    else:
        _show_table(result)


def write(text: str) -> None:
    """Print text and flush it, so that a reader who has gone is noticed here."""
    sys.stdout.write(text)
    sys.stdout.flush()


def to_json(document: Any) -> str:
    """Return JSON with sorted members and a final line break; see `json_value`."""
    text = json.dumps(json_value(document), sort_keys=True, indent=2, ensure_ascii=False)
    return text + "\n"


def rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a frame as objects that JSON can hold."""
    from steelyard.report.tables import records

    return [json_value(record) for record in records(frame)]


def json_value(value: Any) -> Any:
    """Return the JSON value for a cell: NaN, NA and infinities, which JSON lacks, become null."""
    if isinstance(value, Mapping):
        return {str(key): json_value(member) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(member) for member in value]
    if hasattr(value, "tolist"):  # a NumPy scalar or array
        return json_value(value.tolist())
    return _json_scalar(value)


def _json_scalar(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if type(value).__name__ in {"NAType", "NaTType"}:  # pandas, which need not be loaded
        return None
    if value is None or isinstance(value, str | bool | int | float):
        return value
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def console(*, stderr: bool = False) -> Console:
    """Return a console that takes every text literally; without a terminal, `WIDTH` wide."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    fixed = None if stream.isatty() or "COLUMNS" in os.environ else WIDTH
    return Console(file=stream, width=fixed, highlight=False, markup=False, emoji=False)


def _show_table(result: Result) -> None:
    from steelyard.report.tables import default_columns

    out = console()
    frame = result.frame
    wanted = default_columns(frame) if result.columns is None else result.columns
    columns = _fitting(frame, wanted, out.width)
    if result.sections:
        for names, part in frame.groupby(list(result.sections), sort=False):
            out.print(", ".join(map(str, names)))
            _print_table(out, part, columns)
    else:
        _print_table(out, frame, columns)
    if result.caption:
        out.print(result.caption)
    shown = {source for column in columns for source in column.sources} | set(result.sections)
    hidden = [name for name in frame.columns if str(name) not in shown]
    if hidden:
        out.print(f"{len(hidden)} more columns: --json or --csv.")
    sys.stdout.flush()


def _fitting(frame: pd.DataFrame, columns: Sequence[Column], width: int) -> list[Column]:
    """Return the leading columns that stay readable beside each other, at least one."""
    from steelyard.report.tables import records

    shown = records(frame)
    chosen: list[Column] = []
    used = -GAP
    for column in columns:
        used += GAP + _least_width(column, [column.cell(row) for row in shown])
        if chosen and used > width:
            break
        chosen.append(column)
    return chosen


def _least_width(column: Column, texts: Sequence[str]) -> int:
    """Return the width below which a column would break numbers or words."""
    from rich.cells import cell_len

    header = max(map(cell_len, column.header.splitlines()))
    longest = max(map(cell_len, texts), default=0)
    if column.numeric or longest <= FOLDED:
        return max(header, longest)
    word = max(cell_len(word) for text in texts for word in text.split())
    return max(header, FOLDED, min(word, LONGEST_WORD))


def _print_table(out: Console, frame: pd.DataFrame, columns: Sequence[Column]) -> None:
    from rich import box

    from steelyard.report.tables import records, rich_table

    table = rich_table(frame, columns)
    table.box, table.show_edge, table.pad_edge = box.SIMPLE_HEAD, False, False
    table.collapse_padding = True
    shown = records(frame)
    for cells, column in zip(table.columns, columns, strict=True):
        cells.min_width = _least_width(column, [column.cell(row) for row in shown])
        cells.no_wrap = column.numeric
    out.print(table, "")
