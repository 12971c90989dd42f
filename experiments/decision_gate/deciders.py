"""The arms: ways to decide what becomes of a request, from its context alone."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from steelyard.evaluators.gate import PUBLISHED, Compatibility, Gate, read_context
from steelyard.evaluators.gate.baselines import (
    always_execute,
    eligibility_only,
    majority_of_evaluators,
    single_evaluator,
)


class Decided(NamedTuple):
    """What an arm says: its directive, and the gate's scores where it has them."""

    directive: str
    uncertainty: float | None = None
    contradiction: float | None = None
    eligible: bool | None = None
    conflict: bool | None = None


Decide = Callable[[Mapping[str, Any], str], Decided]
"""Takes a context as JSON values and the one tool that is allowed."""


def gate(compatibility: Compatibility | None = None) -> Decide:
    """Return the decision gate, by default steelyard's and else the published one's behaviour."""
    chosen = compatibility or Compatibility()
    built = Gate(compatibility=chosen)

    def decide(context: Mapping[str, Any], tool: str) -> Decided:
        read = read_context(dict(context), path="context", compatibility=chosen)
        found = built.decide(read, allowed_tools=[tool])
        graph = found.graph
        return Decided(
            found.directive.value,
            graph.uncertainty_score,
            graph.contradiction_score,
            graph.eligibility.directive is None,
            bool(graph.semantic_conflict),
        )

    return decide


def without_evaluators() -> Decide:
    """Return the eligibility checks alone."""
    built = Gate()

    def decide(context: Mapping[str, Any], tool: str) -> Decided:  # noqa: ARG001
        return Decided(eligibility_only(built.evaluate(_read(context))).value)

    return decide


def majority() -> Decide:
    """Return the vote of all five evaluators, without eligibility."""
    built = Gate()

    def decide(context: Mapping[str, Any], tool: str) -> Decided:  # noqa: ARG001
        read = _read(context)
        return Decided(majority_of_evaluators(built.votes(read), read).value)

    return decide


def single(evaluator: str) -> Decide:
    """Return one evaluator's verdict as a directive."""
    built = Gate()

    def decide(context: Mapping[str, Any], tool: str) -> Decided:  # noqa: ARG001
        read = _read(context)
        return Decided(single_evaluator(built.votes(read), evaluator, read).value)

    return decide


def always() -> Decide:
    """Return a decider that lets every action pass."""

    def decide(context: Mapping[str, Any], tool: str) -> Decided:  # noqa: ARG001
        return Decided(always_execute(_read(context)).value)

    return decide


def at_random(rate: float) -> Decide:
    """Return a decider that executes a share of the requests, whatever they are.

    The draw follows from the request's name, so that it is decided alike however it is told.
    """

    def decide(context: Mapping[str, Any], tool: str) -> Decided:  # noqa: ARG001
        seed = hashlib.sha256(str(context["hypothesis"]["id"]).encode()).hexdigest()
        drawn = random.Random(seed).random()  # noqa: S311 - reproducible, not secret
        return Decided("execute" if drawn < rate else "refuse")

    return decide


def _read(context: Mapping[str, Any]) -> Any:
    return read_context(dict(context), path="context")


MAKERS: dict[str, Callable[..., Decide]] = {
    "gate": gate,
    "gate_as_published": lambda: gate(PUBLISHED),
    "eligibility_only": without_evaluators,
    "majority": majority,
    "single": single,
    "always_execute": always,
    "random": at_random,
}
