"""Contracts on the final outputs of trials: in the tables, and while a study runs."""

from __future__ import annotations

import math

import pytest

from analysis.audit_cases import SmallStudy
from steelyard.analysis.contract_verdicts import contract_rates, contract_verdicts
from steelyard.errors import InputError, UnknownNameError
from steelyard.evaluators.contract import PolicyError, validate_policy
from steelyard.evaluators.contract.judging import judge_output

POLICY = {
    "schema_version": "1.0",
    "policy_id": "answer",
    "rules": [
        {"rule_id": "has-decision", "kind": "required_field", "path": "decision"},
        {"rule_id": "no-errors", "kind": "empty_list", "path": "errors"},
    ],
}


def final(output):
    return [
        {"name": "look", "kind": "tool_call"},
        {"name": "respond", "kind": "final", "output": output},
    ]


@pytest.mark.parametrize(
    ("output", "values"),
    [
        ({"decision": "pay", "errors": []}, [1.0, 1.0, 1.0]),
        ({"decision": "pay", "errors": ["late"]}, [0.0, 1.0, 0.0]),
        ('{"decision": "pay", "errors": []}', [1.0, 1.0, 1.0]),
        ('Here you are: {"decision": "pay"}', [None, None, None]),
        ('{"decision": 1, "decision": 2}', [None, None, None]),
        ("[1, 2]", [None, None, None]),
        (None, [None, None, None]),
        (7, [None, None, None]),
    ],
)
def test_an_output_is_judged_or_not_measured(output, values) -> None:
    assert list(judge_output(validate_policy(POLICY), output).values()) == values


def test_every_trial_has_a_row_per_measure(small_study: SmallStudy) -> None:
    tables = small_study(
        [
            {"task": "t", "success": 1, "steps": final({"decision": 1, "errors": []})},
            {"task": "u", "success": 1, "steps": final("no JSON")},
            {"task": "w", "status": "missing"},
        ]
    )
    found = contract_verdicts(tables, POLICY)
    assert list(found["measure"][:3]) == [
        "contract:answer",
        "contract:answer:has-decision",
        "contract:answer:no-errors",
    ]
    assert list(found["value"][:3]) == [1.0, 1.0, 1.0]
    assert found["value"][3:].isna().all()
    whole = contract_rates(tables, POLICY, by="arm").iloc[0]
    assert (whole["intended"], whole["judged"], whole["without_json"], whole["kept"]) == (
        3,
        1,
        1,
        1,
    )
    assert whole["estimate"] == 1.0


def test_a_stored_output_that_is_no_strict_json_is_not_measured(small_study: SmallStudy) -> None:
    tables = small_study([{"success": 1, "steps": final({"decision": 1, "errors": []})}])
    digits = "9" * 5_000  # more than an integer may have
    for text in ('{"decision":1,"errors":[],"errors":[]}', f'{{"decision":{digits},"errors":[]}}'):
        tables.connection.execute("UPDATE steps SET output = ? WHERE kind = 'final'", [text])
        assert contract_verdicts(tables, POLICY)["value"].isna().all()


def test_nothing_to_judge_has_no_estimate(small_study: SmallStudy) -> None:
    tables = small_study([{"success": 1, "steps": final("words")}])
    row = contract_rates(tables, POLICY).iloc[0]
    assert math.isnan(row["estimate"])
    assert (row["low"], row["high"]) == (0.0, 1.0)


def test_bad_policies_and_names_are_refused(small_study: SmallStudy) -> None:
    tables = small_study([{"success": 1, "steps": final({})}])
    with pytest.raises(PolicyError):
        contract_verdicts(tables, {"rules": []})
    with pytest.raises(UnknownNameError):
        contract_verdicts(tables, POLICY, arm="b")
    with pytest.raises(InputError):
        contract_rates(tables, POLICY, by="nothing")


def test_failed_trials_with_an_answer_do_not_lower_the_count_without_one(small_study) -> None:
    rows = [
        {"task": "t", "status": "failed", "steps": final({"decision": 1, "errors": []})},
        {"task": "u", "success": 1, "steps": final("words")},
        {"task": "v", "success": 1},
    ]
    row = contract_rates(small_study(rows), POLICY, by=()).iloc[0]
    assert (row["intended"], row["judged"], row["without_json"]) == (3, 1, 2)
