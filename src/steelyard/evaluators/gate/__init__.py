"""The typed decision gate: eligibility first, then evaluators whose disagreement is kept.

A context of facts, rules, constraints, evidence, a causal graph and an objective is judged in
three steps. *Eligibility* makes checks that no vote can outweigh: a proven block refuses, an
open question of authority escalates, missing facts are gathered. *Evaluators* (policy, formal,
empirical, causal, utility) vote on what is left, and their distance and uncertainty are measured.
The *directive* says what a host has to do: EXECUTE, ANSWER, REFUSE, ESCALATE or GATHER.

The rules are those of PrismThinker 1.2.0, with repairs; `compatibility` lists every difference
and switches it back.

Examples
--------
>>> from steelyard.evaluators.gate import Gate, read_context
>>> context = read_context({
...     "query": "Refund order nine",
...     "hypothesis": {"id": "h", "statement": "Refund order nine", "action": {
...         "id": "a", "kind": "tool_invocation", "name": "refund", "payload": {"amount": 20}}},
...     "facts": {"amount": 20},
...     "specs": {"amount": {"fact_type": "int", "minimum": 0, "required": True}},
...     "policy_rules": [{
...         "id": "small", "modality": "permission", "severity": "block", "authority": "trusted",
...         "action_name": "refund", "predicate": "action.payload.amount <= 50"}],
... })
>>> Gate().decide(context, allowed_tools=["refund"]).directive.value
'execute'
>>> Gate().decide(context, allowed_tools=["lookup"]).directive.value
'refuse'
"""

from __future__ import annotations

from steelyard.evaluators.gate.batch import decide_case, decision_rows
from steelyard.evaluators.gate.compatibility import DEFAULT, PUBLISHED, Compatibility
from steelyard.evaluators.gate.context import Proposal, ReasoningContext
from steelyard.evaluators.gate.directive import (
    Envelope,
    envelope_matches,
    honor_envelope,
    to_envelope,
)
from steelyard.evaluators.gate.documents import context_from_documents
from steelyard.evaluators.gate.engine import Decision, Gate
from steelyard.evaluators.gate.enums import Directive, Disposition, Verdict
from steelyard.evaluators.gate.errors import GateInputError
from steelyard.evaluators.gate.explain import explained
from steelyard.evaluators.gate.graph import DecisionGraph
from steelyard.evaluators.gate.proposals import evaluate_proposal
from steelyard.evaluators.gate.reading import Case, read_case, read_cases, read_context
from steelyard.evaluators.gate.registry import Evaluator
from steelyard.evaluators.gate.results import EvaluatorResult
from steelyard.evaluators.gate.selection import EVALUATOR_NAMES
from steelyard.evaluators.gate.settings import ContradictionWeights, GateSettings

__all__ = [
    "DEFAULT",
    "EVALUATOR_NAMES",
    "PUBLISHED",
    "Case",
    "Compatibility",
    "ContradictionWeights",
    "Decision",
    "DecisionGraph",
    "Directive",
    "Disposition",
    "Envelope",
    "Evaluator",
    "EvaluatorResult",
    "Gate",
    "GateInputError",
    "GateSettings",
    "Proposal",
    "ReasoningContext",
    "Verdict",
    "context_from_documents",
    "decide_case",
    "decision_rows",
    "envelope_matches",
    "evaluate_proposal",
    "explained",
    "honor_envelope",
    "read_case",
    "read_cases",
    "read_context",
    "to_envelope",
]
