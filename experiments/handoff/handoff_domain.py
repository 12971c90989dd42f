"""The domain: scenarios as tasks, a disposable repository as the world, gates as measures."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.inventory import UnreadableFileError, read_bundle_file
from steelyard.evaluators.handoff.metadata import MetadataFaultError, load_metadata
from steelyard.evaluators.handoff.results import (
    export_gates,
    import_differences,
    import_gates,
)
from steelyard.evaluators.handoff.scenario_documents import (
    parse_export_scenario,
    parse_import_scenario,
)
from steelyard.evaluators.handoff.scenarios import load_scenarios
from steelyard.evaluators.handoff.sections import section_map
from steelyard.evaluators.handoff.snapshot import BUNDLE_FOLDER
from steelyard.harness.handoff.disposable_roots import disposable_root
from steelyard.harness.handoff.export_repository import prepare_export
from steelyard.harness.handoff.export_trials import measure_export
from steelyard.harness.handoff.import_trials import AgentCommand, run_import_scenario
from steelyard.harness.handoff.roundtrips import Side, run_route
from steelyard.harness.protocols import NotRunError, Task, TrialSetup
from steelyard.harness.tools import Tool
from steelyard.trials.model import Trial

HERE = Path(__file__).resolve().parent
AGENT = HERE / "agents" / "scripted_agent.py"
ADAPTER = "codex"
ROUTES = (("codex", "claude-code"), ("codex", "codex"), ("claude-code", "claude-code"))
LATE, ABSENT = "late-start", "cannot-start"
LATE_SECONDS = 3.0
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
        self, trial: Trial, state: Mapping[str, Any], _truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Return whether the trial passed, every gate, and whether a fault was committed.

        A gate that is None was not evaluated. What was committed the agent says, not a gate.
        """
        gates = trial.steps[-1].output["gates"]
        return {"passed": state["passed"], "committed": bool(state["committed"]), **gates}

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
                "adapter": {"type": "string"},
            },
            "required": ["faults", "adapter"],
        }
        return [Tool("run_agent", "Run the agent with these faults.", schema, self._run)]

    def state(self) -> Mapping[str, Any]:
        """Return the verdict, its errors, what was read or written, and the faults committed."""
        return self._state

    def _run(self, faults: Sequence[str], adapter: str) -> Mapping[str, Any]:
        with tempfile.TemporaryDirectory(prefix="steelyard-diary-") as folder:
            diary = Path(folder) / "diary"
            command = _command(faults, diary)
            result = {
                "import": self._imported,
                "export": self._exported,
                "roundtrip": self._handed_on,
            }[self._capability](command, adapter)
            told = diary.read_text(encoding="utf-8").splitlines() if diary.exists() else []
        gates, blocked = result.pop("gates"), result.pop("blocked")
        if ABSENT in faults:  # a program that does not exist keeps no diary
            told = [f"agent {ABSENT}"]
        self._state = {**result, "committed": told}
        return {"gates": gates, "blocked": blocked}

    def _imported(self, command: AgentCommand, _adapter: str) -> dict[str, Any]:
        trial = run_import_scenario(self._scenario, HERE, command)
        result, expected = trial.result, self._scenario.expected
        gates = import_gates(result, expected, canaries=trial.canaries)
        return {
            "passed": result.passed,
            "gates": gates | import_differences(result, expected),
            "errors": result.errors,
            "observation": result.observation,
            "writes": result.measured_unexpected_writes,
            "blocked": result.environment_blocked,
        }

    def _exported(self, command: AgentCommand, adapter: str) -> dict[str, Any]:
        with disposable_root() as root:
            repository = prepare_export(self._scenario, adapter, root)
            result = measure_export(self._scenario, repository, command).result
            says = bundle_says(repository.folder / BUNDLE_FOLDER) if result.bundle_files else None
        return {
            "passed": result.passed,
            "gates": export_gates(result),
            "errors": result.errors,
            "observation": says,
            "writes": result.unexpected_writes,
            "blocked": result.environment_blocked,
        }

    def _handed_on(self, command: AgentCommand, _adapter: str) -> dict[str, Any]:
        left, _, right = self._name.partition("-to-")
        route = run_route(
            self._scenario, Side(left, command, command), Side(right, command, command)
        )
        imported = route.import_trial
        return {
            "passed": route.passed,
            "gates": route.gates,
            "errors": route.errors,
            "observation": None if imported is None else imported.result.observation,
            "writes": [] if imported is None else imported.result.measured_unexpected_writes,
            "blocked": route.environment_blocked,
        }


SECTIONS = {
    "goal": "Original Goal",
    "status": "Current Status",
    "changed_files": "Changed Files",
    "test_state": "Test State",
    "risks": "Risks / Unknowns",
    "next_step": "Next Recommended Step",
}
"""Where a bundle says what an importing agent would have to observe."""


def bundle_says(bundle: Path) -> dict[str, Any] | None:
    """Return what a written bundle says, field by field, and whose it says it is.

    Parameters
    ----------
    bundle : pathlib.Path
        A bundle that passed the inventory; None is returned when it cannot be read.
    """
    try:
        sections = section_map(read_bundle_file(bundle, "WAYBILL.md").decode())
        metadata = load_metadata(bundle)
    except (UnreadableFileError, UnicodeDecodeError, MetadataFaultError):
        return None
    handoff = metadata.get("handoff")
    return {
        **{field: sections.get(name) for field, name in SECTIONS.items()},
        "source_agent": metadata.get("source_agent"),
        "handoff": handoff if isinstance(handoff, dict) else None,
    }


def _command(faults: Sequence[str], diary: Path) -> AgentCommand:
    if ABSENT in faults:
        return AgentCommand((str(diary.with_name("no-such-agent")),), 60.0)
    words = [word for fault in faults for word in ("--fault", fault)]
    command = (sys.executable, str(AGENT), *words, "--diary", str(diary))
    return AgentCommand(command, LATE_SECONDS if LATE in faults else 60.0)


class ScriptedAgent:
    """An arm: the scripted agent with faults.

    Parameters
    ----------
    faults : sequence of str
        Those of the agent's two halves that it commits where they apply.
    adapter : str
        Whose instructions it finds when it writes a bundle. The prompt of an import names no
        adapter, and a route names its own two.
    """

    kind = "cpu"

    def __init__(self, faults: Sequence[str] = (), adapter: str = ADAPTER) -> None:
        self._faults = list(faults)
        self._adapter = adapter

    def run(self, setup: TrialSetup) -> None:
        """Run the agent in the trial's scenario."""
        answer = setup.call("run_agent", {"faults": self._faults, "adapter": self._adapter})
        if answer["blocked"]:
            raise NotRunError("the agent's sandbox could not start")
