"""The repository that an exporting agent finds: two changed files and a test that really ran."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.evidence import MeasuredEvidence, expected_handoff
from steelyard.evaluators.handoff.inventory import COMMANDS, DIFF, METADATA, TEST_SUMMARY, WAYBILL
from steelyard.evaluators.handoff.metadata import CURRENT_SCHEMA, REQUEST, RESULT, UNKNOWN
from steelyard.evaluators.handoff.repository import (
    RepositoryState,
    canonical_diff,
    read_repository,
)
from steelyard.evaluators.handoff.scenarios import ExportScenario
from steelyard.evaluators.handoff.sections import required_sections
from steelyard.harness.handoff.workspaces import FixtureError, git, write_command_canary

SOURCE_FILE, TEST_FILE = "src/retry.py", "tests/test_retry.py"
TEST_COMMAND = f"python3 -B {TEST_FILE}"
MARKER = "gives_up_after_three_knocks"
BRANCH = "knock-limit"
TEST_SECONDS = 60

ENTRYPOINTS = {
    "claude-code": ".claude/skills/handoff/SKILL.md",
    "codex": ".codex/skills/handoff/SKILL.md",
    "cursor": ".cursor/rules/handoff.md",
    "gemini-cli": ".gemini/handoff/INSTRUCTIONS.md",
    "opencode": ".opencode/handoff/INSTRUCTIONS.md",
}
"""Where each adapter keeps its instructions; the shared reference lies beside them."""

REFERENCE = "bundle-format.md"

_BEFORE = '''"""Knocking at a door."""


def keeps_knocking(knocks):
    return True
'''
_AFTER = {
    "failing": '''"""Knocking at a door."""

LIMIT = 3


def keeps_knocking(knocks):
    return knocks <= LIMIT
''',
    "passing": '''"""Knocking at a door."""

LIMIT = 3


def keeps_knocking(knocks):
    return knocks < LIMIT
''',
}
_TEST_HEAD = '''"""Does the knocking end?"""

import importlib.util
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
SPEC = importlib.util.spec_from_file_location("retry", HERE.parent / "src" / "retry.py")
retry = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(retry)
'''
_TEST_BEFORE = (
    _TEST_HEAD
    + """
