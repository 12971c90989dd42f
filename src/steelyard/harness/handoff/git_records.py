"""Git's own records of a repository, kept from before an agent ran in it.

Whoever can write into ``.git`` decides which programs Git runs: by its settings, by settings that
lie elsewhere, by a second repository in the index. What an agent may have written is therefore
never used; its files are looked at with the records that they had before.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from steelyard.evaluators.handoff.snapshot import Fingerprint, Snapshot, changed_paths
from steelyard.harness.handoff.disposable_roots import disposable_root
from steelyard.harness.handoff.workspaces import (
    MAX_WORKSPACE_BYTES,
    FixtureError,
    copy_plain_tree,
)


def read_git_records(folder: Path) -> dict[str, bytes]:
    """Return every file of a fresh repository's ``.git``, by its path below the repository."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted((folder / ".git").rglob("*"))
        if path.is_file()
    }


def may_be_shown_to_git(before: Snapshot, after: Snapshot) -> bool:
    """Return whether nothing of a ``.git`` changed and no changed file is too large to compare."""
    changed = changed_paths(before, after)
    return not any(
        ".git" in path.split("/") or (path in after and _size(after[path]) > MAX_WORKSPACE_BYTES)
        for path in changed
    )


def _size(fingerprint: Fingerprint) -> int:
    return int(fingerprint[2]) if fingerprint[0] == "file" else 0


def _is_copied(folder: Path, copy: Path) -> bool:
    try:
        copy_plain_tree(folder, copy, leave_out=".git")
    except (FixtureError, OSError):
        return False
    return True


@contextmanager
def with_git_records(folder: Path, records: Mapping[str, bytes]) -> Iterator[Path | None]:
    """Yield a copy of a working tree with other records of Git's.

    Parameters
    ----------
    folder : pathlib.Path
        The working tree as it is now.
    records : mapping of str to bytes
        From `read_git_records`.

    Yields
    ------
    pathlib.Path or None
        None if the tree is not where it was, or holds what is not copied: links, pipes, another
        repository, too much.
    """
    with disposable_root() as root:
        copy = root / "repo"
        if os.path.realpath(folder) != str(folder) or not _is_copied(folder, copy):
            yield None
            return
        for name, content in records.items():
            path = copy / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        yield copy
