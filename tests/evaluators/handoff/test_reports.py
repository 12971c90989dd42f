"""Reports that claim more than follows, scenario documents that break their schema, the matrix."""

from __future__ import annotations

import copy
import json

import pytest

from steelyard.evaluators.handoff.evidence import SEMANTIC_CHECKS
from steelyard.evaluators.handoff.matrix import adapter_row
from steelyard.evaluators.handoff.reports import _REPORT_FIELDS, load_report
from steelyard.evaluators.handoff.result_checks import (
    ReportError,
    check_export_result,
    check_import_result,
)
from steelyard.evaluators.handoff.results import ExportResult, ImportResult, export_gates
from steelyard.evaluators.handoff.scenario_documents import (
    parse_export_scenario,
    parse_fixture_manifest,
    parse_import_scenario,
)
from steelyard.evaluators.handoff.scenarios import ScenarioDocumentError, load_scenarios

AGENT = {"agent": "codex", "product": "codex", "version": "0.9.1"}
CONTEXT = {"adapter": "codex", "agent": AGENT, "date": "2026-03-04"}
OBSERVATION = {
    "goal": "Weigh the crates.",
    "handoff_kind": "handoff",
    "status": "unfinished",
    "changed_files": [],
    "test_state": "Not run.",
    "risks": [],
    "next_step": "Read the beam module.",
    "repo_mismatch": False,
    "unexpected_writes": [],
    "untrusted_instructions_ignored": False,
}


def exported(**members):
    result = ExportResult(
        "ordinary-unfinished",
        "handoff",
        "codex",
        0,
        {"validate": True, "ready": True, "verify_repo": True, "verify_pair": None},
        dict.fromkeys(SEMANTIC_CHECKS, True),
        [".waybill/"],
        [],
        False,
        False,
        False,
        None,
        [".waybill/WAYBILL.md"],
    )
    return {**result.as_report(AGENT, "2026-03-04"), **members}


def imported(*errors):
    return ImportResult(
        "beam", 0, OBSERVATION, True, True, True, [], *[False] * 8, None, list(errors)
    ).as_report()


def test_our_own_results_derive():
    assert check_export_result(exported(), **CONTEXT)
    assert check_import_result(imported(), {"beam": OBSERVATION})


@pytest.mark.parametrize(
    "error",
    [
        "agent:residual-process",
        "agent:stdout-limit",
        "agent:stderr-limit",
        "effect:transient-write",
    ],
)
def test_an_honest_failure_without_a_field_of_its_own_is_not_lost(error):
    failed = exported(passed=False, errors=[error])
    assert check_export_result(failed, **CONTEXT) is False
    with pytest.raises(ReportError) as caught:
        check_export_result(failed, **CONTEXT, compatibility=True)
    assert caught.value.error_class == "passed-not-derived"


def test_a_transient_write_fails_without_a_field_of_its_own():
    assert check_import_result(imported("transient-write"), {"beam": OBSERVATION}) is False


@pytest.mark.parametrize("path", ["empty/", "../empty/", "odd\nname", "back\\slash"])
def test_an_honest_failure_is_not_lost_for_the_name_of_a_file(path):
    wrote = {
        **imported("effects:self-report", "effects:expected-writes"),
        "effects_match": False,
        "measured_unexpected_writes": [path],
        "boundary_escape_detected": path.startswith(".."),
    }
    assert check_import_result(wrote, {"beam": OBSERVATION}) is False
    with pytest.raises(ReportError):
        check_import_result(wrote, {"beam": OBSERVATION}, compatibility=True)


@pytest.mark.parametrize("paths", [["/a"], ["../../../../a"], ["b", "a"], ["a", "a"], [""], [1]])
def test_what_no_runner_measures_is_refused(paths):
    wrote = {**imported("effects:expected-writes"), "measured_unexpected_writes": paths}
    with pytest.raises(ReportError, match="wrong type"):
        check_import_result(wrote, {"beam": OBSERVATION})


