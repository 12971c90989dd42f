"""Writing a set of generated files so that a reader never meets half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

from steelyard.errors import StoreError


def write_files(folder: Path, files: Mapping[str, bytes], owned: Iterable[str] = ()) -> list[str]:
    """Make ``folder`` hold exactly ``files`` among the files it owns.

    Each file is written beside its place and renamed into it, so that a run killed at any moment
    leaves old or new files and none in between. A file whose bytes are right is not touched.

    Parameters
    ----------
    folder : pathlib.Path
        Created when absent.
    files : mapping of str to bytes
        Path below ``folder``, with ``/``, to content.
    owned : iterable of str
        Glob patterns below ``folder``. What matches and is not in ``files`` is stale and removed.

    Returns
    -------
    list of str
        The paths that were written or removed, sorted.

    Raises
    ------
    StoreError
        When a place cannot be written, or holds a folder.
    """
    changed = []
    for name, content in sorted(files.items()):
        path = folder / name
        try:
            if path.is_file() and path.read_bytes() == content:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, content)
        except OSError as error:
            raise StoreError(f"cannot write {path.name}: {error.strerror} ({path})") from None
        changed.append(name)
    return sorted(changed + _remove_stale(folder, files, owned))


def _replace(path: Path, content: bytes) -> None:
    if path.is_dir():
        raise IsADirectoryError(0, "a folder stands where the file belongs")
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _remove_stale(folder: Path, files: Mapping[str, bytes], owned: Iterable[str]) -> list[str]:
    removed = []
    for pattern in owned:
        for path in sorted(folder.glob(pattern)):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and name not in files:
                path.unlink()
                removed.append(name)
    return removed
