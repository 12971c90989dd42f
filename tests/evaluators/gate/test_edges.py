"""Arithmetic and evaluators at their edges: exactly at a limit, with a name twice or with none.

Expected values follow from the rules by hand; both behaviours are asked wherever both have one.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from gate_contexts import BOTH, context, decide, evidence, refund, rule, with_action
from steelyard.evaluators.gate import DEFAULT, PUBLISHED, Compatibility, Gate, GateSettings
from steelyard.evaluators.gate.arithmetic import probe_expression
from steelyard.evaluators.gate.clean_up import with_uncited_penalty, without_mismatched_claims
from steelyard.evaluators.gate.enums import Verdict
from steelyard.evaluators.gate.results import EvaluatorResult, read_result


def votes(fields: dict[str, Any], compatibility: Compatibility) -> dict[str, EvaluatorResult]:
    """Return the votes of all evaluators."""
    gate = Gate(GateSettings(), compatibility)
    return gate.votes(context({"query": "Do it now", **fields}, compatibility))


@pytest.mark.parametrize(
    ("query", "by_zero", "mathematics"),
    [
        ("1/0", True, True),
        ("0**-1", True, True),
        ("(-1)**0.5/0", True, True),
        ("x + 1/0", False, True),
        ("1/0 % 2", False, True),
        ("'a' + 1/0", False, False),
        ("not 1/0", False, False),
        ("(1/0) << 1", False, False),
        ("10**400/3 + 1/0", False, False),
        ("[x] * 1.5**1e5 % 2", False, True),
    ],
)
def test_only_arithmetic_divides_by_zero(query: str, by_zero: bool, mathematics: bool) -> None:
    found = probe_expression(query)
    assert (found.eligible, found.division_by_zero) == (False, by_zero)
    assert found.math_shaped == mathematics


@pytest.mark.parametrize(
    ("query", "value"),
    [
        ("2**14284", 2**14284),
        ("10**4299", 10**4299),
        ("9" * 4300, 10**4300 - 1),
        ("1**10**9", 1),
        ("(-1)**999999999999", -1),
        ("0**10**9", 0),
        ("1+" * 900 + "1", 901),
        ("1 +" + " " * 2000 + "1", 2),
    ],
)
def test_what_fits_is_computed(query: str, value: int) -> None:
    assert probe_expression(query).value == value


@pytest.mark.parametrize("query", ["10**4300", "2**14285", "10**4299*10", "9" * 4300 + "+1"])
def test_what_has_more_than_4300_digits_is_not(query: str) -> None:
    assert not probe_expression(query).eligible


def test_rules_in_prose_are_named_before_what_the_rules_lack_and_after_a_lack_of_rules() -> None:
    prose = "REASON_UNSTRUCTURED_RULE_IGNORED"
    for rules, codes in (
        ([rule("r", "fact.q == 1")], [prose, "REASON_POLICY_INCOMPLETE", "REASON_UNBOUND_PATH"]),
        ([], ["REASON_MISSING_POLICY_RULES", prose]),
    ):
        found = votes({"rules": ["be kind"], "policy_rules": rules}, PUBLISHED)["policy"]
        assert found.reason_codes == codes
    graph = decide(refund(rules=["be kind"], force_evaluators=["nobody"])).graph
    assert graph.classifier.reason_codes[-2:] == ["REASON_SELECTOR_INDEPENDENCE", prose]


GRAPH = {
    "nodes": ["a", "b"],
    "edges": [
        {"source": "a", "target": "b", "signed": 1, "edge_id": "e"},
        {"source": "a", "target": "b", "signed": 1, "edge_id": "e"},
    ],
}


@BOTH
@pytest.mark.parametrize("nothing", ["", None, 0, False, []])
def test_a_treatment_without_a_name_is_inferred_or_missing(
    nothing: Any, compatibility: Compatibility
) -> None:
    asked = with_action(payload={"treatment": nothing, "outcome": "b"})
    found = votes({"causal_graph": GRAPH, "hypothesis": asked}, compatibility)["causal"]
    assert (found.verdict, found.reason_codes) == ("undetermined", ["REASON_UNBOUND_PATH"])
    asked = with_action(payload={"treatment": nothing, "outcome": "b", "a": 1})
    found = votes({"causal_graph": GRAPH, "hypothesis": asked}, compatibility)["causal"]
    assert (found.verdict, found.confidence) == ("approve", 0.5)
    assert found.premise_ids == ["e", "e"]


@BOTH
@pytest.mark.parametrize(("dead_ends", "verdict"), [(9_996, "approve"), (9_997, "undetermined")])
def test_the_budget_of_paths_counts_complete_ones_and_circles(
    dead_ends: int, verdict: str, compatibility: Compatibility
) -> None:
    ends = [f"x{i}" for i in range(dead_ends)]
    pairs = [("a", "m"), ("m", "b"), ("m", "a"), *(("a", end) for end in ends)]
    edges = [{"source": s, "target": t, "signed": 1, "edge_id": f"{s}-{t}"} for s, t in pairs]
    graph = {"nodes": ["a", "m", "b", *ends][:10_000], "edges": edges}
    asked = with_action(payload={"treatment": "a", "outcome": "b"})
    lenient = replace(compatibility, lenient_schemas=True)  # not all nodes can be named
    found = votes({"causal_graph": graph, "hypothesis": asked}, lenient)["causal"]
    assert found.verdict == verdict


@pytest.mark.parametrize(
    ("link", "active"),
    [
        ({}, ["e2"]),
        ({"superseded_by": None}, ["e1", "e2"]),
        ({"superseded_by": ""}, ["e1", "e2"]),
        ({"superseded_by": ["e1"]}, ["e1", "e2"]),
        ({"superseded_by": "e1"}, ["e1", "e2"]),
    ],
)
@BOTH
def test_a_link_that_is_no_id_breaks_the_chain_of_supersessions(
    link: dict[str, Any], active: list[str], compatibility: Compatibility
) -> None:
    items = [
        evidence("e1", metadata={"superseded_by": "e2"}, numeric_claims={"amount": 1}),
        evidence("e2", metadata=link, numeric_claims={"amount": 1}),
    ]
    found = votes({"evidence": items}, compatibility)["empirical"]
    assert found.supporting_evidence_ids == active


def test_as_published_a_repeated_id_stands_for_every_item_that_has_it() -> None:
    rules = [rule(name, f"fact.{name} > 0") for name in ("a", "b", "c")]
    fields = {"query": "Do it", "policy_rules": rules, "facts": {"a": 1, "b": 1, "c": 1}}
    claims = ({"b": 1}, {"a": 1})
    items = [evidence("x", numeric_claims=claim) for claim in claims]
    items.append(evidence("y", numeric_claims={"a": 100}))
    graph = decide({**fields, "evidence": items}, compatibility=PUBLISHED).graph
    assert [c.status for c in graph.eligibility.checks] == ["review", "review", "block", "review"]
    target = {"fact_key": "a", "weight": 1, "direction": "hit", "target": 1}
    objective = {"id": "o", "terms": [target]}
    found = votes({**fields, "evidence": items, "objective": objective}, PUBLISHED)["empirical"]
    assert found.assumptions[0].polarity is True  # the first "x" claims no "a"


@BOTH
@pytest.mark.parametrize(
    ("term", "step", "value", "verdict"),
    [
        (("minimize", 0.3), 0.1, 0.4, "approve"),  # 0.4 - 0.3 is above 0.1 in doubles
        (("minimize", 0.15), 0.05, 0.2, "approve"),
        (("minimize", 0.9), 0.2, 1.1, "approve"),
        (("minimize", 0.3), 0.1, 0.41, "caution"),
        (("maximize", 1.1), 0.1, 1.0, "approve"),
        (("hit", 100), 5, 105, "approve"),
        (("hit", 100), 5, 115, "caution"),
        (("hit", 100), 5, 115.01, "reject"),
    ],
)
def test_a_value_exactly_at_its_tolerance_is_within_it(
    term: tuple[str, float], step: float, value: float, verdict: str, compatibility: Compatibility
) -> None:
    direction, target = term
    terms = [{"fact_key": "k", "weight": 1, "direction": direction, "target": target}]
    fields = {
        "facts": {"k": value},
        "specs": {"k": {"fact_type": "float", "step": step}},
        "objective": {"id": "o", "terms": terms},
    }
    assert votes(fields, compatibility)["empirical"].verdict == verdict


@BOTH
@pytest.mark.parametrize(("observed", "verdict"), [(100, "caution"), (101, "undetermined")])
def test_sources_on_both_sides_do_not_contest_a_value_at_the_target(
    observed: float, verdict: str, compatibility: Compatibility
) -> None:
    term = {"fact_key": "k", "weight": 1, "direction": "hit", "target": 100}
    fields = {
        "facts": {"k": observed},
        "objective": {"id": "o", "terms": [term]},
        "evidence": [
            evidence("e1", trust=0.9, numeric_claims={"k": 50}),
            evidence("e2", trust=0.9, numeric_claims={"k": 150}),
        ],
    }
    assert votes(fields, compatibility)["empirical"].verdict == verdict


@BOTH
@pytest.mark.parametrize(
    ("values", "confidence"),
    [
        ([0.1, -1.0, 0.9], 0.0),  # their sum is 2.8e-17, and 0 if it is rounded on the way
        ([1e16, 1.0, -1e16], 0.0),
        ([-1.0, 0.0, 1.0], 1.0),
        ([1e308, 1e308, 1e308], 1.0),
        ([1.0, 2.0, 3.0], 1 - (2 / 3) ** 0.5 / 2),
    ],
)
def test_the_coefficient_of_variation_is_summed_exactly(
    values: list[float], confidence: float, compatibility: Compatibility
) -> None:
    term = {"fact_key": "k", "weight": 1, "direction": "minimize", "target": 1e308}
    fields = {
        "facts": {"k": 0},
        "objective": {"id": "o", "terms": [term]},
        "evidence": [
            evidence(f"e{i}", numeric_claims={"k": value}) for i, value in enumerate(values)
        ],
    }
    found = votes(fields, compatibility)["empirical"]
    assert found.confidence == pytest.approx(confidence, abs=1e-12)


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_without_a_place_in_its_range_is_the_best_as_published_only(value: float) -> None:
    term = {"fact_key": "k", "weight": 1, "direction": "maximize", "target": 0.05}
    fields = {
        "facts": {"k": value},
        "objective": {"id": "o", "terms": [term], "reject_below": 0.5},
    }
    assert votes(fields, PUBLISHED)["utility"].verdict == "approve"
    wide = {"fact_type": "float", "minimum": -1.7e308, "maximum": 1.7e308}
    fields = {**fields, "facts": {"k": 1.7e308}, "specs": {"k": wide}}  # infinity over infinity
    assert votes(fields, DEFAULT)["utility"].verdict == "reject"
    assert votes(fields, PUBLISHED)["utility"].verdict == "approve"


def test_as_published_the_key_inside_a_specification_counts() -> None:
    inner = {"fact_type": "int", "required": True, "key": "inner"}
    fields = {"query": "Do it now", "facts": {"outer": "x"}, "specs": {"outer": inner}}
    assert decide(fields, compatibility=PUBLISHED).graph.classifier.feature_scores["empirical"] == 0
    unheard = {**fields, "facts": {}, "force_evaluators": ["nobody"]}
    assert decide(unheard, compatibility=PUBLISHED).envelope.gather_fact_keys == ("outer",)
    heard = {**fields, "facts": {}}
    assert decide(heard, compatibility=PUBLISHED).envelope.gather_fact_keys == ("outer", "inner")


def test_a_reason_code_is_kept_once_by_each_step_of_the_clean_up() -> None:
    result = EvaluatorResult("a", Verdict.APPROVE, 1.0, "rules", reason_codes=["X", "Y", "X"])
    assert with_uncited_penalty({"a": result}, 0.5)["a"].reason_codes == ["X", "Y"]
    assert without_mismatched_claims({"a": result})["a"].reason_codes == ["X", "Y"]


@pytest.mark.parametrize("backend", ["rule", "", None, 1, "Rules"])
def test_a_result_of_an_unknown_backend_is_refused_like_every_other_word(backend: Any) -> None:
    given = {"evaluator": "a", "verdict": "approve", "confidence": 1, "backend": backend}
    with pytest.raises(ValidationError) as caught:
        read_result(given)
    assert [(f["loc"], f["type"]) for f in caught.value.errors()] == [(("backend",), "enum")]
