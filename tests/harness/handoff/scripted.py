"""The committed scenarios and the scripted agent, for the tests of handoff trials."""

from __future__ import annotations

import sys
from pathlib import Path

from steelyard.evaluators.handoff.scenario_documents import (
    parse_export_scenario,
    parse_import_scenario,
)
from steelyard.evaluators.handoff.scenarios import load_scenarios
from steelyard.harness.handoff.import_trials import AgentCommand

EXPERIMENT = Path(__file__).parents[3] / "experiments" / "handoff"
IMPORTS = {
    scenario.id: scenario
    for scenario in load_scenarios(EXPERIMENT / "conformance/scenarios", parse_import_scenario)
}
EXPORTS = {
    scenario.id: scenario
    for scenario in load_scenarios(
        EXPERIMENT / "conformance/export-scenarios", parse_export_scenario
    )
}


def agent(*faults, seconds=60.0, diary=None, **options):
    words = [word for fault in faults for word in ("--fault", fault)]
    words += [] if diary is None else ["--diary", str(diary)]
    script = str(EXPERIMENT / "agents" / "scripted_agent.py")
    return AgentCommand((sys.executable, script, *words), seconds, **options)
