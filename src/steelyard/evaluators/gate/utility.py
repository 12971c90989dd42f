"""The utility evaluator: how well the facts serve the objective."""

from __future__ import annotations

import math

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.enums import CitationKind, Verdict
from steelyard.evaluators.gate.results import AssumptionAtom, Citation, Claim, EvaluatorResult
from steelyard.evaluators.gate.schemas import FactSpec, ObjectiveSpec, ObjectiveTerm
from steelyard.evaluators.gate.situation import Situation, is_number

CONFIDENCE = 0.8
"""Confidence of every vote."""

HIT_TOLERANCE = 0.1
"""Share of the range within which a value that must be hit is not a breach."""

_POLARITY = {Verdict.APPROVE: 1.0, Verdict.CAUTION: 0.0, Verdict.REJECT: -1.0}


def judge_utility(situation: Situation) -> EvaluatorResult:
    """Compute the weighted utility in [0, 1] and compare it with the objective's limits.

    The utility is the mean, by weight, of each term's place within its range: the specified
    range of the fact, or else from 0 to twice the target.

    Returns
    -------
    EvaluatorResult
        Reject for a breach of a term that must be met, or a utility below ``reject_below``;
        caution below ``caution_below``; otherwise approve. Undetermined without an objective
        or without the number of one of its terms.
    """
    objective = situation.context.objective
    if objective is None or not objective.terms:
        return _abstain("there is no objective", [reasons.MISSING_OBJECTIVE])
    total = weight = 0.0
    breached = False
    for term in objective.terms:
        fact = situation.facts.get(term.fact_key)
        if fact is None or not is_number(fact.value):
            codes = [reasons.UNBOUND_PATH, reasons.MISSING_OBJECTIVE]
            question = f"the objective needs the number {term.fact_key}"
            return _abstain(question, codes, term.fact_key)
        spec = situation.context.fact_specs.get(term.fact_key)
        norm, breach = place_in_range(term, fact.value, spec)
        if math.isnan(norm):  # as published, what has no place is the best there is
            norm = 1.0 if situation.compatibility.nonfinite_facts else 0.0
        breached = breached or breach
        total += term.weight * norm
        weight += abs(term.weight)
    if weight == math.inf:
        return _abstain("the weights of the objective are too large", [reasons.MISSING_OBJECTIVE])
    return _result(situation, objective, _verdict(objective, total / (weight or 1), breached))


def place_in_range(term: ObjectiveTerm, value: float, spec: FactSpec | None) -> tuple[float, bool]:
    """Return where a value stands between worst (0) and best (1), and whether it is a breach.

    The place is NaN where neither the value nor its range is within the doubles.
    """
    target = term.target
    low = spec.minimum if spec is not None and spec.minimum is not None else 0.0
    if spec is not None and spec.maximum is not None:
        high = spec.maximum
    elif target is not None:
        high = max(2 * abs(target), abs(value), 1)
    else:
        high = max(2 * abs(value), 1)
    span = (high - low) or 1
    if term.direction == "hit":
        distance = abs(value - (value if target is None else target))
        norm, breach = 1 - distance / span, distance > HIT_TOLERANCE * span
    elif term.direction == "maximize":
        norm, breach = (value - low) / span, target is not None and value < target
    else:
        norm, breach = 1 - (value - low) / span, target is not None and value > target
    must_be_met = term.sla_breach_is_reject and target is not None
    # The order keeps NaN: max and min return their first argument when the other is NaN.
    return max(min(norm, 1.0), 0.0), must_be_met and breach


def _verdict(objective: ObjectiveSpec, utility: float, breached: bool) -> Verdict:
    if breached or (objective.reject_below is not None and utility < objective.reject_below):
        return Verdict.REJECT
    if objective.caution_below is not None and utility < objective.caution_below:
        return Verdict.CAUTION
    return Verdict.APPROVE


def _abstain(question: str, codes: list[str], missing: str | None = None) -> EvaluatorResult:
    return EvaluatorResult(
        "utility",
        Verdict.UNDETERMINED,
        0.0,
        "rules",
        unresolved_questions=[question],
        missing_fact_keys=[] if missing is None else [missing],
        reason_codes=codes,
    )


def _result(situation: Situation, objective: ObjectiveSpec, verdict: Verdict) -> EvaluatorResult:
    keys = [term.fact_key for term in objective.terms]
    claim = Claim(
        "utility-score",
        "utility",
        f"the utility says {verdict.value}",
        _POLARITY[verdict],
        CONFIDENCE,
        situation.hypothesis.id,
        [Citation(CitationKind.FACT, keys[0])],
    )
    atoms = [
        AssumptionAtom(
            f"utility-{term.fact_key}",
            f"objective({term.fact_key},{term.direction})",
            polarity=True,
        )
        for term in objective.terms
    ]
    return EvaluatorResult(
        "utility",
        verdict,
        CONFIDENCE,
        "rules",
        claims=[claim],
        premise_ids=list(dict.fromkeys(keys)),
        assumptions=atoms,
    )
