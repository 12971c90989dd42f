"""A small valid bundle and repository of our own, for the tests of the room."""

from __future__ import annotations

import json
import subprocess

from steelyard.evaluators.handoff.repository import canonical_diff, git_environment, read_repository
from steelyard.evaluators.handoff.sections import COMMON_SECTIONS, KIND_SECTIONS

SUMMARY = "# Checks\n\n- Command: `make check`\n- Outcome: failing\n"
COMMANDS = "Read-only actions:\n- git status\n\nBundle-writing actions:\n- four files\n"


def waybill_text(kind="handoff", **sections):
    named = {name.replace(" ", "_"): name for name in COMMON_SECTIONS + KIND_SECTIONS[kind]}
    parts = [f"## {name}\n\n{sections.get(key, 'As told.')}\n" for key, name in named.items()]
    return "# Handover\n\n" + "\n".join(parts)


def metadata(**members):
    base = {
        "schema_version": "0.2",
        "source_agent": "codex",
        "created_at": "2026-03-04T05:06:07Z",
        "repo_root": ".",
        "git": {"branch": "main", "base_ref": "main", "head_sha": "unknown", "dirty": False},
        "artifacts": {
            "waybill": "WAYBILL.md",
            "diff": "diff.patch",
            "commands": "commands.log",
            "test_summary": "test-summary.md",
        },
    }
    return {**base, **members}


def write_bundle(folder, *, kind="handoff", facts=None, **files):
    folder.mkdir(parents=True, exist_ok=True)
    content = {
        "WAYBILL.md": waybill_text(kind),
        "metadata.json": json.dumps(metadata() if facts is None else facts),
        "diff.patch": "",
        "commands.log": COMMANDS,
        "test-summary.md": SUMMARY,
        **files,
    }
    for name, text in content.items():
        data = text if isinstance(text, bytes) else text.encode()
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def git(folder, *arguments):
    environment = git_environment() | {
        "GIT_AUTHOR_NAME": "Test",
        "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "Test",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
    }
    subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, check=True, capture_output=True
    )


def make_repository(folder, **files):
    folder.mkdir()
    git(folder, "init", "--initial-branch=main")
    for name, text in ({"a.txt": "one\n"} | files).items():
        (folder / name).write_text(text)
    git(folder, "add", "--all")
    git(folder, "commit", "-m", "first")
    return folder


def describe(repository, **members):
    """Return metadata that records a repository as it is."""
    state = read_repository(repository)
    recorded = {
        "branch": state.branch,
        "base_ref": "main",
        "head_sha": state.head_sha,
        "dirty": state.is_dirty,
        "status_digest": state.status_digest,
        "repo_state_digest": state.repo_state_digest,
    }
    return metadata(git=recorded, **members), canonical_diff(repository)
