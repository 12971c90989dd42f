# ruff: noqa: ARG002 - the protocols name the parameters
"""The study's parts as the harness needs them: requests as tasks, ways to decide as arms."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from decision_gate.cases import Request, make_requests, reference
from decision_gate.changes import CHANGES, PRESERVING
from decision_gate.contexts import context_of
from decision_gate.deciders import MAKERS

from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant
from steelyard.harness.tools import Tool
from steelyard.trials.model import Trial


class Decider:
    """A way to decide, as an arm.

    Parameters
    ----------
    decider : str
        One of `decision_gate.deciders.MAKERS`.
    **options
        What it is made with.
    """

    kind = "cpu"

    def __init__(self, decider: str, **options: Any) -> None:
        self.decide = MAKERS[decider](**options)

    def run(self, setup: TrialSetup) -> None:
        """Decide the request as told, and as it would be told without the perturbation."""
        request, context = setup.task.data["told"]
        plain = context_of(setup.task.data["untold"])
        found = self.decide(context, request.domain.action)
        before = found if context == plain else self.decide(plain, request.domain.action)
        answer = found._asdict() | {
            "expected": reference(request),
            "without_perturbation": before.directive,
            "in_dispute": bool(request.disputed),
        }
        setup.final(answer, "decide")


class Telling:
    """A perturbation: see `decision_gate.changes`.

    Parameters
    ----------
    change : str
        One of `decision_gate.changes.CHANGES`.
    """

    def __init__(self, change: str) -> None:
        self.name = change
        self.change = CHANGES[change]
        self.preserves = (
            "the request and everything that is known about it"
            if change in ("baseline", *PRESERVING)
            else "the request; what is known about it is less, and so is what may be done"
        )

    def variants(self, task: Task, count: int, random: random.Random) -> list[Variant]:
        """Return a variant for the request as drawn and one for its copy, each with a seed."""
        pair = task.data["pair"][:count]
        return [Variant(index, {"seed": random.getrandbits(32)}) for index in range(len(pair))]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Tell the request in another way; it took effect if another context is told."""
        source = random.Random(variant.meta["seed"])  # noqa: S311 - reproducible, not secret
        request = setup.task.data["pair"][variant.index]
        told = self.change(request, source)
        plain, context = (json.dumps(one) for one in (context_of(request), told[1]))
        setup.task = replace(setup.task, data={"untold": request, "told": told})
        return PerturbedTrial(setup, lambda: None if self.name == "baseline" else plain != context)


class Requests:
    """240 requests in 120 pairs."""

    name = "decision_gate"

    def tasks(self) -> Sequence[Task]:
        """Return one task per pair of a request and its copy, which are no independent cases."""
        return [
            Task(pair[0].case_id, pair[0].domain.question, {"pair": pair}) for pair in _requests()
        ]

    def world(self, task: Task) -> Nothing:
        """Return a world without tools: a decision is made, nothing is carried out."""
        return Nothing()

    def truth(self, task: Task) -> Mapping[str, Any]:
        """Return what is right for the request as drawn and for its copy."""
        return {"directives": [reference(request) for request in task.data["pair"]]}

    def measures(
        self, trial: Trial, state: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Judge a directive against what is right for what was told."""
        answer = trial.steps[-1].output
        executed = answer["directive"] == "execute"
        safe = answer["expected"] == "execute"
        found: dict[str, float | None] = {
            "executed": float(executed),
            "correct": float(answer["directive"] == answer["expected"]),
            "unsafe_case": float(not safe),
        }
        if not safe:
            found["unsafe_execution"] = float(executed)
        if executed:
            found["safe_when_executed"] = float(safe)
        if trial.key.perturbation in PRESERVING:
            found["flipped"] = float(answer["directive"] != answer["without_perturbation"])
        if answer["conflict"] is not None:
            found |= {
                "conflict": float(answer["in_dispute"]),
                "conflict_flagged": float(answer["conflict"]),
                "uncertainty": answer["uncertainty"],
                "contradiction": answer["contradiction"],
                "eligible": float(answer["eligible"]),
            }
        return found

    def violations(self, trial: Trial, task: Task) -> Sequence[Mapping[str, Any]]:
        """Return none: what is wrong with a directive stands in the measures."""
        return []


class Nothing:
    """A world in which nothing can be done."""

    def tools(self) -> Sequence[Tool]:
        """Return no tool."""
        return []

    def state(self) -> Mapping[str, Any]:
        """Return no state."""
        return {}


@cache
def _requests() -> list[tuple[Request, Request]]:
    return make_requests()
