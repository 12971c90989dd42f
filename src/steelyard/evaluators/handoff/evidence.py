"""Whether an exported bundle says what was measured: exact, deterministic, no model as a judge."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.claims import focused_summary_matches, state_matches
from steelyard.evaluators.handoff.inventory import (
    DIFF,
    TEST_SUMMARY,
    WAYBILL,
    UnreadableFileError,
    read_bundle_file,
)
from steelyard.evaluators.handoff.metadata import (
    HANDOFF,
    REQUEST,
    MetadataFaultError,
    handoff_of,
    load_metadata,
)
from steelyard.evaluators.handoff.sections import section_map

CHECK_OF_ERROR = {
    "goal": "goal",
    "changed-files": "changed_files",
    "test-state": "test_state",
    "risks": "risks",
    "next-step": "next_step",
    "status": "status",
    "diff": "diff",
    "status-digest": "status_digest",
    "repo-state-digest": "repo_state_digest",
    "source-agent": "source_agent",
    "handoff-kind": "delegation",
    "delegation": "delegation",
}
"""The semantic check that each evidence error is a failure of."""

SEMANTIC_CHECKS = tuple(dict.fromkeys(CHECK_OF_ERROR.values()))
"""The eleven checks."""

UNREADABLE = "unreadable-bundle"
STATUS_WORDS = ("unfinished", "requested", "completed", "partial", "blocked")

_CHANGED_LINE = re.compile(r"- `(?P<path>[^`]+)`:[ \t]*\S")
_PATH_TOKEN = re.compile(r"[A-Za-z0-9._@+-]+(?:/[A-Za-z0-9._@+-]+)+")
_STATUS_WORD = re.compile(r"\b(?:" + "|".join(STATUS_WORDS) + r")\b", re.IGNORECASE)


@dataclass(frozen=True)
class ExportScenarioFacts:
    """What the session behind an export was about.

    Attributes
    ----------
    handoff_kind, status, goal, next_step : str
        Words and sentences that must survive.
    risks : tuple of str
        In order.
    delegation : mapping or None
        ``request_id``, ``counterparty_agent`` and, for a result, ``result_status``.
    """

    handoff_kind: str
    status: str
    goal: str
    risks: tuple[str, ...]
    next_step: str
    delegation: Mapping[str, str] | None = None


@dataclass(frozen=True)
class MeasuredEvidence:
    """What the controller measured before the agent started.

    Attributes
    ----------
    adapter : str
        The agent's name in roles.
    changed_files : tuple of str
        Sorted.
    status_digest, repo_state_digest : str
        Of the repository.
    canonical_diff : bytes
        Its difference.
    test_command, test_outcome, test_marker : str
        What was run, ``passing`` or ``failing``, a word of its output.
    test_returncode : int
        Its exit status.
    """

    adapter: str
    changed_files: tuple[str, ...]
    status_digest: str
    repo_state_digest: str
    canonical_diff: bytes
    test_command: str
    test_returncode: int
    test_outcome: str
    test_marker: str


def summary_lines(evidence: MeasuredEvidence) -> tuple[str, ...]:
    """Return the four lines that a test summary must hold, each once."""
    return (
        f"- Command: `{evidence.test_command}`",
        f"- Outcome: {evidence.test_outcome}",
        f"- Exit status: {evidence.test_returncode}",
        f"- Evidence marker: `{evidence.test_marker}`",
    )


def evidence_errors(
    bundle: Path | str,
    facts: ExportScenarioFacts,
    evidence: MeasuredEvidence,
    *,
    compatibility: bool = False,
) -> list[str]:
    """Return what a bundle says differently from what was measured.

    Parameters
    ----------
    bundle : pathlib.Path or str
        The bundle's folder.
    facts : ExportScenarioFacts
        What the session was about.
    evidence : MeasuredEvidence
        What was measured.
    compatibility : bool, default False
        The published rules: summary lines may be the start of longer ones, headings count inside
        fenced code, and claims are read as the published tool reads them.

    Returns
    -------
    list of str
        Keys of `CHECK_OF_ERROR` in a fixed order, or ``unreadable-bundle`` alone.
    """
    root = Path(bundle)
    try:
        text, summary = (read_bundle_file(root, name).decode() for name in (WAYBILL, TEST_SUMMARY))
        diff = read_bundle_file(root, DIFF)
    except (UnreadableFileError, UnicodeDecodeError):
        return [UNREADABLE]
    sections = section_map(text, compatibility=compatibility)

    def body(name: str) -> str:
        return sections.get(name, "")

    holds = {
        "goal": _collapsed(body("Original Goal")) == _collapsed(facts.goal),
        "changed-files": _lists_changes(body("Changed Files"), evidence.changed_files),
        "test-state": _test_state_holds(body("Test State"), summary, evidence, compatibility),
        "risks": _lines(body("Risks / Unknowns")) == [f"- {risk}" for risk in facts.risks],
        "next-step": _collapsed(body("Next Recommended Step")) == _collapsed(facts.next_step),
        "status": _states_only(body("Current Status"), facts.status),
        "diff": diff == evidence.canonical_diff,
    }
    errors = [name for name, is_met in holds.items() if not is_met]
    return errors + _metadata_errors(root, facts, evidence, compatibility)


def semantic_checks(errors: list[str]) -> dict[str, bool]:
    """Return the eleven checks, each true unless an error belongs to it.

    Parameters
    ----------
    errors : list of str
        From `evidence_errors`.
    """
    if UNREADABLE in errors:
        return dict.fromkeys(SEMANTIC_CHECKS, False)
    failed = {CHECK_OF_ERROR[error] for error in errors}
    return {name: name not in failed for name in SEMANTIC_CHECKS}


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _lines(body: str) -> list[str]:
    return [line.strip() for line in body.splitlines() if line.strip()]


def _lists_changes(body: str, changed: tuple[str, ...]) -> bool:
    lines = _lines(body)
    found = [match for line in lines if (match := _CHANGED_LINE.match(line)) is not None]
    # The path itself is compared whole: it may hold what a token cannot, a space or an accent.
    reasons = " ".join(match.string[match.end("path") :] for match in found)
    mentioned = {token.rstrip(".") for token in _PATH_TOKEN.findall(reasons)}
    named = sorted(match["path"] for match in found)
    return len(found) == len(lines) and named == list(changed) and mentioned <= set(changed)


def _test_state_holds(
    section: str, summary: str, evidence: MeasuredEvidence, compatibility: bool
) -> bool:
    count: Callable[[str], int] = summary.count if compatibility else _lines(summary).count
    command, outcome = evidence.test_command, evidence.test_outcome
    return (
        all(count(line) == 1 for line in summary_lines(evidence))
        and focused_summary_matches(summary, command, outcome, compatibility=compatibility)
        and state_matches(
            section, command, outcome, evidence.test_marker, compatibility=compatibility
        )
    )


def _states_only(body: str, status: str) -> bool:
    first = next(iter(body.splitlines()), "").strip()
    words = {word.lower() for word in _STATUS_WORD.findall(body)}
    return first == status and words == {status}


def _metadata_errors(
    root: Path, facts: ExportScenarioFacts, evidence: MeasuredEvidence, compatibility: bool
) -> list[str]:
    try:
        metadata: Mapping[str, Any] = load_metadata(root, strict=not compatibility)
    except MetadataFaultError:
        metadata = {}
    git = metadata.get("git")
    recorded = git if isinstance(git, dict) else {}
    errors = []
    if recorded.get("status_digest") != evidence.status_digest:
        errors.append("status-digest")
    if recorded.get("repo_state_digest") != evidence.repo_state_digest:
        errors.append("repo-state-digest")
    if metadata.get("source_agent") != evidence.adapter:
        return [*errors, "source-agent"]
    handoff = handoff_of(metadata)
    if handoff.get("kind", HANDOFF) != facts.handoff_kind:
        return [*errors, "handoff-kind"]
    wanted = expected_handoff(facts, evidence.adapter)
    if any(handoff.get(name) != value for name, value in wanted.items()):
        errors.append("delegation")
    return errors


def expected_handoff(facts: ExportScenarioFacts, adapter: str) -> dict[str, str]:
    """Return the members that ``handoff`` must have in an exported bundle's metadata.

    Parameters
    ----------
    facts : ExportScenarioFacts
        The session.
    adapter : str
        The exporting agent: the parent of a request, the child of a result.
    """
    if facts.delegation is None:
        return {}
    other = facts.delegation["counterparty_agent"]
    if facts.handoff_kind == REQUEST:
        return {
            "kind": facts.handoff_kind,
            "request_id": facts.delegation["request_id"],
            "parent_agent": adapter,
            "child_agent": other,
        }
    return {
        "kind": facts.handoff_kind,
        "result_for": facts.delegation["request_id"],
        "result_status": facts.delegation["result_status"],
        "parent_agent": other,
        "child_agent": adapter,
    }
