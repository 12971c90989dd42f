"""Strict reading of CSV files as text: nothing guessed, nothing dropped, every line known."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from dataclasses import dataclass
from pathlib import Path

from steelyard.errors import DataError

_FIELD_LIMIT = 64 * 1024 * 1024


@dataclass(frozen=True)
class TextTable:
    """A CSV file in memory, as text.

    Attributes
    ----------
    name : str
        How messages name the file.
    columns : dict of str to list of str
        By column name in the file's order; lists of equal length, one entry per row.
    lines : list of int
        The line of the file on which each row begins (the header is line 1).
    """

    name: str
    columns: dict[str, list[str]]
    lines: list[int]

    def __len__(self) -> int:
        return len(self.lines)

    def place(self, row: int, column: str = "") -> str:
        """Say where row number ``row`` (from 0) stands: ``file:line`` or ``file:line: column``."""
        suffix = f": column {column!r}" if column else ""
        return f"{self.name}:{self.lines[row]}{suffix}"


def read_csv(path: Path, shown_as: str = "") -> TextTable:
    """Read a CSV file, or a gzipped one (``.gz``), as text.

    The file is UTF-8 whatever the machine's locale (a byte order mark is skipped), with a header
    line, commas, doubled quotes, and LF or CRLF line ends. Every cell stays the text it is: blank,
    ``NA``, ``nan`` and ``007`` are four texts.

    Parameters
    ----------
    path : pathlib.Path
        The file.
    shown_as : str, optional
        How messages name it; its own name when absent.

    Returns
    -------
    TextTable

    Raises
    ------
    DataError
        If the file is absent, a directory, a damaged archive, not UTF-8, empty, has a blank or
        repeated column name, a row with too few or too many fields, or ends inside a row. A
        last line without a line end counts as cut off: nothing else tells a whole last number
        from half of one.
    """
    name = shown_as or path.name
    text = decode(read_bytes(path, name), name)
    if not text:
        raise DataError(f"{name}: the file is empty; expected a header line with column names")
    if not text.endswith("\n"):
        last = text.count("\n") + 1
        raise DataError(f"{name}:{last}: the last line has no line end; the file may be cut off")
    rows, lines = _parse(text, name)
    header = rows.pop(0)
    lines.pop(0)
    _check_header(header, name)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(header):
            raise DataError(f"{name}:{line}: {len(row)} fields where the header has {len(header)}")
    cells = zip(*rows, strict=True) if rows else ([] for _ in header)
    return TextTable(
        name, {key: list(column) for key, column in zip(header, cells, strict=True)}, lines
    )


def read_bytes(path: Path, name: str) -> bytes:
    """Read a file whole, unpacking it if it is called ``.gz``; DataError if that fails."""
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"{name}: there is no such file") from None
    except IsADirectoryError:
        raise DataError(f"{name}: a directory stands where a file is expected") from None
    except OSError as error:
        raise DataError(f"{name}: cannot be read: {error.strerror}") from None
    if path.suffix != ".gz":
        return raw
    try:
        return gzip.decompress(raw)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{name}: the gzip archive is damaged or cut off: {error}") from None


def decode(raw: bytes, name: str) -> str:
    """Return UTF-8 bytes as text without a byte order mark; DataError names the first bad line."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise DataError(f"{name}:{line}: byte {error.start} of the file is not UTF-8") from None
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise DataError(f"{name}:{line}: a NUL byte; this is not a text file")
    return text.removeprefix("\ufeff")


def _parse(text: str, name: str) -> tuple[list[list[str]], list[int]]:
    before = csv.field_size_limit(_FIELD_LIMIT)
    # newline="": the csv module sees CRLF itself, so that quoted line ends stay as they are.
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    rows, lines = [], []
    begins = 1
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(begins)
            else:
                raise DataError(f"{name}:{begins}: a blank line")
            begins = reader.line_num + 1
    except csv.Error as error:
        raise DataError(f"{name}:{begins}: the row that begins here is broken: {error}") from None
    finally:
        csv.field_size_limit(before)
    return rows, lines


def _check_header(header: list[str], name: str) -> None:
    seen = set()
    for position, column in enumerate(header, start=1):
        if not column.strip():
            raise DataError(f"{name}:1: column {position} has no name")
        if column in seen:
            raise DataError(f"{name}:1: the column name {column!r} occurs twice")
        seen.add(column)
