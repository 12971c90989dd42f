"""The files of a bundle, read without following links and within fixed limits."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from steelyard.evaluators.handoff.issues import Issue, fault

WAYBILL = "WAYBILL.md"
METADATA = "metadata.json"
DIFF = "diff.patch"
COMMANDS = "commands.log"
TEST_SUMMARY = "test-summary.md"

REQUIRED_FILES = (WAYBILL, METADATA)
RECOMMENDED_FILES = (DIFF, COMMANDS, TEST_SUMMARY)

MAX_FILES = 100
MAX_FILE_BYTES = 5_000_000
MAX_TOTAL_BYTES = 10_000_000
"""Limits of a bundle, inclusive."""

MAX_ENTRIES = 10_000
"""Entries of any kind that are looked at: a bundle of empty folders is bounded too."""

MAX_FOLDER_DEPTH = 100


class UnreadableFileError(Exception):
    """A file of a bundle that is not there, is not regular, is too large or may not be read."""


@dataclass(frozen=True)
class Entry:
    """What stands below a bundle's folder: relative path, kind, size in bytes.

    The kind is ``file``, ``link``, ``special``, or ``excess`` for the first entry that is one too
    many or too deep.
    """

    path: str
    kind: str
    size: int


def is_there(path: Path) -> bool:
    """Return whether a path names something; not one that is too long or may not be looked at."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def is_folder(path: Path) -> bool:
    """Return whether a path names a folder, links followed; as `is_there`, it never raises."""
    return is_there(path) and path.is_dir()


def bundle_entries(root: Path) -> Iterator[Entry]:
    """Yield everything below a folder that is no folder itself, in the order of path components.

    Links are not followed. Nothing comes after an entry of kind ``excess``.
    """
    seen = 0
    pending = [(str(root), "", 0)]  # a stack: the next thing to look at is the last
    while pending:
        path, shown, depth = pending.pop()
        details = os.lstat(path)
        if stat.S_ISDIR(details.st_mode):
            names = sorted(os.listdir(path), reverse=True)  # noqa: PTH208 - text, not Path
            seen += len(names)
            if seen > MAX_ENTRIES or depth > MAX_FOLDER_DEPTH:
                yield Entry(shown, "excess", 0)
                return
            prefix = f"{shown}/" if shown else ""
            pending += [(f"{path}/{name}", prefix + name, depth + 1) for name in names]
        elif stat.S_ISREG(details.st_mode):
            yield Entry(shown, "file", details.st_size)
        else:
            yield Entry(shown, "link" if stat.S_ISLNK(details.st_mode) else "special", 0)


def bundle_files(root: Path) -> tuple[list[str], Issue | None]:
    """Return the regular files of a bundle, or the first limit it breaks.

    Parameters
    ----------
    root : pathlib.Path
        The bundle's folder, which exists.

    Returns
    -------
    (list of str, Issue or None)
        Relative paths in the order of their components; empty when a limit is broken.
    """
    if root.is_symlink():
        return [], fault("bundle-root-symlink", "the bundle itself is a symbolic link", ".")
    found: list[str] = []
    total = 0
    for entry in bundle_entries(root):
        total += entry.size
        if entry.kind == "file":
            found.append(entry.path)
        issue = _violation(entry, len(found), total)
        if issue is not None:
            return [], issue
    return found, None


def _violation(entry: Entry, count: int, total: int) -> Issue | None:
    shown = repr(entry.path)
    broken = (
        (entry.kind == "link", "bundle-symlink", f"{shown} is a symbolic link"),
        (entry.kind == "special", "bundle-special-file", f"{shown} is no regular file"),
        (
            entry.kind == "excess" or count > MAX_FILES,
            "bundle-file-count",
            f"more than {MAX_FILES} files or {MAX_ENTRIES} entries",
        ),
        (
            entry.size > MAX_FILE_BYTES,
            "bundle-file-size",
            f"{shown} is larger than {MAX_FILE_BYTES:,} bytes",
        ),
        (
            total > MAX_TOTAL_BYTES,
            "bundle-total-size",
            f"the files together are larger than {MAX_TOTAL_BYTES:,} bytes",
        ),
    )
    return next((fault(name, text, ".") for is_broken, name, text in broken if is_broken), None)


def read_bundle_file(root: Path, path: str) -> bytes:
    """Return the content of a regular file of a bundle.

    Every folder on the way is opened without following links, so that a path that was checked
    cannot be exchanged for a link in between.

    Parameters
    ----------
    root : pathlib.Path
        The bundle's folder.
    path : str
        A relative POSIX path without ``..``.

    Returns
    -------
    bytes
        At most `MAX_FILE_BYTES`.

    Raises
    ------
    UnreadableFileError
        The file is absent, a link, not regular, too large or unreadable, or the path is not one.
    """
    parts = path.split("/")
    if path.startswith("/") or ".." in parts or "\0" in path:
        raise UnreadableFileError(f"{path!r} leaves the bundle")
    try:
        descriptor = _open_below(root, [part for part in parts if part not in {"", "."}])
        try:  # a folder is no stream: its descriptor would be left open
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise UnreadableFileError(f"{path!r} is no regular file")
            with os.fdopen(descriptor, "rb", closefd=False) as stream:
                content = stream.read(MAX_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:  # ValueError: as for `is_bundle_file`
        raise UnreadableFileError(f"{path!r} cannot be read: {error}") from None
    if len(content) > MAX_FILE_BYTES:
        raise UnreadableFileError(f"{path!r} is larger than {MAX_FILE_BYTES:,} bytes")
    return content


def _open_below(root: Path, parts: list[str]) -> int:
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK  # a pipe must not make the reader wait
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for part in parts[:-1]:
            below = os.open(part, flags | os.O_DIRECTORY, dir_fd=folder)
            os.close(folder)
            folder = below
        return os.open(parts[-1] if parts else ".", flags, dir_fd=folder)
    finally:
        os.close(folder)


def is_bundle_file(root: Path, path: str) -> bool:
    """Return whether a relative path names a regular file below a bundle, no link on the way."""
    if path.startswith("/") or ".." in path.split("/"):
        return False
    try:
        descriptor = _open_below(root, [part for part in path.split("/") if part not in {"", "."}])
    except (OSError, ValueError):  # ValueError: NUL or a character without a byte form
        return False
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    finally:
        os.close(descriptor)
