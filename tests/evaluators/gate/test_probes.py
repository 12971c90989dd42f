"""Counterfactual probes, thresholds and distances: what the vectors do not pin down."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gate_contexts import context, decide, permission, refund, rule, with_action
from steelyard.evaluators.gate import Gate, GateSettings
from steelyard.evaluators.gate.contradiction import contradiction_of, jaccard_distance
from steelyard.evaluators.gate.enums import Regime, Verdict
from steelyard.evaluators.gate.lattice import rule_on
from steelyard.evaluators.gate.probes import candidate_values
from steelyard.evaluators.gate.results import EvaluatorResult
from steelyard.evaluators.gate.schemas import FactSpec
from steelyard.evaluators.gate.uncertainty import effective_thresholds


def capped(value: Any = 70, **spec: Any) -> dict[str, Any]:
    """Return a refund over a cap whose amount may be probed."""
    fields = {"fact_type": "int", "minimum": 0, "maximum": 100, "step": 10, "mutable": True}
    return refund(
        hypothesis=with_action(payload={"amount": value}),
        facts={"amount": value},
        specs={"amount": {**fields, **spec}},
        policy_rules=[permission(), rule("cap", "fact.amount > 50", severity="hard_veto")],
    )


def probed(fields: dict[str, Any], **options: Any) -> list[tuple[Any, bool]]:
    """Return the values that were probed, and whether each resolves."""
    found = decide(fields, **options).graph.counterfactuals
    return [(counterfactual.probed, counterfactual.resolving) for counterfactual in found]


def test_a_probe_resolves_if_the_changed_action_would_be_approved() -> None:
    assert probed(capped())[0] == (50, True)
    assert all(not resolving for _, resolving in probed(capped())[1:])


def test_a_probe_authorises_nothing() -> None:
    decision = decide(capped())
    assert decision.directive == "refuse"
    assert decision.graph.context.structured_facts["amount"].value == 70


def test_the_budget_bounds_the_probes() -> None:
    fields = capped(value=100, step=1)
    assert len(probed(fields, max_probes=5)) == 5
    assert len(probed(fields, max_probes=0)) == 0
    assert len(probed(fields)) == 12
    assert probed(fields, max_probe_params=0) == []


def test_probing_may_stop_at_the_first_that_resolves() -> None:
    fields = capped()
    more = {"fact_type": "int", "minimum": 0, "maximum": 9, "mutable": True}
    fields["specs"]["zz"] = more
    fields["facts"]["zz"] = 1
    fields["policy_rules"].append(rule("zz", "fact.zz > 5 and fact.amount > 99"))
    all_of_them = probed(fields, max_probes=40)
    stopped = probed(fields, max_probes=40, stop_on_first_resolving=True)
    assert len(stopped) <= len(all_of_them)
    assert sum(resolving for _, resolving in stopped) == 1


@pytest.mark.parametrize("current", ["70", None, [], float("nan"), float("inf")])
def test_a_value_of_another_type_has_no_neighbours(current: Any) -> None:
    spec = FactSpec(key="x", fact_type="float", minimum=0, maximum=1)
    assert candidate_values(spec, current) == []


@settings(max_examples=200, deadline=None)
@given(
    st.floats(-100, 100),
    st.floats(0, 100),
    st.one_of(st.none(), st.floats(0.01, 50)),
    st.sampled_from(["int", "float", "duration_ms"]),
    st.floats(-150, 150),
)
def test_probed_numbers_stay_within_their_range(
    low: float, width: float, step: float | None, kind: str, current: float
) -> None:
    spec = FactSpec(key="x", fact_type=kind, minimum=low, maximum=low + width, step=step)
    for value in candidate_values(spec, current):
        slack = 0.5 if kind == "int" else 0.0  # rounded after the range was checked
        assert low - slack <= value <= low + width + slack
    assert len(candidate_values(spec, current)) <= 126


def result(name: str, verdict: Verdict, confidence: float = 1.0) -> EvaluatorResult:
    """Return a vote without reasons."""
    return EvaluatorResult(name, verdict, confidence, "rules")


VERDICTS = st.lists(st.sampled_from(list(Verdict)), min_size=0, max_size=5)


@settings(max_examples=200, deadline=None)
@given(VERDICTS, st.floats(0, 1), st.booleans(), st.sampled_from([None, *Regime]))
def test_thresholds_stay_in_their_range_and_in_order(
    verdicts: list[Verdict], uncertainty: float, severe: bool, regime: Regime | None
) -> None:
    votes = {f"e{n}": result(f"e{n}", verdict) for n, verdict in enumerate(verdicts)}
    tau, qualified = effective_thresholds(
        votes,
        GateSettings(),
        uncertainty=uncertainty,
        severe=severe,
        regime=regime,
        domain="finance",
    )
    assert 0.22 <= tau <= 0.58
    assert 0.08 <= qualified <= tau - 0.05 + 1e-12


@settings(max_examples=200, deadline=None)
@given(VERDICTS, st.floats(0, 1), st.floats(0, 1))
def test_the_lattice_never_invents_a_verdict(
    verdicts: list[Verdict], delta: float, uncertainty: float
) -> None:
    votes = {f"e{n}": result(f"e{n}", verdict) for n, verdict in enumerate(verdicts)}
    ruling = rule_on(
        votes,
        delta_max=delta,
        uncertainty=uncertainty,
        tau=0.4,
        qualified_tau=0.2,
        u_insufficient=0.6,
        severe=False,
        may_veto={},
    )
    if ruling.verdict is not None:
        count = verdicts.count(ruling.verdict)
        others = [verdicts.count(v) for v in Verdict if v not in {ruling.verdict, "undetermined"}]
        assert count > max(others)
        assert len([v for v in verdicts if v is not Verdict.UNDETERMINED]) >= 2


@settings(max_examples=200, deadline=None)
@given(VERDICTS)
def test_distances_are_symmetric_bounded_and_zero_between_equals(verdicts: list[Verdict]) -> None:
    votes = {f"e{n}": result(f"e{n}", verdict) for n, verdict in enumerate(verdicts)}
    backwards = dict(reversed(votes.items()))
    weights = GateSettings().contradiction
    found, mirrored = contradiction_of(votes, weights), contradiction_of(backwards, weights)
    assert found.delta_max == mirrored.delta_max <= 1
    polar = {Verdict.APPROVE, Verdict.REJECT} <= set(verdicts)
    assert (found.delta_max == weights.conclusion) == polar


def test_jaccard_distance() -> None:
    assert jaccard_distance([], []) == 0
    assert jaccard_distance("ab", "bc") == pytest.approx(2 / 3)
    assert jaccard_distance("ab", "") == 1


def test_uncertainty_rises_with_what_is_missing() -> None:
    known = Gate().evaluate(context()).uncertainty_score
    specs = refund()["specs"] | {"receipt": {"fact_type": "bool", "required": True}}
    unknown = Gate().evaluate(context(refund(specs=specs))).uncertainty_score
    assert unknown > known


@pytest.mark.parametrize(
    ("fields", "current", "values"),
    [
        ({"minimum": 0.3, "maximum": 2.7, "step": 1}, 1.5, [2]),  # 0.5 is rounded to 0: too low
        ({"minimum": 0, "maximum": 3, "step": 1.4}, 2, [1, 3]),  # 3.4 is rounded to 3
        ({"minimum": 0, "maximum": 10, "step": 4}, 5, [1, 9]),
        # The tenth of 3 is above 0.3 in doubles: the fifth step down ends below 1.5.
        ({"minimum": 0, "maximum": 3}, 3, [3, 3, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0]),
    ],
)
def test_a_probe_is_rounded_before_it_is_compared_with_the_range(
    fields: dict[str, Any], current: float, values: list[int]
) -> None:
    spec = FactSpec.model_validate({"key": "k", "fact_type": "int", **fields})
    assert candidate_values(spec, current) == values


def test_a_number_is_none_of_the_texts_of_an_enumeration() -> None:
    spec = FactSpec.model_validate({"key": "k", "fact_type": "enum", "enum_values": ["5", "6"]})
    assert candidate_values(spec, 5) == ["5", "6"]
    assert candidate_values(spec, "5") == ["6"]
