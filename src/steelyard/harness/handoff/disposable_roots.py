"""Folders that are gone after a trial, whatever a hostile program has made of them.

A root is removed by its descriptor: it is the folder that was made, wherever it is by then and
whatever stands in its place. No link is followed, no folder is opened that could be a mount, and
neither the depth of a tree nor the length of its names matters.

A root stays behind only when this very process is killed at once (SIGKILL); its agent does not.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from steelyard.errors import SteelyardError
from steelyard.evaluators.handoff.snapshot import Fingerprint, Snapshot, take_snapshot

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


class RemovalError(SteelyardError):
    """A disposable root that could not be removed entirely: a mount, an immutable file."""


@contextmanager
def disposable_root() -> Iterator[Path]:
    """Yield an empty folder and remove it afterwards, whatever was done in it or to it.

    Raises
    ------
    RemovalError
        Something of it could not be removed. The rest is.
    """
    root = Path(tempfile.mkdtemp(prefix="steelyard-handoff-")).resolve()
    descriptor = os.open(root, _FOLDER)
    try:
        yield root
    finally:
        try:
            _remove(root, descriptor)
        finally:
            os.close(descriptor)


def look_again(
    root: Path,
    before: Snapshot,
    *,
    directories: bool = True,
    times: dict[str, int] | None = None,
) -> dict[str, Fingerprint]:
    """Return a snapshot of a root in which a program has run.

    Parameters
    ----------
    root : pathlib.Path
        A disposable root or a folder below it.
    before : mapping
        What was there before.
    directories, times
        As for `take_snapshot`.

    Returns
    -------
    dict of str to tuple
        Empty if a link has taken the place of the root or of a folder that it lies in: whatever it
        leads to, everything that was there is gone.
    """
    if os.path.realpath(root) != str(root):
        return {}
    return take_snapshot(root, directories=directories, times=times, since=before)


def _remove(root: Path, descriptor: int) -> None:
    failed: list[OSError] = []
    _empty(descriptor, failed)
    original = os.fstat(descriptor)
    with contextlib.suppress(FileNotFoundError):
        if not os.path.samestat(root.lstat(), original):
            # Somebody has put it there, under a name that is ours.
            _remove_impostor(root, failed)
    _remove_folder(_current_path(root, descriptor), original, failed)
    if failed:
        raise RemovalError(
            f"{str(root)!r} could not be removed: {failed[0].strerror}. Remove it by hand"
        )


def _current_path(root: Path, descriptor: int) -> str:
    """Return where an open folder is now; only Linux tells, elsewhere it is where it was."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")  # noqa: PTH115 - may be no path
    except OSError:
        return str(root)


def _remove_folder(path: str, expected: os.stat_result, failed: list[OSError]) -> None:
    """Remove an emptied folder if it is the expected one."""
    try:
        if os.path.samestat(os.lstat(path), expected):
            os.rmdir(path)  # noqa: PTH106 - as above
    except FileNotFoundError:
        return
    except OSError as error:
        failed.append(error)


def _remove_impostor(root: Path, failed: list[OSError]) -> None:
    if not stat.S_ISDIR(os.lstat(root).st_mode):
        root.unlink()
        return
    renamed = root.with_name(f"{root.name}-{secrets.token_hex(8)}")
    try:
        root.rename(renamed)  # refused for a mount, which must not be emptied
        _unlock(str(renamed), None)
        descriptor = os.open(renamed, _FOLDER)
        try:
            _empty(descriptor, failed)
        finally:
            os.close(descriptor)
        renamed.rmdir()
    except OSError as error:
        failed.append(error)


def _empty(top: int, failed: list[OSError]) -> None:
    """Remove everything in an open folder.

    Each folder is first moved to the top under a new name. So every path is one name long; and a
    mount cannot be moved, so that none is ever entered.
    """
    token = secrets.token_hex(8)
    moved = 0
    os.fchmod(top, stat.S_IRWXU)
    pending = [""]  # the top itself
    while pending:
        name = pending.pop()
        folder = top
        try:
            folder = os.open(name, _FOLDER, dir_fd=top) if name else top
            for entry, is_folder in _entries(folder):
                try:
                    if is_folder:
                        moved += 1
                        target = f"{token}-{moved}"
                        _unlock(entry, folder)
                        os.rename(entry, target, src_dir_fd=folder, dst_dir_fd=top)
                        pending.append(target)
                    else:
                        os.unlink(entry, dir_fd=folder)
                except OSError as error:
                    failed.append(error)
        except OSError as error:
            failed.append(error)
        finally:
            if folder != top:
                os.close(folder)
        if name:
            with contextlib.suppress(OSError):  # not empty: that was noted above
                os.rmdir(name, dir_fd=top)


def _entries(folder: int) -> list[tuple[str, bool]]:
    with os.scandir(folder) as entries:
        return [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]


def _unlock(name: str, folder: int | None) -> None:
    """Give a folder's owner every right in it, without following a link."""
    if os.chmod in os.supports_follow_symlinks:
        os.chmod(name, stat.S_IRWXU, dir_fd=folder, follow_symlinks=False)
        return
    # Linux changes modes of what an open descriptor is, and opens for that without any right.
    descriptor = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        Path(f"/proc/self/fd/{descriptor}").chmod(stat.S_IRWXU)
    finally:
        os.close(descriptor)
