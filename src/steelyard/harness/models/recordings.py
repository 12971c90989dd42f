"""Recorded responses: bought once, kept for good, replayed without a network.

A folder of recordings holds ``responses.txt``, sorted, and one ``part-*.txt`` for each process that
recorded since; all are read alike. A line is ``<CRC-32> <key> <answer>``: the key is that of
`steelyard.harness.models.keys.recording_key`, the answer is JSON, compressed. Files are only
appended to. `Recordings.compact` merges the parts into ``responses.txt``; its bytes depend on the
recordings alone, so it can be committed. No time, machine or address is in it.
"""

from __future__ import annotations

import base64
import os
import secrets
import threading
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.errors import StoreError
from steelyard.harness.models.checked_lines import (
    CheckedLine,
    append_durably,
    checked_line,
    content_of,
    make_name_durable,
    read_lines,
)
from steelyard.harness.models.locks import claimed, open_for_appending, try_lock
from steelyard.trials.strict_json import canonical_dumps, loads

MERGED = "responses.txt"
PARTS = "part-*.txt"
LOCK = ".lock"
HEADER = b"steelyard recordings 1"
KEY_DIGITS = 64
MAX_DEPTH = 200


@dataclass(frozen=True)
class Damage:
    """A line that cannot be used.

    Attributes
    ----------
    file : str
        Its name.
    line : int
        From 1.
    key : str
        What can be read of the recording's key.
    cut : bool
        Whether it is a last line without its end: the process was killed while it wrote.
    """

    file: str
    line: int
    key: str
    cut: bool

    def __str__(self) -> str:
        what = "is cut off" if self.cut else "does not agree with its checksum"
        return f"{self.file}:{self.line}: the recording {self.key[:16] or '?'} {what}"


@dataclass
class RecordingFile:
    """One file of recordings, read as far as it was when it was last looked at.

    Attributes
    ----------
    path : pathlib.Path
    places : dict of str to (int, int)
        By key: offset and length of its line.
    damages : list of Damage
    """

    path: Path
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    damages: list[Damage] = field(default_factory=list)
    _version: tuple[int, ...] = ()
    _offset: int = 0
    _lines: int = 0

    def refresh(self) -> None:
        """Read what was appended since; everything, if the file was replaced.

        Raises
        ------
        StoreError
            If it is no file of recordings.
        """
        status = self.path.stat()
        version = (status.st_ino, status.st_size, status.st_mtime_ns)
        # A part only grows; the merged file never does, but another may take its place.
        if self.path.name == MERGED and version != self._version:
            self.places, self.damages, self._offset, self._lines = {}, [], 0, 0
            self._version = version
        if status.st_size == self._offset:
            return
        if self.damages and self.damages[-1].cut:
            self.damages.pop()  # its writer may have been in the middle of it
        with self.path.open("rb") as stream:
            stream.seek(self._offset)
            for line in read_lines(stream, self._offset):
                self._take(line, stream_start=self._lines == 0)

    def read(self, key: str) -> bytes | None:
        """Return the content of a recording's line; None if something else stands there now."""
        offset, length = self.places[key]
        with suppress(FileNotFoundError), self.path.open("rb") as stream:
            stream.seek(offset)
            content = content_of(stream.read(length))
            if content is not None and content.startswith(key.encode("ascii")):
                return content
        return None

    def _take(self, line: CheckedLine, *, stream_start: bool) -> None:
        if stream_start and line.cut:
            return  # a file that was just begun
        if stream_start and line.content != HEADER:
            raise StoreError(
                f"{self.path.name}: the first line is not that of a file of recordings; restore "
                "the file, or move it away"
            )
        if line.content is None:
            self.damages.append(
                Damage(self.path.name, self._lines + 1, self._readable_key(line), line.cut)
            )
        elif not stream_start:
            key = line.content[:KEY_DIGITS].decode("ascii")
            self.places.setdefault(key, (line.offset, line.length))
        if not line.cut:
            self._lines += 1
            self._offset = line.offset + line.length

    def _readable_key(self, line: CheckedLine) -> str:
        with self.path.open("rb") as stream:
            stream.seek(line.offset)
            text = stream.read(line.length).partition(b" ")[2][:KEY_DIGITS]
        return text.partition(b" ")[0].decode("ascii", "replace")


