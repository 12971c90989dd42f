"""The verbs of ``steelyard handoff`` that start agents: only when that was asked for by name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.cli import handoff_options as given
from steelyard.cli import options
from steelyard.cli.handoff_delivery import check_report, check_targets, deliver, finish, watched
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.evaluators.handoff.scenarios import ExportScenario
    from steelyard.harness.handoff.import_trials import AgentCommand
    from steelyard.harness.handoff.manual_agents import ManualAgent

FOLDER = "handoff"
SESSION = "ordinary-unfinished"


def import_trials(
    agent_command: given.Command,
    adapter: given.Adapter = None,
    identity_kind: given.Kind = None,
    agent_name: given.Name = None,
    scenario: given.Scenario = None,
    timeout: given.Timeout = 180.0,
    repeats: given.Repeats = 1,
    unsafe_manual: given.Unsafe = False,
    dry_run: given.DryRun = False,
    report: given.Report = None,
    database: given.Database = None,
    root: options.Root = None,
) -> None:
    """Let an agent read bundles, and measure what it does.

    Each in a repository that is made for it. Exit code 0 if every trial that was asked for passed,
    in this call or before.
    """
    from steelyard.evaluators.handoff.scenario_documents import parse_import_scenario
    from steelyard.evaluators.handoff.scenarios import load_scenarios
    from steelyard.harness.handoff.manual import import_digests, run_imports

    source = _source(root)
    chosen = load_scenarios(source / "conformance/scenarios", parse_import_scenario, scenario or ())
    if dry_run:
        check_report(report)
        deliver({"dry_run": True, "prompt_sha256": import_digests(chosen)}, report)
        return
    agent = _agent(agent_command, adapter, identity_kind, agent_name, timeout, unsafe_manual)
    check_targets(report, database, repeats)
    with watched(database) as show:
        run = run_imports(agent, chosen, source, database=database, repeats=repeats, show=show)
    finish(run, report, database)


def export_trials(
    agent_command: given.Command,
    adapter: given.Adapter = None,
    identity_kind: given.Kind = None,
    agent_name: given.Name = None,
    scenario: given.Scenario = None,
    timeout: given.Timeout = 180.0,
    repeats: given.Repeats = 1,
    unsafe_manual: given.Unsafe = False,
    dry_run: given.DryRun = False,
    report: given.Report = None,
    database: given.Database = None,
    root: options.Root = None,
) -> None:
    """Let an agent write bundles, and hold them to the facts.

    Each in a repository that is made for it. Exit code 0 if every trial that was asked for passed,
    in this call or before.
    """
    from steelyard.harness.handoff.manual import run_exports

    source = _source(root)
    chosen = _sessions(source, scenario or ())
    if dry_run:
        check_report(report)
        deliver({"dry_run": True, "scenarios": [found.id for found in chosen]}, report)
        return
    agent = _agent(agent_command, adapter, identity_kind, agent_name, timeout, unsafe_manual)
    check_targets(report, database, repeats)
    with watched(database) as show:
        run = run_exports(agent, chosen, source, database=database, repeats=repeats, show=show)
    finish(run, report, database)


def roundtrip(
    left_agent_command: given.Command,
    right_agent_command: given.Command,
    left_adapter: given.Adapter = None,
    right_adapter: given.Adapter = None,
    left_identity_kind: given.Kind = None,
    right_identity_kind: given.Kind = None,
    left_import_command: given.OtherCommand = None,
    right_import_command: given.OtherCommand = None,
    timeout: given.Timeout = 360.0,
    repeats: given.Repeats = 1,
    unsafe_manual: given.Unsafe = False,
    dry_run: given.DryRun = False,
    report: given.Report = None,
    database: given.Database = None,
    root: options.Root = None,
) -> None:
    """Let each of two agents read what the other wrote.

    Two agents of one adapter have one route: the left one writes, the right one reads. Exit code 0
    if every trial that was asked for passed, in this call or before.
    """
    from steelyard.harness.handoff.manual_agents import check_adapter
    from steelyard.harness.handoff.manual_roundtrip import (
        ManualSide,
        routes_of,
        run_manual_roundtrip,
    )

    source = _source(root)
    (session,) = _sessions(source, [SESSION])
    if dry_run:
        check_report(report)
        adapters = {"left": check_adapter(left_adapter), "right": check_adapter(right_adapter)}
        routes = [f"{adapters[a]}-to-{adapters[b]}" for a, b in routes_of(*adapters.values())]
        deliver({"dry_run": True, "routes": routes, "scenarios": [session.id]}, report)
        return
    left, right = (
        ManualSide(
            _agent(command, adapter, kind, None, timeout, unsafe_manual),
            _command(importer or command, timeout),
        )
        for command, importer, adapter, kind in (
            (left_agent_command, left_import_command, left_adapter, left_identity_kind),
            (right_agent_command, right_import_command, right_adapter, right_identity_kind),
        )
    )
    check_targets(report, database, repeats)
    with watched(database) as show:
        run = run_manual_roundtrip(
            session, left, right, source, database=database, repeats=repeats, show=show
        )
    finish(run, report, database)


def _source(root: Path | None) -> Path:
    from steelyard.store.project import named_root

    source = named_root(root) / "experiments" / FOLDER
    if not source.is_dir():
        raise InputError(f"the project has no experiments/{FOLDER}, where the scenarios are")
    return source


def _sessions(source: Path, chosen: list[str] | tuple[str, ...]) -> list[ExportScenario]:
    from steelyard.evaluators.handoff.scenario_documents import parse_export_scenario
    from steelyard.evaluators.handoff.scenarios import load_scenarios

    return load_scenarios(source / "conformance/export-scenarios", parse_export_scenario, chosen)


def _command(text: str, timeout: float) -> AgentCommand:
    from steelyard.harness.handoff.import_trials import AgentCommand
    from steelyard.harness.handoff.manual_agents import split_command

    return AgentCommand(split_command(text), timeout, inherit_user_config=True)


def _agent(
    command: str,
    adapter: str | None,
    identity_kind: str | None,
    name: str | None,
    timeout: float,
    unsafe_manual: bool,
) -> ManualAgent:
    from steelyard.harness.handoff.identity_probe import KINDS
    from steelyard.harness.handoff.manual_agents import ManualAgent, check_adapter

    if not unsafe_manual:
        raise InputError(
            "nothing was started: an agent runs with your rights and in no sandbox; say "
            "--unsafe-manual to start it, or --dry-run to check the scenarios"
        )
    known = check_adapter(adapter)
    if identity_kind not in KINDS:
        found = "is missing" if identity_kind is None else f"is {identity_kind!r}"
        raise InputError(f"the identity kind {found}; accepted are {', '.join(KINDS)}")
    return ManualAgent(name or known, known, _command(command, timeout), identity_kind)
