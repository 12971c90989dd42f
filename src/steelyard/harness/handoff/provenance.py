"""From which sources a run was made: the commit and three digests, or why they cannot be told.

The digests of the files in use are always there; that they are those of a commit is not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import steelyard
from steelyard.errors import DataError
from steelyard.evaluators.handoff.digests import source_contract_digest
from steelyard.evaluators.handoff.repository import RepositoryError, head_sha, run_git
from steelyard.harness.handoff.export_repository import ENTRYPOINTS, REFERENCE, instruction_texts

CORPUS = {
    "import": ("conformance/scenarios", "conformance/import-fixtures"),
    "export": ("conformance/export-scenarios",),
    "roundtrip": ("conformance/export-scenarios",),
}
"""The folders that hold the scenarios of a capability."""

_RUNNER = (
    "evaluators/handoff",
    "harness/handoff",
    "harness/agent_process.py",
    "harness/agent_streams.py",
    "harness/agent_supervisor.py",
)


class ProvenanceError(DataError):
    """A run whose sources are not those of a commit."""


def read_provenance(source_root: Path, capability: str, adapter: str) -> dict[str, Any]:
    """Return the provenance of a run.

    Parameters
    ----------
    source_root : pathlib.Path
        Holds ``conformance/``, within a Git worktree.
    capability : str
        ``import``, ``export`` or ``roundtrip``: which scenarios count.
    adapter : str
        Whose instructions count.

    Returns
    -------
    dict
        The commit, that the worktree is clean, and the digests of scenarios, instructions and
        runner.

    Raises
    ------
    ProvenanceError
        The folder is in no worktree, or something in it is changed or untracked; or in the package
        that runs, if that lies in the same worktree. (One that is installed elsewhere is in no
        commit of it; its digest tells what it was.)
    """
    try:
        places = [".", *_package_within(source_root)]
        code, status = run_git(
            source_root, ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--", *places]
        )
        revision = head_sha(source_root)
        tracked = _tracked(source_root, CORPUS[capability])
    except RepositoryError as error:
        raise ProvenanceError(f"{source_root.name}: {error}") from None
    if code != 0 or len(revision) < 40:
        raise ProvenanceError(f"{source_root.name} is in no Git worktree with a commit")
    if status:
        raise ProvenanceError(
            f"{source_root.name}, or the code that runs it, has changes that are in no commit"
        )
    return {
        "waybill_revision": revision,
        "waybill_clean": True,
        "scenario_corpus_sha256": source_contract_digest(tracked),
        "adapter_entrypoint_sha256": source_contract_digest(adapter_files(adapter)),
        "runner_contract_sha256": source_contract_digest(runner_files()),
    }


def _package_within(source_root: Path) -> list[str]:
    """Return the package as Git is told of it, nothing if it lies in another worktree or none."""
    code, shown = run_git(source_root, ["rev-parse", "--show-toplevel"])
    top = Path(os.fsdecode(shown.removesuffix(b"\n"))).resolve()
    package = Path(steelyard.__file__).resolve().parent
    if code != 0 or not package.is_relative_to(top):
        return []
    return [f":(top,literal){package.relative_to(top).as_posix()}"]


def _tracked(source_root: Path, folders: tuple[str, ...]) -> dict[str, bytes]:
    _, listed = run_git(source_root, ["ls-files", "-z", "--", *folders])
    names = [name.decode("utf-8", "surrogateescape") for name in listed.split(b"\0") if name]
    for name in names:
        path = source_root / name
        if path.is_symlink() or not path.is_file():
            raise ProvenanceError(f"{name} is no regular file")
    return {name: (source_root / name).read_bytes() for name in names}


def files_in_use(source_root: Path, capability: str) -> dict[str, bytes]:
    """Return the scenarios of a capability as they are on disk, committed or not.

    Parameters
    ----------
    source_root : pathlib.Path
        Holds ``conformance/``.
    capability : str
        ``import``, ``export`` or ``roundtrip``.

    Returns
    -------
    dict
        Content by path below the root: what `read_provenance` digests when it is a commit's.

    Raises
    ------
    ProvenanceError
        One is a link or a special file.
    """
    found = {}
    for folder in CORPUS[capability]:
        for path in sorted((source_root / folder).rglob("*")):
            if path.is_symlink() or not (path.is_file() or path.is_dir()):
                raise ProvenanceError(f"{path.name} is no regular file")
            if path.is_file():
                found[path.relative_to(source_root).as_posix()] = path.read_bytes()
    return found


def adapter_files(adapter: str) -> dict[str, bytes]:
    """Return an adapter's instructions by the paths at which they are installed."""
    texts = instruction_texts()
    entrypoint = ENTRYPOINTS[adapter]
    folder = entrypoint.rpartition("/")[0]
    return {
        entrypoint: texts["entrypoint.md"].encode(),
        f"{folder}/{REFERENCE}": texts[REFERENCE].encode(),
    }


def runner_files() -> dict[str, bytes]:
    """Return the sources that run and judge a trial, by their paths in the package."""
    package = Path(steelyard.__file__).parent
    found: dict[str, bytes] = {}
    for place in _RUNNER:
        path = package / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            found[file.relative_to(package).as_posix()] = file.read_bytes()
    return found
