"""Contexts that were made to do harm: an error that says where, or a decision, within bounds."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gate_contexts import TOOLS, decide, evidence, permission, refund, rule, with_action
from steelyard import SteelyardError
from steelyard.evaluators.gate import PUBLISHED, Gate, GateInputError, read_cases, read_context
from steelyard.evaluators.gate.arithmetic import MAX_BITS, probe_expression
from steelyard.evaluators.gate.limits import MAX_CLAIMS, MAX_EVIDENCE, MAX_RULES, MAX_TEXT


def nested(depth: int) -> Any:
    """Return a list in a list in a list."""
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


def cyclic() -> list[Any]:
    """Return a list that holds itself."""
    inside: list[Any] = []
    inside.append(inside)
    return inside


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (nested(21), "deeper"),
        (nested(5_000), "deeper"),
        (cyclic(), "deeper"),
        ([0] * 20_001, "members"),
        ("x" * (MAX_TEXT + 1), "characters"),
        (10**400, "bits"),
        (float("nan"), "NaN"),
        (float("-inf"), "NaN"),
        ("\ud800", "surrogate"),
        ({"\udfff": 1}, "surrogate"),
        (object(), "no JSON value"),
        ({1: 2}, "no JSON value"),
        (b"x", "no JSON value"),
        ({1, 2}, "no JSON value"),
    ],
)
@pytest.mark.parametrize("place", ["fact", "payload", "metadata"])
def test_a_hostile_value_is_refused_wherever_it_stands(
    place: str, value: Any, message: str
) -> None:
    fields = {
        "fact": lambda: refund(facts={"amount": value}),
        "payload": lambda: refund(hypothesis=with_action(payload={"x": value})),
        "metadata": lambda: refund(evidence=[evidence("e", metadata={"x": value})]),
    }[place]()
    with pytest.raises(GateInputError, match=message):
        read_context(fields)


@pytest.mark.parametrize(
    "changes",
    [
        {"policy_rules": [permission()] * (MAX_RULES + 1)},
        {"evidence": [evidence(f"e{i}") for i in range(MAX_EVIDENCE + 1)]},
        {"query": "x" * (MAX_TEXT + 1)},
        {"query": 5},
        {"query": None},
        {"policy_rules": {"id": "r"}},
        {"policy_rules": [[]]},
        {"policy_rules": [{**permission(), "severity": "warn"}]},
        {"policy_rules": [{**permission(), "id": ""}, {**permission(), "id": ""}]},
        {"specs": {"amount": []}},
        {"specs": []},
        {"facts": 3},
        {"unknown": 1},
        {"evidence": [evidence("e", trust=True)]},
        {"evidence": [evidence("e", trust=1.5)]},
        {"evidence": [evidence("e", numeric_claims={"x": float("inf")})]},
        {
            "objective": {
                "id": "o",
                "terms": [{"fact_key": "x", "weight": float("nan"), "direction": "hit"}],
            }
        },
        {"force_evaluators": ["formal"] * 2_000},
    ],
)
def test_what_does_not_fit_is_refused_in_one_short_message(changes: dict[str, Any]) -> None:
    with pytest.raises(GateInputError) as refused:
        read_context(refund(**changes), path="case.json")
    assert str(refused.value).startswith("case.json: ")
    assert len(str(refused.value)) < 2_100


def test_ten_thousand_rules_are_judged() -> None:
    rules = [
        permission(),
        *(rule(f"r{i}", f"fact.amount > {100 + i}") for i in range(MAX_RULES - 1)),
    ]
    decision = decide(refund(policy_rules=rules))
    assert decision.directive == "execute"
    assert len(decision.graph.eligibility.checks) == MAX_RULES


def test_the_largest_evidence_and_claims_are_judged() -> None:
    items = [evidence(f"e{i}", numeric_claims={"amount": i}) for i in range(MAX_EVIDENCE)]
    claims = [
        {
            "id": f"k{i}",
            "subject": "s",
            "proposition": "p",
            "time_scope": "t",
            "source": "s",
            "value": i % 2,
            "authority": "trusted",
        }
        for i in range(MAX_CLAIMS // 2)
    ]
    decision = decide(refund(evidence=items, aligned_claims=claims))
    assert decision.directive == "escalate"
    assert decision.graph.aligned_delta.contradictory_pairs == (MAX_CLAIMS // 4) ** 2


def causal(edges: list[tuple[str, str]], **payload: Any) -> dict[str, Any]:
    """Return a context with a causal question about a graph."""
    nodes = sorted({node for edge in edges for node in edge})
    return refund(
        causal_graph={
            "nodes": nodes,
            "edges": [
                {"source": s, "target": t, "signed": 1, "edge_id": f"{s}>{t}"} for s, t in edges
            ],
        },
        hypothesis=with_action(
            payload={"amount": 20, "treatment": "n0", "outcome": "end", "effect_sign": 1, **payload}
        ),
    )


def test_a_graph_with_too_many_paths_is_for_a_person() -> None:
    dense = [(f"n{i}", f"n{j}") for i in range(60) for j in range(60) if i != j]
    decision = decide(causal([*dense, ("n59", "end")]))
    assert decision.directive == "escalate"
    assert "more than 10000 paths" in " ".join(decision.envelope.reasons)


def test_a_long_chain_and_a_cycle_are_followed_to_their_end() -> None:
    chain = [(f"n{i}", f"n{i + 1}") for i in range(9_000)]
    assert decide(causal([*chain, ("n9000", "end")])).directive == "execute"
    circle = [("n0", "n1"), ("n1", "n2"), ("n2", "n0"), ("n1", "n1")]
    assert decide(causal([*circle, ("n2", "end")])).directive == "execute"


@pytest.mark.parametrize(
    "bomb",
    [
        "9**9**9",
        "10**4400",
        "9" * 999,
        "2**" * 300 + "2",
        "(" * 999,
        "-" * 999 + "1",
        "1" + "+1" * 490,
        "1<<10**9",
        "(2**12000)*(2**12000)",
        "'a'*10**9",
        "[0]*10**9",
        "().__class__",
        "__import__('os')",
        "0x" + "f" * 900,
        "1e999999",
        "9**-9**9",
        "0.1**-9999",
        "\x00",
        "1\x001",
        "１+１",  # noqa: RUF001
    ],
)
def test_arithmetic_is_computed_within_bounds_or_not_at_all(bomb: str) -> None:
    found = probe_expression(bomb)
    if found.eligible and isinstance(found.value, int):
        assert found.value.bit_length() <= MAX_BITS
    assert decide(refund(query=bomb)).directive in {"execute", "gather"}


def test_as_published_bombs_are_bounded_too() -> None:
    for query in ("9**9**9", "(" * 999, "not " * 999):
        assert decide(refund(query=query), compatibility=PUBLISHED).directive == "execute"
    deep = refund(policy_rules=[permission(), rule("deep", "(" * 9_000)])
    assert decide(deep, compatibility=PUBLISHED).directive == "escalate"


def test_numbers_at_the_edge_of_a_double_make_no_evaluator_fail_or_approve() -> None:
    items = [evidence(f"e{n}", numeric_claims={"amount": n * 9e307}) for n in (-1, 0.5, 1, 1.9)]
    term = {"fact_key": "amount", "weight": 1e308, "direction": "minimize", "target": 1e308}
    objective = {"id": "o", "terms": [term, {**term, "direction": "hit"}], "reject_below": 0.9}
    fields = refund(evidence=items, objective=objective, facts={"amount": -(10**300)})
    votes = Gate().votes(read_context(fields))
    assert votes["utility"].verdict == "undetermined"
    decision = decide({**fields, "force_evaluators": list(votes)})
    assert decision.graph.errors == ()
    assert decision.directive != "execute"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1|expected|JSON"),
        ("[" * 100_000, "nested deeper"),
        ('{"query": "a", "query": "b"}', "occurs twice"),
        ('{"query": NaN}', "NaN"),
        ('{"query": "\\ud800"}', "surrogate"),
        ('{"query": 1e999}', "too large"),
        ("null", "an object"),
        ("[]", "an object"),
        ('"text"', "an object"),
        ("7", "an object"),
    ],
)
def test_hostile_json_is_refused_with_its_place(text: str, message: str) -> None:
    with pytest.raises(SteelyardError, match=message):
        read_context(text, path="case.json")


def test_a_batch_names_the_line_and_refuses_a_repeated_name() -> None:
    line = json.dumps({"case": "a", "context": {"query": "q"}})
    with pytest.raises(SteelyardError, match=r"cases.jsonl:3: two cases are named 'a'"):
        list(read_cases(f"{line}\n\n{line}\n", path="cases.jsonl"))
    with pytest.raises(SteelyardError, match=r"cases.jsonl:2"):
        list(read_cases(f"{line}\n{{]\n", path="cases.jsonl"))


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["fact.amount > 1", "amount", "trusted", "block", "int", "1/0", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "key", "value", "predicate", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)
FIELDS = st.dictionaries(
    st.sampled_from(
        [
            *("query", "hypothesis", "evidence", "aligned_claims", "facts", "specs", "rules"),
            *("policy_rules", "constraints", "causal_graph", "objective", "domain", "extra"),
            *("structured_facts", "force_regime", "force_evaluators"),
        ]
    ),
    JSON,
    max_size=4,
)


@pytest.mark.parametrize("fields_of", [lambda f: f, lambda f: refund(**f)], ids=["bare", "refund"])
def test_no_fields_do_more_than_be_refused_or_judged(
    fields_of: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    @settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(FIELDS)
    def check(fields: dict[str, Any]) -> None:
        for compatibility in (PUBLISHED, None):
            options = {} if compatibility is None else {"compatibility": compatibility}
            try:
                context = read_context(fields_of(fields), **options)
            except SteelyardError:
                continue
            decision = Gate(**options).decide(context, TOOLS)
            assert decision.graph.errors == ()
            json.dumps(decision.envelope.to_dict())

    check()


def test_the_recursion_limit_is_left_alone() -> None:
    before = sys.getrecursionlimit()
    decide(refund(policy_rules=[permission(), rule("deep", "(" * 9_000)]))
    assert sys.getrecursionlimit() == before
