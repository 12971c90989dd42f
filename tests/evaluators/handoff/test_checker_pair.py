"""The stand-alone checker's rules for a result that should answer a request."""

from __future__ import annotations

import json

import pytest

from evaluators.handoff.bundles import write_bundle
from steelyard.evaluators.handoff.checker_pair import request_issues

ROLES = {"parent_agent": "p", "child_agent": "c"}
REQUEST = {"kind": "delegation_request", "request_id": "r-1", **ROLES}
RESULT = {"kind": "delegation_result", "result_for": "r-1", "result_status": "completed", **ROLES}


def codes(folder, request=REQUEST, result=RESULT):
    paths = {"request": request, "result": result}
    for name, handoff in paths.items():
        bundle = write_bundle(folder / name)
        metadata = json.loads((bundle / "metadata.json").read_text())
        (bundle / "metadata.json").write_text(json.dumps({**metadata, "handoff": handoff}))
    return [issue.category for issue in request_issues(folder / "result", folder / "request")]


def test_an_answer_to_its_request_is_not_found_fault_with(tmp_path):
    assert codes(tmp_path) == []


@pytest.mark.parametrize(
    ("request_change", "result_change", "found"),
    [
        ({"kind": "handoff"}, {}, ["delegation-request-kind"]),
        ({}, {"kind": "handoff"}, ["delegation-result-kind"]),
        ({}, {"result_for": "R-1"}, ["delegation-result-for"]),
        ({"request_id": " "}, {"result_for": " "}, ["delegation-result-for"]),
        ({"request_id": 1}, {"result_for": 1}, ["delegation-result-for"]),
        ({"parent_agent": "q"}, {}, ["delegation-role"]),
        ({"parent_agent": "q"}, {"child_agent": None}, ["delegation-role", "delegation-role"]),
    ],
)
def test_each_disagreement_has_its_code(tmp_path, request_change, result_change, found):
    assert codes(tmp_path, REQUEST | request_change, RESULT | result_change) == found


def test_metadata_that_cannot_be_read_is_said_and_nothing_compared(tmp_path):
    codes(tmp_path)
    (tmp_path / "request" / "metadata.json").write_text("{")
    issues = list(request_issues(tmp_path / "result", tmp_path / "request"))
    assert [issue.category for issue in issues] == ["delegation-request"]
    issues = list(request_issues(tmp_path / "none", tmp_path / "request"))
    assert [issue.category for issue in issues] == ["delegation-request", "delegation-result"]
