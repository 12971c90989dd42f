"""Adapters of the handoff room to Waybill's vectors, which record the published behaviour.

Where the published tool is known to be wrong, ours differs by default: the vectors are replayed
with ``compatibility``, and the tests of the room hold each difference.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff import (
    checker,
    claims,
    diff_notes,
    digests,
    evidence,
    identity,
    matrix,
    observation,
    pairs,
    reports,
    repository,
    result_checks,
    scenario_documents,
    scenarios,
    sections,
    snapshot,
    validator,
    verification,
)
from steelyard.evaluators.handoff.issues import Check, Issue, passes


def parse_observation(case: dict[str, Any]) -> dict[str, Any]:
    stdout = case["stdout"] if "stdout" in case else base64.b64decode(case["stdout_b64"])
    parsed = observation.parse_observation(stdout, compatibility=True)
    return {
        "accepted": parsed.accepted,
        "error_class": parsed.error_class,
        "shape_errors": parsed.shape_errors,
    }


def compare_observation(case: dict[str, Any]) -> dict[str, Any]:
    expected, observed = case["expected"], case["observed"]
    fields = observation.mismatched_fields(expected, observed)
    effects = observation.effect_errors(
        expected["unexpected_writes"], observed["unexpected_writes"], case["measured_writes"]
    )
    return {
        "semantic_match": not fields,
        "semantic_mismatch_fields": fields,
        "effects_match": not effects,
        "effects_errors": effects,
    }


def framed_digest(case: dict[str, Any]) -> dict[str, Any]:
    components = [(name, base64.b64decode(value)) for name, value in case["components"]]
    return {"digest": digests.framed_digest(case["domain"], components)}


def source_contract_digest(case: dict[str, Any]) -> dict[str, Any]:
    files = {path: text.encode() for path, text in case["files"].items()}
    return {"digest": digests.source_contract_digest(files)}


def porcelain_paths(case: dict[str, Any]) -> dict[str, Any]:
    status = base64.b64decode(case["status_b64"])
    return {"paths": digests.porcelain_paths(status, compatibility=True)}


def test_state_matches(case: dict[str, Any]) -> dict[str, Any]:
    matches = claims.state_matches(**case, compatibility=True)
    return {
        "claims": sorted(claims.outcome_claims(case["section"], compatibility=True)),
        "matches": matches,
    }


def identity_report(case: dict[str, Any]) -> dict[str, Any]:
    found = identity.AgentIdentity(
        "codex", case["identity_kind"], identity.VERIFIED, "2026-03-04T05:06:07Z"
    )
    return {"fields": sorted(found.report(private=case["include_private"]))}


def write_tree(root: Path, tree: Mapping[str, Any]) -> None:
    """Write files, links, folders and pipes as the vectors describe them."""
    for name, entry in tree.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        details = {"text": entry} if isinstance(entry, str) else entry
        if "symlink" in details:
            path.symlink_to(details["symlink"])
        elif "fifo" in details:
            os.mkfifo(path)
        elif "dir" in details:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content(details))
        if not path.is_symlink() and ("mode" in details or path.is_file()):
            path.chmod(int(details.get("mode", "0644"), 8))


def content(details: Mapping[str, Any]) -> bytes:
    """Return what a described file holds."""
    if "b64" in details:
        return base64.b64decode(details["b64"])
    if "repeat" in details:
        return str(details["repeat"]).encode() * int(details["times"])
    return str(details["text"]).encode()


def snapshots(case: dict[str, Any], **options: Any) -> list[Any]:
    taken = []
    for side in ("before", "after"):
        with tempfile.TemporaryDirectory() as root:
            write_tree(Path(root), case[side])
            taken.append(snapshot.take_snapshot(Path(root), **options))
    return taken


def import_snapshot_diff(case: dict[str, Any]) -> dict[str, Any]:
    taken = snapshots(case, include_git=case["include_git"], directories=False)
    return {"changed": snapshot.changed_paths(*taken)}


def export_snapshot_diff(case: dict[str, Any]) -> dict[str, Any]:
    return {"changed": snapshot.changed_paths(*snapshots(case))}


def disposable_root_changes(case: dict[str, Any]) -> dict[str, Any]:
    changes = snapshot.root_changes(*snapshots(case, directories=False))
    return {
        "measured": changes.paths,
        "boundary_escape": changes.boundary_escape,
        "git_write": changes.git_write,
    }


def classify_export_writes(case: dict[str, Any]) -> dict[str, Any]:
    allowed, unexpected = snapshot.classify_export_writes(case["paths"])
    return {"allowed": allowed, "unexpected": unexpected}


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
        "${OMISSION_NOTE_1000}": diff_notes.omission_note(1000),
    }
    measured = {
        "${BRANCH}": state.branch,
        "${HEAD}": state.head_sha,
        "${STATUS_DIGEST}": state.status_digest,
        "${REPO_STATE_DIGEST}": state.repo_state_digest,
    }
    filled: dict[str, Any] = {}
    for name, text in bundle.items():
        if text in whole:
            filled[name] = {"b64": base64.b64encode(whole[text]).decode()}
            continue
        filled[name] = text
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
        files = {name: text for name, text in case["bundle"].items() if text is not None}
        write_tree(Path(folder), files)
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


def load_import_scenario(case: dict[str, Any]) -> dict[str, Any]:
    def load() -> None:
        scenario_documents.parse_import_scenario(
            case["text"], case["file_name"], compatibility=True
        )

    return accepted_or_class(load)


def load_export_scenario(case: dict[str, Any]) -> dict[str, Any]:
    return accepted_or_class(
        lambda: scenario_documents.parse_export_scenario(case["text"], case["file_name"])
    )


def accepted_or_class(load: Callable[[], Any]) -> dict[str, Any]:
    try:
        load()
    except scenarios.ScenarioDocumentError as error:
        return {"accepted": False, "error_class": error.error_class}
    return {"accepted": True, "error_class": None}


def load_fixture_manifest(case: dict[str, Any]) -> dict[str, Any]:
    try:
        manifest = scenario_documents.parse_fixture_manifest(case["text"], compatibility=True)
    except scenarios.ScenarioDocumentError:
        return {"accepted": False}
    return {
        "accepted": True,
        "branch": manifest.branch,
        "dirty_paths": list(manifest.dirty_paths),
        "canaries": manifest.canaries,
    }


def outcome_or_class(key: str, derive: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"accepted": True, key: derive(), "error_class": None}
    except result_checks.ReportError as error:
        return {"accepted": False, key: None, "error_class": error.error_class}


def rederive_import_result(case: dict[str, Any]) -> dict[str, Any]:
    oracles = dict.fromkeys(scenarios.IMPORT_SCENARIOS, case["expected_observation"])
    return outcome_or_class(
        "outcome",
        lambda: result_checks.check_import_result(case["result"], oracles, compatibility=True),
    )


def rederive_export_result(case: dict[str, Any]) -> dict[str, Any]:
    return outcome_or_class(
        "outcome",
        lambda: result_checks.check_export_result(
            case["result"],
            adapter=case["report_adapter"],
            agent=case["report_agent"],
            date=case["report_date"],
            compatibility=True,
        ),
    )


def passing_import_result() -> dict[str, Any]:
    path = Path(__file__).with_name("waybill") / "reports_and_matrix.json"
    notes: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["notes"]
    return dict(notes["passing_import_result"])


def import_results(word: str, passing: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the results that a word of the vectors stands for."""
    results = [{**passing, "scenario": name} for name in scenarios.IMPORT_SCENARIOS]
    if word == "ALL-BUT-FIRST":
        return results[1:]
    if word == "FIRST-TWICE":
        return [results[0], *results]
    if word == "ONE-FAILED":
        results[3] |= {"passed": False, "returncode": 1, "errors": ["x"]}
    return results