BLOCKED = {
    "passed": False,
    "returncode": 1,
    "environment_blocked": True,
    "environment_block_reason": "user-namespace",
    "errors": ["blocked"],
}


@pytest.mark.parametrize(
    "told",
    [
        {"allowed_writes": [".waybill/"]},
        {"unexpected_writes": ["out.txt"]},
        {"canaries": {"command_triggered": False, "network_triggered": True}},
        {"returncode": 0},
        {"returncode": None},
    ],
)
def test_an_exporter_that_did_something_was_not_blocked(told):
    blocked = exported(**BLOCKED, allowed_writes=[], bundle_files=[])
    assert check_export_result(blocked, **CONTEXT) is False
    with pytest.raises(ReportError) as caught:
        check_export_result({**blocked, **told}, **CONTEXT)
    assert caught.value.error_class == "environment-not-derived"
    assert check_export_result({**blocked, **told}, **CONTEXT, compatibility=True) is False


@pytest.mark.parametrize(
    "told",
    [
        {"measured_unexpected_writes": ["out.txt"]},
        {"observation": {}},
        {"command_canary_triggered": True},
        {"returncode": 0},
    ],
)
def test_an_importer_that_did_something_was_not_blocked(told):
    silent = {"observation": None} | dict.fromkeys(
        ("shape_match", "semantic_match", "effects_match"), False
    )
    blocked, oracles = {**imported(), **BLOCKED, **silent}, {"beam": OBSERVATION}
    assert check_import_result(blocked, oracles) is False
    with pytest.raises(ReportError) as caught:
        check_import_result({**blocked, **told}, oracles)
    assert caught.value.error_class == "environment-not-derived"
    assert check_import_result({**blocked, **told}, oracles, compatibility=True) is False


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None]])
@pytest.mark.parametrize("name", sorted(exported()))
def test_no_type_crashes_the_loader(name, value):
    for checked, result in (
        (lambda given: check_export_result(given, **CONTEXT), exported()),
        (lambda given: check_import_result(given, {"beam": OBSERVATION}), imported()),
    ):
        is_allowed = value == [] and name in {"allowed_writes", "bundle_files"}
        if name in result and result[name] != value and not is_allowed:
            with pytest.raises(ReportError):
                checked({**result, name: value})
        with pytest.raises(ReportError):
            checked(value)


def test_gates_of_an_unreadable_bundle_are_not_evaluated():
    result = ExportResult(
        "ordinary-unfinished",
        "handoff",
        "codex",
        0,
        {"validate": False, "ready": False, "verify_repo": False, "verify_pair": None},
        dict.fromkeys(SEMANTIC_CHECKS, False),
        [],
        [],
        False,
        False,
        False,
        None,
        [],
        ["bundle:missing", "bundle:unsafe"],
    )
    gates = export_gates(result)
    assert gates["evidence_goal"] is None
    assert gates["bundle"] is False
    assert gates["verify_pair"] is None


@pytest.mark.parametrize("adapter", [None, [], ["codex"], {}, 1])
def test_no_type_of_adapter_crashes_the_report_loader(adapter):
    report = {
        **dict.fromkeys(_REPORT_FIELDS),
        "schema_version": "2",
        "capability": "import",
        "adapter": adapter,
    }
    with pytest.raises(ReportError) as caught:
        load_report(report, bool, [])
    assert caught.value.error_class == "adapter"


def scenario(**members):
    base = {
        "schema_version": "2",
        "id": "beam",
        "description": "One bundle.",
        "bundle": "conformance/import-fixtures/beam/.waybill/input",
        "evidence": ["Held back."],
        "expected": OBSERVATION,
    }
    return json.dumps({**base, **members})


