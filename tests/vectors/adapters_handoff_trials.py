"""Adapters of the handoff trials to Waybill's vectors: whole runs of scripted agents.

One case is listed as a known defect in our copy of its file: what
``export-fault-unsafe-report-filename`` expects is the digest of a file name that the vectors do not
give. A test of the trials holds what it is about: no such name reaches a report.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from steelyard import SteelyardError
from steelyard.evaluators.handoff.scenario_documents import (
    parse_export_scenario,
    parse_import_scenario,
)
from steelyard.evaluators.handoff.scenarios import ImportScenario
from steelyard.harness.handoff import (
    environment,
    export_trials,
    identity_probe,
    import_trials,
    roundtrips,
    workspaces,
)
from steelyard.harness.handoff.disposable_roots import disposable_root
from vectors.handoff_trees import write_tree

ACTION_AGENT = Path(__file__).with_name("handoff_action_agent.py")


def probe_identity(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        executable = Path(folder) / "agent"
        if case["executable_text"] is not None:
            executable.write_text(case["executable_text"])
            executable.chmod(int(case["mode"], 8))
        found = identity_probe.probe_identity(
            case["adapter"],
            str(executable),
            folder=Path(folder),
            timeout_seconds=case["timeout_seconds"],
        )
    return {
        "status": found.status,
        "product": found.product,
        "version": found.version,
        "error_code": found.error_code,
        "has_sha256": found.sha256 is not None,
    }


def agent_environment(case: dict[str, Any]) -> dict[str, Any]:
    parent = {name: f"value of {name}" for name in case["parent_names"]}
    home = Path("/r/guard/sandbox/runtime-home")
    url = "http://127.0.0.1:1/canary" if case["canary"] else None
    inherit = case["inherit_user_config"]
    if case["role"] == "import":
        chosen = environment.import_environment(
            home, canary_url=url, inherit_user_config=inherit, parent=parent
        )
    else:
        chosen = environment.export_environment(
            "codex",
            str(url),
            home,
            inherit_user_config=inherit,
            compatibility=True,
            parent=parent,
        )
    unchanged = {name for name, value in chosen.items() if parent.get(name) == value}
    return {
        "names": sorted(chosen),
        "inherited_unchanged": sorted(unchanged),
        "fixed": {
            name: value
            for name, value in chosen.items()
            if name not in unchanged and name != environment.CANARY_URL
        },
    }


def import_case(folder: Path, case: dict[str, Any]) -> ImportScenario:
    """Write the fixture of a case and return its scenario."""
    text = json.dumps(case["scenario"])
    name = case["scenario"]["id"]
    scenario = parse_import_scenario(text, f"{name}.json", compatibility=True)
    write_tree(folder / scenario.fixture, case["fixture"])
    return scenario


def prepare_import_fixture(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder, disposable_root() as root:
        scenario = import_case(Path(folder), case)
        try:
            workspaces.prepare_fixture(scenario, Path(folder), root, compatibility=True)
        except SteelyardError:
            return {"prepared": False}
    return {"prepared": True}


def run_import_scenario(case: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        scenario = import_case(Path(folder), case)
        plan = Path(folder) / "plan.json"
        actions = case["agent"].get("actions", [])
        plan.write_text(json.dumps({"actions": actions, "expected": case["scenario"]["expected"]}))
        arguments = case["agent"].get("command", [sys.executable, str(ACTION_AGENT), str(plan)])
        command = import_trials.AgentCommand(
            tuple(arguments), case["timeout_seconds"], case["output_limit_bytes"]
        )
        trial = import_trials.run_import_scenario(
            scenario, Path(folder), command, compatibility=True
        )
    report = trial.result.as_report()
    report["error_classes"] = report.pop("errors")
    del report["observation"]
    code = report["returncode"]
    report["returncode"] = "killed-by-signal" if code is not None and code < 0 else code
    return with_objects_counted(report)


def with_objects_counted(report: dict[str, Any]) -> dict[str, Any]:
    """Replace the names of Git objects, which hold a time, by their number."""
    writes = report["measured_unexpected_writes"]
    objects = [path for path in writes if path.startswith(".git/objects/")]
    if objects:
        del report["measured_unexpected_writes"]
        report["measured_includes"] = sorted(set(writes) - set(objects))
        report["measured_object_count"] = len(objects)
    return report


SCRIPTED_AGENT = Path(__file__).parents[2] / "experiments/handoff/agents/scripted_agent.py"
CUSTOM_AGENTS = {
    "custom:agent-silent": "sys.stdin.read()",
    "custom:agent-nonzero-without-bundle": "sys.stdin.read(); sys.exit(4)",
    "custom:agent-timeout": "time.sleep(60)",
    "custom:agent-environment-blocked": (
        "sys.stdin.read(); sys.exit('bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted')"
    ),
}
AFTERWARDS = {
    "nonzero": "nonzero-exit",
    "residual": "leave-child",
    "stdout": "flood-stdout",
    "stderr": "flood-stderr",
    "timeout": "time-out",
}


def scripted_agent(faults: list[str], seconds: float = 60.0) -> import_trials.AgentCommand:
    words = [word for fault in faults for word in ("--fault", fault)]
    return import_trials.AgentCommand((sys.executable, str(SCRIPTED_AGENT), *words), seconds)


def exporting_agent(case: dict[str, Any]) -> import_trials.AgentCommand:
    name = case.get("agent", "")
    if name == "custom:agent-missing-command":
        return import_trials.AgentCommand(("/nonexistent/agent",))
    if name in CUSTOM_AGENTS:
        script = f"import sys, time; {CUSTOM_AGENTS[name]}"
        return import_trials.AgentCommand(
            (sys.executable, "-c", script), 1.0 if "timeout" in name else 20.0
        )
    # "good-bundle-..." is the faithful agent that misbehaves once its bundle is written
    afterwards = [fault for word, fault in AFTERWARDS.items() if word in name]
    return scripted_agent([*case["faults"], *afterwards], 5.0 if "timeout" in name else 60.0)


def run_export_scenario(case: dict[str, Any]) -> dict[str, Any]:
    text, name = json.dumps(case["scenario"]), case["scenario"]["id"]
    trial = export_trials.run_export_scenario(
        parse_export_scenario(text, f"{name}.json"),
        case["adapter"],
        exporting_agent(case),
        compatibility=True,
    )
    report = trial.result.as_report({}, "")
    for field in ("agent", "date", "scenario"):
        del report[field]
    return report


def run_roundtrip(case: dict[str, Any]) -> dict[str, Any]:
    text, name = json.dumps(case["scenario"]), case["scenario"]["id"]
    left, right = (
        roundtrips.Side(
            case[f"{side}_adapter"],
            scripted_agent(case[f"{side}_faults"]),
            scripted_agent(
                case[f"{side}_faults"]
                if case[f"{side}_import_faults"] is None
                else case[f"{side}_import_faults"]
            ),
        )
        for side in ("left", "right")
    )
    scenario = parse_export_scenario(text, f"{name}.json")
    routes = roundtrips.run_roundtrip(scenario, left, right, compatibility=True)
    return roundtrips.roundtrip_report(routes)


ADAPTERS: dict[tuple[str, str], Callable[[dict[str, Any]], Any]] = {
    ("waybill", "probe_identity"): probe_identity,
    ("waybill", "agent_environment"): agent_environment,
    ("waybill", "prepare_import_fixture"): prepare_import_fixture,
    ("waybill", "run_import_scenario"): run_import_scenario,
    ("waybill", "run_export_scenario"): run_export_scenario,
    ("waybill", "run_roundtrip"): run_roundtrip,
}
