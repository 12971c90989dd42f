"""Eligibility of facts, constraints, objectives, arguments and the causal question."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from steelyard.evaluators.gate.causal import causal_reading
from steelyard.evaluators.gate.enums import ActionKind, CheckStatus, FactType, Verdict
from steelyard.evaluators.gate.results import EligibilityCheck
from steelyard.evaluators.gate.schemas import FactSpec, FactValue, ObjectiveTerm
from steelyard.evaluators.gate.situation import CAUSAL_KEYS, Situation, is_number


def type_fits(value: Any, spec: FactSpec, *, finite: bool) -> bool:
    """Return whether a fact has the type that its specification asks for."""
    kind = spec.fact_type
    if kind is FactType.BOOL:
        return isinstance(value, bool)
    if kind is FactType.STRING:
        return isinstance(value, str)
    if kind is FactType.ENUM:
        return str(value) in spec.enum_values
    if kind is FactType.INT:
        return is_number(value) and isinstance(value, int)
    return is_number(value) and (not finite or math.isfinite(value))


def in_range(value: Any, spec: FactSpec) -> bool:
    """Return whether a number is within its range; what is no number always is."""
    if not is_number(value):
        return True
    below = spec.minimum is not None and value < spec.minimum
    above = spec.maximum is not None and value > spec.maximum
    return not (below or above)


def unit_fits(fact: FactValue, spec: FactSpec) -> bool:
    """Return whether a fact is in the unit that its specification is written in."""
    return spec.unit is None or fact.unit == spec.unit


def fact_checks(situation: Situation) -> tuple[list[EligibilityCheck], set[str]]:
    """Check every fact that has a specification.

    Returns
    -------
    checks : list of EligibilityCheck
        Missing, unknown (wrong type or unit) and block (out of range); nothing for a good fact.
    invalid : set of str
        Keys of the facts with a wrong type or unit.
    """
    checks: list[EligibilityCheck] = []
    invalid: set[str] = set()
    published = situation.compatibility
    for key, spec in situation.context.fact_specs.items():
        fact = situation.facts.get(key)
        if fact is None:
            if spec.required:
                checks.append(_fact(key, CheckStatus.MISSING, f"the fact {key} is required"))
            continue
        if not type_fits(fact.value, spec, finite=not published.nonfinite_facts):
            invalid.add(key)
            detail = f"the fact {key} is no {spec.fact_type.value}"
            checks.append(_fact(key, CheckStatus.UNKNOWN, detail))
        elif not published.units_ignored and not unit_fits(fact, spec):
            invalid.add(key)
            detail = f"the fact {key} is in {fact.unit or 'no unit'}, not in {spec.unit}"
            checks.append(_fact(key, CheckStatus.UNKNOWN, detail))
        if not in_range(fact.value, spec) and key not in invalid:
            detail = f"the fact {key} is outside its range"
            checks.append(_fact(key, CheckStatus.BLOCK, detail))
    return checks, invalid


def _fact(key: str, status: CheckStatus, detail: str) -> EligibilityCheck:
    return EligibilityCheck(key, "fact", status, detail=detail, cited_fact_keys=(key,))


def argument_checks(situation: Situation) -> Iterator[EligibilityCheck]:
    """Yield a review for each argument that differs from the fact of its name.

    The rules judged the fact, and the action would be carried out with the argument. A change of
    a parameter is exempt: its argument is the new value.
    """
    action = situation.action
    if situation.compatibility.payload_unchecked or action is None:
        return
    if action.kind in {ActionKind.ASSERTION, ActionKind.PARAMETER_CHANGE}:
        return
    for key, value in action.payload.items():
        fact = situation.facts.get(key)
        if fact is None or key in CAUSAL_KEYS:
            continue
        if value != fact.value or isinstance(value, bool) != isinstance(fact.value, bool):
            yield EligibilityCheck(
                f"payload:{key}",
                "fact",
                CheckStatus.REVIEW,
                detail=f"the argument {key} differs from the fact {key}",
                cited_fact_keys=(key,),
            )


def constraint_checks(situation: Situation, invalid: set[str]) -> Iterator[EligibilityCheck]:
    """Yield the check of each constraint, in order."""
    for constraint in situation.context.constraints:
        outcome = situation.outcome(constraint.predicate)
        status, detail = CheckStatus.PASS, ""
        if outcome.unbound:
            status, detail = CheckStatus.MISSING, f"{constraint.id} names something missing"
        elif outcome.error:
            status, detail = CheckStatus.UNKNOWN, outcome.error
        elif outcome.value is False:
            status, detail = CheckStatus.BLOCK, f"the constraint {constraint.id} is violated"
        if not invalid.isdisjoint(outcome.cited_fact_keys):
            status, detail = CheckStatus.UNKNOWN, f"{constraint.id} rests on an invalid fact"
        yield EligibilityCheck(
            constraint.id,
            "constraint",
            status,
            detail=detail,
            cited_fact_keys=outcome.cited_fact_keys,
        )


def objective_checks(situation: Situation, invalid: set[str]) -> Iterator[EligibilityCheck]:
    """Yield the check of each term of the objective whose target must be met."""
    if situation.context.objective is None:
        return
    for index, term in enumerate(situation.context.objective.terms):
        if term.sla_breach_is_reject:
            status, detail = _objective_status(situation, term, invalid)
            yield EligibilityCheck(
                f"objective:{index}",
                "constraint",
                status,
                detail=detail,
                cited_fact_keys=(term.fact_key,),
            )


def _objective_status(
    situation: Situation, term: ObjectiveTerm, invalid: set[str]
) -> tuple[CheckStatus, str]:
    key, target = term.fact_key, term.target
    if target is None or not math.isfinite(target):
        return CheckStatus.UNKNOWN, f"the term on {key} must be met and has no target"
    fact = situation.facts.get(key)
    if fact is None:
        return CheckStatus.MISSING, f"the fact {key} is required by the objective"
    value = fact.value
    if key in invalid or not is_number(value) or not math.isfinite(value):
        return CheckStatus.UNKNOWN, f"the fact {key} is no finite number"
    if term.direction == "hit":
        return CheckStatus.UNKNOWN, f"the term on {key} states no side that must be met"
    missed = value < target if term.direction == "maximize" else value > target
    if missed:
        return CheckStatus.BLOCK, f"the fact {key} misses the target {target:g}"
    return CheckStatus.PASS, ""


def causal_checks(situation: Situation) -> Iterator[EligibilityCheck]:
    """Yield the check of the causal question, if the action states the sign of an effect."""
    if "effect_sign" not in situation.payload:
        return
    reading = causal_reading(situation)
    status, detail = CheckStatus.PASS, ""
    if reading.result.verdict is Verdict.REJECT:
        status, detail = CheckStatus.BLOCK, "the causal graph contradicts the stated effect"
    elif reading.result.verdict is Verdict.UNDETERMINED:
        status = CheckStatus.MISSING if reading.lacking else CheckStatus.UNKNOWN
        detail = " ".join(reading.result.unresolved_questions)
    yield EligibilityCheck("causal-effect", "constraint", status, detail=detail)
