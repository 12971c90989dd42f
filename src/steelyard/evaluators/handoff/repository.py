"""What a Git repository looks like now: branch, commit, status, digests, canonical diff.

Git is started with the same forced settings whatever the user or the repository configures, so
that two people measure the same bytes. No lock is taken and nothing is written.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.evaluators.handoff.digests import (
    REPOSITORY_DOMAIN,
    STATUS_DOMAIN,
    framed_digest,
    porcelain_paths,
)
from steelyard.evaluators.handoff.inventory import is_folder
from steelyard.evaluators.handoff.metadata import MAX_DIFF_BYTES, UNKNOWN

MAX_STATUS_BYTES = 50_000_000
"""Status, index and unstaged difference of a repository are read up to this size."""

GIT_SECONDS = 60.0

_FORCED = (
    "safe.directory=*",
    "core.attributesFile=" + os.devnull,
    "core.excludesFile=" + os.devnull,
    "core.fsmonitor=false",
    "core.hooksPath=" + os.devnull,
    "core.autocrlf=input",
    "core.eol=lf",
)
_DIFF = (
    "diff",
    "--patch",
    "--binary",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--diff-algorithm=myers",
    "--no-indent-heuristic",
    "--inter-hunk-context=0",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)
_CANONICAL = (*_DIFF, "--abbrev=7", "--unified=3")
_UNSTAGED = (*_DIFF, "--full-index", "--unified=0")


class RepositoryError(Exception):
    """A folder that Git cannot read as a repository."""


@dataclass(frozen=True)
class RepositoryState:
    """A repository at one moment.

    Attributes
    ----------
    branch : str
        Name of the branch, ``HEAD`` when detached.
    head_sha : str
        The commit, ``unknown`` when there is none yet.
    porcelain : bytes
        ``git status --porcelain=v1 -z``, untracked files included.
    status_digest, repo_state_digest : str
        Digests of the status; and of status, index and unstaged difference.
    """

    branch: str
    head_sha: str
    porcelain: bytes
    status_digest: str
    repo_state_digest: str

    @property
    def is_dirty(self) -> bool:
        """Whether anything is changed, staged or untracked."""
        return bool(self.porcelain)

    @property
    def changed_paths(self) -> list[str]:
        """The changed and untracked paths, sorted."""
        return porcelain_paths(self.porcelain)

    @property
    def untracked_paths(self) -> list[str]:
        """The untracked paths, sorted. Their content is in no digest."""
        entries = self.porcelain.split(b"\0")
        return sorted(
            entry[3:].decode("utf-8", "surrogateescape")
            for entry in entries
            if entry.startswith(b"?? ")
        )


def git_environment(parent: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the environment in which Git is started: nothing of the caller's Git settings.

    Parameters
    ----------
    parent : mapping, optional
        The environment to start from; the process's own by default.
    """
    source = os.environ if parent is None else parent
    kept = {name: value for name, value in source.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }


def run_git(
    repository: Path, arguments: Sequence[str], *, limit: int = MAX_STATUS_BYTES
) -> tuple[int, bytes]:
    """Run Git with the forced settings and return its exit code and the start of its output.

    Parameters
    ----------
    repository : pathlib.Path
        The working tree.
    arguments : sequence of str
        The subcommand and what follows it.
    limit : int
        Bytes of standard output that are kept; Git is stopped when there are more.

    Returns
    -------
    (int, bytes)
        At most ``limit + 1`` bytes. The exit code is 0 when Git was stopped for its length.

    Raises
    ------
    RepositoryError
        Git is not installed, the folder is not there, or Git took more than a minute.
    """
    settings = [part for setting in _FORCED for part in ("-c", setting)]
    command = ["git", "--no-pager", *settings, "-C", str(repository), *arguments]
    try:
        process = subprocess.Popen(  # noqa: S603 - a fixed program, no shell
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=git_environment(),
        )
    except OSError as error:
        raise RepositoryError(f"git cannot be started: {error.strerror}") from None
    watch = threading.Timer(GIT_SECONDS, process.kill)
    watch.start()
    try:
        with process:
            output = process.stdout.read(limit + 1) if process.stdout else b""
            if len(output) > limit:
                process.kill()
                return 0, output
            code = process.wait()
    finally:
        watch.cancel()
    if code < 0:
        raise RepositoryError("git did not finish within a minute")
    return code, output


def _git_bytes(repository: Path, *arguments: str, limit: int = MAX_STATUS_BYTES) -> bytes:
    code, output = run_git(repository, arguments, limit=limit)
    if code != 0:
        raise RepositoryError(f"git {arguments[0]} failed in {str(repository)!r}")
    return output


def read_repository(repository: Path | str) -> RepositoryState:
    """Measure a repository.

    Parameters
    ----------
    repository : pathlib.Path or str
        The working tree or a folder in it.

    Returns
    -------
    RepositoryState

    Raises
    ------
    RepositoryError
        The folder is no working tree, or Git cannot read it.
    """
    root = Path(repository)
    if not is_folder(root):
        raise RepositoryError(f"there is no folder {str(repository)!r}")
    code, inside = run_git(root, ["rev-parse", "--is-inside-work-tree"])
    if code != 0 or inside.strip() != b"true":
        raise RepositoryError(f"{str(repository)!r} is no Git working tree")
    status = _git_bytes(root, "status", "--porcelain=v1", "-z", "--untracked-files=all")
    index = _git_bytes(root, "ls-files", "--stage", "-z")
    unstaged = _git_bytes(root, *_UNSTAGED, "--")
    components = [
        ("porcelain-v1-z", status),
        ("index-v1-z", index),
        ("unstaged-diff-v1", unstaged),
    ]
    return RepositoryState(
        _branch(root),
        head_sha(root),
        status,
        framed_digest(STATUS_DOMAIN, components[:1]),
        framed_digest(REPOSITORY_DOMAIN, components),
    )


def _branch(repository: Path) -> str:
    code, name = run_git(repository, ["symbolic-ref", "--quiet", "--short", "HEAD"])
    return name.decode("utf-8", "surrogateescape").rstrip("\n") if code == 0 else "HEAD"


def head_sha(repository: Path) -> str:
    """Return the commit that is checked out, ``unknown`` before the first one."""
    code, name = run_git(repository, ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    return name.decode("ascii").strip() if code == 0 else UNKNOWN


def canonical_diff(repository: Path | str, *, limit: int = MAX_DIFF_BYTES) -> bytes | None:
    """Return the canonical difference between the commit and the working tree.

    Before the first commit it is the difference of the index followed by that of the working tree.

    Parameters
    ----------
    repository : pathlib.Path or str
        The working tree.
    limit : int
        Largest size in bytes.

    Returns
    -------
    bytes or None
        None when it is larger than the limit.

    Raises
    ------
    RepositoryError
        Git cannot read the repository.
    """
    root = Path(repository)
    if head_sha(root) != UNKNOWN:
        diff = _git_bytes(root, *_CANONICAL, "HEAD", "--", limit=limit)
    else:
        diff = _git_bytes(root, *_CANONICAL, "--cached", "--", limit=limit)
        if len(diff) <= limit:
            diff += _git_bytes(root, *_CANONICAL, "--", limit=limit)
    return None if len(diff) > limit else diff
