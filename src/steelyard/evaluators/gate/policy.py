"""The policy evaluator: whether an eligible rule stands against the action. Only it may veto."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.eligibility_rules import is_violated
from steelyard.evaluators.gate.enums import CitationKind, Modality, Severity, Verdict
from steelyard.evaluators.gate.results import AssumptionAtom, Citation, Claim, EvaluatorResult
from steelyard.evaluators.gate.schemas import PolicyRule
from steelyard.evaluators.gate.situation import Situation

CAUTION_CONFIDENCE = 0.7
"""Confidence of a caution."""


@dataclass(slots=True)
class _Scan:
    """What the rules read so far amount to."""

    hypothesis: str
    claims: list[Claim] = field(default_factory=list)
    codes: dict[str, None] = field(default_factory=dict)
    questions: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    premises: dict[str, None] = field(default_factory=dict)
    assumptions: list[AssumptionAtom] = field(default_factory=list)
    rejected: bool = False
    cautioned: bool = False
    vetoed: bool = False

    def claim(self, rule: PolicyRule, polarity: float, statement: str) -> None:
        citation = Citation(CitationKind.RULE, rule.id)
        self.claims.append(
            Claim(
                f"policy-{rule.id}", "policy", statement, polarity, 1.0, self.hypothesis, [citation]
            )
        )


def judge_policy(situation: Situation) -> EvaluatorResult:
    """Read the rules in order, up to the first hard veto.

    Returns
    -------
    EvaluatorResult
        Reject (with a veto where a hard rule is broken), else caution, else undetermined where
        a rule could not be evaluated or there is none, else approve.
    """
    scan = _Scan(situation.hypothesis.id)
    if not situation.rules:
        scan.codes.setdefault(reasons.MISSING_POLICY_RULES)
        scan.questions.append("there is no rule that counts")
    if situation.context.rules:
        scan.codes.setdefault(reasons.UNSTRUCTURED_RULE_IGNORED)
    for rule in situation.rules:
        _read(situation, rule, scan)
        if scan.vetoed:
            break
    return _result(scan)


def _read(situation: Situation, rule: PolicyRule, scan: _Scan) -> None:
    outcome = situation.outcome(rule.predicate)
    scan.premises.setdefault(rule.id)
    scan.premises.update(dict.fromkeys(outcome.cited_fact_keys))
    if outcome.unbound or outcome.error:
        scan.codes.setdefault(reasons.POLICY_INCOMPLETE)
        if outcome.unbound:
            scan.codes.setdefault(reasons.UNBOUND_PATH)
            scan.missing += [k for k in outcome.cited_fact_keys if k not in situation.facts]
        scan.questions.append(f"the rule {rule.id} cannot be evaluated")
        return
    matched = bool(outcome.value)
    scan.assumptions.append(AssumptionAtom(f"policy-a-{rule.id}", rule.predicate, polarity=matched))
    if is_violated(rule, matched):
        scan.claim(rule, -1.0, f"the {rule.modality.value} {rule.id} is broken")
        scan.vetoed = rule.severity is Severity.HARD_VETO
        scan.rejected |= rule.severity is not Severity.CAUTION
        scan.cautioned |= rule.severity is Severity.CAUTION
    elif rule.modality is Modality.PERMISSION and matched:
        scan.claim(rule, 1.0, f"the permission {rule.id} holds")


def _result(scan: _Scan) -> EvaluatorResult:
    verdict, confidence = Verdict.UNDETERMINED, 0.0
    if scan.rejected:
        verdict, confidence = Verdict.REJECT, 1.0
    elif scan.cautioned:
        verdict, confidence = Verdict.CAUTION, CAUTION_CONFIDENCE
        scan.claims = [replace(claim, polarity=0.0) for claim in scan.claims]
    elif scan.questions:
        scan.claims = []
    else:
        verdict, confidence = Verdict.APPROVE, 1.0
        if not scan.claims:
            citation = Citation(CitationKind.HYPOTHESIS, scan.hypothesis)
            statement = "no rule stands against it"
            scan.claims.append(
                Claim("policy-ok", "policy", statement, 1.0, 1.0, scan.hypothesis, [citation])
            )
    return EvaluatorResult(
        "policy",
        verdict,
        confidence,
        "rules",
        claims=scan.claims,
        premise_ids=list(scan.premises),
        assumptions=scan.assumptions,
        unresolved_questions=scan.questions,
        missing_fact_keys=scan.missing,
        hard_veto=scan.vetoed,
        reason_codes=list(scan.codes),
    )
