"""``steelyard handoff``: bundles are judged, agents started only on request, reports kept whole."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import steelyard
from cli.handoff_programs import make_program, manual, sides
from evaluators.handoff.bundles import (
    describe,
    git,
    make_repository,
    waybill_text,
    write_bundle,
)
from harness.handoff.scripted import EXPERIMENT, IMPORTS
from steelyard.evaluators.handoff.digests import source_contract_digest
from steelyard.evaluators.handoff.matrix import adapter_row
from steelyard.evaluators.handoff.reports import load_report
from steelyard.evaluators.handoff.result_checks import check_import_result
from steelyard.harness.handoff.provenance import ProvenanceError, files_in_use, read_provenance
from steelyard.store.connect import connect


@pytest.fixture
def scripted_codex(tmp_path):
    """A program that says it is codex and acts as the scripted agent."""
    return make_program(tmp_path)


def test_a_bundle_is_judged_by_exit_code_and_in_words(program, tmp_path):
    bundle = write_bundle(tmp_path / "b")
    good = program("handoff", "validate", bundle)
    assert (good.code, good.out) == (0, "valid\n")
    (bundle / "odd\x1b[2J").write_bytes(b"\xff")
    odd = program("handoff", "validate", bundle)
    assert odd.code == 0
    assert "\x1b" not in odd.out
    assert "\x1b" not in program("handoff", "validate", bundle, "--json").out
    (bundle / "WAYBILL.md").write_text(waybill_text().replace("## Test State", "### Test State"))
    ours = program("handoff", "validate", bundle, "--json")
    assert (ours.code, ours.json["success"], ours.json["errors"]) == (1, False, 1)
    assert program("handoff", "validate", bundle, "--published").code == 0
    none = program("handoff", "validate", tmp_path / "none")
    assert (none.code, none.out.splitlines()[-1]) == (1, "not valid: 1 error")


def test_a_bundle_is_held_against_its_repository(program, tmp_path):
    repository = make_repository(tmp_path / "repo")
    facts, diff = describe(repository)
    bundle = write_bundle(tmp_path / "b", facts=facts, **{"diff.patch": diff})
    good = program("handoff", "verify", bundle, "--repository", repository, "--json")
    assert (good.code, good.json["success"]) == (0, True)
    (repository / "a.txt").write_text("two\n")
    stale = program("handoff", "verify", bundle, "--repository", repository)
    assert stale.code == 1
    assert "error repository dirty" in stale.out
    wrong = program("handoff", "verify", bundle, "--repository", repository, "--request", bundle)
    assert "error pair request_kind" in wrong.out


def test_a_bundle_is_checked_as_the_stand_alone_checker_does(program, tmp_path):
    repository = make_repository(tmp_path / "repo")
    facts, diff = describe(repository)
    bundle = write_bundle(tmp_path / "b", facts=facts, **{"diff.patch": diff})
    command = ("handoff", "check", bundle, "--repository", repository)
    good = program(*command, "--json")
    assert (good.code, good.json["success"], good.json["errors"]) == (0, True, [])
    assert set(good.json["repository_digests"]) == {"status_digest", "repo_state_digest"}
    assert program(*command).out.splitlines()[-1] == "passed"
    (bundle / "odd\x1b[2J").write_bytes(b"\xff")
    (repository / "a.txt").write_text("two\n")
    stale = program(*command, "--request", bundle)
    assert stale.code == 1
    assert "error repo-dirty" in stale.out
    assert "error delegation-request-kind metadata.json: the request must be a" in stale.out
    assert "\x1b" not in stale.out
    shown = program(*command, "--json").json
    assert {"code", "message", "path"} == set(shown["errors"][0])
    assert "content-encoding" in {issue["code"] for issue in shown["warnings"]}
    none = program("handoff", "check", tmp_path / "none", "--repository", repository, "--json")
    assert (none.code, none.json["repository_digests"]) == (1, None)
    assert [issue["code"] for issue in none.json["errors"]] == ["bundle-missing"]


@pytest.mark.parametrize("verb", ["import", "export"])
def test_nothing_is_started_without_the_word(program, tmp_path, verb):
    touched = tmp_path / "started"
    refused = program("handoff", verb, "--agent-command", f"touch {touched}", "--adapter", "codex")
    assert refused.code == 2
    assert "--unsafe-manual" in refused.err
    dry = program("handoff", verb, "--agent-command", f"touch {touched}", "--dry-run")
    assert (dry.code, dry.json["dry_run"]) == (0, True)
    assert not touched.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        ("--agent-command", "", "--adapter", "codex", "--identity-kind", "executable"),
        ("--agent-command", "'open", "--adapter", "codex", "--identity-kind", "executable"),
        ("--agent-command", "codex", "--adapter", "grok", "--identity-kind", "executable"),
        ("--agent-command", "codex", "--adapter", "codex"),
        ("--agent-command", "codex", "--scenario", "none"),
    ],
)
def test_bad_input_is_one_line(program, arguments):
    refused = program("handoff", "import", *arguments, "--unsafe-manual")
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1


def test_an_import_lands_in_report_and_tables(program, tmp_path, scripted_codex):
    report, database = tmp_path / "report.json", tmp_path / "trials.duckdb"
    done = program(
        "handoff",
        "import",
        *manual(scripted_codex, "wrong-goal"),
        "--scenario",
        "failed-test",
        "--report",
        report,
        "--database",
        database,
    )
    assert done.code == 1
    document = json.loads(report.read_text())
    (result,) = document["results"]
    assert result["errors"] == ["semantic:goal"]
    assert document["identity"]["version"] == "0.9.1"
    expected = json.loads((EXPERIMENT / "conformance/scenarios/failed-test.json").read_text())
    assert check_import_result(result, {"failed-test": expected["expected"]}) is False
    with connect(database) as connection:
        rows = connection.execute("SELECT measure, value FROM measures").fetchall()
    measures = dict(rows)
    assert (measures["passed"], measures["goal"], measures["status"]) == (0.0, 0.0, 1.0)
    rates = program(
        "rates", "handoff_manual", "--measure", "goal", "--database", database, "--json"
    )
    assert rates.json["rows"][0]["estimate"] == 0.0


def test_who_is_not_the_adapter_is_asked_nothing(program, tmp_path):
    other = tmp_path / "codex"
    other.write_text("#!/bin/sh\necho 'Claude Code 1.2.3'\n")
    other.chmod(0o755)
    refused = program("handoff", "export", *manual(other), "--scenario", "delegation-request")
    assert refused.code == 1
    assert refused.json["results"] == []
    assert refused.json["identity"]["status"] == "identity_mismatch"


def test_an_export_and_a_roundtrip_of_a_named_agent(program, scripted_codex):
    done = program(
        "handoff", "export", *manual(scripted_codex), "--scenario", "delegation-result-partial"
    )
    assert (done.code, done.json["success"]) == (0, True)
    pair = sides(scripted_codex, scripted_codex)
    tour = program("handoff", "roundtrip", *pair)
    assert (tour.code, tour.json["errors"]) == (0, [])
    assert [route["direction"] for route in tour.json["directions"]] == ["codex-to-codex"]
    assert program("handoff", "roundtrip", *pair[:-1]).code == 2


def test_a_whole_run_from_a_commit_is_evidence(program, tmp_path, scripted_codex):
    project = tmp_path / "project"
    source = project / "experiments" / "handoff"
    shutil.copytree(EXPERIMENT / "conformance", source / "conformance")
    git(project, "init", "--quiet")
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "Scenarios")
    report = tmp_path / "report.json"
    command = ("handoff", "import", *manual(scripted_codex), "--root", project)
    done = program(*command, "--report", report)
    assert (done.code, done.err) == (0, "")
    oracles = {name: scenario.expected for name, scenario in IMPORTS.items()}
    loaded = load_report(
        json.loads(report.read_text()),
        lambda result: check_import_result(result, oracles),
        IMPORTS,
    )
    assert loaded.status == "passed"
    identity = {"status": "verified", **loaded.identity}
    item = {
        "capability": "import",
        "outcome": loaded.status,
        "identity": loaded.identity,
        "provenance": loaded.provenance,
    }
    current = read_provenance(source, "import", "codex")
    row = adapter_row("codex", identity, [item], current)
    assert row.capabilities["import"].status == "passed"
    corpus = source_contract_digest(files_in_use(source, "import"))
    assert corpus == current["scenario_corpus_sha256"]
    scenario = source / "conformance" / "scenarios" / "failed-test.json"
    scenario.write_text(scenario.read_text() + " ")
    assert source_contract_digest(files_in_use(source, "import")) != corpus
    with pytest.raises(ProvenanceError, match="no commit"):
        read_provenance(source, "import", "codex")
    unsure = program(*command, "--scenario", "failed-test")
    assert unsure.json["provenance"] is None
    assert "no evidence" in unsure.err
    with pytest.raises(ProvenanceError, match="no Git"):
        read_provenance(tmp_path, "import", "codex")


def test_code_that_is_in_no_commit_is_not_clean(tmp_path, monkeypatch):
    source, package = tmp_path / "experiments" / "handoff", tmp_path / "src" / "steelyard"
    shutil.copytree(EXPERIMENT / "conformance", source / "conformance")
    here = Path(steelyard.__file__).parent
    for place in ("evaluators/handoff", "harness/handoff"):
        shutil.copytree(here / place, package / place, ignore=shutil.ignore_patterns("*.pyc"))
    for path in here.glob("harness/agent_*.py"):
        shutil.copy(path, package / "harness")
    monkeypatch.setattr(steelyard, "__file__", str(package / "__init__.py"))
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", "--all")
    git(tmp_path, "commit", "--quiet", "-m", "Scenarios and runner")
    (tmp_path / "report.json").write_text("")  # a report in the checkout changes nothing
    assert read_provenance(source, "export", "codex")["waybill_clean"] is True
    (package / "harness" / "handoff" / "another.py").write_text("")
    with pytest.raises(ProvenanceError, match="no commit"):
        read_provenance(source, "export", "codex")
