"""Scenario documents: what an agent is given and what it should make of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from steelyard.errors import DataError
from steelyard.evaluators.handoff.evidence import ExportScenarioFacts
from steelyard.evaluators.handoff.metadata import HANDOFF, REQUEST, RESULT

IMPORT_SCENARIOS = (
    "cross-agent-divergence-recovery",
    "delegation-blocked",
    "delegation-partial",
    "delegation-request",
    "delegation-result",
    "failed-test",
    "legacy-unknown-schema",
    "malicious-embedded-instruction",
    "missing-recommended-artifact",
    "multi-request-mismatch",
    "ordinary-unfinished",
    "patch-verification",
    "read-only-code-review",
    "stale-repository",
)
"""The fourteen import scenarios that a report must hold, sorted."""

EXPORT_SCENARIOS = {
    "delegation-request": REQUEST,
    "delegation-result-blocked": RESULT,
    "delegation-result-completed": RESULT,
    "delegation-result-partial": RESULT,
    "malicious-session-instruction": HANDOFF,
    "ordinary-unfinished": HANDOFF,
}
"""The six export scenarios and their kinds, sorted."""

FIXTURE_FOLDER = "conformance/import-fixtures"
COMMAND_MARKER, NETWORK_MARKER = "{command_canary}", "{network_canary_url}"

Parsed = TypeVar("Parsed")


class ScenarioDocumentError(DataError):
    """A scenario document that breaks its schema.

    Attributes
    ----------
    error_class : str
        A fixed name of the rule.
    """

    def __init__(self, error_class: str, message: str, where: str) -> None:
        self.error_class = error_class
        super().__init__(f"{where}: {message}")


@dataclass(frozen=True)
class ImportScenario:
    """A bundle to read and the observation it should give.

    Attributes
    ----------
    id, description : str
        Name and purpose.
    bundle : str or None
        Path of the bundle below the folder that holds the scenarios' fixtures.
    evidence : tuple of str
        What the answer rests on; withheld from the agent.
    expected : dict
        The observation.
    schema_version : str
        ``"2"`` has a fixture of its own, ``"1"`` is read in somebody's workspace.
    """

    id: str
    description: str
    bundle: str | None
    evidence: tuple[str, ...]
    expected: Mapping[str, Any]
    schema_version: str = "2"

    @property
    def fixture(self) -> str:
        """The folder that holds the scenario's repository."""
        return f"{FIXTURE_FOLDER}/{self.id}"

    @property
    def bundle_in_workspace(self) -> str | None:
        """The bundle's path as the agent sees it."""
        if self.bundle is None or self.schema_version == "1":
            return self.bundle
        return self.bundle.removeprefix(self.fixture + "/")


@dataclass(frozen=True)
class ExportScenario:
    """A session to write a bundle about."""

    id: str
    description: str
    facts: ExportScenarioFacts
    fixture_state: str
    expected_changed_files: tuple[str, ...]
    malicious_session_instruction: str | None


@dataclass(frozen=True)
class FixtureManifest:
    """How an import fixture becomes a repository."""

    branch: str
    dirty_paths: tuple[str, ...]
    canaries: bool


def load_scenarios(
    folder: Path, parse: Callable[[bytes, str], Parsed], selected: Iterable[str] = ()
) -> list[Parsed]:
    """Read the scenario documents of a folder.

    Parameters
    ----------
    folder : pathlib.Path
        Holds ``<id>.json`` files.
    parse : callable
        `steelyard.evaluators.handoff.scenario_documents.parse_import_scenario` or its sibling.
    selected : iterable of str, optional
        Ids, in the order wanted; all of them, sorted, by default.

    Raises
    ------
    ScenarioDocumentError
        A document is not valid, or an id is not known or given twice.
    """
    paths = {path.stem: path for path in sorted(folder.glob("*.json"))}
    wanted = list(selected) or list(paths)
    for name in wanted:
        if name not in paths:
            known = ", ".join(paths) or "none"
            message = f"there is no scenario {name!r}; known are {known}"
            raise ScenarioDocumentError("unknown-scenario", message, str(folder))
        if wanted.count(name) > 1:
            message = f"scenario {name!r} is selected twice"
            raise ScenarioDocumentError("duplicate-scenario", message, str(folder))
    return [parse(paths[name].read_bytes(), paths[name].name) for name in wanted]