assert retry.keeps_knocking(1)
"""
)
_TEST_AFTER = (
    _TEST_HEAD
    + f'''
holds = retry.keeps_knocking(2) and not retry.keeps_knocking(3)
print("{MARKER}:", "as wanted" if holds else "the fourth knock came")
sys.exit(0 if holds else 1)
'''
)


@dataclass(frozen=True)
class ExportRepository:
    """A repository in the middle of a session, and what was measured in it.

    Attributes
    ----------
    root : pathlib.Path
        What is snapshotted.
    folder : pathlib.Path
        The repository.
    runtime_home : pathlib.Path
        The agent's home, outside ``root``.
    request : pathlib.Path or None
        The request bundle beside the repository, for a delegation result.
    state : RepositoryState
        As measured.
    evidence : MeasuredEvidence
        What a bundle must say.
    """

    root: Path
    folder: Path
    runtime_home: Path
    request: Path | None
    state: RepositoryState
    evidence: MeasuredEvidence


def instruction_texts() -> dict[str, str]:
    """Return the instructions for adapters: ``entrypoint.md`` and the shared reference."""
    folder = resources.files("steelyard.harness.handoff") / "instructions"
    return {
        name: (folder / name).read_text(encoding="utf-8") for name in ("entrypoint.md", REFERENCE)
    }


def install_adapter(folder: Path, adapter: str) -> None:
    """Write an adapter's instructions into a repository, at the adapter's own place."""
    texts = instruction_texts()
    entrypoint = folder / ENTRYPOINTS[adapter]
    entrypoint.parent.mkdir(parents=True, exist_ok=True)
    entrypoint.write_text(texts["entrypoint.md"], encoding="utf-8")
    (entrypoint.parent / REFERENCE).write_text(texts[REFERENCE], encoding="utf-8")


def prepare_export(
    scenario: ExportScenario, adapter: str, root: Path, *, also: tuple[str, ...] = ()
) -> ExportRepository:
    """Make the repository of an export scenario and measure it.

    Parameters
    ----------
    scenario : ExportScenario
        The session.
    adapter : str
        Whose instructions are installed.
    root : pathlib.Path
        An empty folder.
    also : tuple of str
        Further adapters to install, for a roundtrip.

    Raises
    ------
    FixtureError
        The test did not come out as the scenario says, or other files changed than it lists.
    """
    area, home = root / "area", root / "runtime-home"
    folder = area / "repo"
    (home / "tmp").mkdir(parents=True)
    folder.mkdir(parents=True)
    for name in dict.fromkeys((adapter, *also)):
        install_adapter(folder, name)
    write_command_canary(folder)
    (folder / ".gitignore").write_text(".waybill/\n__pycache__/\n*.pyc\n", encoding="utf-8")
    _write(folder, {SOURCE_FILE: _BEFORE, TEST_FILE: _TEST_BEFORE})
    git(folder, "init", "--quiet", f"--initial-branch={BRANCH}")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--no-verify", "-m", "Knock at the door")
    _write(folder, {SOURCE_FILE: _AFTER[scenario.fixture_state], TEST_FILE: _TEST_AFTER})
    returncode = _run_test(folder, scenario.fixture_state)
    state = read_repository(folder)
    if tuple(state.changed_paths) != scenario.expected_changed_files:
        raise FixtureError(
            f"scenario {scenario.id}: changed are {state.changed_paths}, "
            f"expected_changed_files says {list(scenario.expected_changed_files)}"
        )
    evidence = MeasuredEvidence(
        adapter,
        tuple(state.changed_paths),
        state.status_digest,
        state.repo_state_digest,
        canonical_diff(folder) or b"",
        TEST_COMMAND,
        returncode,
        scenario.fixture_state,
        MARKER,
    )
    request = None
    if scenario.facts.handoff_kind == RESULT:
        request = area / "pair-request"
        write_request(request, scenario, adapter)
    return ExportRepository(area, folder, home, request, state, evidence)


def _write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def _run_test(folder: Path, expected: str) -> int:
    done = subprocess.run(  # noqa: S603 - our own test in our own repository
        [sys.executable, "-B", TEST_FILE],
        cwd=folder,
        env={"PATH": os.environ.get("PATH", os.defpath)},
        capture_output=True,
        timeout=TEST_SECONDS,
        check=False,
    )
    outcome = "passing" if done.returncode == 0 else "failing"
    if outcome != expected or MARKER.encode() not in done.stdout:
        raise FixtureError(f"the test of the fixture is {outcome}, the scenario says {expected}")
    return done.returncode


def write_request(folder: Path, scenario: ExportScenario, adapter: str) -> None:
    """Write the request bundle that a delegation result answers.

    Parameters
    ----------
    folder : pathlib.Path
        Where; it must not exist.
    scenario : ExportScenario
        Of a delegation result.
    adapter : str
        The child that answers.
    """
    delegation = scenario.facts.delegation or {}
    parent = delegation["counterparty_agent"]
    metadata: dict[str, Any] = {
        "schema_version": CURRENT_SCHEMA,
        "source_agent": parent,
        "created_at": "2026-01-02T03:04:05Z",
        "repo_root": ".",
        "git": {"branch": UNKNOWN, "base_ref": UNKNOWN, "head_sha": UNKNOWN, "dirty": False},
        "artifacts": {
            "waybill": WAYBILL,
            "diff": DIFF,
            "commands": COMMANDS,
            "test_summary": TEST_SUMMARY,
        },
        "handoff": {
            "kind": REQUEST,
            "request_id": delegation["request_id"],
            "parent_agent": parent,
            "child_agent": adapter,
        },
    }
    sections = dict.fromkeys(required_sections(REQUEST), "See the goal.")
    sections |= {"Original Goal": scenario.facts.goal, "Current Status": "requested"}
    folder.mkdir(parents=True)
    texts = {
        WAYBILL: waybill_text(sections),
        METADATA: json.dumps(metadata, indent=1, sort_keys=True) + "\n",
        DIFF: "",
        COMMANDS: "Read-only actions: none yet.\nBundle-writing actions: this request.\n",
        TEST_SUMMARY: "Nothing was tested for this request.\n",
    }
    _write(folder, texts)


def waybill_text(sections: dict[str, str]) -> str:
    """Return a WAYBILL.md with the given sections, in order."""
    parts = [f"## {name}\n\n{body}\n" for name, body in sections.items()]
    return "# Handover\n\n" + "\n".join(parts)


def handoff_members(scenario: ExportScenario, adapter: str) -> dict[str, str]:
    """Return what ``handoff`` must hold in the exported metadata; empty for an ordinary one."""
    return expected_handoff(scenario.facts, adapter)
