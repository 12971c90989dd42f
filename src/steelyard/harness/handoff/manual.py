"""Running the scenarios with an agent of somebody's choice, and reporting it.

The agent is a program on the user's machine with the user's rights: nothing here is a sandbox. It
is started only when the caller has acknowledged that.
"""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from steelyard.errors import InputError
from steelyard.evaluators.handoff.digests import prompt_digest
from steelyard.evaluators.handoff.identity import VERIFIED, AgentIdentity, is_safe_label
from steelyard.evaluators.handoff.reports import REPORT_SCHEMA, SAFETY
from steelyard.evaluators.handoff.results import Gates, export_gates, import_gates
from steelyard.evaluators.handoff.scenarios import ExportScenario, ImportScenario
from steelyard.evaluators.handoff.snapshot import changed_paths, take_snapshot
from steelyard.harness.agent_process import OUTPUT_LIMIT
from steelyard.harness.handoff.environment import import_environment
from steelyard.harness.handoff.export_trials import run_export_scenario
from steelyard.harness.handoff.identity_probe import observed_now, probe_identity
from steelyard.harness.handoff.import_trials import AgentCommand, run_import_scenario
from steelyard.harness.handoff.prompts import import_prompt
from steelyard.harness.handoff.provenance import ProvenanceError, read_provenance

DRY_RUN, MANUAL = "dry_run", "unsafe_manual"


@dataclass(frozen=True)
class ManualAgent:
    """A real agent and how it is run.

    Attributes
    ----------
    name : str
        Its label in reports.
    adapter : str
        The product it should be.
    command : AgentCommand
        Its command.
    identity_kind : str
        ``executable`` or ``launcher``.
    """

    name: str
    adapter: str
    command: AgentCommand
    identity_kind: str

    def __post_init__(self) -> None:
        if not is_safe_label(self.name):
            raise InputError(
                f"the agent's name {self.name!r:.160} is no label: 1 to 128 printable characters, "
                "no slash, no space at either end"
            )


@dataclass(frozen=True)
class TrialRecord:
    """A trial for the tables.

    Attributes
    ----------
    capability, scenario : str
        What was done.
    passed : bool
        Whether nothing was wrong.
    blocked : str or None
        Why the agent's sandbox could not start: such a trial is missing, not failed.
    gates : dict
        Every gate; None was not evaluated.
    report : dict
        The result as reported.
    seconds : float
        Of the agent's process.
    """

    capability: str
    scenario: str
    passed: bool
    blocked: str | None
    gates: Gates
    report: dict[str, Any]
    seconds: float


@dataclass(frozen=True)
class ManualRun:
    """A finished run.

    Attributes
    ----------
    report : dict
        For a file or a reader.
    identity : AgentIdentity
        Who answered.
    trials : list of TrialRecord
        Empty when the agent is not who it should be.
    """

    report: dict[str, Any]
    identity: AgentIdentity
    trials: list[TrialRecord] = field(default_factory=list)

    @property
    def success(self) -> bool:
        """Whether every scenario passed."""
        return bool(self.report["success"])


def split_command(text: str) -> tuple[str, ...]:
    """Return the arguments of a command line, read as a shell would but run by none.

    Raises
    ------
    InputError
        It is empty or a quotation is not closed.
    """
    try:
        arguments = tuple(shlex.split(text))
    except ValueError as error:
        raise InputError(f"the agent command cannot be read: {error}") from None
    if not arguments:
        raise InputError("the agent command is empty; give a program and its arguments")
    return arguments


def probe(agent: ManualAgent, observed_at: str) -> tuple[AgentIdentity, list[str]]:
    """Ask an agent who it is, in an empty folder; return that and what it wrote there."""
    with tempfile.TemporaryDirectory(prefix="steelyard-handoff-") as folder:
        root = Path(folder)
        (root / "tmp").mkdir()
        before = take_snapshot(root)
        identity = probe_identity(
            agent.adapter,
            agent.command.arguments[0],
            identity_kind=agent.identity_kind,
            folder=root,
            environment=import_environment(root, inherit_user_config=True),
            observed_at=observed_at,
        )
        written = changed_paths(before, take_snapshot(root))
    return identity, [path for path in written if not path.startswith("tmp/")]


def import_digests(scenarios: list[ImportScenario]) -> dict[str, str]:
    """Return the digest of each scenario's prompt: all that a dry run does."""
    return {scenario.id: prompt_digest(import_prompt(scenario)) for scenario in scenarios}


def run_imports(
    agent: ManualAgent, scenarios: list[ImportScenario], source_root: Path
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

    Returns
    -------
    ManualRun
        Its report has provenance only if the sources are those of a commit; without it the report
        is no evidence that the loader accepts.
    """

    def trials() -> Iterator[TrialRecord]:
        for scenario in scenarios:
            trial = run_import_scenario(scenario, source_root, agent.command)
            result = trial.result
            yield TrialRecord(
                "import",
                scenario.id,
                result.passed,
                result.environment_block_reason,
                import_gates(result, scenario.expected),
                result.as_report(),
                trial.seconds,
            )

    return _run("import", agent, source_root, lambda _identity, _date: trials())


def run_exports(
    agent: ManualAgent, scenarios: list[ExportScenario], source_root: Path
) -> ManualRun:
    """Let a real agent export the scenarios' sessions; see `run_imports`."""

    def trials(identity: AgentIdentity, date: str) -> Iterator[TrialRecord]:
        shown = {
            "agent": agent.name,
            "product": str(identity.product),
            "version": str(identity.version),
        }
        for scenario in scenarios:
            trial = run_export_scenario(scenario, agent.adapter, agent.command)
            result = trial.result
            yield TrialRecord(
                "export",
                scenario.id,
                result.passed,
                result.environment_block_reason,
                export_gates(result),
                result.as_report(shown, date),
                trial.seconds,
            )

    return _run("export", agent, source_root, trials)


def _run(
    capability: str,
    agent: ManualAgent,
    source_root: Path,
    trials: Callable[[AgentIdentity, str], Iterator[TrialRecord]],
) -> ManualRun:
    try:
        provenance = read_provenance(source_root, capability, agent.adapter)
    except ProvenanceError:
        provenance = None
    observed_at = observed_now()
    identity, written = probe(agent, observed_at)
    is_known = identity.status == VERIFIED and not written
    records = list(trials(identity, observed_at[:10])) if is_known else []
    report = {
        "schema_version": REPORT_SCHEMA,
        "capability": capability,
        "agent": agent.name,
        "adapter": agent.adapter,
        "observed_at": observed_at,
        "identity": identity.report(),
        "identity_probe_unexpected_writes": written,
        "execution_mode": MANUAL,
        "safety": SAFETY | {"output_limit_bytes_per_stream": OUTPUT_LIMIT},
        "dry_run": False,
        "success": bool(records) and all(record.passed for record in records),
        "provenance": provenance,
        "results": [record.report for record in records],
    }
    return ManualRun(report, identity, records)
