"""Which evaluators are heard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from steelyard.evaluators.gate import reasons
from steelyard.evaluators.gate.context import ReasoningContext
from steelyard.evaluators.gate.enums import Regime
from steelyard.evaluators.gate.regime import POLICY_DOMAINS
from steelyard.evaluators.gate.registry import EVALUATORS, Evaluator

EVALUATOR_NAMES = ("formal", "policy", "empirical", "causal", "utility")
"""The evaluators, in the order in which a selection is filled up."""

_OF_REGIME = {
    Regime.CLOSED_FORMAL: ("formal", "empirical"),
    Regime.EMPIRICAL: ("empirical", "causal", "formal"),
    Regime.POLICY_NORMATIVE: ("policy", "formal", "utility", "empirical"),
    Regime.PRAGMATIC_SYSTEMS: ("utility", "causal", "empirical", "policy", "formal"),
    Regime.OPEN_DIALECTIC: EVALUATOR_NAMES,
}

_OF_DOMAIN: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(POLICY_DOMAINS, ("policy",)),
    **dict.fromkeys(("sre", "infra", "performance"), ("utility", "empirical")),
    **dict.fromkeys(("science", "telemetry"), ("empirical", "causal")),
}


@dataclass(frozen=True, slots=True)
class Selection:
    """The evaluators in the order of their hearing, why, and whether they may be heard."""

    names: tuple[str, ...]
    reason_codes: tuple[str, ...]
    independence_ok: bool = True


def select_evaluators(
    context: ReasoningContext,
    regime: Regime,
    *,
    min_heads: int,
    known: Mapping[str, Evaluator] = EVALUATORS,
) -> Selection:
    """Select evaluators.

    Parameters
    ----------
    context : ReasoningContext
        Its domain adds evaluators and it may force some.
    regime : Regime
        The kind of question.
    min_heads : int
        Fewest evaluators.
    known : mapping of str to Evaluator
        The evaluators there are.

    Returns
    -------
    Selection
        Not independent, and so not to be heard, if an unknown evaluator was forced, two are of
        one class, or two are language models.
    """
    names = dict.fromkeys(_OF_REGIME[regime])
    codes: list[str] = []
    overlay = _OF_DOMAIN.get((context.domain or "").lower())
    if overlay is not None:
        names.update(dict.fromkeys(overlay))
        codes.append(reasons.SELECTOR_OVERLAY)
    if context.force_evaluators:
        names.update(dict.fromkeys(context.force_evaluators))
        codes.append(reasons.SELECTOR_FORCED)
    unknown = any(name not in known for name in names)
    if len(names) < min_heads and not unknown:
        for name in EVALUATOR_NAMES:
            if len(names) >= min_heads:
                break
            names.setdefault(name)
        codes.append(reasons.SELECTOR_FILL)
    if unknown or not _independent([known[name] for name in names]):
        codes.append(reasons.SELECTOR_INDEPENDENCE)
        return Selection(tuple(names), tuple(codes), independence_ok=False)
    return Selection(tuple(names), tuple(codes))


def _independent(chosen: list[Evaluator]) -> bool:
    """Return whether no class is heard twice and at most one language model is heard."""
    classes = {evaluator.independence for evaluator in chosen}
    models = sum(evaluator.backend == "llm" for evaluator in chosen)
    return len(classes) == len(chosen) and models <= 1
