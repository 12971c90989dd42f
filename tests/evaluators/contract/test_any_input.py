"""Whatever comes in, what comes out is a result or a controlled error."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_policies import numbered, passing, policy, rule
from steelyard.evaluators.contract import (
    ContractError,
    InvalidJsonError,
    PolicyError,
    ResponseError,
    check_order,
    evaluate,
    generate_synthetic,
    load_json,
    validate_policy,
)

anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.sampled_from(["1.0", "p", "equals", "one_of", "rule_id", "a.b", "\ud800"]),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner)
        | st.dictionaries(st.text() | st.integers() | st.sampled_from(["rules", "kind"]), inner)
    ),
    max_leaves=12,
)
json_like = st.text(
    st.sampled_from('{}[]",:0123456789.eE+-\\u ntrfalsd\n\ud800\ufeffé'), max_size=40
)


@given(st.binary() | json_like)
def test_any_text(source):
    with contextlib.suppress(InvalidJsonError):
        load_json(source)


@given(anything)
def test_any_value_as_policy_and_response(value):
    with pytest.raises(PolicyError):
        validate_policy(value)
    with contextlib.suppress(ResponseError):
        assert evaluate(policy("a"), value)["policy_id"] == "p"


@given(st.data())
def test_any_change_of_a_policy(data):
    document = policy(rule("a", "equals", value=1), rule("b", "one_of", "a.b", values=[1, "x"]))
    target = data.draw(st.sampled_from([document, *document["rules"]]))
    name = data.draw(st.sampled_from([*target, "other"]))
    target[name] = data.draw(anything)
    try:
        checked = validate_policy(document)
    except PolicyError:
        return
    with contextlib.suppress(ContractError):
        generate_synthetic(checked)
    evaluate(checked, {"a": {"b": 1}})


@given(
    anything, st.sampled_from(["passed", "policy_id", "rule_results", "kind", "reason_code", None])
)
def test_any_answer_of_an_evaluator(value, place):
    def evaluator(document, response):
        result = evaluate(document, response)
        if place is None:
            return value
        target = result if place in result else result["rule_results"][0]
        target[place] = value
        return result

    report = check_order(numbered(2), passing(2), evaluator, on_failure="report")
    if report["status"] == "INCONCLUSIVE_EVALUATOR_FAILURE":
        assert report["failure"]["kind"] == "contract"
    else:
        assert place is not None
