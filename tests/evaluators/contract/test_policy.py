"""Policies beyond the vectors: independence of what they were made from, and good messages."""

from __future__ import annotations

from dataclasses import replace

import pytest

from contract_policies import policy, rule
from steelyard.evaluators.contract import (
    OrderCheckError,
    PolicyError,
    Rule,
    check_order,
    evaluate,
    generate_synthetic,
    validate_policy,
)


def refused(document):
    with pytest.raises(PolicyError) as caught:
        validate_policy(document)
    return caught.value


def test_a_policy_shares_nothing_with_its_document():
    values = [[1]]
    document = policy(rule("a", "one_of", values=values), rule("b", "equals", value=values))
    checked = validate_policy(document)
    document["rules"][0]["values"][0].append(2)
    assert checked.document()["rules"][0]["values"] == [[1]]
    checked.document()["rules"][1]["value"].append(3)
    assert checked.document()["rules"][1]["value"] == [[1]]


def test_a_validated_policy_is_checked_again_and_cannot_be_changed():
    checked = validate_policy(policy("a", rule("b", "equals", value=[1])))
    assert validate_policy(checked) == checked
    with pytest.raises(AttributeError):
        checked.policy_id = "other"


@pytest.mark.parametrize(
    "made",
    [
        Rule("b", "false", "x", {"value": False}),
        Rule("b", "one_of", "x", {"values": [1], "value": 1}),
        Rule("b", "equals", "x", {"value": (1,)}),
        Rule("b", "equals", "x", {}),
        Rule("b", "empty_list", "x.", {}),
        Rule("a", "false", "x", {}),
    ],
)
def test_a_policy_made_by_hand_is_held_to_the_schema_on_every_use(made):
    checked = validate_policy(policy("a"))
    by_hand = replace(checked, rules=(*checked.rules, made))
    for use in (validate_policy, generate_synthetic, lambda one: evaluate(one, {})):
        with pytest.raises(PolicyError):
            use(by_hand)
    with pytest.raises(OrderCheckError):
        check_order(by_hand, {})


def test_an_operand_that_was_changed_is_the_one_that_is_judged_by():
    checked = validate_policy(policy(rule("a", "equals", value=1)))
    checked.rules[0].operands["value"] = 2
    assert evaluate(checked, {"a": 2})["passed"]


def test_the_rules_can_be_put_in_another_order():
    checked = validate_policy(policy("a", "b", "c"))
    assert [r["rule_id"] for r in checked.document([2, 0, 1])["rules"]] == ["c", "a", "b"]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        (policy("a", extra=1), "unknown 'extra'"),
        ({"policy_id": "p"}, "missing 'rules', 'schema_version'"),
        (policy(rule("a", "equals")), "missing 'value'"),
        (policy(rule("a", "regex")), "one_of, false, empty_list"),
        (policy("a", rule("a", path="b")), r"rule 1 \(a\) has the rule_id of an earlier rule"),
        (policy(rule("a", path="x.")), "names joined by dots"),
        (policy(rule("a", path=".".join("x" * 33))), "more than 32 names"),
        (policy(rule("a", "one_of", values=[1, 2, 1])), "two equal entries"),
        (policy(*(rule(f"r{i}") for i in range(257))), "257 rules; at most 256"),
        (policy(rule("a", "one_of", values=list(range(257)))), "257 values; at most 256"),
    ],
)
def test_the_message_says_what_is_wrong_and_what_is_accepted(document, says):
    with pytest.raises(PolicyError, match=says):
        validate_policy(document)


def test_the_message_is_short_even_for_a_document_of_thousands_of_long_names():
    error = refused({f"{i:04}{'x' * 200}": 1 for i in range(3000)})
    assert "'0007xxxx" in error.message
    assert error.message.endswith(", 2992 more")
    assert len(error.message) < 1_000


def test_the_place_is_given_as_far_as_it_is_known():
    error = refused(policy("fine", rule("bad\n", path="x")))
    assert error.fields() == {
        "code": "INVALID_POLICY",
        "message": error.message,
        "policy_id": "p",
        "rule_index": 1,
    }
    assert "bad" not in error.message


def test_a_kind_that_is_no_text_is_an_unknown_kind():
    for kind in (None, [], {}, 1, True):
        assert refused(policy({**rule("a"), "kind": kind})).rule_id == "a"


def test_results_hold_no_value_of_policy_or_response():
    document = policy(rule("a", "equals", value="s3cret"), rule("b", "one_of", values=["s3cret"]))
    for response in ({"a": "s3cret", "b": "s3cret"}, {"a": "other s3cret", "b": {"s3cret": 1}}):
        assert "s3cret" not in str(evaluate(document, response))