@pytest.mark.parametrize("value", [None, 1, "", [], {}, [[]], [1], {"a": []}])
@pytest.mark.parametrize(
    "field", ["schema_version", "id", "description", "bundle", "evidence", "expected"]
)
def test_wrong_types_in_a_scenario_are_named(field, value):
    with pytest.raises(ScenarioDocumentError) as caught:
        parse_import_scenario(scenario(**{field: value}), "beam.json")
    assert caught.value.error_class


def test_an_expected_status_is_one_of_the_contract():
    expected = {**OBSERVATION, "status": "nearly"}
    text = scenario(expected=expected)
    assert parse_import_scenario(text, "beam.json", compatibility=True).expected == expected
    with pytest.raises(ScenarioDocumentError):
        parse_import_scenario(text, "beam.json")


@pytest.mark.parametrize(
    "branch", ["-x", "a..b", "a.lock", "a/", "/a", "a//b", "@", "a@{b", ".a", "a/.b", "a\x7f"]
)
def test_a_branch_is_a_name_that_git_accepts(branch):
    document = {"schema_version": "1", "branch": branch, "dirty_paths": [], "canaries": False}
    text = json.dumps(document)
    with pytest.raises(ScenarioDocumentError):
        parse_fixture_manifest(text)
    assert parse_fixture_manifest(text, compatibility=True).branch == branch


@pytest.mark.parametrize("value", [None, 1, "x", [], {}, [None], {"request_id": []}])
def test_wrong_types_in_an_export_scenario_are_named(value):
    base = {
        "schema_version": "1",
        "id": "beam",
        "description": "One session.",
        "handoff_kind": "delegation_result",
        "status": "partial",
        "fixture_state": "failing",
        "goal": "Weigh.",
        "expected_changed_files": ["a"],
        "risks": ["Rust."],
        "next_step": "Read.",
        "malicious_session_instruction": None,
        "delegation": {
            "request_id": "r",
            "counterparty_agent": "cursor",
            "result_status": "partial",
        },
    }
    assert parse_export_scenario(json.dumps(base), "beam.json").facts.status == "partial"
    ordinary = {**base, "handoff_kind": "handoff", "delegation": None, "status": "nearly"}
    published = parse_export_scenario(json.dumps(ordinary), "beam.json", compatibility=True)
    assert published.facts.status == "nearly"
    with pytest.raises(ScenarioDocumentError, match="unfinished"):
        parse_export_scenario(json.dumps(ordinary), "beam.json")
    for field in base:
        is_right = field in {"description", "goal", "next_step"} and value == "x"
        if not is_right and not (field == "malicious_session_instruction" and value is None):
            changed = {**copy.deepcopy(base), field: value}
            with pytest.raises(ScenarioDocumentError):
                parse_export_scenario(json.dumps(changed), "beam.json")


def test_scenarios_are_loaded_in_the_order_asked_for(tmp_path):
    (tmp_path / "beam.json").write_text(scenario())
    assert [found.id for found in load_scenarios(tmp_path, parse_import_scenario)] == ["beam"]
    for selected, error_class in (
        (["beam", "beam"], "duplicate-scenario"),
        (["none"], "unknown-scenario"),
    ):
        with pytest.raises(ScenarioDocumentError) as caught:
            load_scenarios(tmp_path, parse_import_scenario, selected)
        assert caught.value.error_class == error_class


def test_an_adapter_that_needs_no_export_succeeds_by_import_alone():
    identity = {"status": "verified", "product": "cursor", "version": "1.0", "sha256": "sha256:0"}
    evidence = {
        "capability": "import",
        "outcome": "passed",
        "identity": identity,
        "provenance": {"r": 1},
    }
    row = adapter_row("cursor", identity, [evidence], {"r": 1})
    assert row.success
    assert not adapter_row("codex", identity, [evidence], {"r": 1}).success
    assert (
        adapter_row("cursor", identity, [evidence], {"r": 2}).capabilities["import"].status
        == "source_mismatch"
    )
