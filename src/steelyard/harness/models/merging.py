"""Merging files of recordings into one, whose bytes depend on the recordings alone."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import BinaryIO

from steelyard.errors import StoreError
from steelyard.harness.models.checked_lines import checked_line, read_lines
from steelyard.harness.models.locks import locked, try_lock
from steelyard.harness.models.recordings import HEADER, KEY_DIGITS, MERGED, PARTS

_Line = tuple[bytes, int, int, int]  # key, number of the file, offset, length


def merge(folder: Path) -> None:
    """Merge the parts of a folder that no process is writing to into ``responses.txt``.

    The lines are copied as they are, sorted by their key, equal ones once. A part with a damaged
    line is left where it is after its good lines were copied; if ``responses.txt`` itself has one,
    nothing is done. A last line that its writer could not finish is no recording: it goes.

    Parameters
    ----------
    folder : pathlib.Path

    Raises
    ------
    StoreError
        If the folder cannot be written to.
    """
    if not any(folder.glob(PARTS)):
        return
    with ExitStack() as stack:
        # The folder itself: closing the file of claims would let go of this process's claims.
        lock = os.open(folder, os.O_RDONLY)
        stack.callback(os.close, lock)
        stack.enter_context(locked(lock))
        try:
            _merge_locked(folder, stack)
        except OSError as error:
            raise StoreError(f"the recordings cannot be merged: {error.strerror}") from None


def _merge_locked(folder: Path, stack: ExitStack) -> None:
    merged = folder / MERGED
    streams: list[BinaryIO] = []
    whole: list[Path] = []
    lines: list[_Line] = []
    for path in [*folder.glob(MERGED), *sorted(folder.glob(PARTS))]:
        stream = stack.enter_context(path.open("rb"))
        if path != merged and not try_lock(stream.fileno()):
            continue
        found, damaged = _lines_of(stream, len(streams))
        if damaged and path == merged:
            return
        if not damaged and path != merged:
            whole.append(path)
        lines += found
        streams.append(stream)
    if lines:
        _write(merged, _copies(sorted(lines), streams))
    for path in whole:
        path.unlink()


def _lines_of(stream: BinaryIO, number: int) -> tuple[list[_Line], bool]:
    """Return the good lines of a file, and whether it has a damaged one."""
    found: list[_Line] = []
    damaged = False
    for index, line in enumerate(read_lines(stream)):
        if line.cut:
            break
        if line.content is None:
            damaged = True
        elif index:
            found.append((line.content[:KEY_DIGITS], number, line.offset, line.length))
    return found, damaged


def _copies(lines: list[_Line], streams: list[BinaryIO]) -> Iterator[bytes]:
    """Yield the lines in order; those of one key are compared with each other."""
    key, seen = b"", set[bytes]()
    for this_key, number, offset, length in lines:
        if this_key != key:
            yield from sorted(seen)
            key, seen = this_key, set()
        streams[number].seek(offset)
        seen.add(streams[number].read(length))
    yield from sorted(seen)


def _write(target: Path, lines: Iterator[bytes]) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".merging-", delete=False) as file:
        try:
            file.write(checked_line(HEADER))
            file.writelines(lines)
            file.flush()
            os.fsync(file.fileno())
            Path(file.name).chmod(0o644)
            Path(file.name).replace(target)
        except BaseException:
            with suppress(OSError):
                Path(file.name).unlink()
            raise
