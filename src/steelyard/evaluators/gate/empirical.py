"""The empirical evaluator: whether observations meet their targets and sources agree."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

from steelyard.evaluators.gate.enums import CitationKind, Verdict
from steelyard.evaluators.gate.evidence import SEVERE
from steelyard.evaluators.gate.lexemes import EMPIRICAL, mentions
from steelyard.evaluators.gate.results import AssumptionAtom, Citation, Claim, EvaluatorResult
from steelyard.evaluators.gate.situation import Situation, is_number

CONFIDENCE = 0.55
NEAR_CONFIDENCE = 0.40
SEVERE_CONFIDENCE = 0.3
"""Confidence of a vote, of a claim that is near its target, and amid severe conflicts."""

HIGH_TRUST = 0.6
"""Trust from which a source counts as trusted within a severe conflict."""

FEWEST_SAMPLES = 3
"""Samples that a statistical question needs, and values that a coefficient of variation needs."""

_P_VALUES = ("pvalue", "p_value", "p-value")


@dataclass(slots=True)
class _Observed:
    """Facts, samples and targets, and what comparing them has shown so far."""

    facts: dict[str, float]
    samples: dict[str, list[tuple[float, float]]]
    support: list[str]
    severe: set[str]
    used: list[float] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)
    assumptions: list[AssumptionAtom] = field(default_factory=list)
    missed: bool = False
    cautioned: bool = False
    straddling: bool = False


def judge_empirical(situation: Situation) -> EvaluatorResult:
    """Compare each target with what was observed.

    A target is a number in the payload or a target of the objective. What was observed is the
    fact, or else the mean of the evidence weighted by trust.

    Returns
    -------
    EvaluatorResult
        Reject for a miss, caution for a near miss or severe conflict, otherwise approve;
        undetermined without observations or targets, with too few samples, and where trusted
        sources stand on both sides of a target.
    """
    observed = _observe(situation)
    targets = _targets(situation, observed)
    if not observed.facts and not observed.samples:
        return _abstain(observed, "nothing was observed")
    if not targets:
        return _abstain(observed, "no target is stated")
    statistical = mentions(situation.context.query, EMPIRICAL, situation.compatibility)
    for key in targets:
        if _too_few(observed, key, statistical):
            return _abstain(observed, f"there are too few samples of {key}")
    for key, target in targets.items():
        _compare(situation, observed, key, target)
    if observed.straddling:
        result = _abstain(observed, "trusted sources stand on both sides of a target")
        result.claims = observed.claims
        return result
    return _vote(situation, observed)


def _observe(situation: Situation) -> _Observed:
    samples: dict[str, list[tuple[float, float]]] = {}
    support: dict[str, None] = {}
    for item in situation.evidence:
        for key, value in item.numeric_claims.items():
            samples.setdefault(key, []).append((value, item.trust))
            support.setdefault(item.id)
    facts = dict(situation.numeric_facts())
    return _Observed(facts, samples, list(support), _severe_keys(situation))


def _severe_keys(situation: Situation) -> set[str]:
    """Return the numbers that both items of a severe conflict claim."""
    pairs = {(c.left, c.right) for c in situation.weighty_conflicts if c.severity >= SEVERE}
    if not pairs:
        return set()
    claims: dict[str, set[str]] = {}
    for item in situation.evidence:  # the first of an id that repeats, as published
        claims.setdefault(item.id, set(item.numeric_claims))
    return {key for left, right in pairs for key in claims[left] & claims[right]}


def _targets(situation: Situation, observed: _Observed) -> dict[str, float]:
    """Return what must be met; a fact alone is no target's evidence unless published."""
    seen = set(observed.samples)
    if situation.compatibility.vacuous_approval:
        seen |= observed.facts.keys()
    targets: dict[str, float] = {
        key: value for key, value in situation.payload.items() if is_number(value) and key in seen
    }
    objective = situation.context.objective
    for term in objective.terms if objective is not None else ():
        key = term.fact_key
        if term.target is not None and (key in observed.facts or key in observed.samples):
            targets[key] = term.target
    return targets


def _too_few(observed: _Observed, key: str, statistical: bool) -> bool:
    has_fact, n = key in observed.facts, len(observed.samples.get(key, ()))
    if statistical:
        return n + has_fact < FEWEST_SAMPLES
    return not has_fact and n == 2


