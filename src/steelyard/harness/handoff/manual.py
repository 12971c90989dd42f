"""Running the scenarios with an agent of somebody's choice, and reporting it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.digests import prompt_digest
from steelyard.evaluators.handoff.identity import AgentIdentity
from steelyard.evaluators.handoff.metadata import RESULT
from steelyard.evaluators.handoff.reports import REPORT_SCHEMA, SAFETY
from steelyard.evaluators.handoff.results import (
    export_gates,
    import_differences,
    import_gates,
)
from steelyard.evaluators.handoff.scenarios import ExportScenario, ImportScenario
from steelyard.harness.agent_process import OUTPUT_LIMIT
from steelyard.harness.handoff.export_trials import run_export_scenario
from steelyard.harness.handoff.identity_probe import observed_now
from steelyard.harness.handoff.import_trials import run_import_scenario
from steelyard.harness.handoff.manual_agents import ManualAgent, identity_problem, probe
from steelyard.harness.handoff.manual_trials import (
    ManualTrial,
    Show,
    Tally,
    TrialRecord,
    crossed,
    run_planned,
)
from steelyard.harness.handoff.prompts import import_prompt
from steelyard.harness.handoff.provenance import ProvenanceError, read_provenance
from steelyard.harness.handoff.strata import Role, stratum

MANUAL = "unsafe_manual"


@dataclass(frozen=True)
class ManualRun:
    """A finished run.

    Attributes
    ----------
    report : dict
        For a file or a reader; it holds the first trial of each scenario that this run ran.
    tally : Tally
        What became of all the trials that were asked for.
    problem : str or None
        Why nothing was run: the agent is not who it should be.
    """

    report: dict[str, Any]
    tally: Tally
    problem: str | None = None

    @property
    def success(self) -> bool:
        """Whether every trial that was asked for passed, in this run or before."""
        return self.tally.success


def import_digests(scenarios: list[ImportScenario]) -> dict[str, str]:
    """Return the digest of each scenario's prompt: all that a dry run does."""
    return {scenario.id: prompt_digest(import_prompt(scenario)) for scenario in scenarios}


def run_imports(
    agent: ManualAgent,
    scenarios: list[ImportScenario],
    source_root: Path,
    *,
    database: Path | None = None,
    repeats: int = 1,
    show: Show = lambda _tally: None,
) -> ManualRun:
    """Let a real agent read the scenarios' bundles.

    Parameters
    ----------
    agent : ManualAgent
        Who; the caller has acknowledged that nothing contains it.
    scenarios : list of ImportScenario
        Which, in order.
    source_root : pathlib.Path
        Holds their fixtures.
    database : pathlib.Path, optional
        Where each trial is written when it is finished, see `ManualDatabase`; those that are there
        are not run again.
    repeats : int, default 1
        Trials of each scenario.
    show : callable, optional
        Told how far the run is.

    Returns
    -------
    ManualRun
        Its report has provenance only if the sources are those of a commit; without it the report
        is no evidence that the loader accepts. Nor is it if this run did not run every scenario:
        a report holds each scenario once, so repeats are in the database only.
    """

    def trial(scenario: ImportScenario) -> TrialRecord:
        trial = run_import_scenario(scenario, source_root, agent.command)
        result = trial.result
        gates = import_gates(result, scenario.expected, canaries=trial.canaries)
        return TrialRecord(
            "import",
            scenario.id,
            result.passed,
            result.environment_block_reason,
            gates | import_differences(result, scenario.expected),
            result.as_report(),
            {"prompt_sha256": trial.prompt_sha256},
            trial.seconds,
        )

    run = _Run("import", agent, source_root, database, repeats, show)
    return run.of(scenarios, lambda scenario, _identity: trial(scenario))


def run_exports(
    agent: ManualAgent,
    scenarios: list[ExportScenario],
    source_root: Path,
    *,
    database: Path | None = None,
    repeats: int = 1,
    show: Show = lambda _tally: None,
) -> ManualRun:
    """Let a real agent export the scenarios' sessions; see `run_imports`."""

    def trial(scenario: ExportScenario, identity: AgentIdentity) -> TrialRecord:
        trial = run_export_scenario(scenario, agent.adapter, agent.command)
        result = trial.result
        gates = export_gates(result)
        if scenario.facts.handoff_kind != RESULT:
            del gates["verify_pair"]
        shown = {
            "agent": agent.name,
            "product": str(identity.product),
            "version": str(identity.version),
        }
        return TrialRecord(
            "export",
            scenario.id,
            result.passed,
            result.environment_block_reason,
            gates,
            result.as_report(shown, identity.observed_at[:10]),
            {"prompt_sha256": trial.prompt_sha256},
            trial.seconds,
        )

    return _Run("export", agent, source_root, database, repeats, show).of(scenarios, trial)


@dataclass(frozen=True)
class _Run:
    """Trials of one agent in one capability."""

    capability: str
    agent: ManualAgent
    source_root: Path
    database: Path | None
    repeats: int
    show: Show

    def of(
        self, scenarios: list[Any], trial: Callable[[Any, AgentIdentity], TrialRecord]
    ) -> ManualRun:
        """Identify the agent, run the scenarios unless it is another, and report."""
        tally = Tally(len(scenarios) * self.repeats)
        provenance = self._provenance()
        identity, written = probe(self.agent, observed_now())
        problem = identity_problem(identity, written)
        records: list[TrialRecord] = []
        if problem is None:
            role = Role(identity, self.agent.command)
            arm = stratum(self.capability, [role], self.source_root)
            planned = [
                ManualTrial(
                    f"{self.capability} {scenario.id}",
                    repeat,
                    arm,
                    (role,),
                    partial(trial, scenario, identity),
                )
                for scenario, repeat in crossed(scenarios, self.repeats)
            ]
            finished, tally = run_planned(planned, self.database, self.show)
            records = firsts(finished)
        report = self._report(identity, written, records) | {"provenance": provenance}
        return ManualRun(report, tally, problem)

    def _provenance(self) -> dict[str, Any] | None:
        try:
            return read_provenance(self.source_root, self.capability, self.agent.adapter)
        except ProvenanceError:
            return None

    def _report(
        self, identity: AgentIdentity, written: list[str], records: list[TrialRecord]
    ) -> dict[str, Any]:
        return {
            "schema_version": REPORT_SCHEMA,
            "capability": self.capability,
            "agent": self.agent.name,
            "adapter": self.agent.adapter,
            "observed_at": identity.observed_at,
            "identity": identity.report(),
            "identity_probe_unexpected_writes": written,
            "execution_mode": MANUAL,
            "safety": SAFETY | {"output_limit_bytes_per_stream": OUTPUT_LIMIT},
            "dry_run": False,
            "success": bool(records) and all(record.passed for record in records),
            "results": [record.report for record in records],
        }


def firsts(finished: list[tuple[ManualTrial, TrialRecord]]) -> list[TrialRecord]:
    """Return the first trial of each task: a report holds a scenario once."""
    found: dict[str, TrialRecord] = {}
    for planned, record in finished:
        found.setdefault(planned.task, record)
    return list(found.values())
