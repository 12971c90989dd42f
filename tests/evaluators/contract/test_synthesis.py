"""Fixtures that are evaluated before they are returned."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract_policies import policy, rule
from steelyard.evaluators.contract import (
    ContractError,
    ResponseError,
    SynthesisError,
    evaluate,
    generate_synthetic,
)

paths = st.lists(st.sampled_from("abc"), min_size=1, max_size=3).map(".".join)
small = st.sampled_from([0, False, None, [], {}, {"b": False}, {"c": []}, "x"])
operands = {
    "equals": st.fixed_dictionaries({"value": small}),
    "one_of": st.fixed_dictionaries(
        {"values": st.lists(small, min_size=1, max_size=3, unique_by=repr)}
    ),
}
rules = st.lists(
    st.sampled_from(["required_field", "equals", "one_of", "false", "empty_list"]).flatmap(
        lambda kind: st.tuples(st.just(kind), paths, operands.get(kind, st.just({})))
    ),
    min_size=1,
    max_size=6,
)


@given(rules)
def test_a_pair_is_what_it_says_or_is_refused(declared):
    document = policy(
        *(rule(f"r{i}", kind, path, **given) for i, (kind, path, given) in enumerate(declared))
    )
    try:
        bundle = generate_synthetic(document)
    except SynthesisError:
        return
    good, bad = bundle["passing_case"], bundle["failing_case"]
    assert good["evaluation"] == evaluate(document, good["response"])
    assert good["evaluation"]["passed"]
    assert bad["evaluation"] == evaluate(document, bad["response"])
    assert bad["evaluation"]["rule_results"][0]["reason_code"] == "FIELD_MISSING"
    assert generate_synthetic(document) == bundle


def test_a_value_further_up_is_taken_only_if_what_is_below_still_holds():
    document = policy(
        rule("up", "one_of", "a", values=[1, {"b": 1}, {"b": False, "extra": 1}]),
        rule("down", "false", "a.b"),
    )
    response = generate_synthetic(document)["passing_case"]["response"]
    assert response == {"a": {"b": False, "extra": 1}}


def test_the_search_ends_at_its_work_limit():
    # One test for a.b itself; 256 candidates further up, each held against a rule of 255 values,
    # of which only the last one fits and meets a second such rule: 65,536 tests together.
    candidates = [*({"b": -i} for i in range(1, 256)), {"b": 1}]
    above = rule("above", "one_of", "a", values=candidates)
    below = [rule(name, "one_of", "a.b", values=list(range(255))) for name in ("x", "y")]
    bundle = generate_synthetic(policy(above, *below))
    assert bundle["passing_case"]["response"] == {"a": {"b": 1}}
    with pytest.raises(SynthesisError, match="more than 65,536"):
        generate_synthetic(policy(above, *below, rule("one-more", "required_field", "a.b")))


def test_a_response_that_is_too_deep_is_refused_as_a_response():
    document = policy(rule("deep", "empty_list", ".".join("x" * 32)))
    with pytest.raises(ResponseError, match="32 levels"):
        generate_synthetic(document)


def test_an_invalid_policy_is_refused_first():
    with pytest.raises(ContractError) as caught:
        generate_synthetic(policy())
    assert caught.value.code == "INVALID_POLICY"
