# ruff: noqa: ARG002 - the protocols name the parameters
"""A small experiment for tests of the harness: a counter that agents add to."""

from __future__ import annotations

import os  # also named by an entry point in the tests
import random
import signal
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.harness.protocols import (
    NotRunError,
    PerturbedTrial,
    StopRunError,
    Task,
    TrialSetup,
    Usage,
    Variant,
)
from steelyard.harness.tools import Tool, ToolError


class World:
    def __init__(self) -> None:
        self.total = 0
        self.closed = False

    def tools(self) -> Sequence[Tool]:
        return [Tool("add", "Add a number.", {"type": "object"}, self.add)]

    def add(self, number: int) -> dict[str, int]:
        if number < 0:
            raise ToolError("negative numbers are not added")
        self.total += number
        return {"total": self.total}

    def state(self) -> Mapping[str, Any]:
        return {"total": self.total}

    def close(self) -> None:
        self.closed = True


class Counter:
    name = "counter"

    def __init__(self, tasks: int = 3) -> None:
        self.size = tasks

    def tasks(self) -> Sequence[Task]:
        return [Task(f"t{n}", f"Add up to {n}.", {"target": n}) for n in range(self.size)]

    def world(self, task: Task) -> World:
        return World()

    def truth(self, task: Task) -> Mapping[str, Any]:
        return {"total": task.data["target"]}

    def measures(self, trial: Any, state: Any, truth: Any) -> Mapping[str, float | None]:
        return {
            "reached": state["total"] == truth["total"],
            "calls": len(trial.calls("add")),
            "unknown": None,
        }

    def violations(self, trial: Any, task: Task) -> Sequence[Mapping[str, Any]]:
        if trial.called("add"):
            return []
        return [{"rule": "adds", "severity": "high", "step_index": None, "detail": "no call"}]


class Baseline:
    name = "baseline"
    preserves = "everything"

    def variants(self, task: Task, count: int, random: random.Random) -> list[Variant]:
        return [Variant(n) for n in range(count)]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        return PerturbedTrial(setup)


class Fault:
    """The first call of the trial fails."""

    name = "fault"
    preserves = "the sum that is asked for"

    def __init__(self, discard: int = 0) -> None:
        self.discard = discard

    def variants(self, task: Task, count: int, random: random.Random) -> list[Variant]:
        return [
            Variant(n, {"text": f"fault {random.randrange(1000)}"})
            for n in range(count - self.discard)
        ]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        fired = []

        def hook(name: str, arguments: Mapping[str, Any], number: int) -> None:
            if not fired:
                fired.append(number)
                raise ToolError(variant.meta["text"])

        setup.toolbox.before.append(hook)
        return PerturbedTrial(setup, lambda: bool(fired))


def steady(setup: TrialSetup) -> None:
    """Adds in random portions; tries again after an error."""
    generator = setup.random()
    left = setup.task.data["target"]
    setup.decide("begin", {"prompt": setup.prompt})
    while left:
        portion = generator.randint(1, left)
        try:
            setup.call("add", {"number": portion})
        except ToolError:
            continue
        left -= portion
    setup.final({"done": True})


class Impatient:
    """Gives up at the first error; crashes in one task; can wait."""

    def __init__(self, crash_in: str = "", seconds: float = 0.0) -> None:
        self.crash_in = crash_in
        self.seconds = seconds

    def run(self, setup: TrialSetup) -> None:
        time.sleep(self.seconds)
        if setup.task.id == self.crash_in:
            setup.message("about to crash")
            raise RuntimeError(f"no way to do {setup.task.id}")
        setup.call("add", {"number": setup.task.data["target"]})


def deadly(setup: TrialSetup, task: str, marker: str, times: int) -> None:
    """Takes its process along in one task, as often as it is told to."""
    deaths = Path(marker)
    if setup.task.id == task and setup.key.repeat == 0:
        before = len(deaths.read_text()) if deaths.exists() else 0
        if before < times:
            deaths.write_text("x" * (before + 1))
            os.kill(os.getpid(), signal.SIGKILL)
    steady(setup)


def asks(setup: TrialSetup, stop_at: str = "") -> None:
    """Asks a model; has none for task t1."""
    if setup.task.id == "t1":
        raise NotRunError("there is no recording")
    if setup.task.id == stop_at:
        raise StopRunError("the spend cap is reached")
    setup.model.complete("how?")
    steady(setup)


class Model:
    def __init__(self, identity: str) -> None:
        self.identity = identity
        self.usage = Usage()

    def complete(self, request: Any) -> str:
        self.usage = Usage(self.usage.calls + 1, 10, 2, 0.5, "toy-1")
        return f"{self.identity}: {request}"


class Models:
    def __init__(self, recordings: Path, offline: bool, price: float = 0.5) -> None:
        self.recordings, self.offline, self.price = recordings, offline, price
        self.asked: list[str] = []

    def client_for(self, identity: str) -> Model:
        self.asked.append(identity)
        return Model(identity)

    def close(self) -> None:
        pass


class Written(Baseline):
    """Writes its variants with a model."""

    name = "written"
    needs_model = True

    def variants(self, task: Task, count: int, random: random.Random) -> list[Variant]:
        return [Variant(n, {"text": self.model.complete(str(n))}) for n in range(count)]
