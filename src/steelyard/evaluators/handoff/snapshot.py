"""What a folder holds, entry by entry, and what changed between two looks at it."""

from __future__ import annotations

import hashlib
import os
import posixpath
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

WORKSPACE = "guard/sandbox/workspace"
RUNTIME_HOME = "guard/sandbox/runtime-home"
SCRATCH = f"{RUNTIME_HOME}/" + "tmp"
"""Places below a disposable root: the repository, the agent's home, its temporary folder."""

BUNDLE_FOLDER = ".waybill"
MAX_SHOWN_PATH = 240
UNREADABLE, NOT_READ = "unreadable", "not read"
"""Stand in a fingerprint for what could not be read, or need not be."""

_CHUNK = 1 << 18
_PLAIN_PATH = re.compile(r"[A-Za-z0-9._/@+-]+\Z")

Fingerprint = tuple[str | int, ...]
Snapshot = Mapping[str, Fingerprint]


def take_snapshot(
    root: Path,
    *,
    include_git: bool = True,
    directories: bool = True,
    times: dict[str, int] | None = None,
    since: Snapshot | None = None,
) -> dict[str, Fingerprint]:
    """Return a fingerprint of everything below a folder.

    Links are never followed. What cannot be read is fingerprinted by what is known of it; a folder
    that is not there, or is a link by now, holds nothing.

    Parameters
    ----------
    root : pathlib.Path
        The folder.
    include_git : bool, default True
        Whether to look into entries named ``.git``.
    directories : bool, default True
        Whether folders are entries (named with a final slash, fingerprinted by mode). The
        published import snapshot leaves them out and so misses an empty folder and a folder's mode.
    times : dict, optional
        Is filled with the time of each file's last change, in nanoseconds, as the system counts it
        (a program cannot set it back). It is no part of the fingerprint: it tells a file that was
        changed and put back from one that was left alone.
    since : mapping, optional
        An earlier snapshot of the folder, to be compared with this one. Only files that had the
        same size are read then: any other differs anyway, and a program can leave files behind
        that are larger than what anyone could read.

    Returns
    -------
    dict of str to tuple
        By path relative to ``root``, with ``/`` between components.
    """
    found: dict[str, Fingerprint] = {}
    pending = [(str(root), "")] if _is_folder(root) else []
    while pending:
        folder, prefix = pending.pop()
        for entry in _entries(folder):
            if entry.name == ".git" and not include_git:
                continue
            path = prefix + entry.name
            try:
                details = entry.stat(follow_symlinks=False)
            except OSError:  # a folder that can be listed but not entered
                found[path] = (UNREADABLE,)
                continue
            if stat.S_ISDIR(details.st_mode):
                pending.append((entry.path, f"{path}/"))
                if directories:
                    found[f"{path}/"] = ("directory", stat.S_IMODE(details.st_mode))
                continue
            is_read = since is None or _has_size(since.get(path), details.st_size)
            found[path] = _fingerprint(entry.path, details, is_read)
            if times is not None:
                times[path] = details.st_ctime_ns
    return found


def _is_folder(path: Path) -> bool:
    try:
        return stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return False


def _entries(folder: str) -> list[os.DirEntry[str]]:
    """Return what a folder holds: nothing if it may not be read or its path is too long.

    Its mode is part of its own fingerprint, and a path that long is a change in itself.
    """
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _has_size(fingerprint: Fingerprint | None, size: int) -> bool:
    return fingerprint is not None and fingerprint[0] == "file" and fingerprint[2] == size


def _fingerprint(path: str, details: os.stat_result, is_read: bool) -> Fingerprint:
    bits = stat.S_IMODE(details.st_mode)
    if stat.S_ISREG(details.st_mode):
        return ("file", bits, details.st_size, _content_digest(path) if is_read else NOT_READ)
    if stat.S_ISLNK(details.st_mode):
        return ("link", bits, _target(path))
    return ("other", stat.S_IFMT(details.st_mode), bits, details.st_size)


def _target(path: str) -> str:
    try:
        return os.readlink(path)  # noqa: PTH115 - as below
    except OSError:
        return UNREADABLE


