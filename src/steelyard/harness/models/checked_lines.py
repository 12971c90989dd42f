"""Lines that tell whether they are whole: ``<CRC-32 in hexadecimal> <content>``.

Files of such lines are only appended to. A process that is killed while it writes leaves a last
line without its end; anything else that does not agree with its checksum was damaged later.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

_CHECK_DIGITS = 8


class CheckedLine(NamedTuple):
    """A line of a file.

    Attributes
    ----------
    offset : int
        Of its first byte.
    length : int
        In bytes, its end included.
    content : bytes or None
        None where the line does not agree with its checksum.
    cut : bool
        Whether it is a last line without its end.
    """

    offset: int
    length: int
    content: bytes | None
    cut: bool = False


def checked_line(content: bytes) -> bytes:
    """Return content as a line with its checksum; the content has no line break in it."""
    return b"%08x %s\n" % (zlib.crc32(content), content)


def read_lines(stream: Iterable[bytes], offset: int = 0) -> Iterator[CheckedLine]:
    """Yield the lines of a binary stream whose first byte stands at an offset of its file."""
    for line in stream:
        whole = line.endswith(b"\n")
        content = content_of(line) if whole else None
        yield CheckedLine(offset, len(line), content, cut=not whole)
        offset += len(line)


def content_of(line: bytes) -> bytes | None:
    """Return the content of one line, or None where it does not agree with its checksum."""
    check, _, content = line.removesuffix(b"\n").partition(b" ")
    if len(check) != _CHECK_DIGITS or check != b"%08x" % zlib.crc32(content):
        return None
    return content


def append_durably(descriptor: int, data: bytes) -> None:
    """Append to a file and wait until the machine could lose its power; all of it or nothing.

    Raises
    ------
    OSError
        If it could not be written, for example on a full disk. The file is as it was then.
    """
    before = os.fstat(descriptor).st_size
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(descriptor, view) :]
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def make_name_durable(path: Path) -> None:
    """Wait until the folder's entry of a new file would survive a loss of power."""
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
