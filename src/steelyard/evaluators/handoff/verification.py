"""Whether a bundle still describes a live repository, and whether it is fit to be handed over."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.diff_notes import is_no_diff_note, is_omission_note
from steelyard.evaluators.handoff.inventory import (
    COMMANDS,
    TEST_SUMMARY,
    WAYBILL,
    UnreadableFileError,
    read_bundle_file,
)
from steelyard.evaluators.handoff.issues import ERROR, OK, WARNING, Check, passes
from steelyard.evaluators.handoff.metadata import (
    UNKNOWN,
    MetadataFaultError,
    diff_limit,
    load_metadata,
)
from steelyard.evaluators.handoff.paths import is_non_blank, path_fault
from steelyard.evaluators.handoff.repository import (
    RepositoryError,
    RepositoryState,
    canonical_diff,
    read_repository,
)
from steelyard.evaluators.handoff.validator import Validation, validate

DRAFT_MARKERS = ("TODO:", "Not recorded yet.", "Replace this section")
"""Left in a text by whoever has not finished it; capitals count."""

_DIGESTS = ("status_digest", "repo_state_digest")


@dataclass(frozen=True)
class RepositoryVerification:
    """The checks of a bundle against a repository, in a fixed order."""

    checks: list[Check]

    @property
    def passes(self) -> bool:
        """Whether no check is an error."""
        return passes(self.checks)


@dataclass(frozen=True)
class Readiness:
    """Whether a bundle may be handed over: the format, the repository and the texts together."""

    validation: Validation
    verification: RepositoryVerification
    content: list[Check]

    @property
    def passes(self) -> bool:
        """Whether all three parts are without error."""
        return self.validation.is_valid and self.verification.passes and passes(self.content)


def verify_repository(
    bundle: Path | str, repository: Path | str, *, compatibility: bool = False
) -> RepositoryVerification:
    """Compare what a bundle recorded with a repository as it is now.

    Parameters
    ----------
    bundle, repository : pathlib.Path or str
        Two folders.
    compatibility : bool, default False
        The published checks. By default there is one more, ``coverage``, a warning when something
        in the working tree is in no digest and no difference (content of untracked files, changes
        of line ends), and a patch beside a clean tree is a warning instead of passing unseen.

    Returns
    -------
    RepositoryVerification
        A failure of ``metadata`` or ``repo`` ends the list.
    """
    metadata, metadata_check = _metadata(bundle, compatibility)
    state, repository_check = _repository(repository)
    checks = [metadata_check, repository_check]
    if metadata is None or state is None:
        return RepositoryVerification(checks)
    git = metadata.get("git")
    recorded = git if isinstance(git, dict) else {}
    checks += [
        _recorded_check("branch", recorded.get("branch"), state.branch),
        _recorded_check("head_sha", recorded.get("head_sha"), state.head_sha),
        _dirty_check(recorded.get("dirty"), state),
        _recorded_check("status_digest", recorded.get("status_digest"), state.status_digest),
        _recorded_check(
            "repo_state_digest", recorded.get("repo_state_digest"), state.repo_state_digest
        ),
    ]
    try:
        checks.append(_diff_check(Path(bundle), metadata, Path(repository), compatibility))
        if not compatibility:
            checks.append(_coverage_check(state, Path(repository)))
    except RepositoryError as error:
        checks.append(Check("diff_patch", ERROR, str(error)))
    return RepositoryVerification(checks)


def _metadata(bundle: Path | str, compatibility: bool) -> tuple[dict[str, Any] | None, Check]:
    try:
        metadata = load_metadata(Path(bundle), strict=not compatibility)
    except MetadataFaultError as error:
        return None, Check("metadata", ERROR, str(error))
    return metadata, Check("metadata", OK, "readable")


def _repository(repository: Path | str) -> tuple[RepositoryState | None, Check]:
    try:
        return read_repository(repository), Check("repo", OK, "readable")
    except RepositoryError as error:
        return None, Check("repo", ERROR, str(error))


def is_recorded(value: Any) -> bool:
    """Return whether a recorded value says anything: not absent, empty or ``unknown``."""
    return value is not None and value not in ("", UNKNOWN)


def _recorded_check(name: str, recorded: Any, live: str) -> Check:
    if not is_recorded(recorded):
        return Check(name, WARNING, "not recorded")
    if recorded == live:
        return Check(name, OK, "as recorded")
    return Check(name, ERROR, f"recorded {reprlib.repr(recorded)}, now {live!r:.120}")


def _dirty_check(recorded: Any, state: RepositoryState) -> Check:
    if not isinstance(recorded, bool):
        return Check("dirty", ERROR, "must be recorded as true or false")
    if recorded is state.is_dirty:
        return Check("dirty", OK, "as recorded")
    return Check("dirty", ERROR, f"recorded {recorded}, now {state.is_dirty}")


def _diff_check(
    bundle: Path, metadata: Mapping[str, Any], repository: Path, compatibility: bool
) -> Check:
    git = metadata.get("git")
    recorded = git if isinstance(git, dict) else {}
    dirty, limit = recorded.get("dirty"), diff_limit(recorded)
    artifacts = metadata.get("artifacts")
    declared = artifacts.get("diff") if isinstance(artifacts, dict) else None
    if not isinstance(dirty, bool) or limit is None:
        return Check("diff_patch", ERROR, "dirty or diff_max_bytes is not valid")
    if not dirty and (compatibility or declared is None):
        return Check("diff_patch", OK, "recorded as clean")
    if declared is None:
        return Check("diff_patch", WARNING, "no difference is declared")
    if not is_non_blank(declared) or path_fault(declared) is not None:
        return Check("diff_patch", ERROR, "artifacts.diff is no plain relative path")
    return _declared_check(bundle, declared, limit if dirty else None, repository)


def _declared_check(bundle: Path, declared: str, limit: int | None, repository: Path) -> Check:
    """Judge a declared difference; without a limit the tree was recorded as clean."""
    try:
        content = read_bundle_file(bundle, declared)
    except UnreadableFileError as error:
        return Check("diff_patch", ERROR, str(error))
    return _proposal_check(content) if limit is None else _changes_check(content, limit, repository)


def _proposal_check(content: bytes) -> Check:
    if b"\ndiff --git " in b"\n" + content:
        return Check("diff_patch", WARNING, "a patch beside a clean tree: it is not applied")
    return Check("diff_patch", OK, "recorded as clean")


def _changes_check(content: bytes, limit: int, repository: Path) -> Check:
    live = canonical_diff(repository, limit=limit)
    if live is None:
        if is_omission_note(content, limit):
            return Check("diff_patch", WARNING, "left out for its size")
        return Check("diff_patch", ERROR, "larger than the limit, and the note does not say so")
    if content == live or (not live and is_no_diff_note(content)):
        return Check("diff_patch", OK, "as recorded")
    return Check("diff_patch", ERROR, "differs from the canonical difference")


def _coverage_check(state: RepositoryState, repository: Path) -> Check:
    untracked = len(state.untracked_paths)
    if untracked:
        return Check(
            "coverage", WARNING, f"the content of {untracked} untracked files is in no digest"
        )
    if state.is_dirty and canonical_diff(repository) == b"":
        return Check("coverage", WARNING, "dirty without a difference: line ends or modes only")
    return Check("coverage", OK, "every change is in a digest")


def content_checks(bundle: Path | str, *, compatibility: bool = False) -> list[Check]:
    """Return what keeps a bundle's texts from being finished: digests absent, draft markers left.

    Returns
    -------
    list of Check
        Errors, or one check ``content`` that is ok.
    """
    root = Path(bundle)
    metadata, _ = _metadata(root, compatibility)
    checks = []
    if metadata is not None:
        git = metadata.get("git")
        recorded = git if isinstance(git, dict) else {}
        checks += [
            Check(field, ERROR, "must be recorded")
            for field in _DIGESTS
            if not is_non_blank(recorded.get(field))
        ]
    for name in (WAYBILL, TEST_SUMMARY, COMMANDS):
        try:
            text = read_bundle_file(root, name).decode("utf-8", "replace")
        except UnreadableFileError:
            continue
        left = [marker for marker in DRAFT_MARKERS if marker in text]
        if left:
            checks.append(Check(name, ERROR, f"still holds {', '.join(map(repr, left))}"))
    return checks or [Check("content", OK, "no draft marker is left")]


def check_readiness(
    bundle: Path | str, repository: Path | str, *, compatibility: bool = False
) -> Readiness:
    """Judge whether a bundle may be handed over.

    Parameters
    ----------
    bundle, repository : pathlib.Path or str
        Two folders.
    compatibility : bool, default False
        The published rules in all three parts.
    """
    return Readiness(
        validate(bundle, compatibility=compatibility),
        verify_repository(bundle, repository, compatibility=compatibility),
        content_checks(bundle, compatibility=compatibility),
    )
