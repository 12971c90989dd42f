"""The formal evaluator: whether facts fit their specifications and constraints hold."""

from __future__ import annotations

from dataclasses import dataclass, field

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.arithmetic import probe_expression
from steelyard.evaluators.gate.eligibility_facts import in_range, type_fits
from steelyard.evaluators.gate.enums import CitationKind, ConstraintStatus, Verdict
from steelyard.evaluators.gate.results import (
    AssumptionAtom,
    Citation,
    Claim,
    ConstraintApplication,
    EvaluatorResult,
)
from steelyard.evaluators.gate.situation import Situation

OPAQUE_CONFIDENCE = 0.6
"""Confidence in a fact without a specification, and in a case whose optional facts are absent."""


@dataclass(slots=True)
class _Findings:
    """What has been found so far."""

    hypothesis: str
    claims: list[Claim] = field(default_factory=list)
    codes: dict[str, None] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    premises: dict[str, None] = field(default_factory=dict)
    assumptions: list[AssumptionAtom] = field(default_factory=list)
    constraints: list[ConstraintApplication] = field(default_factory=list)
    rejected: bool = False
    optional_absent: bool = False
    checked: int = 0

    def claim(self, name: str, polarity: float, statement: str, citation: Citation) -> None:
        self.claims.append(
            Claim(name, "formal", statement, polarity, 1.0, self.hypothesis, [citation])
        )

    def reject(self, name: str, statement: str, citation: Citation) -> None:
        self.rejected = True
        self.claim(name, -1.0, statement, citation)


def judge_formal(situation: Situation) -> EvaluatorResult:
    """Check types, ranges and constraints.

    Returns
    -------
    EvaluatorResult
        Reject for a wrong fact, a violated constraint or a division by zero in the query;
        undetermined where a required fact or a constraint's input is missing, and where there
        was nothing to check; otherwise approve.
    """
    found = _Findings(situation.hypothesis.id)
    if probe_expression(situation.context.query).division_by_zero:
        found.rejected = True
        found.codes.setdefault(reasons.DIVISION_BY_ZERO)
    _check_facts(situation, found)
    _check_constraints(situation, found)
    return _result(situation, found)


def _check_facts(situation: Situation, found: _Findings) -> None:
    finite = not situation.compatibility.nonfinite_facts
    specs = situation.context.fact_specs
    for key, spec in specs.items():
        fact = situation.facts.get(key)
        if fact is None:
            if spec.required:
                found.questions.append(f"missing required fact {key}")
                found.missing.append(key)
            else:
                found.optional_absent = True
            continue
        fits = type_fits(fact.value, spec, finite=finite) and in_range(fact.value, spec)
        found.checked += 1
        found.premises.setdefault(key)
        found.assumptions.append(
            AssumptionAtom(f"formal-typed-{key}", f"typed(fact.{key})", polarity=fits)
        )
        if not fits:
            cited = Citation(CitationKind.FACT, key)
            found.reject(f"formal-type-{key}", f"{key} does not fit its specification", cited)
    for key in situation.facts:
        if key not in specs:
            found.premises.setdefault(key)
            found.assumptions.append(
                AssumptionAtom(
                    f"formal-opaque-{key}",
                    f"opaque(fact.{key})",
                    polarity=True,
                    confidence=OPAQUE_CONFIDENCE,
                )
            )


def _check_constraints(situation: Situation, found: _Findings) -> None:
    for constraint in situation.context.constraints:
        outcome = situation.outcome(constraint.predicate)
        name, cited = constraint.id, outcome.cited_fact_keys
        found.premises.update(dict.fromkeys(cited))
        status = ConstraintStatus.UNCHECKED
        if outcome.unbound:
            found.codes.setdefault(reasons.UNBOUND_PATH)
            found.questions.append(f"the constraint {name} names something missing")
            found.missing += [key for key in cited if key not in situation.facts]
        elif outcome.error:
            found.codes.setdefault(reasons.CONSTRAINT_INCOMPLETE)
            found.questions.append(f"the constraint {name} cannot be evaluated")
        else:
            found.checked += 1
            holds = bool(outcome.value)
            status = ConstraintStatus.SATISFIED if holds else ConstraintStatus.VIOLATED
            found.assumptions.append(
                AssumptionAtom(f"formal-a-{name}", constraint.predicate, polarity=holds)
            )
            if not holds:
                citation = Citation(CitationKind.CONSTRAINT, name)
                found.reject(f"formal-c-{name}", f"the constraint {name} is violated", citation)
        found.constraints.append(ConstraintApplication(name, status, list(cited)))


def _result(situation: Situation, found: _Findings) -> EvaluatorResult:
    hypothesis = Citation(CitationKind.HYPOTHESIS, found.hypothesis)
    vacuous = found.checked == 0 and not situation.compatibility.vacuous_approval
    verdict, confidence = Verdict.UNDETERMINED, 0.0
    if found.rejected:
        verdict, confidence = Verdict.REJECT, 1.0
        if not found.claims:
            found.claim("formal-reject", -1.0, "the query divides by zero", hypothesis)
    elif not found.questions and vacuous:
        found.codes.setdefault(reasons.NOTHING_TO_CHECK)
    elif not found.questions:
        verdict, confidence = Verdict.APPROVE, OPAQUE_CONFIDENCE if found.optional_absent else 1.0
        statement = "facts and constraints are in order"
        found.claims.append(
            Claim("formal-ok", "formal", statement, 1.0, confidence, found.hypothesis, [hypothesis])
        )
    return EvaluatorResult(
        "formal",
        verdict,
        confidence,
        "solver",
        claims=found.claims,
        premise_ids=list(found.premises),
        assumptions=found.assumptions,
        constraints_applied=found.constraints,
        unresolved_questions=found.questions,
        missing_fact_keys=found.missing,
        reason_codes=list(found.codes),
    )
