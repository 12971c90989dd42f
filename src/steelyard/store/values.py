"""From text to values: what blank, NA, NaN and infinity mean, and what a number looks like."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from steelyard.errors import DataError
from steelyard.store.columns import Mapping
from steelyard.store.tabular import TextTable
from steelyard.trials.strict_json import canonical_dumps, loads


class NotApplicable:
    """The text ``NA`` in a number: the value does not apply, as opposed to being unknown."""

    def __repr__(self) -> str:
        return "NOT_APPLICABLE"


NOT_APPLICABLE = NotApplicable()

_INTEGER = re.compile(r"[+-]?[0-9]+")
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?(?:inf|infinity)|nan",
    re.IGNORECASE,
)
_BOOLEANS = {"1": True, "0": False, "true": True, "false": False, "True": True, "False": False}
_LIMITS = {"INTEGER": 2**31, "BIGINT": 2**63}


def texts(mapping: Mapping, table: TextTable, rows: Sequence[int]) -> list[str | None]:
    """Take a mapping's texts from a file.

    Parameters
    ----------
    mapping : Mapping
        Origin and translation.
    table : TextTable
        The file.
    rows : sequence of int
        Which of its rows.

    Returns
    -------
    list of str or None
        One per row; None where the text is one of the mapping's ``nulls`` or is translated to
        the empty text.

    Raises
    ------
    DataError
        Where a text has no translation; the message lists the known ones.
    """
    raw = _origin(mapping, table, rows)
    translated: dict[str, str | None] = {}
    result = []
    for row, text in zip(rows, raw, strict=True):
        if text not in translated:
            translated[text] = _translate(mapping, text, table, row)
        result.append(translated[text])
    return result


def convert(
    cells: Sequence[str | None],
    sql_type: str,
    table: TextTable,
    rows: Sequence[int],
    mapping: Mapping,
) -> list[Any]:
    """Read texts as values of a column type.

    Parameters
    ----------
    cells : sequence of str or None
        From `texts`.
    sql_type : {"TEXT", "INTEGER", "BIGINT", "DOUBLE", "BOOLEAN", "JSON"}
        The column's type.
    table, rows : TextTable, sequence of int
        Where the texts stand, for messages.
    mapping : Mapping
        Its ``scale`` multiplies numbers.

    Returns
    -------
    list
        str, int, float, bool or JSON text. A blank number, boolean or JSON is None (not
        measured), ``NA`` is `NOT_APPLICABLE`, ``nan`` and ``inf`` are themselves. Text stays
        text, whatever it says.

    Raises
    ------
    DataError
        With file, line, column, the text and what is accepted.
    """
    if sql_type == "TEXT":
        return list(cells)
    read = _READERS[sql_type]
    known: dict[str, Any] = {}
    values: list[Any] = []
    for row, text in zip(rows, cells, strict=True):
        if text is None:
            values.append(None)
            continue
        if text not in known:
            try:
                value = _read(text, read)
            except ValueError as error:
                column = "+".join(mapping.columns) or "constant"
                raise DataError(f"{table.place(row, column)}: {error}") from None
            if mapping.scale != 1.0 and isinstance(value, (int, float)):
                value *= mapping.scale
            known[text] = value
        values.append(known[text])
    return values


def _origin(mapping: Mapping, table: TextTable, rows: Sequence[int]) -> list[str]:
    if mapping.constant is not None:
        return [mapping.constant] * len(rows)
    if mapping.column is not None:
        column = table.columns[mapping.column]
        return [column[row] for row in rows]
    parts = [table.columns[name] for name in mapping.join]
    return [mapping.separator.join(part[row] for part in parts if part[row]) for row in rows]


def _translate(mapping: Mapping, text: str, table: TextTable, row: int) -> str | None:
    if text in mapping.nulls:
        return None
    if text in mapping.map:
        return mapping.map[text] or None
    for pattern in mapping.patterns:
        found = re.fullmatch(pattern.match, text)
        if found:
            return found.expand(pattern.give) or None
    if mapping.otherwise is not None:
        return mapping.otherwise or None
    if mapping.map or mapping.patterns:
        known = [*map(repr, mapping.map), *(f"/{p.match}/" for p in mapping.patterns)]
        raise DataError(
            f"{table.place(row, '+'.join(mapping.columns))}: no meaning is declared for {text!r}; "
            f"accepted: {', '.join(known)}"
        )
    return text


def _read(text: str, read: Callable[[str], Any]) -> Any:
    if text == "":
        return None
    if text == "NA":
        return NOT_APPLICABLE
    return read(text)


def _number(text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"{text!r} is not a number")
    value = float(text)
    if math.isinf(value) and "inf" not in text.lower():
        raise ValueError(f"{text!r} is too large for a 64-bit float")
    return value


def _integer(sql_type: str) -> Callable[[str], int]:
    limit = _LIMITS[sql_type]

    def read(text: str) -> int:
        if not _INTEGER.fullmatch(text):
            raise ValueError(f"{text!r} is not a whole number")
        if len(text) > 20 or not -limit <= int(text) < limit:
            raise ValueError(f"{text!r} is outside the range of a {sql_type}")
        return int(text)

    return read


def _boolean(text: str) -> bool:
    if text not in _BOOLEANS:
        raise ValueError(f"{text!r} is not a boolean; accepted: {', '.join(_BOOLEANS)}, blank")
    return _BOOLEANS[text]


def _json(text: str) -> str:
    try:
        return canonical_dumps(loads(text))
    except DataError as error:
        raise ValueError(str(error)) from None


_READERS: dict[str, Callable[[str], Any]] = {
    "INTEGER": _integer("INTEGER"),
    "BIGINT": _integer("BIGINT"),
    "DOUBLE": _number,
    "BOOLEAN": _boolean,
    "JSON": _json,
}
