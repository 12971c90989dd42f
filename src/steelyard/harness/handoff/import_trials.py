"""One agent reads one bundle in a disposable root, and everything it did is measured."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from steelyard.evaluators.handoff.digests import prompt_digest
from steelyard.evaluators.handoff.results import ImportResult
from steelyard.evaluators.handoff.scenarios import NETWORK_MARKER, ImportScenario
from steelyard.evaluators.handoff.snapshot import (
    is_scratch,
    restored_paths,
    root_changes,
    take_snapshot,
)
from steelyard.harness.agent_process import OUTPUT_LIMIT, run_agent
from steelyard.harness.handoff.canaries import Canary
from steelyard.harness.handoff.disposable_roots import disposable_root, look_again
from steelyard.harness.handoff.environment import import_environment
from steelyard.harness.handoff.import_judgement import ImportEffects, judge_import
from steelyard.harness.handoff.prompts import import_prompt
from steelyard.harness.handoff.workspaces import (
    Workspace,
    prepare_fixture,
    replace_everywhere,
)

TIMEOUT_SECONDS = 180.0


@dataclass(frozen=True)
class AgentCommand:
    """How an agent is run.

    Attributes
    ----------
    arguments : tuple of str
        Program and arguments.
    timeout_seconds : float
        For each trial.
    output_limit : int
        Bytes kept of each stream.
    inherit_user_config : bool
        Whether it gets its user's home and choice of model, as a real agent needs.
    """

    arguments: tuple[str, ...]
    timeout_seconds: float = TIMEOUT_SECONDS
    output_limit: int = OUTPUT_LIMIT
    inherit_user_config: bool = False


@dataclass(frozen=True)
class ImportTrial:
    """A measured import.

    Attributes
    ----------
    result : ImportResult
        What came of it.
    prompt_sha256 : str
        Digest of what was asked.
    seconds : float
        Of the agent's process.
    canaries : bool
        Whether the scenario lays out canaries: in others nothing can be triggered.
    """

    result: ImportResult
    prompt_sha256: str
    seconds: float
    canaries: bool


def run_import_scenario(
    scenario: ImportScenario,
    source_root: Path,
    command: AgentCommand,
    *,
    compatibility: bool = False,
) -> ImportTrial:
    """Let an agent read the bundle of a scenario.

    Parameters
    ----------
    scenario : ImportScenario
        Of version 2.
    source_root : pathlib.Path
        Holds its fixture.
    command : AgentCommand
        The agent.
    compatibility : bool, default False
        Measure as the published runner does: folders do not count, nor does a file that was
        changed and put back; a canary counts four methods only; a message of a sandbox on standard
        error is taken as an excuse whatever else was done.

    Returns
    -------
    ImportTrial

    Raises
    ------
    FixtureError, ScenarioDocumentError
        The fixture cannot be used. Nothing was started.
    """
    with disposable_root() as root:
        workspace = prepare_fixture(scenario, source_root, root, compatibility=compatibility)
        prompt = import_prompt(scenario)
        return measure_import(scenario, workspace, command, prompt, compatibility=compatibility)


def measure_import(
    scenario: ImportScenario,
    workspace: Workspace,
    command: AgentCommand,
    prompt: str,
    *,
    compatibility: bool = False,
) -> ImportTrial:
    """Run an agent in a prepared workspace; see `run_import_scenario`.

    Parameters
    ----------
    scenario : ImportScenario
        What is expected.
    workspace : Workspace
        Where.
    command : AgentCommand
        Who.
    prompt : str
        What is asked.
    compatibility : bool, default False
        As for `run_import_scenario`.
    """
    with _canaries(workspace, compatibility) as (command_canary, network_canary):
        environment = import_environment(
            workspace.runtime_home,
            canary_url=command_canary.url if command_canary else None,
            inherit_user_config=command.inherit_user_config,
        )
        before_times: dict[str, int] = {}
        after_times: dict[str, int] = {}
        before = take_snapshot(workspace.root, directories=not compatibility, times=before_times)
        started = time.monotonic()
        outcome = run_agent(
            command.arguments,
            prompt=prompt.encode(),
            folder=workspace.folder,
            environment=environment,
            timeout_seconds=command.timeout_seconds,
            output_limit=command.output_limit,
        )
        seconds = time.monotonic() - started
        after = look_again(workspace.root, before, directories=not compatibility, times=after_times)
    changes = root_changes(before, after)
    restored = restored_paths(before, after, before_times, after_times)
    touched = not compatibility and not all(map(is_scratch, restored))
    triggered = (
        command_canary is not None and command_canary.triggered,
        network_canary is not None and network_canary.triggered,
    )
    measured = ImportEffects(changes, triggered, touched)
    result = judge_import(scenario, outcome, measured, compatibility=compatibility)
    return ImportTrial(result, prompt_digest(prompt), seconds, workspace.canaries)


@contextmanager
def _canaries(
    workspace: Workspace, compatibility: bool
) -> Iterator[tuple[Canary | None, Canary | None]]:
    if not workspace.canaries:
        yield None, None
        return
    with ExitStack() as stack:
        command, network = (
            stack.enter_context(Canary(any_connection=not compatibility)) for _ in range(2)
        )
        replace_everywhere(workspace.folder, NETWORK_MARKER, network.url)
        yield command, network
