"""The verbs of ``steelyard handoff`` that start agents: only when that was asked for by name."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import options
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.harness.handoff.import_trials import AgentCommand
    from steelyard.harness.handoff.manual import ManualAgent, ManualRun

FOLDER = "handoff"

Command = Annotated[
    str,
    typer.Option(
        metavar="COMMAND", help="The agent: a program and its arguments. No shell reads it."
    ),
]
OtherCommand = Annotated[
    str | None, typer.Option(metavar="COMMAND", help="Its command for importing, if another.")
]
Adapter = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The product: claude-code, codex, opencode, cursor or gemini-cli."
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        metavar="KIND",
        help="executable if the program is the agent itself, launcher if it forwards to one.",
    ),
]
Name = Annotated[
    str | None, typer.Option(metavar="LABEL", help="Its name in the report; the adapter's if not.")
]
Scenario = Annotated[
    list[str] | None, typer.Option(metavar="ID", help="Only this scenario; may be repeated.")
]
Timeout = Annotated[
    float, typer.Option(metavar="SECONDS", min=0.1, max=86_400, help="For each role.")
]
Unsafe = Annotated[
    bool,
    typer.Option(
        "--unsafe-manual",
        help="Start the agent. It runs with your rights; nothing here is a sandbox, and it may "
        "cost money. Without this nothing is started.",
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check the scenarios, print digests of the prompts.")
]
Report = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the report there instead of printing it.")
]
Database = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Write the trials into a new DuckDB file.")
]


def import_trials(
    agent_command: Command,
    adapter: Adapter = None,
    identity_kind: Kind = None,
    agent_name: Name = None,
    scenario: Scenario = None,
    timeout: Timeout = 180.0,
    unsafe_manual: Unsafe = False,
    dry_run: DryRun = False,
    report: Report = None,
    database: Database = None,
    root: options.Root = None,
) -> None:
    """Let an agent read handoff bundles in disposable repositories, and measure what it does."""
    from steelyard.evaluators.handoff.scenario_documents import parse_import_scenario
    from steelyard.evaluators.handoff.scenarios import load_scenarios
    from steelyard.harness.handoff.manual import import_digests, run_imports

    source = _source(root)
    chosen = load_scenarios(source / "conformance/scenarios", parse_import_scenario, scenario or ())
    if dry_run:
        _deliver({"dry_run": True, "prompt_sha256": import_digests(chosen)}, report)
        return
    agent = _agent(agent_command, adapter, identity_kind, agent_name, timeout, unsafe_manual)
    _check_targets(report, database)
    _finish(run_imports(agent, chosen, source), report, database)


def export_trials(
    agent_command: Command,
    adapter: Adapter = None,
    identity_kind: Kind = None,
    agent_name: Name = None,
    scenario: Scenario = None,
    timeout: Timeout = 180.0,
    unsafe_manual: Unsafe = False,
    dry_run: DryRun = False,
    report: Report = None,
    database: Database = None,
    root: options.Root = None,
) -> None:
    """Let an agent write handoff bundles in disposable repositories, and hold them to the facts."""
    from steelyard.evaluators.handoff.scenario_documents import parse_export_scenario
    from steelyard.evaluators.handoff.scenarios import load_scenarios
    from steelyard.harness.handoff.manual import run_exports

    source = _source(root)
    folder = source / "conformance/export-scenarios"
    chosen = load_scenarios(folder, parse_export_scenario, scenario or ())
    if dry_run:
        _deliver({"dry_run": True, "scenarios": [found.id for found in chosen]}, report)
        return
    agent = _agent(agent_command, adapter, identity_kind, agent_name, timeout, unsafe_manual)
    _check_targets(report, database)
    _finish(run_exports(agent, chosen, source), report, database)


def roundtrip(
    left_agent_command: Command,
    right_agent_command: Command,
    left_adapter: Adapter = None,
    right_adapter: Adapter = None,
    left_identity_kind: Kind = None,
    right_identity_kind: Kind = None,
    left_import_command: OtherCommand = None,
    right_import_command: OtherCommand = None,
    timeout: Timeout = 360.0,
    unsafe_manual: Unsafe = False,
    report: Report = None,
    root: options.Root = None,
) -> None:
    """Let each of two agents read what the other has written."""
    from steelyard.evaluators.handoff.scenario_documents import parse_export_scenario
    from steelyard.evaluators.handoff.scenarios import load_scenarios
    from steelyard.harness.handoff.manual_roundtrip import ManualSide, run_manual_roundtrip

    folder = _source(root) / "conformance/export-scenarios"
    (session,) = load_scenarios(folder, parse_export_scenario, ["ordinary-unfinished"])
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
    _check_targets(report, None)
    document = run_manual_roundtrip(session, left, right)
    _deliver(document, report)
    sys.exit(0 if document["passed"] else 1)


def _source(root: Path | None) -> Path:
    from steelyard.store.project import named_root

    source = named_root(root) / "experiments" / FOLDER
    if not source.is_dir():
        raise InputError(f"the project has no experiments/{FOLDER}, where the scenarios are")
    return source


def _command(text: str, timeout: float) -> AgentCommand:
    from steelyard.harness.handoff.import_trials import AgentCommand
    from steelyard.harness.handoff.manual import split_command

    return AgentCommand(split_command(text), timeout, inherit_user_config=True)


def _agent(
    command: str,
    adapter: str | None,
    identity_kind: str | None,
    name: str | None,
    timeout: float,
    unsafe_manual: bool,
) -> ManualAgent:
    from steelyard.evaluators.handoff.identity import ADAPTERS
    from steelyard.harness.handoff.identity_probe import KINDS
    from steelyard.harness.handoff.manual import ManualAgent

    if not unsafe_manual:
        raise InputError(
            "nothing was started: an agent runs with your rights and in no sandbox; say "
            "--unsafe-manual to start it, or --dry-run to check the scenarios"
        )
    if adapter not in ADAPTERS:
        raise InputError(f"adapter {adapter!r}: accepted are {', '.join(ADAPTERS)}")
    if identity_kind not in KINDS:
        raise InputError(f"identity kind {identity_kind!r}: accepted are {', '.join(KINDS)}")
    return ManualAgent(name or adapter, adapter, _command(command, timeout), identity_kind)


def _check_targets(report: Path | None, database: Path | None) -> None:
    """Refuse what could not be written, before an agent has cost anything."""
    for path in (report, database):
        if path is not None and not path.absolute().parent.is_dir():
            raise InputError(f"{path.name}: the folder to write it in does not exist")
    if database is not None and database.exists():
        raise InputError(f"{database.name} exists already; a database is not overwritten")


def _finish(run: ManualRun, report: Path | None, database: Path | None) -> None:
    from steelyard.harness.handoff.tables import write_trials

    _deliver(run.report, report)
    if run.report["provenance"] is None:
        print("steelyard: the sources are in no commit; the report is no evidence", file=sys.stderr)
    if database is not None and run.trials:
        write_trials(database, run.identity, run.trials)
    sys.exit(0 if run.success else 1)


def _deliver(document: dict[str, Any], report: Path | None) -> None:
    """Print a report, or write it whole or not at all. Only ASCII: an agent chose parts of it."""
    text = json.dumps(document, indent=2, sort_keys=True, ensure_ascii=True) + "\n"
    if report is None:
        sys.stdout.write(text)
        return
    temporary = report.with_name(f".{report.name}.{os.getpid()}.tmp")
    try:
        temporary.write_text(text, encoding="ascii")
        temporary.replace(report)
    finally:
        temporary.unlink(missing_ok=True)
