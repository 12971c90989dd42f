"""The domain: scenarios as tasks, a disposable repository as the world, gates as measures."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.results import export_gates, import_gates
from steelyard.evaluators.handoff.scenario_documents import (
    parse_export_scenario,
    parse_import_scenario,
)
from steelyard.evaluators.handoff.scenarios import load_scenarios
from steelyard.harness.handoff.export_trials import run_export_scenario
from steelyard.harness.handoff.import_trials import AgentCommand, run_import_scenario
from steelyard.harness.handoff.roundtrips import Side, run_route
from steelyard.harness.protocols import NotRunError, Task, TrialSetup
from steelyard.harness.tools import Tool
from steelyard.trials.model import Trial

HERE = Path(__file__).resolve().parent
AGENT = HERE / "agents" / "scripted_agent.py"
ADAPTER = "codex"
ROUTES = (("codex", "claude-code"), ("codex", "codex"), ("claude-code", "claude-code"))
FAULT_SECONDS = 5.0
"""Time of an agent that is made to be late; any other has a minute."""


class HandoffTrials:
    """Fourteen imports, six exports and three routes; one agent command does them all."""

    name = "handoff conformance"

    def __init__(self) -> None:
        folder = HERE / "conformance"
        self._imports = {
            found.id: found for found in load_scenarios(folder / "scenarios", parse_import_scenario)
        }
        self._exports = {
            found.id: found
            for found in load_scenarios(folder / "export-scenarios", parse_export_scenario)
        }

    def tasks(self) -> Sequence[Task]:
        """Return one task per scenario and route."""
        names = [f"import {name}" for name in self._imports]
        names += [f"export {name}" for name in self._exports]
        names += [f"roundtrip {left}-to-{right}" for left, right in ROUTES]
        return [Task(name, "The runner writes the prompt.") for name in names]

    def world(self, task: Task) -> HandoffWorld:
        """Make the world of one trial; its repository is made when the agent is run."""
        capability, _, name = task.id.partition(" ")
        scenario: Any = {"import": self._imports, "export": self._exports}.get(capability, {}).get(
            name, self._exports["ordinary-unfinished"]
        )
        return HandoffWorld(capability, name, scenario)

    def truth(self, _task: Task) -> Mapping[str, Any]:
        """Return nothing: the runner holds every answer."""
        return {}

    def measures(
        self, _trial: Trial, state: Mapping[str, Any], _truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Return whether the trial passed, and every gate: None was not evaluated."""
        gates = state.get("gates", {})
        return {"passed": state.get("passed"), **gates}

    def violations(self, _trial: Trial, _task: Task) -> Sequence[Mapping[str, Any]]:
        """Return nothing: the gates are measures."""
        return ()


class HandoffWorld:
    """One scenario, and what came of it.

    Parameters
    ----------
    capability : str
        ``import``, ``export`` or ``roundtrip``.
    name : str
        Of the scenario or route.
    scenario : object
        Its document.
    """

    def __init__(self, capability: str, name: str, scenario: Any) -> None:
        self._capability = capability
        self._name = name
        self._scenario = scenario
        self._state: dict[str, Any] = {}

    def tools(self) -> Sequence[Tool]:
        """Return the one thing that happens here."""
        schema = {
            "type": "object",
            "properties": {
                "faults": {"type": "array", "items": {"type": "string"}},
                "late": {"type": "boolean"},
            },
            "required": ["faults", "late"],
        }
        return [Tool("run_agent", "Run the agent with these faults.", schema, self._run)]

    def state(self) -> Mapping[str, Any]:
        """Return verdict, gates, errors, and what was observed."""
        return self._state

    def _run(self, faults: Sequence[str], late: bool) -> Mapping[str, Any]:
        words = [word for fault in faults for word in ("--fault", fault)]
        command = AgentCommand(
            (sys.executable, str(AGENT), *words), FAULT_SECONDS if late else 60.0
        )
        self._state = {
            "import": self._imported,
            "export": self._exported,
            "roundtrip": self._handed_on,
        }[self._capability](command)
        return {"passed": self._state["passed"], "errors": self._state["errors"]}

    def _imported(self, command: AgentCommand) -> dict[str, Any]:
        result = run_import_scenario(self._scenario, HERE, command).result
        return {
            "passed": result.passed,
            "gates": import_gates(result, self._scenario.expected),
            "errors": result.errors,
            "observation": result.observation,
            "writes": result.measured_unexpected_writes,
        }

    def _exported(self, command: AgentCommand) -> dict[str, Any]:
        result = run_export_scenario(self._scenario, ADAPTER, command).result
        return {
            "passed": result.passed,
            "gates": export_gates(result),
            "errors": result.errors,
            "observation": None,
            "writes": result.unexpected_writes,
        }

    def _handed_on(self, command: AgentCommand) -> dict[str, Any]:
        left, _, right = self._name.partition("-to-")
        route = run_route(
            self._scenario, Side(left, command, command), Side(right, command, command)
        )
        imported = route.import_trial
        gates = {
            "route_export": route.export_trial.result.passed,
            "route_import": None if imported is None else imported.result.passed,
        }
        return {
            "passed": route.passed,
            "gates": gates,
            "errors": route.errors,
            "observation": None if imported is None else imported.result.observation,
            "writes": [] if imported is None else imported.result.measured_unexpected_writes,
        }


class ScriptedAgent:
    """An arm: the scripted agent with faults.

    Parameters
    ----------
    faults : sequence of str
        Those of the agent's two halves that it commits where they apply.
    late : bool
        Whether it is made to be late.
    """

    kind = "cpu"

    def __init__(self, faults: Sequence[str] = (), late: bool = False) -> None:
        self._faults = list(faults)
        self._late = late

    def run(self, setup: TrialSetup) -> None:
        """Run the agent in the trial's scenario."""
        answer = setup.call("run_agent", {"faults": self._faults, "late": self._late})
        if any("environment" in error for error in answer["errors"]):
            raise NotRunError("the agent's sandbox could not start")