class Recordings:
    """The recordings of one study.

    Parameters
    ----------
    folder : pathlib.Path
        Made when something is recorded first.

    Raises
    ------
    StoreError
        If a file is no file of recordings, or cannot be read.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._files: dict[Path, RecordingFile] = {}
        self._lock = threading.RLock()
        self._part: tuple[Path, int] | None = None
        self.refresh()

    def __len__(self) -> int:
        return len(self.keys())

    def __contains__(self, key: str) -> bool:
        return any(key in file.places for file in self._files.values())

    @property
    def damages(self) -> list[Damage]:
        """Lines that cannot be used, as far as was read; all others can."""
        return [damage for file in self._files.values() for damage in file.damages]

    def keys(self) -> list[str]:
        """Return the keys of all recordings, sorted."""
        return sorted({key for file in self._files.values() for key in file.places})

    def find(self, key: str) -> Mapping[str, Any] | None:
        """Return a recording's content, or None where there is none."""
        with self._lock:
            content = self._content(key)
            if content is None and key in self:  # another process merged the files meanwhile
                self.refresh()
                content = self._content(key)
        if content is None:
            return None
        record: Mapping[str, Any] = loads(
            zlib.decompress(base64.b85decode(content[KEY_DIGITS + 1 :])), max_depth=MAX_DEPTH
        )
        return record

    def refresh(self) -> None:
        """Read what was recorded since, by whichever process."""
        with self._lock:
            there = sorted([*self.folder.glob(MERGED), *self.folder.glob(PARTS)])
            self._files = {path: self._files.get(path, RecordingFile(path)) for path in there}
            for path, file in list(self._files.items()):
                try:
                    file.refresh()
                except FileNotFoundError:  # merged by another process meanwhile
                    del self._files[path]
                except OSError as error:
                    raise StoreError(f"{path.name}: cannot be read: {error.strerror}") from None

    @contextmanager
    def claim(self, key: str) -> Iterator[None]:
        """Keep every other thread and process from recording under a key meanwhile."""
        with claimed(self.folder / LOCK, key):
            self.refresh()
            yield

    def prepare(self) -> None:
        """Open this process's own file, so that a folder that refuses it costs nothing.

        Raises
        ------
        StoreError
            If the folder cannot be written to.
        """
        self._own_part()

    def record(self, key: str, content: Mapping[str, Any]) -> None:
        """Store a response; when this returns, no kill and no power failure takes it away.

        Raises
        ------
        StoreError
            If it cannot be written; nothing of it is then.
        """
        packed = base64.b85encode(zlib.compress(canonical_dumps(content).encode("utf-8"), 9))
        with self._lock:
            path, descriptor = self._own_part()
            _append(path, descriptor, checked_line(key.encode("ascii") + b" " + packed))
            self._files.setdefault(path, RecordingFile(path)).refresh()

    def close(self) -> None:
        """Let go of this process's own file and merge it with the others."""
        with self._lock:
            if self._part is None:
                return
            os.close(self._part[1])
            self._part = None
        self.compact()

    def compact(self) -> int:
        """Merge the parts of processes that have ended into ``responses.txt``.

        Returns
        -------
        int
            Recordings that there are. See `steelyard.harness.models.merging.merge` for what is
            done about damaged lines: nothing is dropped.
        """
        from steelyard.harness.models.merging import merge

        with self._lock:
            merge(self.folder)
            self.refresh()
        return len(self)

    def _content(self, key: str) -> bytes | None:
        for file in self._files.values():
            if key in file.places:
                content = file.read(key)
                if content is not None:
                    return content
        return None

    def _own_part(self) -> tuple[Path, int]:
        with self._lock:
            if self._part is None:
                path = self.folder / PARTS.replace("*", secrets.token_hex(6))
                descriptor = open_for_appending(path, new=True)
                try_lock(descriptor)  # tells a process that merges that the file is in use
                _append(path, descriptor, checked_line(HEADER))
                make_name_durable(path)
                self._part = (path, descriptor)
            return self._part


def _append(path: Path, descriptor: int, line: bytes) -> None:
    try:
        append_durably(descriptor, line)
    except OSError as error:
        raise StoreError(f"{path.name}: cannot be written: {error.strerror}") from None
