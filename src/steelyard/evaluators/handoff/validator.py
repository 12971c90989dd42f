"""Whether a bundle follows the format, whatever the repository it talks about looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.inventory import (
    COMMANDS,
    METADATA,
    RECOMMENDED_FILES,
    REQUIRED_FILES,
    TEST_SUMMARY,
    WAYBILL,
    UnreadableFileError,
    bundle_files,
    is_bundle_file,
    is_folder,
    is_there,
    read_bundle_file,
)
from steelyard.evaluators.handoff.issues import Issue, caution, errors_of, fault
from steelyard.evaluators.handoff.metadata import MetadataReading, read_metadata
from steelyard.evaluators.handoff.paths import is_non_blank
from steelyard.evaluators.handoff.sections import missing_sections, required_sections
from steelyard.evaluators.handoff.sensitive import sensitive_classes

TEXT_FILES = (WAYBILL, METADATA, COMMANDS, TEST_SUMMARY)
"""The files that a writer fills in from a template."""

_AGENT_PHRASES = ("Claude should", "Claude must", "Codex should", "Codex must")
_PLACEHOLDER = re.compile(r"\{\{[A-Z][A-Z0-9_]*\}\}")
_READ_ONLY = re.compile(r"\bread[- ]only\b")
_BUNDLE_WRITING = re.compile(r"\bbundle(?:[- ]writing| writes?)\b")


@dataclass(frozen=True)
class Validation:
    """What `validate` found, in the order of its rules."""

    issues: list[Issue]

    @property
    def is_valid(self) -> bool:
        """Whether no issue is an error."""
        return not self.errors

    @property
    def errors(self) -> list[Issue]:
        """The issues that are errors."""
        return errors_of(self.issues)

    @property
    def warnings(self) -> list[Issue]:
        """The issues that are not."""
        return [issue for issue in self.issues if issue.severity != "error"]


def validate(bundle: Path | str, *, compatibility: bool = False) -> Validation:
    """Judge a bundle by the format's rules.

    Nothing outside the bundle is read, no link is followed, and every input gives a verdict.

    Parameters
    ----------
    bundle : pathlib.Path or str
        The bundle's folder.
    compatibility : bool, default False
        The published rules: repeated names and ``NaN`` in metadata pass, a heading is found
        anywhere in the text, template placeholders pass, and the published secret patterns.

    Returns
    -------
    Validation
    """
    root = Path(bundle)
    if not is_there(root):
        return Validation([fault("bundle-missing", "there is no such bundle")])
    if not is_folder(root):
        return Validation([fault("bundle-not-directory", "a bundle is a folder")])
    try:
        files, limit = bundle_files(root)
    except OSError as error:
        limit, files = fault("bundle-unreadable", f"cannot be listed: {error.strerror}", "."), []
    if limit is not None:
        return Validation([limit])
    return Validation(list(_content_issues(root, files, compatibility)))


def _content_issues(root: Path, files: list[str], compatibility: bool) -> Iterator[Issue]:
    for name in REQUIRED_FILES:
        if name not in files:
            yield fault("required-file-missing", f"{name} is required", name)
    metadata = MetadataReading(None, [])
    if METADATA in files:
        metadata = read_metadata(root, compatibility=compatibility)
        yield from metadata.issues
    if metadata.is_supported:
        yield from artifact_issues(root, metadata.value)
        yield from _waybill_issues(root, files, metadata.kind, compatibility)
        yield from _commands_issues(root, files)
    for name in RECOMMENDED_FILES:
        if name not in files:
            yield caution("recommended-file-missing", f"{name} is recommended", name)
    if not compatibility:
        yield from _placeholder_issues(root, files)
    yield from _scan_issues(root, files, compatibility)


def artifact_issues(root: Path, metadata: dict[str, Any] | None) -> Iterator[Issue]:
    """Yield what is wrong with the files that metadata declares, in order of declaration."""
    artifacts = (metadata or {}).get("artifacts")
    if not isinstance(artifacts, dict):
        return
    for name, path in artifacts.items():
        if not is_non_blank(path):
            continue
        if path.startswith("/") or ".." in path.split("/"):
            yield fault("artifact-escape", f"artifacts.{name} leaves the bundle", METADATA)
        elif not is_bundle_file(root, path):
            yield fault("artifact-missing", f"artifacts.{name} names no file of the bundle", path)


def _text(root: Path, path: str) -> str | None:
    """Return the text of a bundle's file, None when it is not UTF-8 or cannot be read."""
    try:
        return read_bundle_file(root, path).decode("utf-8")
    except (UnreadableFileError, UnicodeDecodeError):
        return None


def _waybill_issues(
    root: Path, files: list[str], kind: str, compatibility: bool
) -> Iterator[Issue]:
    if WAYBILL not in files:
        return
    text = _text(root, WAYBILL)
    if text is None:
        yield fault("text-encoding", "must be UTF-8 text", WAYBILL)
        return
    lacking = (
        [name for name in required_sections(kind) if f"## {name}" not in text]
        if compatibility
        else missing_sections(text, kind)
    )
    for name in lacking:
        yield fault("section-missing", f"the section '## {name}' is missing", WAYBILL)
    for phrase in _AGENT_PHRASES:
        if phrase in text:
            yield fault(
                "agent-specific-phrase", f"{phrase!r} addresses one agent; address any", WAYBILL
            )


def _commands_issues(root: Path, files: list[str]) -> Iterator[Issue]:
    if COMMANDS not in files:
        return
    text = _text(root, COMMANDS)
    if text is None:
        yield fault("text-encoding", "must be UTF-8 text", COMMANDS)
        return
    for missing in missing_command_markers(text):
        yield caution("commands-log-marker", f"does not mention {missing} actions", COMMANDS)


def missing_command_markers(text: str) -> list[str]:
    """Return which of the two groups of actions a command log does not mention."""
    collapsed = " ".join(text.lower().split())
    markers = (("read-only", _READ_ONLY), ("bundle-writing", _BUNDLE_WRITING))
    return [name for name, pattern in markers if not pattern.search(collapsed)]


def placeholders(text: str) -> list[str]:
    """Return the template placeholders left in a text, such as ``{{ORIGINAL_GOAL}}``."""
    return sorted(set(_PLACEHOLDER.findall(text)))


def _placeholder_issues(root: Path, files: list[str]) -> Iterator[Issue]:
    for name in TEXT_FILES:
        text = _text(root, name) if name in files else None
        if text is not None and placeholders(text):
            yield fault(
                "unresolved-placeholder", f"still holds {', '.join(placeholders(text)[:5])}", name
            )


def _scan_issues(root: Path, files: list[str], compatibility: bool) -> Iterator[Issue]:
    for name in files:
        text = _text(root, name)
        if text is None:
            yield caution("unscannable-file", "is not UTF-8 text and was not scanned", name)
            continue
        for found in sensitive_classes(text, compatibility=compatibility):
            yield fault("sensitive-content", f"seems to hold sensitive content: {found}", name)
