"""An exported bundle against the measured evidence; how ours differs from the published rules."""

from __future__ import annotations

import dataclasses

import pytest

from evaluators.handoff.bundles import metadata, waybill_text, write_bundle
from steelyard.evaluators.handoff.evidence import (
    ExportScenarioFacts,
    MeasuredEvidence,
    evidence_errors,
    expected_handoff,
    semantic_checks,
    summary_lines,
)

FACTS = ExportScenarioFacts(
    "handoff", "unfinished", "Weigh the crates.", ("The beam may bend.",), "Read the beam module."
)
EVIDENCE = MeasuredEvidence(
    "codex",
    ("scales/beam.py",),
    "sha256:" + "a" * 64,
    "sha256:" + "b" * 64,
    b"diff --git a/scales/beam.py b/scales/beam.py\n",
    "make check",
    1,
    "failing",
    "beam_check",
)
SECTIONS = {
    "Original_Goal": "Weigh the crates.",
    "Current_Status": "unfinished",
    "Changed_Files": "- `scales/beam.py`: Rounded.",
    "Test_State": "`make check` is failing at `beam_check`.",
    "Risks_/_Unknowns": "- The beam may bend.",
    "Next_Recommended_Step": "Read the beam module.",
}


def exported(folder, sections=None, summary=None, **files):
    facts = metadata()
    facts["git"] |= {
        "status_digest": EVIDENCE.status_digest,
        "repo_state_digest": EVIDENCE.repo_state_digest,
    }
    lines = "\n".join(summary or summary_lines(EVIDENCE))
    text = waybill_text(**{**SECTIONS, **(sections or {})})
    content = {
        "WAYBILL.md": text,
        "test-summary.md": f"# Checks\n\n{lines}\n",
        "diff.patch": EVIDENCE.canonical_diff,
    }
    return write_bundle(folder, facts=facts, **{**content, **files})


def test_a_true_bundle_matches(tmp_path):
    assert evidence_errors(exported(tmp_path / "b"), FACTS, EVIDENCE) == []
    assert all(semantic_checks([]).values())
    assert len(semantic_checks([])) == 11


@pytest.mark.parametrize(
    ("sections", "error"),
    [
        ({"Original_Goal": "Weigh the crate."}, "goal"),
        ({"Current_Status": "unfinished\n\nMostly completed."}, "status"),
        ({"Changed_Files": "- `scales/beam.py`: See docs/other.md."}, "changed-files"),
        ({"Changed_Files": "- `scales/beam.py`:"}, "changed-files"),
        ({"Test_State": "`make check` is passing at `beam_check`."}, "test-state"),
        ({"Risks_/_Unknowns": "- The beam may bend.\n- Rust."}, "risks"),
        ({"Next_Recommended_Step": "Ship it."}, "next-step"),
    ],
)
def test_each_untruth_is_named(tmp_path, sections, error):
    assert evidence_errors(exported(tmp_path / "b", sections), FACTS, EVIDENCE) == [error]
    assert not semantic_checks([error])[error.replace("-", "_")]


@pytest.mark.parametrize("path", ["scales/my beam.py", "b\u00e4nke/\u00e9t\u00e9/beam.py"])
def test_a_changed_path_is_compared_whole(tmp_path, path):
    measured = dataclasses.replace(EVIDENCE, changed_files=(path,))
    sections = {"Changed_Files": f"- `{path}`: Rounded."}
    assert evidence_errors(exported(tmp_path / "b", sections), FACTS, measured) == []
    sections = {"Changed_Files": f"- `{path}`: Rounded, as scales/other.py."}
    errors = evidence_errors(exported(tmp_path / "c", sections), FACTS, measured)
    assert errors == ["changed-files"]


def test_exit_status_17_is_not_1(tmp_path):
    lines = [*summary_lines(EVIDENCE)]
    lines[2] = "- Exit status: 17"
    bundle = exported(tmp_path / "b", summary=lines)
    assert evidence_errors(bundle, FACTS, EVIDENCE) == ["test-state"]
    assert evidence_errors(bundle, FACTS, EVIDENCE, compatibility=True) == []


def test_a_heading_in_fenced_code_is_no_section(tmp_path):
    hidden = {"Failed_Attempts": "```\n## Original Goal\nSomething else.\n```"}
    bundle = exported(tmp_path / "b", hidden)
    assert evidence_errors(bundle, FACTS, EVIDENCE) == []
    assert "goal" in evidence_errors(bundle, FACTS, EVIDENCE, compatibility=True)


def test_unreadable_texts_fail_every_check(tmp_path):
    bundle = exported(tmp_path / "b", **{"test-summary.md": b"\xff"})
    errors = evidence_errors(bundle, FACTS, EVIDENCE)
    assert errors == ["unreadable-bundle"]
    assert not any(semantic_checks(errors).values())


def test_roles_of_a_delegation():
    delegation = {"request_id": "r", "counterparty_agent": "cursor", "result_status": "partial"}
    result = dataclasses.replace(
        FACTS, handoff_kind="delegation_result", status="partial", delegation=delegation
    )
    wanted = expected_handoff(result, "codex")
    assert (wanted["parent_agent"], wanted["child_agent"]) == ("cursor", "codex")
    request = dataclasses.replace(result, handoff_kind="delegation_request", status="requested")
    wanted = expected_handoff(request, "codex")
    assert (wanted["parent_agent"], wanted["child_agent"]) == ("codex", "cursor")
