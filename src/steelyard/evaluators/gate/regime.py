"""Which kind of question a context asks."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.arithmetic import Arithmetic, probe_expression
from steelyard.evaluators.gate.compatibility import Compatibility
from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.enums import ActionKind, FactType, Regime
from steelyard.evaluators.gate.lexemes import EMPIRICAL, POLICY, PRAGMATIC, mentions
from steelyard.evaluators.gate.settings import RegimeWeights
from steelyard.evaluators.gate.situation import is_number

POLICY_DOMAINS = ("legal", "security", "privacy", "healthcare", "finance")
"""Domains in which policies weigh more."""

LONG_QUERY = 240
"""Characters above which a query that touches two subjects is an open question."""

_OPERATIONAL = ("latency", "cost", "qps", "ttl")
_NUMERIC_TYPES = (FactType.INT, FactType.FLOAT, FactType.DURATION_MS)


@dataclass(frozen=True, slots=True)
class Classification:
    """The regime and why.

    Attributes
    ----------
    regime : Regime
        The kind of question.
    fast_path : Arithmetic or None
        The value of a query that is arithmetic and nothing else.
    feature_scores : dict of str to float
        Points of each regime that competed.
    reason_codes : list of str
        See `reasons`.
    override_applied : bool
        Whether the context forced the regime.
    """

    regime: Regime
    fast_path: Arithmetic | None = None
    feature_scores: dict[str, float] = field(default_factory=dict)
    reason_codes: list[str] = field(default_factory=list)
    override_applied: bool = False


def classify(
    context: ReasoningContext, weights: RegimeWeights, compatibility: Compatibility
) -> Classification:
    """Classify a context.

    Parameters
    ----------
    context : ReasoningContext
        Its query, facts, rules, graph, objective and domain are looked at.
    weights : RegimeWeights
        Points and limits.
    compatibility : Compatibility
        Whether arithmetic may decide about an action, whether one word is mathematics, and
        whether parts of words count.

    Returns
    -------
    Classification
        A clear winner's regime, otherwise open_dialectic.
    """
    arithmetic = probe_expression(context.query)
    usable = arithmetic.eligible and (compatibility.nonfinite_facts or _is_finite(arithmetic))
    if usable and (compatibility.arithmetic_executes or _only_asserts(context)):
        return Classification(Regime.CLOSED_FORMAL, arithmetic, {}, [reasons.FAST_PATH])
    codes = [reasons.AST_REJECTED]
    bare_word = context.query.strip().isidentifier() and not compatibility.substring_lexemes
    math_shaped = arithmetic.math_shaped and not bare_word
    if math_shaped:
        codes.append(reasons.NONSTANDARD_MATH)
    scores = feature_scores(context, weights, compatibility)
    if context.force_regime is not None:
        codes.append(reasons.REGIME_OVERRIDE)
        return Classification(context.force_regime, None, scores, codes, override_applied=True)
    if math_shaped:
        return Classification(Regime.CLOSED_FORMAL, None, scores, codes)
    return Classification(_winner(scores, weights, codes), None, scores, codes)


def _is_finite(arithmetic: Arithmetic) -> bool:
    """Return whether a value is a real, finite number."""
    value = arithmetic.value
    return isinstance(value, int) or (isinstance(value, float) and math.isfinite(value))


def _only_asserts(context: ReasoningContext) -> bool:
    """Return whether nothing but an answer is asked for."""
    hypothesis = context.hypothesis
    return (
        hypothesis is None
        or hypothesis.action is None
        or hypothesis.action.kind is ActionKind.ASSERTION
    )


def _winner(scores: dict[str, float], weights: RegimeWeights, codes: list[str]) -> Regime:
    """Return the regime with the most points, open_dialectic if it is not clear; note why."""
    best, second = sorted(scores.values(), reverse=True)[:2]
    if best < weights.score_floor:
        codes.append(reasons.REGIME_LOW_SCORE)
        return Regime.OPEN_DIALECTIC
    if best - second < weights.score_margin:
        codes.append(reasons.REGIME_MARGIN)
        return Regime.OPEN_DIALECTIC
    return Regime(max(scores, key=lambda name: scores[name]))


def feature_scores(
    context: ReasoningContext, weights: RegimeWeights, compatibility: Compatibility
) -> dict[str, float]:
    """Return the points of the four regimes that compete, each within [0, 1]."""
    query = context.query
    numeric = has_numbers(context)
    graph, rules = context.causal_graph is not None, bool(context.policy_rules)
    operational = context.objective is not None or _has_operational_key(context)
    policy_domain = (context.domain or "").lower() in POLICY_DOMAINS
    empirical_word = mentions(query, EMPIRICAL, compatibility)
    policy_word = mentions(query, POLICY, compatibility)
    pragmatic_word = mentions(query, PRAGMATIC, compatibility)
    kinds = (rules, graph, context.objective is not None, numeric)
    mixed = sum(kinds) >= 2
    families = (
        numeric or graph or empirical_word,
        rules or policy_domain or policy_word,
        operational or pragmatic_word,
    )
    long = len(query) > LONG_QUERY and sum(families) >= 2
    w = weights
    points = {
        Regime.EMPIRICAL: w.numeric_empirical * numeric
        + w.graph_empirical * graph
        + w.lexeme_empirical * empirical_word,
        Regime.POLICY_NORMATIVE: w.rules_policy * rules
        + w.domain_policy * policy_domain
        + w.lexeme_policy * policy_word,
        Regime.PRAGMATIC_SYSTEMS: w.numeric_pragmatic * numeric
        + w.graph_pragmatic * graph
        + w.objective_pragmatic * operational
        + w.lexeme_pragmatic * pragmatic_word,
        Regime.OPEN_DIALECTIC: w.mixed_dialectic * mixed + w.long_dialectic * long,
    }
    return {regime.value: min(1.0, max(0.0, score)) for regime, score in points.items()}


def has_numbers(context: ReasoningContext) -> bool:
    """Return whether any fact or claim of the context is a number."""
    if any(is_number(fact.value) for fact in context.structured_facts.values()):
        return True
    for spec in context.fact_specs.values():
        if spec.fact_type in _NUMERIC_TYPES and spec.key in context.structured_facts:
            return True
    return any(item.numeric_claims for item in context.evidence)


def _has_operational_key(context: ReasoningContext) -> bool:
    for keys in (context.structured_facts, context.fact_specs):
        for key in keys:
            lowered = key.lower()
            if any(word in lowered for word in _OPERATIONAL):
                return True
    return False
