"""The published stand-alone checker's rules for ``metadata.json``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.inventory import METADATA, REQUIRED_FILES, is_bundle_file
from steelyard.evaluators.handoff.issues import Issue, caution, fault
from steelyard.evaluators.handoff.metadata import (
    CURRENT_SCHEMA,
    KINDS,
    LEGACY_SCHEMA,
    REQUEST,
    RESULT,
    RESULT_STATUSES,
    diff_limit,
    handoff_kind,
    handoff_of,
    has_instant_shape,
    is_digest,
)
from steelyard.evaluators.handoff.paths import is_non_blank


def metadata_issues(root: Path, metadata: Mapping[str, Any]) -> Iterator[Issue]:
    """Yield what is wrong with a bundle's metadata, by the codes of the checker."""
    version = metadata.get("schema_version")
    if version == LEGACY_SCHEMA:
        yield caution("legacy-schema", "the old draft", METADATA)
    elif version != CURRENT_SCHEMA:
        yield fault("schema-version", f"accepted is {CURRENT_SCHEMA!r}", METADATA)
    yield from _fields(metadata, ("source_agent", "created_at", "repo_root"))
    created = metadata.get("created_at")
    if is_non_blank(created) and not has_instant_shape(created):
        yield fault("created-at", "must be an RFC 3339 instant with an offset", METADATA)
    git = metadata.get("git")
    if not isinstance(git, dict):
        yield fault("git-object", "git must be an object", METADATA)
    yield from _git_issues(git if isinstance(git, dict) else {})
    yield from _artifact_issues(root, metadata.get("artifacts"))
    handoff = metadata.get("handoff")
    if handoff is not None and not isinstance(handoff, dict):
        yield fault("handoff-object", "handoff must be an object", METADATA)
    yield from _handoff_issues(metadata, handoff_of(metadata))


def _fields(values: Mapping[str, Any], names: Iterable[str]) -> Iterator[Issue]:
    for name in names:
        if not is_non_blank(values.get(name)):
            yield fault("metadata-field", f"{name} must be text that is not blank", METADATA)


def _git_issues(git: Mapping[str, Any]) -> Iterator[Issue]:
    yield from _fields(git, ("branch", "base_ref", "head_sha"))
    if not isinstance(git.get("dirty"), bool):
        yield fault("git-dirty", "git.dirty must be true or false", METADATA)
    if diff_limit(git) is None:
        yield fault("diff-limit", "git.diff_max_bytes is no accepted size", METADATA)
    for field, code in (
        ("status_digest", "status-digest-missing"),
        ("repo_state_digest", "repo-state-digest-missing"),
    ):
        if git.get(field) is None:
            yield caution(code, f"git.{field} is not recorded", METADATA)
        elif not is_digest(git[field]):
            yield fault("digest-format", f"git.{field} is no digest", METADATA)


def _artifact_issues(root: Path, artifacts: Any) -> Iterator[Issue]:
    if not isinstance(artifacts, dict):
        yield fault("artifacts-object", "artifacts must be an object", METADATA)
        return
    if "waybill" not in artifacts:
        yield fault("waybill-artifact", "artifacts.waybill is missing", METADATA)
    for name, path in artifacts.items():
        if not is_non_blank(path) or leaves_bundle(path):
            yield fault("artifact-path", f"artifacts.{name} is no path in the bundle", METADATA)
        elif not is_bundle_file(root, path) and path not in REQUIRED_FILES:
            report = fault if name == "waybill" else caution
            yield report("artifact-missing", f"artifacts.{name} names no file", path)


def leaves_bundle(path: str) -> bool:
    """Return whether a declared path could lead out of the bundle on some system."""
    return path.startswith("/") or "\\" in path or ".." in path.split("/")


def _handoff_issues(metadata: Mapping[str, Any], handoff: Mapping[str, Any]) -> Iterator[Issue]:
    kind = handoff.get("kind", "handoff")
    if kind not in KINDS:
        yield fault("handoff-kind", f"must be one of {', '.join(KINDS)}", METADATA)
    if kind == REQUEST:
        yield from _fields(handoff, ("request_id", "parent_agent", "child_agent"))
    if kind == RESULT:
        yield from _fields(handoff, ("result_for", "parent_agent", "child_agent"))
        if handoff.get("result_status") not in RESULT_STATUSES:
            yield fault("delegation-status", "result_status is not known", METADATA)
    role = {REQUEST: "parent_agent", RESULT: "child_agent"}.get(handoff_kind(metadata))
    if role is not None and is_non_blank(handoff.get(role)):
        source = metadata.get("source_agent")
        if is_non_blank(source) and source != handoff[role]:
            yield fault("delegation-source", f"source_agent must be handoff.{role}", METADATA)
