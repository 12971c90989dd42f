"""Adapters of the handoff room to Waybill's vectors, which record the published behaviour.

Where the published tool is known to be wrong, ours differs by default: the vectors are replayed
with ``compatibility``, and the tests of the room hold each difference.
"""

from __future__ import annotations

import base64
import json
import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff import (
    claims,
    digests,
    identity,
    matrix,
    observation,
    reports,
    result_checks,
    scenario_documents,
    scenarios,
    snapshot,
)
from vectors.handoff_trees import given, write_tree


def parse_observation(case: dict[str, Any]) -> dict[str, Any]:
    parsed = observation.parse_observation(given(case, "stdout"), compatibility=True)
    return {
        "accepted": parsed.accepted,
        "error_class": parsed.error_class,
        "shape_errors": parsed.shape_errors,
    }


def compare_observation(case: dict[str, Any]) -> dict[str, Any]:
    expected, observed = case["expected"], case["observed"]
    fields = observation.mismatched_fields(expected, observed)
    effects = observation.effect_errors(
        expected["unexpected_writes"],
        observed["unexpected_writes"],
        case["measured_writes"],
        compatibility=True,
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


def load_import_scenario(case: dict[str, Any]) -> dict[str, Any]:
    def load() -> None:
        scenario_documents.parse_import_scenario(
            given(case, "text"), case["file_name"], compatibility=True
        )

    return accepted_or_class(load)


def load_export_scenario(case: dict[str, Any]) -> dict[str, Any]:
    return accepted_or_class(
        lambda: scenario_documents.parse_export_scenario(
            given(case, "text"), case["file_name"], compatibility=True
        )
    )


def accepted_or_class(load: Callable[[], Any]) -> dict[str, Any]:
    try:
        load()
    except scenarios.ScenarioDocumentError as error:
        return {"accepted": False, "error_class": error.error_class}
    return {"accepted": True, "error_class": None}


def load_fixture_manifest(case: dict[str, Any]) -> dict[str, Any]:
    try:
        manifest = scenario_documents.parse_fixture_manifest(
            given(case, "text"), compatibility=True
        )
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


def import_results(word: Any, passing: dict[str, Any]) -> Any:
    """Return the results that a word of the vectors stands for; whatever is no word stays."""
    if not isinstance(word, str):
        return word
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
        "load_import_scenario": load_import_scenario,
        "load_export_scenario": load_export_scenario,
        "load_fixture_manifest": load_fixture_manifest,
        "rederive_import_result": rederive_import_result,
        "rederive_export_result": rederive_export_result,
        "load_import_report": load_import_report,
        "matrix_status": matrix_status,
    }.items()
}
