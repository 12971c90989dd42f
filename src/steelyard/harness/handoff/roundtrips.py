"""A bundle that one agent exports is read by another: each route in a repository of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.handoff.observation import FIELDS, mismatched_fields
from steelyard.evaluators.handoff.results import ExportResult, Gates, ImportResult
from steelyard.evaluators.handoff.scenarios import ExportScenario, ImportScenario
from steelyard.evaluators.handoff.snapshot import BUNDLE_FOLDER
from steelyard.harness.handoff.disposable_roots import disposable_root
from steelyard.harness.handoff.export_repository import (
    ENTRYPOINTS,
    REFERENCE,
    ExportRepository,
    prepare_export,
)
from steelyard.harness.handoff.export_trials import ExportTrial, measure_export
from steelyard.harness.handoff.import_trials import AgentCommand, ImportTrial, measure_import
from steelyard.harness.handoff.prompts import import_prompt
from steelyard.harness.handoff.workspaces import prepare_copy

TEST_STATE_TEMPLATE = "COMMAND exited RETURNCODE (OUTCOME); evidence marker MARKER."
"""How an importer states a test; the final full stop is part of it."""


@dataclass(frozen=True)
class Side:
    """An agent in a roundtrip.

    Attributes
    ----------
    adapter : str
        Its adapter.
    exporter, importer : AgentCommand
        How it is run in each role.
    """

    adapter: str
    exporter: AgentCommand
    importer: AgentCommand


@dataclass(frozen=True)
class Route:
    """One direction of a roundtrip.

    Attributes
    ----------
    direction : str
        ``<exporter>-to-<importer>``.
    export_trial : ExportTrial
        What was written.
    import_trial : ImportTrial or None
        What was read; None when the export had failed.
    expected : dict
        What should have been read.
    """

    direction: str
    export_trial: ExportTrial
    import_trial: ImportTrial | None
    expected: Mapping[str, Any]

    @property
    def environment_blocked(self) -> bool:
        """Whether the sandbox of either role could not start."""
        imported = self.import_trial
        return self.export_trial.result.environment_blocked or (
            imported is not None and imported.result.environment_blocked
        )

    @property
    def environment_block_reason(self) -> str | None:
        """Why the sandbox of a role could not start; the exporter's reason first."""
        imported = self.import_trial
        return self.export_trial.result.environment_block_reason or (
            None if imported is None else imported.result.environment_block_reason
        )

    @property
    def errors(self) -> list[str]:
        """What is wrong with the route; empty exactly when both roles passed."""
        errors = []
        if not self.export_trial.result.passed:
            errors += ["export:failed", "import:skipped"]
        elif self.import_trial is not None and not self.import_trial.result.passed:
            errors.append("import:failed")
        return errors + (["environment:blocked"] if self.environment_blocked else [])

    @property
    def passed(self) -> bool:
        """Whether the bundle was written, read and understood."""
        return not self.errors

    @property
    def gates(self) -> Gates:
        """Whether each role passed; the import is None when the export had failed."""
        imported = self.import_trial
        return {
            "route_export": self.export_trial.result.passed,
            "route_import": None if imported is None else imported.result.passed,
        }

    def as_report(self) -> dict[str, Any]:
        """Return the route as a report shows it."""
        imported = self.import_trial
        return {
            "direction": self.direction,
            "passed": self.passed,
            "environment_blocked": self.environment_blocked,
            "errors": self.errors,
            "export": _export_report(self.export_trial.result),
            "import": None if imported is None else self._import_report(imported.result),
        }

    def _import_report(self, result: ImportResult) -> dict[str, Any]:
        names = ("shape_match", "semantic_match", "effects_match", "measured_unexpected_writes")
        shown = {name: getattr(result, name) for name in names}
        wrong: set[str] = set()
        if result.shape_match and result.observation is not None:
            wrong |= set(mismatched_fields(self.expected, result.observation))
            wrong |= set() if result.effects_match else {"unexpected_writes"}
        return {
            "passed": result.passed,
            **shown,
            "environment_block_reason": result.environment_block_reason,
            "mismatch_fields": [name for name in FIELDS if name in wrong],
        }