def load_import_report(case: dict[str, Any]) -> dict[str, Any]:
    passing = passing_import_result()
    oracles = dict.fromkeys(scenarios.IMPORT_SCENARIOS, passing["expected_observation"])
    report = {**case["report"]}
    report["results"] = import_results(report["results"], passing["result"])
    return outcome_or_class(
        "status",
        lambda: (
            reports.load_report(
                report,
                lambda result: result_checks.check_import_result(
                    result, oracles, compatibility=True
                ),
                scenarios.IMPORT_SCENARIOS,
            ).status
        ),
    )


def matrix_status(case: dict[str, Any]) -> dict[str, Any]:
    evidence_given = [case["evidence"]] if case["evidence"] else []
    row = matrix.adapter_row(
        case["adapter"], case["current_identity"], evidence_given, case["current_provenance"]
    )
    return {
        "capabilities": {name: asdict(part) for name, part in row.capabilities.items()},
        "identity_success": row.identity_success,
        "success": row.success,
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
        "parse_observation_stdout": parse_observation,
        "compare_observation": compare_observation,
        "framed_digest": framed_digest,
        "source_contract_digest": source_contract_digest,
        "prompt_digest": lambda case: {"digest": digests.prompt_digest(case["prompt"])},
        "porcelain_paths": porcelain_paths,
        "outcome_claims": lambda case: {
            "claims": sorted(claims.outcome_claims(case["text"], compatibility=True))
        },
        "test_state_matches": test_state_matches,
        "focused_test_summary_matches": lambda case: {
            "matches": claims.focused_summary_matches(**case, compatibility=True)
        },
        "detect_product": lambda case: {"product": identity.detect_product(case["text"])},
        "detect_version": lambda case: {"version": identity.detect_version(case["text"])},
        "identity_report": identity_report,
        "safe_identity_label": lambda case: {"ok": identity.is_safe_label(case["value"])},
        "classify_environment_block": lambda case: {
            "reason": identity.environment_block_reason(case["stderr"])
        },
        "import_snapshot_diff": import_snapshot_diff,
        "export_snapshot_diff": export_snapshot_diff,
        "disposable_root_changes": disposable_root_changes,
        "classify_export_writes": classify_export_writes,
        "validate_bundle": validate_bundle,
        "repo_fidelity": repository_fidelity,
        "verify_repo_and_ready": verify_repository,
        "verify_pair": verify_pair,
        "export_evidence_errors": evidence_errors,
        "section_map": lambda case: {
            "sections": sections.section_map(case["text"], compatibility=True)
        },
        "load_import_scenario": load_import_scenario,
        "load_export_scenario": load_export_scenario,
        "load_fixture_manifest": load_fixture_manifest,
        "rederive_import_result": rederive_import_result,
        "rederive_export_result": rederive_export_result,
        "load_import_report": load_import_report,
        "matrix_status": matrix_status,
        "format_bytes": lambda case: {"text": diff_notes.format_bytes(case["size"])},
        "diff_omission_note_digest": published_omission_note,
        "no_tracked_diff_note_digest": published_no_diff_note,
    }.items()
}
