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

WIDEST_TEXT = 50
"""Width from which a text of a table without chosen columns is folded."""


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
    """

    verb: str
    frame: pd.DataFrame
    columns: Sequence[Column] | None = None
    caption: str = ""
    study: str | None = None


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
    """Return the JSON value for a cell: NaN and NA become null, infinities ``"inf"``/``"-inf"``."""
    if isinstance(value, Mapping):
        return {str(key): json_value(member) for key, member in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [json_value(member) for member in value]
    if hasattr(value, "tolist"):  # a NumPy scalar or array
        return json_value(value.tolist())
    return _json_scalar(value)


def _json_scalar(value: Any) -> Any:
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if isinstance(value, float) and math.isnan(value):
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
    from rich import box

    from steelyard.report.tables import rich_table

    out = console()
    columns = _fitting(result.frame, out.width) if result.columns is None else result.columns
    table = rich_table(result.frame, columns)
    table.box, table.show_edge, table.collapse_padding = box.SIMPLE_HEAD, False, True
    for cells in table.columns:
        cells.no_wrap = cells.justify == "right"  # a number stays on one line, a text may fold
    out.print(table)
    if result.caption:
        out.print(result.caption)
    shown = {source for column in columns for source in column.sources}
    hidden = [name for name in result.frame.columns if str(name) not in shown]
    if hidden:
        out.print(f"{len(hidden)} more columns: --json or --csv.")
    sys.stdout.flush()


def _fitting(frame: pd.DataFrame, width: int) -> list[Column]:
    """Return the leading columns that fit beside each other, at least one."""
    from rich.cells import cell_len

    from steelyard.report.tables import default_columns, records

    rows_shown = records(frame)
    chosen: list[Column] = []
    used = 0
    for column in default_columns(frame):
        texts = [column.header, *(column.cell(row) for row in rows_shown)]
        used += 2 + min(max(map(cell_len, texts)), WIDEST_TEXT)
        if chosen and used > width:
            break
        chosen.append(column)
    return chosen
