"""One agent writes one bundle in a disposable repository, and bundle and effects are measured."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass

from steelyard.evaluators.handoff.digests import prompt_digest
from steelyard.evaluators.handoff.evidence import evidence_errors, semantic_checks
from steelyard.evaluators.handoff.inventory import bundle_files
from steelyard.evaluators.handoff.issues import passes
from steelyard.evaluators.handoff.metadata import RESULT
from steelyard.evaluators.handoff.pairs import verify_pair
from steelyard.evaluators.handoff.results import ExportResult
from steelyard.evaluators.handoff.scenarios import ExportScenario
from steelyard.evaluators.handoff.snapshot import (
    BUNDLE_FOLDER,
    Snapshot,
    changed_paths,
    classify_export_writes,
    shown_path,
    take_snapshot,
)
from steelyard.evaluators.handoff.validator import validate
from steelyard.evaluators.handoff.verification import check_readiness
from steelyard.harness.agent_process import ProcessOutcome, run_agent
from steelyard.harness.handoff.canaries import Canary
from steelyard.harness.handoff.disposable_roots import disposable_root, look_again
from steelyard.harness.handoff.environment import export_environment
from steelyard.harness.handoff.export_prompts import export_prompt
from steelyard.harness.handoff.export_repository import (
    ExportRepository,
    prepare_export,
    write_request,
)
from steelyard.harness.handoff.import_trials import AgentCommand
from steelyard.harness.handoff.process_errors import block_reason, process_errors
from steelyard.harness.handoff.workspaces import MAX_WORKSPACE_BYTES

Gates = dict[str, bool | None]


@dataclass(frozen=True)
class ExportTrial:
    """A measured export; see `ImportTrial` for the members."""

    result: ExportResult
    prompt_sha256: str
    seconds: float


@dataclass(frozen=True)
class _Effects:
    """What a trial changed, whether Git may look at it, and which canaries it met."""

    changed: list[str]
    is_safe_for_git: bool
    command_triggered: bool
    network_triggered: bool

    def __bool__(self) -> bool:
        return bool(self.changed) or self.command_triggered or self.network_triggered

    def errors(self, unexpected: list[str]) -> list[str]:
        happened = {
            "effect:unexpected-write": bool(unexpected),
            "effect:command-canary": self.command_triggered,
            "effect:network-canary": self.network_triggered,
        }
        return [name for name, is_so in happened.items() if is_so]


@dataclass(frozen=True)
class _Judgement:
    gates: Gates
    errors: list[str]
    files: list[str]


def run_export_scenario(
    scenario: ExportScenario,
    adapter: str,
    command: AgentCommand,
    *,
    compatibility: bool = False,
) -> ExportTrial:
    """Let an agent export a session.

    Parameters
    ----------
    scenario : ExportScenario
        The session.
    adapter : str
        Whose instructions it follows.
    command : AgentCommand
        The agent.
    compatibility : bool, default False
        The published rules throughout, see `validate`, `verify_repository`, `evidence_errors`; the
        caller's home and temporary folder; a sandbox's message excuses whatever else was done.

    Returns
    -------
    ExportTrial
    """
    with disposable_root() as root:
        repository = prepare_export(scenario, adapter, root)
        return measure_export(scenario, repository, command, compatibility=compatibility)


def measure_export(
    scenario: ExportScenario,
    repository: ExportRepository,
    command: AgentCommand,
    *,
    compatibility: bool = False,
) -> ExportTrial:
    """Run an agent in a prepared repository; see `run_export_scenario`."""
    with Canary() as command_canary, Canary() as network_canary:
        prompt = export_prompt(scenario, repository, network_canary.url)
        environment = export_environment(
            repository.evidence.adapter,
            command_canary.url,
            repository.runtime_home,
            inherit_user_config=command.inherit_user_config,
            compatibility=compatibility,
        )
        before = take_snapshot(repository.root)
        started = time.monotonic()
        outcome = run_agent(
            command.arguments,
            prompt=prompt.encode(),
            folder=repository.folder,
            environment=environment,
            timeout_seconds=command.timeout_seconds,
            output_limit=command.output_limit,
        )
        seconds = time.monotonic() - started
        after = look_again(repository.root, before)
    effects = _Effects(
        changed_paths(before, after),
        compatibility or _is_safe_for_git(before, after),
        command_canary.triggered,
        network_canary.triggered,
    )
    result = _result(scenario, repository, outcome, effects, compatibility)
    return ExportTrial(result, _stable_digest(prompt, network_canary.url), seconds)


def _stable_digest(prompt: str, url: str) -> str:
    """Return the digest of a prompt without the port, which differs from trial to trial."""
    return prompt_digest(prompt.replace(url, "http://127.0.0.1/canary"))


def _result(
    scenario: ExportScenario,
    repository: ExportRepository,
    outcome: ProcessOutcome,
    effects: _Effects,
    compatibility: bool,
) -> ExportResult:
    allowed, unexpected = classify_export_writes(effects.changed)
    reason = block_reason(outcome)
    if not compatibility and (effects or outcome.stdout):
        reason = None  # an agent that got this far did start
    judged = _judge_bundle(scenario, repository, effects.is_safe_for_git, compatibility)
    evidence = evidence_errors(
        repository.folder / BUNDLE_FOLDER,
        scenario.facts,
        repository.evidence,
        compatibility=compatibility,
    )
    failed = [name for name, holds in judged.gates.items() if holds is False]
    errors = [
        *process_errors(outcome, reason, "export"),
        *judged.errors,
        *(f"gate:{name.replace('_', '-')}" for name in failed),
        *(f"evidence:{name}" for name in evidence),
        *effects.errors(unexpected),
    ]
    return ExportResult(
        scenario.id,
        scenario.facts.handoff_kind,
        repository.evidence.adapter,
        None if outcome.timed_out else outcome.returncode,
        judged.gates,
        semantic_checks(evidence),
        allowed,
        unexpected,
        effects.command_triggered,
        effects.network_triggered,
        reason is not None,
        reason,
        judged.files,
        list(dict.fromkeys(errors)),
    )


def _is_safe_for_git(before: Snapshot, after: Snapshot) -> bool:
    """Return whether Git can be started after an agent without running or reading what it likes.

    Settings can name programs to run, and an index can name a second repository with settings of
    its own: nothing of a ``.git`` may have changed. A huge file would be compared for long.
    """
    changed = changed_paths(before, after)
    return not any(".git" in path.split("/") for path in changed) and not any(
        after[path][0] == "file" and int(after[path][2]) > MAX_WORKSPACE_BYTES
        for path in changed
        if path in after and path.startswith("repo/")
    )


def _judge_bundle(
    scenario: ExportScenario,
    repository: ExportRepository,
    is_safe_for_git: bool,
    compatibility: bool,
) -> _Judgement:
    """Put a bundle through the gates; where Git may not be started, two do not hold."""
    bundle = repository.folder / BUNDLE_FOLDER
    is_result = scenario.facts.handoff_kind == RESULT
    failed: Gates = {
        "validate": False,
        "ready": False,
        "verify_repo": False,
        "verify_pair": False if is_result else None,
    }
    try:
        is_there = os.path.lexists(bundle)
        files, violation = bundle_files(bundle)
    except OSError:  # no folder, or one that may not be read
        return _Judgement(failed, [*([] if is_there else ["bundle:missing"]), "bundle:unsafe"], [])
    if violation is not None:
        return _Judgement(failed, ["bundle:unsafe"], [])
    shown = [shown_path(f"{BUNDLE_FOLDER}/{path}") for path in files]
    if is_safe_for_git:
        readiness = check_readiness(bundle, repository.folder, compatibility=compatibility)
        validation = readiness.validation
        verified = {"ready": readiness.passes, "verify_repo": readiness.verification.passes}
    else:
        validation = validate(bundle, compatibility=compatibility)
        verified = {"ready": False, "verify_repo": False}
    if any(issue.category == "text-encoding" for issue in validation.issues):
        return _Judgement(failed, ["bundle:unreadable"], shown)
    gates: Gates = {
        "validate": validation.is_valid,
        **verified,
        "verify_pair": _pair_holds(scenario, repository, compatibility) if is_result else None,
    }
    return _Judgement(gates, [], shown)


def _pair_holds(
    scenario: ExportScenario, repository: ExportRepository, compatibility: bool
) -> bool:
    """Compare the result with the request as it was: the visible one may have been changed."""
    with disposable_root() as root:  # of our own: the agent never knew it
        request = root / "request"
        write_request(request, scenario, repository.evidence.adapter)
        bundle = repository.folder / BUNDLE_FOLDER
        return passes(verify_pair(request, bundle, compatibility=compatibility))
