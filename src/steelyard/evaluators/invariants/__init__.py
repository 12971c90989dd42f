"""Rules over trajectories: what must be called, what must not, in which order, with what."""

from __future__ import annotations

from steelyard.evaluators.invariants.declared import rules_from_data
from steelyard.evaluators.invariants.policy import Assessment, Policy
from steelyard.evaluators.invariants.reading import PLUMBLINE, STEELYARD, Call, Case, Reading
from steelyard.evaluators.invariants.rule import ContextFlag, Rule, Violation
from steelyard.evaluators.invariants.rules import (
    ArgumentEquals,
    ArgumentSatisfies,
    CallAtMost,
    MustCall,
    MustNotCall,
    Ordering,
)

__all__ = [
    "PLUMBLINE",
    "STEELYARD",
    "ArgumentEquals",
    "ArgumentSatisfies",
    "Assessment",
    "Call",
    "CallAtMost",
    "Case",
    "ContextFlag",
    "MustCall",
    "MustNotCall",
    "Ordering",
    "Policy",
    "Reading",
    "Rule",
    "Violation",
    "rules_from_data",
]
