"""The evaluators: who they are, how they judge, and what they may do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from steelyard.evaluators.gate.causal import judge_causal
from steelyard.evaluators.gate.empirical import judge_empirical
from steelyard.evaluators.gate.formal import judge_formal
from steelyard.evaluators.gate.policy import judge_policy
from steelyard.evaluators.gate.results import Backend, EvaluatorResult
from steelyard.evaluators.gate.situation import Situation
from steelyard.evaluators.gate.utility import judge_utility

Judge = Callable[[Situation], EvaluatorResult]


@dataclass(frozen=True, slots=True)
class Evaluator:
    """One evaluator.

    Attributes
    ----------
    name : str
        Its name.
    judge : callable
        Takes a `Situation` and returns an `EvaluatorResult`.
    independence : str
        Its class; two evaluators of one class are never heard together.
    backend : str
        How it judges; at most one ``llm`` is heard.
    may_veto : bool
        Whether its rejection may be a hard veto.
    built_in : bool
        Whether it is one of ours; results of others are validated.
    """

    name: str
    judge: Judge
    independence: str
    backend: Backend
    may_veto: bool = False
    built_in: bool = False


EVALUATORS: Mapping[str, Evaluator] = {
    evaluator.name: evaluator
    for evaluator in (
        Evaluator("formal", judge_formal, "formal_symbolic", "solver", built_in=True),
        Evaluator("policy", judge_policy, "policy_deontic", "rules", may_veto=True, built_in=True),
        Evaluator("empirical", judge_empirical, "empirical_stats", "stats", built_in=True),
        Evaluator("causal", judge_causal, "causal_graph", "graph", built_in=True),
        Evaluator("utility", judge_utility, "utility_objective", "rules", built_in=True),
    )
}
"""The five evaluators."""
