"""Simpler deciders that the gate is compared with. Each returns a directive."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from steelyard.errors import UnknownNameError
from steelyard.evaluators.gate.context import ReasoningContext, materialised_hypothesis
from steelyard.evaluators.gate.enums import ActionKind, CheckStatus, Directive, Verdict
from steelyard.evaluators.gate.graph import DecisionGraph
from steelyard.evaluators.gate.results import EvaluatorResult
from steelyard.evaluators.gate.selection import EVALUATOR_NAMES

Votes = Mapping[str, EvaluatorResult]


def always_execute(context: ReasoningContext) -> Directive:
    """Let every action pass; answer where nothing is to be done."""
    action = materialised_hypothesis(context).action
    if action is None or action.kind is ActionKind.ASSERTION:
        return Directive.ANSWER
    return Directive.EXECUTE


def eligibility_only(graph: DecisionGraph) -> Directive:
    """Ask no evaluator: the checks' directive, else pass if any check passed, else gather."""
    if graph.eligibility.directive is not None:
        return graph.eligibility.directive
    if any(check.status is CheckStatus.PASS for check in graph.eligibility.checks):
        return always_execute(graph.context)
    return Directive.GATHER


def majority_of_evaluators(votes: Votes, context: ReasoningContext) -> Directive:
    """Follow the verdict of more than half of those who vote; gather if there is none.

    Parameters
    ----------
    votes : mapping of str to EvaluatorResult
        From `Gate.votes`.
    context : ReasoningContext
        What was judged.
    """
    counted = Counter(result.verdict for result in votes.values() if result.determined)
    verdict = next((v for v, n in counted.items() if 2 * n > counted.total()), None)
    return _directive(verdict, context)


def single_evaluator(votes: Votes, name: str, context: ReasoningContext) -> Directive:
    """Follow one evaluator.

    Parameters
    ----------
    votes : mapping of str to EvaluatorResult
        From `Gate.votes`.
    name : str
        One of `EVALUATOR_NAMES`.
    context : ReasoningContext
        What was judged.

    Raises
    ------
    UnknownNameError
        There is no such vote.
    """
    if name not in votes:
        raise UnknownNameError("evaluator", name, votes or EVALUATOR_NAMES)
    return _directive(votes[name].verdict, context)


def _directive(verdict: Verdict | None, context: ReasoningContext) -> Directive:
    if verdict is Verdict.APPROVE:
        return always_execute(context)
    if verdict is Verdict.REJECT:
        return Directive.REFUSE
    return Directive.ESCALATE if verdict is Verdict.CAUTION else Directive.GATHER