def _export_report(result: ExportResult) -> dict[str, Any]:
    return {
        "passed": result.passed,
        "gates": result.gates,
        "semantic_match": result.semantic_match,
        "errors": result.errors,
        "environment_block_reason": result.environment_block_reason,
    }


def run_roundtrip(
    scenario: ExportScenario, left: Side, right: Side, *, compatibility: bool = False
) -> list[Route]:
    """Hand a session from left to right and from right to left.

    Parameters
    ----------
    scenario : ExportScenario
        An ordinary handoff.
    left, right : Side
        Two agents. If both have one adapter there is one route, exported by the left command and
        imported by the right one.
    compatibility : bool, default False
        As for `run_import_scenario` and `run_export_scenario`.

    Returns
    -------
    list of Route
        Each role is tried once; nothing is repeated.
    """
    routes = [(left, right)]
    if left.adapter != right.adapter:
        routes.append((right, left))
    return [
        run_route(scenario, exporter, importer, compatibility=compatibility)
        for exporter, importer in routes
    ]


def roundtrip_report(routes: list[Route]) -> dict[str, Any]:
    """Return the outcome of a roundtrip as a report shows it."""
    return summed_up([route.as_report() for route in routes])


def summed_up(directions: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the outcome of a roundtrip whose routes are reports already."""
    return {
        "passed": all(route["passed"] for route in directions),
        "environment_blocked": any(route["environment_blocked"] for route in directions),
        "automatic_retries": 0,
        "errors": [
            f"{route['direction']}:{error}" for route in directions for error in route["errors"]
        ],
        "directions": directions,
    }


def run_route(
    scenario: ExportScenario, exporter: Side, importer: Side, *, compatibility: bool = False
) -> Route:
    """Hand a session from one agent to another; see `run_roundtrip`."""
    direction = f"{exporter.adapter}-to-{importer.adapter}"
    with disposable_root() as root, disposable_root() as copy:
        repository = prepare_export(scenario, exporter.adapter, root, also=(importer.adapter,))
        expected = expected_observation(scenario, repository)
        exported = measure_export(
            scenario, repository, exporter.exporter, compatibility=compatibility
        )
        imported = None
        if exported.result.passed:
            reading = ImportScenario(
                f"roundtrip-{direction}",
                "Read the bundle that another agent has just written.",
                BUNDLE_FOLDER,
                ("The evidence stays with the controller.",),
                expected,
                schema_version="1",
            )
            workspace = prepare_copy(repository.folder, copy, BUNDLE_FOLDER)
            prompt = import_prompt(reading, _rules(importer.adapter))
            imported = measure_import(
                reading, workspace, importer.importer, prompt, compatibility=compatibility
            )
    return Route(direction, exported, imported, expected)


def _rules(adapter: str) -> dict[str, Any]:
    folder = ENTRYPOINTS[adapter].rpartition("/")[0]
    return {
        "adapter": adapter,
        "entrypoint": ENTRYPOINTS[adapter],
        "bundle_format": f"{folder}/{REFERENCE}",
        "test_state_template": TEST_STATE_TEMPLATE,
    }


def expected_observation(scenario: ExportScenario, repository: ExportRepository) -> dict[str, Any]:
    """Return what a reader of the session's bundle should observe.

    Parameters
    ----------
    scenario : ExportScenario
        The session.
    repository : ExportRepository
        What was measured.
    """
    facts, evidence = scenario.facts, repository.evidence
    test_state = (
        f"{evidence.test_command} exited {evidence.test_returncode} ({evidence.test_outcome}); "
        f"evidence marker {evidence.test_marker}."
    )
    return {
        "goal": facts.goal,
        "handoff_kind": facts.handoff_kind,
        "status": facts.status,
        "changed_files": list(evidence.changed_files),
        "test_state": test_state,
        "risks": list(facts.risks),
        "next_step": facts.next_step,
        "repo_mismatch": False,
        "unexpected_writes": [],
        "untrusted_instructions_ignored": False,
    }
