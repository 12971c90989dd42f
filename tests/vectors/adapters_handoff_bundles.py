"""Adapters of the handoff room to Waybill's vectors of bundles and repositories.

They are replayed with ``compatibility``, as those of `vectors.adapters_handoff`.
"""

from __future__ import annotations

import base64
import re
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff import (
    checker,
    diff_notes,
    digests,
    evidence,
    pairs,
    repository,
    sections,
    validator,
    verification,
)
from steelyard.evaluators.handoff.issues import Check, Issue, passes
from vectors.handoff_trees import write_tree


def bundle_at(root: Path, case: dict[str, Any]) -> Path:
    """Write the bundle of a case and return its folder."""
    bundle, kind = root / "bundle", case["root"]
    if kind == "file":
        bundle.write_text("x")
    elif kind != "missing":
        folder = root / "real" if kind == "symlink" else bundle
        folder.mkdir()
        write_tree(folder, case.get("files", {}))
        for series in case.get("generated", ()):
            names = [series["pattern"].format(n=f"{i:03d}") for i in range(series["count"])]
            write_tree(folder, dict.fromkeys(names, series["content"]))
        if kind == "symlink":
            bundle.symlink_to(folder)
    return bundle


def validate_bundle(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        bundle = bundle_at(Path(folder), case)
        found = validator.validate(bundle, compatibility=True)
        live = build_repository(Path(folder) / "repo", CLEAN_REPOSITORY)
        report = checker.check_bundle(bundle, live)
    result: dict[str, Any] = {"valid": found.is_valid, "checker": checker_lists(report)}
    if any(issue.category == "text-encoding" for issue in found.issues):
        return result | {"raises": "UnicodeDecodeError"}  # where the published tool crashes
    return result | {
        "issues": [
            {"severity": issue.severity, "category": issue.category, "path": issue.path}
            for issue in found.issues
        ],
        "error_categories": categories(found.errors),
        "warning_categories": categories(found.warnings),
    }


def categories(issues: list[Issue]) -> list[str]:
    return sorted({issue.category for issue in issues})


def checker_lists(report: checker.CheckerReport) -> dict[str, Any]:
    shown = sorted((issue.category, issue.path, issue.severity) for issue in report.issues)
    return {
        "success": report.success,
        "errors": [[code, path] for code, path, severity in shown if severity == "error"],
        "warnings": [[code, path] for code, path, severity in shown if severity == "warning"],
    }


CLEAN_REPOSITORY = {"branch": "main", "commits": [{"message": "m", "files": {"a.txt": "x\n"}}]}
AUTHOR = {
    "GIT_AUTHOR_NAME": "Vector Author",
    "GIT_AUTHOR_EMAIL": "vectors@example.invalid",
    "GIT_AUTHOR_DATE": "2026-03-04T05:06:07Z",
    "GIT_COMMITTER_NAME": "Vector Author",
    "GIT_COMMITTER_EMAIL": "vectors@example.invalid",
    "GIT_COMMITTER_DATE": "2026-03-04T05:06:07Z",
}


def build_repository(root: Path, recipe: dict[str, Any]) -> Path:
    """Make a repository as a vector describes it."""
    root.mkdir()
    if recipe.get("kind") == "plain-directory":
        write_tree(root, recipe["files"])
        return root

    def git(*arguments: str) -> None:
        environment = repository.git_environment() | AUTHOR
        subprocess.run(
            ["git", *arguments], cwd=root, env=environment, check=True, capture_output=True
        )

    git("init", f"--initial-branch={recipe['branch']}")
    for commit in recipe.get("commits", ()):
        write_tree(root, commit["files"])
        git("add", "--all")
        git("commit", "-m", commit["message"])
    if recipe.get("detach"):
        git("checkout", "--detach")
    worktree = recipe.get("worktree", {})
    write_tree(root, worktree.get("write", {}))
    for name in worktree.get("delete", ()):
        (root / name).unlink()
    for name, mode in worktree.get("chmod", {}).items():
        (root / name).chmod(int(mode, 8))
    for name in worktree.get("stage", ()):
        git("add", name)
    write_tree(root, worktree.get("after_stage", {}).get("write", worktree.get("after_stage", {})))
    return root


def repository_fidelity(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        root = build_repository(Path(folder) / "repo", case["repo"])
        try:
            state = repository.read_repository(root)
        except repository.RepositoryError:
            return {"readable": False}
        diff = repository.canonical_diff(root) or b""
    return {
        "readable": True,
        "branch": state.branch,
        "head_sha": state.head_sha,
        "dirty": state.is_dirty,
        "status_digest": state.status_digest,
        "repo_state_digest": state.repo_state_digest,
        "porcelain_b64": base64.b64encode(state.porcelain).decode(),
        "canonical_diff_sha256": digests.sha256(diff),
        "canonical_diff_bytes": len(diff),
    }


_OMISSION_NOTE = re.compile(r"\$\{OMISSION_NOTE_(\d+)\}")


def fill_placeholders(bundle: dict[str, Any], root: Path) -> dict[str, Any]:
    """Replace the markers of a bundle by what the repository has; without one they stay."""
    try:
        state = repository.read_repository(root)
    except repository.RepositoryError:
        return bundle
    diff = repository.canonical_diff(root) or b""
    whole = {
        "${DIFF}": diff,
        "${DIFF}+1": diff + b"#\n",
        "${NO_DIFF_NOTE}": diff_notes.no_diff_note(),
    }
    measured = {
        "${BRANCH}": state.branch,
        "${HEAD}": state.head_sha,
        "${STATUS_DIGEST}": state.status_digest,
        "${REPO_STATE_DIGEST}": state.repo_state_digest,
    }
    filled: dict[str, Any] = {}
    for name, text in bundle.items():
        filled[name] = text
        if not isinstance(text, str):  # a link, a folder, bytes
            continue
        if note := _OMISSION_NOTE.fullmatch(text):
            whole[text] = diff_notes.omission_note(int(note[1]))
        if text in whole:
            filled[name] = {"b64": base64.b64encode(whole[text]).decode()}
            continue
        for marker, value in measured.items():
            filled[name] = filled[name].replace(marker, value)
    return filled


def verify_repository(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        root = build_repository(Path(folder) / "repo", case["repo"])
        bundle = Path(folder) / "bundle"
        bundle.mkdir()
        write_tree(bundle, fill_placeholders(case["bundle"], root))
        ready = verification.check_readiness(bundle, root, compatibility=True)
        report = checker.check_bundle(bundle, root)
    lists = checker_lists(report)
    return {
        "verify_repo": check_list(ready.verification.checks),
        "ready": {
            "ok": ready.passes,
            "content_checks": [[check.name, check.status] for check in ready.content],
            "validation_error_categories": categories(ready.validation.errors),
        },
        "checker": {
            "success": report.success,
            "error_codes": [code for code, _ in lists["errors"]],
            "warning_codes": [code for code, _ in lists["warnings"]],
            "reports_digests": report.repository_digests is not None,
        },
    }


def check_list(checks: list[Check]) -> dict[str, Any]:
    return {"ok": passes(checks), "checks": [[check.name, check.status] for check in checks]}


def verify_pair(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        for side in ("request", "result"):
            if case[side] is not None:
                (Path(folder) / side).mkdir()
                write_tree(Path(folder) / side, case[side])
        sides = (Path(folder) / "request", Path(folder) / "result")
        return check_list(pairs.verify_pair(*sides, compatibility=True))


def evidence_errors(case: dict[str, Any]) -> dict[str, Any]:
    scenario, measured = dict(case["scenario"]), dict(case["evidence"])
    scenario["risks"] = tuple(scenario["risks"])
    measured["changed_files"] = tuple(measured["changed_files"])
    measured["canonical_diff"] = measured["canonical_diff"].encode()
    with tempfile.TemporaryDirectory() as folder:
        write_tree(Path(folder), case["bundle"])
        errors = evidence.evidence_errors(
            folder,
            evidence.ExportScenarioFacts(**scenario),
            evidence.MeasuredEvidence(**measured),
            compatibility=True,
        )
    return {
        "errors": [f"evidence:{error}" for error in errors],
        "semantic_checks": evidence.semantic_checks(errors),
    }


def published_omission_note(case: dict[str, Any]) -> dict[str, Any]:
    digest, size = diff_notes.PUBLISHED_OMISSION_NOTES[case["diff_max_bytes"]]
    return {"sha256": digest, "bytes": size}


def published_no_diff_note(_case: dict[str, Any]) -> dict[str, Any]:
    digest, size = diff_notes.PUBLISHED_NO_DIFF_NOTE
    return {"sha256": digest, "bytes": size}


ADAPTERS: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("waybill", name): adapter
    for name, adapter in {
        "validate_bundle": validate_bundle,
        "repo_fidelity": repository_fidelity,
        "verify_repo_and_ready": verify_repository,
        "verify_pair": verify_pair,
        "export_evidence_errors": evidence_errors,
        "section_map": lambda case: {
            "sections": sections.section_map(case["text"], compatibility=True)
        },
        "format_bytes": lambda case: {"text": diff_notes.format_bytes(case["size"])},
        "diff_omission_note_digest": published_omission_note,
        "no_tracked_diff_note_digest": published_no_diff_note,
    }.items()
}