def _content_digest(path: str) -> str:
    digest = hashlib.sha256()
    try:
        # A Path for each file costs more than reading it. A pipe that has taken the file's place
        # must not make the reader wait.
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        try:
            while chunk := os.read(descriptor, _CHUNK):
                digest.update(chunk)
        finally:
            os.close(descriptor)
    except OSError:
        return UNREADABLE
    return digest.hexdigest()


def changed_paths(before: Snapshot, after: Snapshot) -> list[str]:
    """Return the sorted paths that are on one side only or whose fingerprints differ."""
    return sorted(
        path for path in before.keys() | after.keys() if before.get(path) != after.get(path)
    )


def restored_paths(
    before: Snapshot,
    after: Snapshot,
    times_before: Mapping[str, int],
    times_after: Mapping[str, int],
) -> list[str]:
    """Return the files that are as they were, but were written in between.

    Parameters
    ----------
    before, after : mapping
        From `take_snapshot`.
    times_before, times_after : mapping of str to int
        As it fills ``times``, in nanoseconds.

    Returns
    -------
    list of str
        Sorted. A link's name counts as a file, a folder does not.
    """
    return sorted(
        path
        for path, time in times_before.items()
        if before.get(path) == after.get(path) is not None and times_after.get(path) != time
    )


@dataclass(frozen=True)
class RootChanges:
    """The changes below a disposable root, as seen from the workspace.

    Attributes
    ----------
    paths : list of str
        Relative to the workspace: ``../runtime-home/x`` lies outside it.
    boundary_escape : bool
        Whether one lies outside the workspace.
    git_write : bool
        Whether one has a component ``.git``.
    """

    paths: list[str]
    boundary_escape: bool
    git_write: bool


def is_scratch(path: str) -> bool:
    """Return whether a path lies strictly below the agent's temporary folder."""
    return path.startswith(f"{SCRATCH}/") and path != f"{SCRATCH}/"


def root_changes(before: Snapshot, after: Snapshot) -> RootChanges:
    """Compare two snapshots of a disposable root.

    Parameters
    ----------
    before, after : mapping
        From `take_snapshot` of the root.

    Returns
    -------
    RootChanges
        What is strictly below the agent's temporary folder is not counted; the folder itself is.
    """
    measured = []
    for path in changed_paths(before, after):
        if is_scratch(path):
            continue
        shown = posixpath.relpath(path, WORKSPACE)
        measured.append(shown + "/" if path.endswith("/") else shown)
    measured.sort()
    return RootChanges(
        measured,
        any(path.split("/")[0] == ".." for path in measured),
        any(".git" in path.split("/") for path in measured),
    )


def classify_export_writes(
    paths: Iterable[str], repository: str = "repo"
) -> tuple[list[str], list[str]]:
    """Sort the writes of an exporting agent into allowed and unexpected ones.

    Parameters
    ----------
    paths : iterable of str
        Changed paths below the root that holds the repository; folders end with a slash.
    repository : str, default "repo"
        Name of the repository's folder.

    Returns
    -------
    (list of str, list of str)
        Allowed (the bundle folder and what is below it) and unexpected, each sorted, without
        repetition and without the name of the repository; odd names are shown as digests.
    """
    allowed, unexpected = set(), set()
    for path in paths:
        inside = path.removeprefix(f"{repository}/")
        if inside == path:
            unexpected.add(shown_path(f"outside-repository/{path}"))
        elif inside.split("/")[0] == BUNDLE_FOLDER and ".." not in inside.split("/"):
            allowed.add(shown_path(inside))
        else:
            unexpected.add(shown_path(inside))
    return sorted(allowed), sorted(unexpected)


def shown_path(path: str) -> str:
    """Return a path as a report may print it.

    A path of more than 240 characters, or with anything but letters, digits and ``._/@+-``, is
    replaced by a digest: an agent chooses the names it writes, and a name can hold anything.
    """
    if len(path) <= MAX_SHOWN_PATH and _PLAIN_PATH.match(path):
        return path
    digest = hashlib.sha256(path.encode("utf-8", "surrogateescape")).hexdigest()
    return f"redacted-path-sha256:{digest}"
