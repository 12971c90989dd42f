"""The null agent: ten calls of a tool that returns its argument. What remains is the harness."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant
from steelyard.harness.tools import Tool
from steelyard.trials.model import Trial

CALLS = 10


class NullWorld:
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


class NullDomain:
    """Tasks without content."""

    name = "null"

    def __init__(self, tasks: int = 10) -> None:
        self._tasks = [Task(f"t{number}", "Call echo ten times.") for number in range(tasks)]

    def tasks(self) -> Sequence[Task]:
        return self._tasks

    def world(self, _task: Task) -> NullWorld:
        return NullWorld()

    def truth(self, _task: Task) -> Mapping[str, Any]:
        return {"calls": CALLS}

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


def call_ten_times(setup: TrialSetup, seconds: float = 0.0) -> None:
    """The null agent; it can be told to take its time, so that there is a run to interrupt."""
    if seconds:
        time.sleep(seconds)
    for value in range(CALLS):
        setup.call("echo", {"value": value})
