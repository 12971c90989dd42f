"""What is struck from results before they are compared: vetoes, citations and claims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.enums import CitationKind, Verdict
from steelyard.evaluators.gate.results import Citation, Claim, EvaluatorError, EvaluatorResult
from steelyard.evaluators.gate.situation import Situation

Results = dict[str, EvaluatorResult]

STRONG = 0.34
"""Polarity from which a claim speaks for a verdict of approval; its negative, of rejection."""

WEAK = 0.33
"""Polarity up to which, on either side, a claim speaks for caution."""


def cleaned(
    results: Results,
    situation: Situation,
    may_veto: Mapping[str, bool],
    uncited_penalty: float,
) -> tuple[Results, list[EvaluatorError]]:
    """Apply every step of this module in order; the input is left as it is."""
    results, errors = without_unauthorised_vetoes(results, may_veto)
    known = _known_references(situation)
    results = {name: _with_known(result, known) for name, result in results.items()}
    results = with_uncited_penalty(results, uncited_penalty)
    return without_mismatched_claims(results), errors


def without_unauthorised_vetoes(
    results: Results, may_veto: Mapping[str, bool]
) -> tuple[Results, list[EvaluatorError]]:
    """Take away vetoes of evaluators that have no right to one or do not reject."""
    kept: Results = {}
    errors = []
    for name, result in results.items():
        allowed = may_veto.get(name, False) and result.verdict is Verdict.REJECT
        kept[name] = result
        if result.hard_veto and not allowed:
            message = f"{name} may not veto with the verdict {result.verdict.value}"
            errors.append(EvaluatorError(name, "unauthorized_veto", message))
            kept[name] = replace(_with_code(result, reasons.UNAUTHORIZED_VETO), hard_veto=False)
    return kept, errors


def _with_code(result: EvaluatorResult, code: str) -> EvaluatorResult:
    codes = list(dict.fromkeys([*result.reason_codes, code]))
    return replace(result, reason_codes=codes)


def _with_codes_once(result: EvaluatorResult) -> EvaluatorResult:
    codes = list(dict.fromkeys(result.reason_codes))
    if len(codes) == len(result.reason_codes):
        return result  # as always with our own evaluators
    return replace(result, reason_codes=codes)


def _known_references(situation: Situation) -> dict[CitationKind, set[str]]:
    context = situation.context
    graph = context.causal_graph
    return {
        CitationKind.EVIDENCE: {item.id for item in context.evidence},
        CitationKind.FACT: {*situation.facts, *context.fact_specs},
        CitationKind.RULE: {rule.id for rule in situation.rules},
        CitationKind.CONSTRAINT: {constraint.id for constraint in context.constraints},
        CitationKind.GRAPH_EDGE: {e.edge_id for e in graph.edges} if graph is not None else set(),
        CitationKind.HYPOTHESIS: {situation.hypothesis.id},
    }


def _with_known(result: EvaluatorResult, known: dict[CitationKind, set[str]]) -> EvaluatorResult:
    """Drop ids of evidence, and citations, of things that are not there."""
    evidence = known[CitationKind.EVIDENCE]
    support = result.supporting_evidence_ids
    against = result.contradicting_evidence_ids
    if not (evidence.issuperset(support) and evidence.issuperset(against)):
        result = replace(
            result,
            supporting_evidence_ids=[name for name in support if name in evidence],
            contradicting_evidence_ids=[name for name in against if name in evidence],
        )
    if all(cited.ref in known[cited.kind] for c in result.claims for cited in c.citations):
        return result  # as nearly always
    return replace(result, claims=[_with_known_citations(c, known) for c in result.claims])


def _with_known_citations(claim: Claim, known: dict[CitationKind, set[str]]) -> Claim:
    kept: list[Citation] = [cited for cited in claim.citations if cited.ref in known[cited.kind]]
    return claim if len(kept) == len(claim.citations) else replace(claim, citations=kept)


def with_uncited_penalty(results: Results, penalty: float) -> Results:
    """Lower the confidence of claims that rest on nothing; keep every reason code once."""
    kept: Results = {}
    for name, result in results.items():
        kept[name] = _with_codes_once(result)
        if any(not claim.citations for claim in result.claims):
            claims = [
                claim if claim.citations else replace(claim, confidence=claim.confidence * penalty)
                for claim in result.claims
            ]
            kept[name] = replace(_with_code(result, reasons.UNCITED_CLAIM), claims=claims)
    return kept


def without_mismatched_claims(results: Results) -> Results:
    """Drop claims that speak for another verdict than was given; keep every reason code once."""
    kept: Results = {}
    for name, result in results.items():
        claims = [claim for claim in result.claims if _speaks_for(claim, result.verdict)]
        kept[name] = _with_codes_once(result)
        if len(claims) < len(result.claims):
            kept[name] = replace(_with_code(result, reasons.POLARITY_MISMATCH), claims=claims)
    return kept


def _speaks_for(claim: Claim, verdict: Verdict) -> bool:
    if verdict is Verdict.APPROVE:
        return claim.polarity >= STRONG
    if verdict is Verdict.REJECT:
        return claim.polarity <= -STRONG
    return verdict is Verdict.UNDETERMINED or abs(claim.polarity) <= WEAK
