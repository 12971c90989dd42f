"""One case in the form that checks and evaluators read: prepared once, shared by all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from steelyard.evaluators.gate.compatibility import Compatibility
from steelyard.evaluators.gate.context import (
    EvidenceItem,
    ReasoningContext,
    materialised_hypothesis,
)
from steelyard.evaluators.gate.evidence import active_evidence, evidence_conflicts
from steelyard.evaluators.gate.predicates import Bindings, Outcome, evaluate_predicate
from steelyard.evaluators.gate.relevance import used_keys, weighty_conflicts
from steelyard.evaluators.gate.results import EvidenceConflict
from steelyard.evaluators.gate.schemas import CandidateAction, FactValue, Hypothesis, PolicyRule
from steelyard.evaluators.gate.settings import GateSettings

CAUSAL_KEYS = ("treatment", "outcome", "do", "effect_sign")
"""Arguments that state a causal question; they are no arguments of the action itself."""


@dataclass(frozen=True, slots=True)
class Situation:
    """A context with what is derived from it.

    Attributes
    ----------
    context : ReasoningContext
        As given.
    hypothesis : Hypothesis
        The one under test.
    facts : mapping of str to FactValue
        The facts; a probe replaces one of them.
    rules : sequence of PolicyRule
        The rules that count; before eligibility all of them.
    evidence : sequence of EvidenceItem
        The active items.
    conflicts : sequence of EvidenceConflict
        Between active items.
    weighty_conflicts : sequence of EvidenceConflict
        Those that count; see `relevance`. As published all of them do.
    settings, compatibility
        What is decided with.
    bindings : Bindings
        What predicates are evaluated over.
    """

    context: ReasoningContext
    hypothesis: Hypothesis
    facts: Mapping[str, FactValue]
    rules: Sequence[PolicyRule]
    evidence: Sequence[EvidenceItem]
    conflicts: Sequence[EvidenceConflict]
    weighty_conflicts: Sequence[EvidenceConflict]
    settings: GateSettings
    compatibility: Compatibility
    bindings: Bindings

    @property
    def action(self) -> CandidateAction | None:
        """The proposed action, if there is one."""
        return self.hypothesis.action

    @property
    def payload(self) -> Mapping[str, Any]:
        """Its arguments; empty without an action."""
        return self.hypothesis.action.payload if self.hypothesis.action is not None else {}

    def outcome(self, predicate: str) -> Outcome:
        """Evaluate a predicate over the facts and the action."""
        return evaluate_predicate(predicate, self.bindings)

    def numeric_facts(self) -> Iterator[tuple[str, float]]:
        """Yield the facts that are numbers; a boolean is none."""
        for key, fact in self.facts.items():
            if is_number(fact.value):
                yield key, fact.value

    def with_rules(self, rules: Sequence[PolicyRule]) -> Situation:
        """Return the same situation with fewer rules."""
        return replace(self, rules=rules)

    def with_fact(self, key: str, value: Any) -> Situation:
        """Return the same situation with one fact replaced.

        An argument that equals the fact of its name changes with it, since the action would be
        another one; as published it stays.
        """
        original = self.facts[key]
        facts = {**self.facts, key: original.model_copy(update={"value": value})}
        hypothesis = self.hypothesis
        follows = key in self.payload and self.payload[key] == original.value
        if follows and self.action is not None and not self.compatibility.unproven_recovery:
            action = self.action.model_copy(update={"payload": {**self.payload, key: value}})
            hypothesis = hypothesis.model_copy(update={"action": action})
        bindings = replace(self.bindings, facts=facts, action=hypothesis.action)
        return replace(self, facts=facts, hypothesis=hypothesis, bindings=bindings)


def is_number(value: Any) -> bool:
    """Return whether a value is a number; a boolean is none."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def situation_of(
    context: ReasoningContext,
    settings: GateSettings,
    compatibility: Compatibility,
    now: datetime | None = None,
) -> Situation:
    """Prepare a context.

    Parameters
    ----------
    context : ReasoningContext
        As read.
    settings : GateSettings
        Thresholds.
    compatibility : Compatibility
        Which behaviour.
    now : datetime, optional
        When ages of evidence are measured. Without it only stated ages are known, or the clock
        is read where the compatibility says so.

    Returns
    -------
    Situation
        With all rules; `Situation.with_rules` narrows them to the eligible ones.
    """
    if now is None and compatibility.wall_clock:
        now = datetime.now(UTC)
    hypothesis = materialised_hypothesis(context)
    items = active_evidence(context)
    conflicts = (
        evidence_conflicts(items, context.fact_specs, stale_hours=settings.stale_hours, now=now)
        if len(items) > 1
        else []
    )
    weighty = conflicts
    if conflicts and not compatibility.any_conflict_counts:
        by_id = {item.id: item for item in items}
        used = used_keys(context, hypothesis.action)
        weighty = weighty_conflicts(conflicts, by_id, used, settings.minimum_trust)
    bindings = Bindings(
        context.structured_facts,
        hypothesis.action,
        in_order=compatibility.order_dependent_unknowns,
        literals_only=compatibility.literals_only,
    )
    return Situation(
        context,
        hypothesis,
        context.structured_facts,
        context.policy_rules,
        items,
        conflicts,
        weighty,
        settings,
        compatibility,
        bindings,
    )
