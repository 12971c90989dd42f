"""Which conflicts of evidence count: those between trusted sources about something that is used.

Otherwise anybody who gets two contradicting texts into the evidence, about whatever, could force
a person to look at every case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from steelyard.evaluators.gate.context import EvidenceItem, ReasoningContext
from steelyard.evaluators.gate.enums import ActionKind
from steelyard.evaluators.gate.predicate_parser import parse_predicate
from steelyard.evaluators.gate.results import EvidenceConflict
from steelyard.evaluators.gate.schemas import CandidateAction


def weighty_conflicts(
    conflicts: Sequence[EvidenceConflict],
    items: Mapping[str, EvidenceItem],
    used: set[str],
    minimum_trust: float,
) -> list[EvidenceConflict]:
    """Return the conflicts that count.

    Parameters
    ----------
    conflicts : sequence of EvidenceConflict
        All of them.
    items : mapping of str to EvidenceItem
        Evidence by id.
    used : set of str
        See `used_keys`.
    minimum_trust : float
        Trust that both sides need.

    Returns
    -------
    list of EvidenceConflict
        Those whose sides are trusted and which are about a used key, or name none.
    """
    found = []
    for conflict in conflicts:
        sides = (items[conflict.left], items[conflict.right])
        keys = keys_in_doubt(conflict, sides)
        trusted = min(side.trust for side in sides) >= minimum_trust
        if trusted and (not keys or not keys.isdisjoint(used)):
            found.append(conflict)
    return found


def keys_in_doubt(conflict: EvidenceConflict, sides: Sequence[EvidenceItem]) -> set[str]:
    """Return the facts that a conflict puts in doubt: its own, or all that its sides claim."""
    if conflict.key is not None:
        return {conflict.key}
    return {name for side in sides for name in side.numeric_claims}


def used_keys(context: ReasoningContext, action: CandidateAction | None) -> set[str]:
    """Return the facts that anything in a context depends on.

    Those are the keys of rules in the action's scope, constraints, specifications and objective,
    and the arguments of an action.
    """
    keys = set(context.fact_specs)
    name = action.name if action is not None else None
    texts = [constraint.predicate for constraint in context.constraints]
    for rule in context.policy_rules:
        if rule.action_name in {None, name}:
            texts += [rule.predicate, rule.applies_when or ""]
    for text in texts:
        keys.update(parse_predicate(text).cited_fact_keys)
    if context.objective is not None:
        keys.update(term.fact_key for term in context.objective.terms)
    if action is not None and action.kind is not ActionKind.ASSERTION:
        keys.update(action.payload)
    return keys
