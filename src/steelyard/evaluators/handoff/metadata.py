"""The rules for a bundle's ``metadata.json``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.digests import DIGEST
from steelyard.evaluators.handoff.inventory import (
    METADATA,
    WAYBILL,
    UnreadableFileError,
    read_bundle_file,
)
from steelyard.evaluators.handoff.issues import Issue, caution, fault
from steelyard.evaluators.handoff.json_text import JsonFaultError, read_json
from steelyard.evaluators.handoff.paths import is_non_blank

CURRENT_SCHEMA, LEGACY_SCHEMA = "0.2", "draft"
HANDOFF, REQUEST, RESULT = "handoff", "delegation_request", "delegation_result"
KINDS = (HANDOFF, REQUEST, RESULT)
RESULT_STATUSES = ("completed", "partial", "blocked")
UNKNOWN = "unknown"

DEFAULT_DIFF_BYTES, MAX_DIFF_BYTES = 1_000_000, 5_000_000

_TOP_FIELDS = ("schema_version", "source_agent", "created_at", "repo_root", "git", "artifacts")
_GIT_TEXTS = ("branch", "base_ref", "head_sha")
_GIT_DIGESTS = ("status_digest", "repo_state_digest")
_HANDOFF_TEXTS = ("parent_agent", "child_agent", "request_id", "result_for")
_NEEDED = {
    HANDOFF: (),
    REQUEST: ("request_id", "parent_agent", "child_agent"),
    RESULT: ("result_for", "result_status", "parent_agent", "child_agent"),
}
_INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.\d+)?([Zz]|[+-]\d\d:\d\d)\Z", re.ASCII
)


@dataclass(frozen=True)
class MetadataReading:
    """A metadata file as far as it could be read.

    Attributes
    ----------
    value : dict or None
        The object, None when there is none.
    issues : list of Issue
        What is wrong with it, in the order of the rules.
    is_supported : bool
        Whether its version is one whose rules are known; the artifacts and sections of other
        versions are not judged.
    """

    value: dict[str, Any] | None
    issues: list[Issue]
    is_supported: bool = True

    @property
    def kind(self) -> str:
        """The kind of handoff; an ordinary one when none is declared or it is not known."""
        return handoff_kind(self.value)


def handoff_kind(metadata: Mapping[str, Any] | None) -> str:
    """Return the kind that metadata declares, ``handoff`` when it declares none that is known."""
    kind = handoff_of(metadata).get("kind", HANDOFF)
    return kind if isinstance(kind, str) and kind in KINDS else HANDOFF


def handoff_of(metadata: Mapping[str, Any] | None) -> Mapping[str, Any]:
    """Return the ``handoff`` object of metadata, empty when there is none."""
    handoff = (metadata or {}).get("handoff")
    return handoff if isinstance(handoff, dict) else {}


def load_metadata(
    root: Path, *, strict: bool = True, published: bool | None = None
) -> dict[str, Any]:
    """Return the metadata object of a bundle.

    Parameters
    ----------
    root : pathlib.Path
        The bundle's folder.
    strict : bool, default True
        Refuse repeated member names and numbers that are none.
    published : bool, optional
        Let lone surrogates and deeper nesting pass, as both published validators do; by default
        when not strict.

    Raises
    ------
    MetadataFaultError
        It cannot be read or is no object.
    """
    try:
        content = read_bundle_file(root, METADATA)
    except UnreadableFileError as error:
        raise MetadataFaultError("metadata-unreadable", str(error)) from None
    try:
        value = read_json(
            content, strict=strict, published=not strict if published is None else published
        )
    except JsonFaultError as error:
        category = "metadata-encoding" if error.kind == "not-utf8" else "metadata-json"
        raise MetadataFaultError(category, f"not strict JSON in UTF-8: {error.kind}") from None
    if not isinstance(value, dict):
        raise MetadataFaultError("metadata-not-object", "must be one JSON object")
    return value


class MetadataFaultError(Exception):
    """Metadata that is no JSON object; ``category`` says why."""

    def __init__(self, category: str, message: str) -> None:
        super().__init__(message)
        self.category = category


def read_metadata(root: Path, *, compatibility: bool = False) -> MetadataReading:
    """Read and judge the metadata of a bundle.

    Parameters
    ----------
    root : pathlib.Path
        The bundle's folder, which holds a metadata file.
    compatibility : bool, default False
        Read JSON as the published validator does: the last of two equal names, ``NaN``.

    Returns
    -------
    MetadataReading
    """
    try:
        value = load_metadata(root, strict=not compatibility)
    except MetadataFaultError as error:
        return MetadataReading(None, [fault(error.category, str(error), METADATA)])
    issues = [
        fault("metadata-field-missing", f"{field} is missing", METADATA)
        for field in _TOP_FIELDS
        if field not in value
    ]
    version = _version_issue(value)
    if version is not None:
        issues.append(version)
        if version.category != "schema-version-legacy":
            return MetadataReading(value, issues, is_supported=False)
    for part in (_origin_issues, _git_issues, _artifact_issues, _handoff_issues):
        issues += [fault(name, message, METADATA) for name, message in part(value)]
    return MetadataReading(value, issues)


def _version_issue(metadata: Mapping[str, Any]) -> Issue | None:
    if "schema_version" not in metadata:
        return None
    version = metadata["schema_version"]
    if not isinstance(version, str) or not version:
        return fault(
            "schema-version-invalid", f"schema_version must be {CURRENT_SCHEMA!r}", METADATA
        )
    if version == CURRENT_SCHEMA:
        return None
    if version == LEGACY_SCHEMA:
        return caution("schema-version-legacy", "schema_version is the old draft", METADATA)
    hint = "; regenerate the bundle" if version == "0.1" else ""
    return fault(
        "schema-version-unsupported",
        f"schema_version {version!r} is not known; accepted is {CURRENT_SCHEMA!r}{hint}",
        METADATA,
    )


def _origin_issues(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for field in ("source_agent", "created_at", "repo_root"):
        if field not in metadata:
            continue
        if field == "created_at":
            if not is_instant(metadata[field]):
                yield "created-at-format", "created_at must be an RFC 3339 instant with an offset"
        elif not is_non_blank(metadata[field]):
            yield "metadata-field-type", f"{field} must be text that is not blank"


def has_instant_shape(value: Any) -> bool:
    """Return whether a value is written like an RFC 3339 date and time with an offset."""
    return isinstance(value, str) and _INSTANT.match(value) is not None


def is_instant(value: Any) -> bool:
    """Return whether a value is an RFC 3339 instant that the calendar has.

    Hour 24, second 60, year 0 and offsets of a day or more are refused.
    """
    if not has_instant_shape(value):
        return False
    day, time, offset = _INSTANT.match(value).groups()  # type: ignore[union-attr]
    zone = "+00:00" if offset in "Zz" else offset
    try:
        datetime.fromisoformat(f"{day}T{time}{zone}")
    except ValueError:
        return False
    return not time.startswith("24") and int(zone[4:6]) < 60


def _git_issues(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    git = metadata.get("git")
    if not isinstance(git, dict):
        yield "git-not-object", "git must be an object"
        return
    for field in (*_GIT_TEXTS, "dirty"):
        if field not in git:
            yield "git-field-missing", f"git.{field} is missing"
    for field in _GIT_TEXTS:
        if field in git and not is_non_blank(git[field]):
            yield "git-field-type", f"git.{field} must be text that is not blank"
    if "dirty" in git and not isinstance(git["dirty"], bool):
        yield "git-dirty-type", "git.dirty must be true or false"
    if diff_limit(git) is None:
        yield "git-diff-limit", f"git.diff_max_bytes must be an integer of 1 to {MAX_DIFF_BYTES}"
    for field in _GIT_DIGESTS:
        if field in git and not is_digest(git[field]):
            yield "git-digest-format", f"git.{field} must be sha256: and 64 lowercase digits"


def is_digest(value: Any) -> bool:
    """Return whether a value is a digest as bundles write them."""
    return isinstance(value, str) and DIGEST.match(value) is not None


def diff_limit(git: Mapping[str, Any]) -> int | None:
    """Return the largest diff a bundle says it records, in bytes; None when that is no size."""
    limit = git.get("diff_max_bytes")
    if limit is None:
        return DEFAULT_DIFF_BYTES
    if isinstance(limit, bool) or not isinstance(limit, int):
        return None
    return limit if 1 <= limit <= MAX_DIFF_BYTES else None


def _artifact_issues(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    artifacts = metadata.get("artifacts")
    if not isinstance(artifacts, dict):
        yield "artifacts-not-object", "artifacts must be an object"
        return
    if "waybill" not in artifacts:
        yield "artifacts-waybill-missing", "artifacts.waybill is missing"
    for name, path in artifacts.items():
        if not is_non_blank(path):
            yield "artifact-type", f"artifacts.{name} must be a path that is not blank"
    if "waybill" in artifacts and artifacts["waybill"] != WAYBILL:
        yield "artifacts-waybill-name", f"artifacts.waybill must be {WAYBILL!r}"


def _handoff_issues(metadata: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if "handoff" not in metadata:
        return
    handoff = metadata["handoff"]
    if not isinstance(handoff, dict):
        yield "handoff-not-object", "handoff must be an object"
        return
    kind = handoff.get("kind", HANDOFF)
    if not isinstance(kind, str):
        yield "handoff-kind-type", "handoff.kind must be text"
    elif kind not in KINDS:
        yield "handoff-kind-value", f"handoff.kind must be one of {', '.join(KINDS)}"
    for field in _HANDOFF_TEXTS:
        if field in handoff and not is_non_blank(handoff[field]):
            yield "handoff-field-type", f"handoff.{field} must be text that is not blank"
    status = handoff.get("result_status")
    if "result_status" in handoff and status not in RESULT_STATUSES:
        yield (
            "handoff-result-status",
            f"handoff.result_status must be one of {', '.join(RESULT_STATUSES)}",
        )
    yield from _role_issues(metadata, handoff)


def _role_issues(
    metadata: Mapping[str, Any], handoff: Mapping[str, Any]
) -> Iterator[tuple[str, str]]:
    kind = handoff_kind(metadata)
    for field in _NEEDED[kind]:
        if field not in handoff:
            yield "handoff-field-missing", f"handoff.{field} is missing"
    role = {REQUEST: "parent_agent", RESULT: "child_agent"}.get(kind)
    if role is None or role not in handoff:
        return
    source, agent = metadata.get("source_agent"), handoff[role]
    if is_non_blank(source) and is_non_blank(agent) and source != agent:
        yield "delegation-source-mismatch", f"source_agent must be handoff.{role}"
