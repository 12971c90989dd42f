"""The checks that no vote can outweigh.

A proven block refuses, an open question of authority or evidence escalates, missing facts are
gathered. Without any of these the evaluators are heard.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from steelyard.evaluators.gate.eligibility_claims import ClaimFindings, claim_findings
from steelyard.evaluators.gate.eligibility_facts import (
    argument_checks,
    causal_checks,
    constraint_checks,
    fact_checks,
    objective_checks,
)
from steelyard.evaluators.gate.eligibility_rules import RuleFindings, rule_findings
from steelyard.evaluators.gate.enums import CheckStatus, Directive, Severity
from steelyard.evaluators.gate.results import (
    AlignedDelta,
    ConflictSignals,
    EligibilityAssessment,
    EligibilityCheck,
)
from steelyard.evaluators.gate.schemas import PolicyRule
from steelyard.evaluators.gate.situation import Situation


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The assessment and what later stages need of it.

    Attributes
    ----------
    assessment : EligibilityAssessment
        Checks and directive.
    signals : ConflictSignals
        Conflicts of evidence and authority; those of evaluators are not known yet.
    aligned_delta : AlignedDelta
        Contradiction among claims.
    eligible_rules : tuple of PolicyRule
        The rules that evaluators may read.
    authorising_rule_ids : tuple of str
        The trusted permissions that hold.
    """

    assessment: EligibilityAssessment
    signals: ConflictSignals
    aligned_delta: AlignedDelta
    eligible_rules: tuple[PolicyRule, ...]
    authorising_rule_ids: tuple[str, ...]


def assess(situation: Situation) -> Eligibility:
    """Make every check.

    Parameters
    ----------
    situation : Situation
        With all rules.

    Returns
    -------
    Eligibility
        Checks in this order: facts, arguments, constraints, objective, causal question, rules
        and their groups, conflicts of evidence and authority, unsettled claims.
    """
    checks, invalid = fact_checks(situation)
    checks += argument_checks(situation)
    checks += constraint_checks(situation, invalid)
    checks += objective_checks(situation, invalid)
    checks += causal_checks(situation)
    rules = rule_findings(situation, invalid)
    claims = claim_findings(situation)
    authority_conflict = rules.authority_conflict or claims.authority_conflict
    checks += rules.checks
    if claims.material_conflict:
        checks.append(_review("aligned-evidence", "evidence", "evidence contradicts itself"))
    if authority_conflict:
        checks.append(_review("aligned-authority", "authority", "authorities contradict"))
    checks += claims.unsettled
    _soften(checks, rules, claims)
    signals = ConflictSignals(
        claims.material_conflict, authority_conflict, aligned_conflict_pairs=tuple(claims.pairs)
    )
    return Eligibility(
        EligibilityAssessment(_directive(checks), tuple(checks)),
        signals,
        claims.delta,
        tuple(rules.eligible),
        tuple(rules.authorising),
    )


def _review(name: str, kind: Literal["evidence", "authority"], detail: str) -> EligibilityCheck:
    return EligibilityCheck(name, kind, CheckStatus.REVIEW, detail=detail)


def _soften(checks: list[EligibilityCheck], rules: RuleFindings, claims: ClaimFindings) -> None:
    """Turn a block that rests on a disputed fact into a review, hard vetoes excepted."""
    if not claims.disputed and not claims.unknown_provenance:
        return
    vetoes = {rule.id for rule in rules.eligible if rule.severity is Severity.HARD_VETO}
    for index, check in enumerate(checks):
        if check.status is not CheckStatus.BLOCK:
            continue
        if check.kind == "policy" and check.id in vetoes:
            continue
        if claims.unknown_provenance or not claims.disputed.isdisjoint(check.cited_fact_keys):
            detail = f"{check.detail}; what it rests on is disputed"
            checks[index] = replace(check, status=CheckStatus.REVIEW, detail=detail)


def _directive(checks: Sequence[EligibilityCheck]) -> Directive | None:
    statuses = {check.status for check in checks}
    if CheckStatus.BLOCK in statuses:
        return Directive.REFUSE
    if CheckStatus.UNKNOWN in statuses or CheckStatus.REVIEW in statuses:
        return Directive.ESCALATE
    if CheckStatus.MISSING in statuses:
        return Directive.GATHER
    return None