def _compare(situation: Situation, observed: _Observed, key: str, target: float) -> None:
    value = observed.facts.get(key)
    if value is None:
        value = _weighted_mean(observed.samples[key])
    observed.used.append(value)
    spec = situation.context.fact_specs.get(key)
    step = spec.step if spec is not None else None
    tolerance = step if step is not None else max(0.05 * abs(target), 1e-9)
    direction = _direction(situation, key)
    if key in observed.severe:
        if _straddles(observed.samples[key], target, value):
            observed.straddling = True
        else:
            observed.cautioned = True
    if _reaches(direction, value, target, tolerance):
        polarity, confidence, how = 1.0, CONFIDENCE, "meets"
    elif _reaches(direction, value, target, 3 * tolerance):
        polarity, confidence, how = 0.0, NEAR_CONFIDENCE, "nearly meets"
        observed.cautioned = True
    else:
        polarity, confidence, how = -1.0, CONFIDENCE, "misses"
        observed.missed = True
    statement = f"{key} {how} its target"
    name, hypothesis = f"empirical-{key}", situation.hypothesis.id
    cited = [Citation(CitationKind.FACT, key)]
    observed.claims.append(
        Claim(name, "empirical", statement, polarity, confidence, hypothesis, cited)
    )
    observed.assumptions.append(
        AssumptionAtom(
            f"empirical-obs-{key}", f"observed({key})", polarity=key not in observed.severe
        )
    )


def _weighted_mean(samples: Sequence[tuple[float, float]]) -> float:
    """Return the mean weighted by trust; no source has weight 0."""
    weights = [max(trust, 1e-6) for _, trust in samples]
    total = sum(value * weight for (value, _), weight in zip(samples, weights, strict=True))
    return total / sum(weights)


def _direction(situation: Situation, key: str) -> str:
    objective = situation.context.objective
    for term in objective.terms if objective is not None else ():
        if term.fact_key == key:
            return term.direction
    return "minimize" if key.lower() in _P_VALUES else "hit"


def _reaches(direction: str, value: float, target: float, tolerance: float) -> bool:
    """Return whether a value is no further than a tolerance on the wrong side of its target.

    The tolerance is added to the target: 0.4 is within 0.1 of 0.3, although in doubles their
    difference is above 0.1.
    """
    if direction == "minimize":
        return value <= target + tolerance
    if direction == "maximize":
        return value >= target - tolerance
    return abs(value - target) <= tolerance


def _straddles(samples: Sequence[tuple[float, float]], target: float, value: float) -> bool:
    """Return whether trusted sources stand on both sides of a target.

    A value that was observed exactly at the target is on neither side: it is not contested.
    """
    trusted = [value for value, trust in samples if trust >= HIGH_TRUST]
    return bool(trusted) and value != target and min(trusted) < target < max(trusted)


def _abstain(observed: _Observed, question: str) -> EvaluatorResult:
    return EvaluatorResult(
        "empirical",
        Verdict.UNDETERMINED,
        0.0,
        "stats",
        supporting_evidence_ids=observed.support,
        premise_ids=list(observed.facts),
        unresolved_questions=[question],
    )


def _vote(situation: Situation, observed: _Observed) -> EvaluatorResult:
    verdict = Verdict.APPROVE
    if observed.missed:
        verdict = Verdict.REJECT
    elif observed.cautioned:
        verdict = Verdict.CAUTION
    return EvaluatorResult(
        "empirical",
        verdict,
        _confidence(situation, observed),
        "stats",
        claims=observed.claims,
        supporting_evidence_ids=observed.support,
        premise_ids=list(observed.facts),
        assumptions=observed.assumptions,
    )


def _confidence(situation: Situation, observed: _Observed) -> float:
    """Return 1 minus the coefficient of variation where there are enough values."""
    groups = [[value for value, _ in samples] for samples in observed.samples.values()]
    if situation.compatibility.pooled_variation:
        pooled = [value for group in groups for value in group]
        groups = [pooled or observed.used]
    variations = [_variation(group) for group in groups if len(group) >= FEWEST_SAMPLES]
    if variations:
        return 1 - min(1.0, max(variations))
    return SEVERE_CONFIDENCE if observed.severe else CONFIDENCE


def _variation(values: Sequence[float]) -> float:
    """Return population standard deviation over mean, 0 for mean 0, infinity if undefined."""
    if not all(map(math.isfinite, values)):
        return math.inf
    # A power of two changes no digit, and after it nothing overflows.
    exponent = max(math.frexp(value)[1] for value in values)
    scaled = [math.ldexp(value, -exponent) for value in values]
    mean = math.fsum(scaled) / len(scaled)  # an exact sum: rounding must not make it 0
    if mean == 0:
        return 0.0
    squares = math.fsum((value - mean) * (value - mean) for value in scaled)
    variation = math.sqrt(squares / len(scaled)) / abs(mean)
    return variation if math.isfinite(variation) else math.inf
