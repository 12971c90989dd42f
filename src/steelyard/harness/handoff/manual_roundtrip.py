"""A roundtrip between two real agents, each identified before anything is handed over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.identity import AgentIdentity
from steelyard.evaluators.handoff.scenarios import ExportScenario
from steelyard.harness.handoff.identity_probe import observed_now
from steelyard.harness.handoff.import_trials import AgentCommand
from steelyard.harness.handoff.manual import ManualRun, firsts
from steelyard.harness.handoff.manual_agents import ManualAgent, identity_problem, probe
from steelyard.harness.handoff.manual_trials import (
    ManualTrial,
    Show,
    Tally,
    TrialRecord,
    crossed,
    run_planned,
)
from steelyard.harness.handoff.roundtrips import Side, run_route, summed_up
from steelyard.harness.handoff.strata import Role, stratum


@dataclass(frozen=True)
class ManualSide:
    """A real agent with its command for each role.

    Attributes
    ----------
    agent : ManualAgent
        The exporter.
    importer : AgentCommand
        The same product run read-only.
    """

    agent: ManualAgent
    importer: AgentCommand

    def as_side(self) -> Side:
        """Return what a roundtrip needs of it."""
        return Side(self.agent.adapter, self.agent.command, self.importer)


@dataclass(frozen=True)
class _Known:
    """A side whose two commands were asked who they are."""

    side: ManualSide
    export_identity: AgentIdentity
    import_identity: AgentIdentity
    problem: str | None

    def shown(self) -> dict[str, Any]:
        agent = self.side.agent
        return {
            "adapter": agent.adapter,
            "agent": agent.name,
            "identity": self.export_identity.report(),
            "import_identity": self.import_identity.report(),
        }


def routes_of(left: str, right: str) -> list[tuple[str, str]]:
    """Return exporter and importer of each route, by side.

    Parameters
    ----------
    left, right : str
        Their adapters. Of two agents of one adapter the left exports and the right imports.
    """
    there = ("left", "right")
    return [there] if left == right else [there, there[::-1]]


def run_manual_roundtrip(
    scenario: ExportScenario,
    left: ManualSide,
    right: ManualSide,
    source_root: Path,
    *,
    database: Path | None = None,
    repeats: int = 1,
    show: Show = lambda _tally: None,
) -> ManualRun:
    """Hand an ordinary session between two real agents and report it.

    Both commands of a side must be one product, version and file; otherwise nothing is handed over
    and the report says which side is not verified.

    Parameters
    ----------
    scenario : ExportScenario
        The session.
    left, right : ManualSide
        Who; the caller has acknowledged that nothing contains them.
    source_root : pathlib.Path
        Holds the scenario.
    database, repeats, show
        As for `run_imports`; a trial is a route, its arm is the pair of agents.

    Returns
    -------
    ManualRun
        Its report has ``passed`` and, for each side, both identities. It holds the first trial of
        each route that this run ran.
    """
    observed_at = observed_now()
    sides = {name: _known(side, observed_at) for name, side in (("left", left), ("right", right))}
    routes = routes_of(left.agent.adapter, right.agent.adapter)
    problems = {name: side.problem for name, side in sides.items() if side.problem is not None}
    tally, directions = Tally(len(routes) * repeats), []
    if not problems:
        once = [
            _planned(scenario, sides[exporter], sides[importer], source_root)
            for exporter, importer in routes
        ]
        planned = [replace(route, repeat=repeat) for route, repeat in crossed(once, repeats)]
        finished, tally = run_planned(planned, database, show)
        directions = [record.report for record in firsts(finished)]
    report = summed_up(directions)
    document = {
        "schema_version": "1",
        "capability": "roundtrip",
        "observed_at": observed_at,
        **{name: side.shown() for name, side in sides.items()},
        **report,
        "passed": bool(directions) and report["passed"],
        "errors": [f"{name}:identity" for name in problems] + report["errors"],
    }
    problem = "; ".join(f"{name}: {found}" for name, found in problems.items())
    return ManualRun(document, tally, problem or None)


def _known(side: ManualSide, observed_at: str) -> _Known:
    exporter, wrote = probe(side.agent, observed_at)
    importer, wrote_too = probe(replace(side.agent, command=side.importer), observed_at)
    problem = identity_problem(exporter, wrote) or identity_problem(importer, wrote_too)
    if problem is None and exporter.fingerprint != importer.fingerprint:
        problem = "the two commands are not one product, version and file"
    return _Known(side, exporter, importer, problem)


def _planned(
    scenario: ExportScenario, exporter: _Known, importer: _Known, source_root: Path
) -> ManualTrial:
    """Return the first trial of a route."""
    roles = (
        Role(exporter.export_identity, exporter.side.agent.command, "exporter"),
        Role(importer.import_identity, importer.side.importer, "importer"),
    )
    return ManualTrial(
        f"roundtrip {exporter.side.agent.adapter}-to-{importer.side.agent.adapter}",
        0,
        stratum("roundtrip", roles, source_root),
        roles,
        partial(_run_route, scenario, exporter.side.as_side(), importer.side.as_side()),
    )


def _run_route(scenario: ExportScenario, exporter: Side, importer: Side) -> TrialRecord:
    route = run_route(scenario, exporter, importer)
    exported, imported = route.export_trial, route.import_trial
    return TrialRecord(
        "roundtrip",
        route.direction,
        route.passed,
        route.environment_block_reason,
        route.gates,
        route.as_report(),
        {
            "exporter_prompt_sha256": exported.prompt_sha256,
            "importer_prompt_sha256": None if imported is None else imported.prompt_sha256,
        },
        exported.seconds + (0.0 if imported is None else imported.seconds),
    )
