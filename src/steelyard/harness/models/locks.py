"""Locks between processes. The system lets go of them when their process ends, however it ends."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from steelyard.errors import StoreError

POLL_SECONDS = 0.02
_POSITIONS = 2**62

_held: set[tuple[Path, int]] = set()
_changed = threading.Condition()
_descriptors: dict[Path, int] = {}


def open_for_appending(path: Path, *, new: bool = False) -> int:
    """Open a file for reading and appending; make it, and its folder, if need be.

    Parameters
    ----------
    path : pathlib.Path
    new : bool
        It may not exist yet.

    Returns
    -------
    int
        A file descriptor.

    Raises
    ------
    StoreError
        If that cannot be done.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | (os.O_EXCL if new else 0)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, flags, 0o644)
    except OSError as error:
        raise StoreError(f"{path.name}: cannot be opened for writing: {error.strerror}") from None


@contextmanager
def locked(descriptor: int) -> Iterator[None]:
    """Hold a whole file against all other processes, and other descriptors of this one."""
    fcntl = _fcntl()
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def try_lock(descriptor: int) -> bool:
    """Hold a whole file until its descriptor is closed; False if somebody else holds it."""
    fcntl = _fcntl()
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@contextmanager
def claimed(path: Path, key: str) -> Iterator[None]:
    """Hold one key against all threads and processes that claim it by the same file.

    Parameters
    ----------
    path : pathlib.Path
        The file; it stays empty, and nothing else in this process may open it.
    key : str
        Hexadecimal. Each key stands for one byte of the file, and that byte is locked.
    """
    fcntl = _fcntl()
    file, place = path.resolve(), int(key[:16], 16) % _POSITIONS
    descriptor = _take_place(file, place)
    try:
        while True:
            try:
                fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, place)
                break
            except OSError:  # not a blocking call: two processes' threads would look deadlocked
                time.sleep(POLL_SECONDS)
        try:
            yield
        finally:
            fcntl.lockf(descriptor, fcntl.LOCK_UN, 1, place)
    finally:
        _leave_place(file, place)


def _take_place(file: Path, place: int) -> int:
    """Keep this process's threads apart: locks of bytes belong to the process."""
    with _changed:
        _changed.wait_for(lambda: (file, place) not in _held)
        if file not in _descriptors:
            _descriptors[file] = open_for_appending(file)
        _held.add((file, place))
        return _descriptors[file]


def _leave_place(file: Path, place: int) -> None:
    with _changed:
        _held.discard((file, place))
        # Not before: closing a file lets go of all bytes that its process has locked.
        if not any(held == file for held, _ in _held):
            os.close(_descriptors.pop(file))
        _changed.notify_all()


def _fcntl() -> Any:
    try:
        import fcntl
    except ImportError:
        raise StoreError(
            "asking a model needs file locks, which this system does not have as POSIX means "
            "them; replaying recordings works without"
        ) from None
    return fcntl
