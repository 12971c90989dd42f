"""The second validator of the published format, which travels with each adapter.

It judges a bundle and the repository it describes in one pass and names its findings by codes of
its own. It is kept because published evidence was made with it; the room's own verdicts come from
`validate` and `verify_repository`, which share their parts with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.checker_metadata import leaves_bundle, metadata_issues
from steelyard.evaluators.handoff.diff_notes import is_no_diff_note, is_omission_note
from steelyard.evaluators.handoff.inventory import (
    COMMANDS,
    MAX_FILE_BYTES,
    MAX_FILES,
    MAX_TOTAL_BYTES,
    METADATA,
    RECOMMENDED_FILES,
    REQUIRED_FILES,
    WAYBILL,
    UnreadableFileError,
    bundle_entries,
    is_folder,
    is_there,
    read_bundle_file,
)
from steelyard.evaluators.handoff.issues import Issue, caution, errors_of, fault
from steelyard.evaluators.handoff.metadata import (
    MetadataFaultError,
    diff_limit,
    handoff_kind,
    load_metadata,
)
from steelyard.evaluators.handoff.paths import is_non_blank
from steelyard.evaluators.handoff.repository import (
    RepositoryError,
    RepositoryState,
    canonical_diff,
    read_repository,
)
from steelyard.evaluators.handoff.sections import required_sections, section_map
from steelyard.evaluators.handoff.sensitive import sensitive_classes
from steelyard.evaluators.handoff.validator import (
    TEXT_FILES,
    missing_command_markers,
    placeholders,
)
from steelyard.evaluators.handoff.verification import is_recorded


@dataclass(frozen=True)
class CheckerReport:
    """What `check_bundle` found.

    Attributes
    ----------
    issues : list of Issue
        In the order of the checks.
    repository_digests : dict or None
        The live status and state digests, None when metadata or repository cannot be read.
    """

    issues: list[Issue]
    repository_digests: dict[str, str] | None

    @property
    def success(self) -> bool:
        """Whether no issue is an error."""
        return not errors_of(self.issues)


def check_bundle(bundle: Path | str, repository: Path | str) -> CheckerReport:
    """Judge a bundle and its repository as the published stand-alone checker does.

    Links are skipped and the rest still checked, headings are whole lines, JSON is strict, the
    calendar is not consulted and ``handoff: null`` passes.

    Parameters
    ----------
    bundle, repository : pathlib.Path or str
        Two folders.
    """
    root = Path(bundle)
    if not is_there(root):
        return CheckerReport([fault("bundle-missing", "there is no such bundle")], None)
    if root.is_symlink() or not is_folder(root):
        return CheckerReport([fault("bundle-type", "a bundle is a folder")], None)
    try:
        files, issues, is_complete = _inventory(root)
    except OSError as error:  # a folder that may not be read, a path longer than a path can be
        issue = fault("bundle-read", f"cannot be listed: {error.strerror}", ".")
        return CheckerReport([issue], None)
    if not is_complete:
        return CheckerReport(issues, None)
    issues += [
        fault("required-file", f"{name} is required", name)
        for name in REQUIRED_FILES
        if name not in files
    ]
    metadata: dict[str, Any] | None = None
    if METADATA in files:
        try:
            metadata = load_metadata(root, published=True)
        except MetadataFaultError as error:
            category = _METADATA_CODES.get(error.category, error.category)
            issues.append(fault(category, str(error), METADATA))
    digests: dict[str, str] | None = None
    if metadata is not None:
        issues += metadata_issues(root, metadata)
    issues += _text_issues(root, files, handoff_kind(metadata))
    if metadata is not None:
        live, found = _repository_issues(root, metadata, Path(repository))
        issues += found
        if live is not None:
            digests = {name: getattr(live, name) for name in ("status_digest", "repo_state_digest")}
    return CheckerReport(issues, digests)


_METADATA_CODES = {"metadata-unreadable": "file-read", "metadata-not-object": "metadata-object"}


def _inventory(root: Path) -> tuple[list[str], list[Issue], bool]:
    files: list[str] = []
    issues: list[Issue] = []
    count = total = 0
    for entry in bundle_entries(root):
        if entry.kind in {"link", "special"}:
            issues.append(fault("unsafe-entry", "is no regular file", entry.path))
            continue
        count, total = count + 1, total + entry.size
        if entry.kind == "excess" or count > MAX_FILES:
            issues.append(fault("file-count-limit", f"more than {MAX_FILES} files"))
            return [], issues, False
        if entry.size > MAX_FILE_BYTES:
            issues.append(fault("file-limit", f"larger than {MAX_FILE_BYTES:,} bytes", entry.path))
            continue
        if total > MAX_TOTAL_BYTES:
            issues.append(fault("total-size-limit", f"over {MAX_TOTAL_BYTES:,} bytes"))
            return [], issues, False
        files.append(entry.path)
    return files, issues, True


def _text_issues(root: Path, files: list[str], kind: str) -> Iterator[Issue]:
    texts = {name: _text(root, name) for name in files}
    for name in TEXT_FILES:
        text = texts.get(name, "")
        if text is None:
            yield fault("text-read", "must be UTF-8 text", name)
        elif placeholders(text):
            yield fault("unresolved-placeholder", "still holds a placeholder", name)
    if WAYBILL in texts:
        yield from _section_issues(texts[WAYBILL], kind)
    if COMMANDS in texts:
        yield from _commands_issues(texts[COMMANDS])
    for name in RECOMMENDED_FILES:
        if name not in files:
            yield caution("recommended-file-missing", f"{name} is recommended", name)
    yield from _scan_issues(texts)


def _scan_issues(texts: Mapping[str, str | None]) -> Iterator[Issue]:
    for name, text in texts.items():
        if text is None:
            yield caution("content-encoding", "is not UTF-8 text and was not scanned", name)
            continue
        for found in sensitive_classes(text, compatibility=True):
            yield fault("sensitive-content", f"seems to hold sensitive content: {found}", name)


def _text(root: Path, name: str) -> str | None:
    try:
        return read_bundle_file(root, name).decode("utf-8")
    except (UnreadableFileError, UnicodeDecodeError):
        return None


def _commands_issues(text: str | None) -> Iterator[Issue]:
    if text is None:
        yield fault("text-read", "must be UTF-8 text", COMMANDS)
        return
    for marker in missing_command_markers(text):
        yield caution("commands-log-section", f"does not mention {marker}", COMMANDS)


def _section_issues(text: str | None, kind: str) -> Iterator[Issue]:
    if text is None:
        yield fault("text-read", "must be UTF-8 text", WAYBILL)
        return
    present = section_map(text, compatibility=True)
    for name in required_sections(kind):
        if name not in present:
            yield fault("waybill-section", f"the section '## {name}' is missing", WAYBILL)


def _repository_issues(
    root: Path, metadata: Mapping[str, Any], repository: Path
) -> tuple[RepositoryState | None, list[Issue]]:
    try:
        live = read_repository(repository)
        git = metadata.get("git")
        recorded = git if isinstance(git, dict) else {}
        issues = list(_differences(recorded, live))
        issues += _diff_issues(root, metadata.get("artifacts"), recorded, repository)
    except RepositoryError as error:
        return None, [fault("repo-state", str(error))]
    return live, issues


def _differences(recorded: Mapping[str, Any], live: RepositoryState) -> Iterator[Issue]:
    for code, field, now in (
        ("repo-branch", "branch", live.branch),
        ("repo-head", "head_sha", live.head_sha),
        ("repo-status-digest", "status_digest", live.status_digest),
        ("repo-state-digest", "repo_state_digest", live.repo_state_digest),
    ):
        if is_recorded(recorded.get(field)) and recorded[field] != now:
            yield fault(code, f"git.{field} is not what the repository has")
    dirty = recorded.get("dirty")
    if is_recorded(dirty) and dirty != live.is_dirty:
        yield fault("repo-dirty", "git.dirty is not what the repository has")


def _diff_issues(
    root: Path, artifacts: Any, recorded: Mapping[str, Any], repository: Path
) -> Iterator[Issue]:
    limit = diff_limit(recorded)
    if recorded.get("dirty") is not True or limit is None:
        return
    path = artifacts.get("diff") if isinstance(artifacts, dict) else None
    if path is None:
        yield caution("repo-diff-missing", "no difference is declared")
        return
    try:
        content = (
            read_bundle_file(root, path) if is_non_blank(path) and not leaves_bundle(path) else None
        )
    except UnreadableFileError:
        content = None
    live = canonical_diff(repository, limit=limit)
    if content is not None and live is None and is_omission_note(content, limit):
        yield caution("repo-diff-omitted", "left out for its size")
    elif content is None or not (
        content == live or (live == b"" and (not content or is_no_diff_note(content)))
    ):
        yield fault("repo-diff", "the recorded difference is not the repository's")
