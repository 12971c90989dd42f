"""A domain in which nothing happens but calls of one tool, which returns its argument."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant
from steelyard.harness.tools import Tool
from steelyard.trials.model import Trial


class EchoWorld:
    """Counts calls."""

    def __init__(self) -> None:
        self.calls = 0

    def tools(self) -> Sequence[Tool]:
        schema = {"type": "object", "properties": {"value": {"type": "integer"}}}
        return [Tool("echo", "Return the value.", schema, self.echo)]

    def echo(self, value: int) -> dict[str, Any]:
        self.calls += 1
        return {"ok": True, "value": value}

    def state(self) -> Mapping[str, Any]:
        return {"calls": self.calls}


class EchoDomain:
    """Tasks without content: each wants so many calls."""

    name = "echo"

    def __init__(self, calls: int, tasks: int = 10) -> None:
        self._calls = calls
        self._tasks = [Task(f"t{number}", f"Call echo {calls} times.") for number in range(tasks)]

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def world(self, _task: Task) -> EchoWorld:
        return EchoWorld()

    def truth(self, _task: Task) -> Mapping[str, Any]:
        return {"calls": self._calls}

    def measures(
        self, _trial: Trial, state: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        return {"calls_made": float(state["calls"] == truth["calls"])}

    def violations(self, _trial: Trial, _task: Task) -> Sequence[Mapping[str, Any]]:
        return ()


class Unchanged:
    """No perturbation."""

    name = "baseline"
    preserves = "everything"

    def variants(self, _task: Task, count: int, _random: random.Random) -> list[Variant]:
        return [Variant(index) for index in range(count)]

    def perturb(self, setup: TrialSetup, _variant: Variant) -> PerturbedTrial:
        return PerturbedTrial(setup, lambda: True)
