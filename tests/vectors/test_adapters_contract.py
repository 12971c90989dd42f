"""What CAT's vectors may declare beyond what the committed ones use: their README, word by word."""

from __future__ import annotations

import json

import pytest

from contract_policies import policy
from steelyard.evaluators.contract import check_order, evaluate
from vectors.adapters_contract import ADAPTERS
from vectors.compare import first_difference

TEXT = json.dumps(policy("a", "b"))
BYTE_ORDER_MARK = {"hex": "efbbbf7b7d"}
UNREADABLE = {"ok": False, "code": "INVALID_JSON_INPUT"}
BROKEN = {"ok": False, "code": "ORDER_CHECK_INVALID"}


def difference(function, case, expected):
    return first_difference(expected, ADAPTERS["cat", function](case), 0.0)


@pytest.mark.parametrize(
    ("function", "case"),
    [
        ("load_json", BYTE_ORDER_MARK),
        ("load_json", {"text": BYTE_ORDER_MARK}),
        ("load_json", {"text": '"\ud800"'}),
        ("canonical_json", {"text": "NaN"}),
        ("canonical_equal", {"left_text": "1", "right_text": BYTE_ORDER_MARK}),
        ("validate_policy", {"policy_text": BYTE_ORDER_MARK, "via": "text"}),
        ("evaluate", {"policy_text": TEXT, "response_text": {"concat": ["{", BYTE_ORDER_MARK]}}),
        ("check_order", {"policy_text": TEXT, "response_text": ""}),
    ],
)
def test_a_text_may_be_bytes_that_are_none(function, case):
    assert difference(function, case, UNREADABLE) is None


def test_documents_may_be_given_in_both_ways_at_once():
    case = {"via": "object", "policy_text": TEXT, "response": {"a": {"$py": "nan"}}}
    assert difference("evaluate", case, {"ok": False, "code": "INVALID_RESPONSE"}) is None


def checked(*actions, **more):
    steps = [{"do": list(actions)}]
    evaluator = {"steps": steps, **more}
    return {"policy_text": TEXT, "response_text": '{"a":false}', "evaluator": evaluator}


@pytest.mark.parametrize(
    "action",
    [
        {"set_reason": {"row": "a", "value": {"concat": [{"repeat": "x", "times": 129}]}}},
        {"set_reason": {"row": "a", "value": {"$py": "lone_surrogate"}}},
        {"set_row_field": {"row": "a", "field": "reason_code", "value": {"$tuple": []}}},
        {"set_top": {"field": "policy_id", "value": {"$py": "object"}}},
        {"replace_row": {"row": "a", "value": {"$py": "nan"}}},
        {"return": {"value": {"$tuple": []}}},
    ],
)
def test_an_evaluator_may_return_what_is_no_json(action):
    assert difference("check_order", checked(action), BROKEN) is None


def test_a_reason_may_be_a_long_text():
    def hook(document, response):
        result = evaluate(document, response)
        result["rule_results"][0]["reason_code"] = "é" * 128
        return result

    report = check_order(policy("a", "b"), {"a": False}, hook)
    long = {"concat": [{"repeat": "é", "times": 127}, "é"]}
    case = checked({"set_reason": {"row": "@first_row", "value": long}})
    assert report["status"] == "EVIDENCE_ORDER_DRIFT"
    assert difference("check_order", case, {"ok": True, "report": report}) is None


@pytest.mark.parametrize(
    "code", ["INVALID_COMMAND", "JSON_OUTPUT_ERROR", "PLAYGROUND_UNAVAILABLE", "INVALID_DATA"]
)
def test_an_evaluator_may_raise_every_controlled_error(code):
    assert difference("check_order", checked({"raise": code}), {"ok": False, "code": code}) is None


FILES = {"sub/p.json": TEXT, "mark.json": BYTE_ORDER_MARK, "r.json": "{}"}


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["evaluate", "sub/p.json", "mark.json"], {"stderr_error": {"code": "INVALID_JSON_INPUT"}}),
        (["evaluate", "sub/p.json", "-"], {"stderr_error": {"code": "INVALID_JSON_INPUT"}}),
        (["validate-policy", "mark.json", "--output=o.json"], {"files_after": {"o.json": None}}),
        (["generate-synthetic", "./sub/p.json"], {"files_after": {"./sub/p.json": TEXT}}),
        (["validate-policy", "mark.json"], {"files_after": {"sub/p.json": TEXT}}),
        (
            ["generate-synthetic", "--help"],
            {"stdout_kind": "plain_text_nonempty_mentioning_--output"},
        ),
        (["playground", "--help"], {"stdout_kind": "plain_text_nonempty_mentioning_--smoke-test"}),
        (["--version"], {"stdout_kind": "plain_text_nonempty"}),
    ],
)
def test_a_command_line_may_have_files_of_any_kind(argv, expected):
    case = {"argv": argv, "files": FILES, "stdin_text": {"hex": "ff"}}
    assert difference("cli", case, expected) is None
