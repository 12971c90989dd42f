"""A roundtrip between two real agents, each identified before anything is handed over."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from steelyard.evaluators.handoff.identity import VERIFIED, AgentIdentity
from steelyard.evaluators.handoff.scenarios import ExportScenario
from steelyard.harness.handoff.identity_probe import observed_now
from steelyard.harness.handoff.import_trials import AgentCommand
from steelyard.harness.handoff.manual import ManualAgent, probe
from steelyard.harness.handoff.roundtrips import Side, roundtrip_report, run_roundtrip


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


def run_manual_roundtrip(
    scenario: ExportScenario, left: ManualSide, right: ManualSide
) -> dict[str, Any]:
    """Hand an ordinary session between two real agents and report it.

    Both commands of a side must be one product, version and file; otherwise nothing is handed over
    and the report says which side is not verified.

    Parameters
    ----------
    scenario : ExportScenario
        The session.
    left, right : ManualSide
        Who; the caller has acknowledged that nothing contains them.

    Returns
    -------
    dict
        With ``passed`` and, for each side, both identities.
    """
    observed_at = observed_now()
    sides = {"left": left, "right": right}
    identities = {name: _identities(side, observed_at) for name, side in sides.items()}
    unknown = [f"{name}:identity" for name, pair in identities.items() if not _is_one(*pair)]
    report = roundtrip_report(
        [] if unknown else run_roundtrip(scenario, left.as_side(), right.as_side())
    )
    return {
        "schema_version": "1",
        "capability": "roundtrip",
        "observed_at": observed_at,
        **{
            name: {
                "adapter": side.agent.adapter,
                "agent": side.agent.name,
                "identity": identities[name][0].report(),
                "import_identity": identities[name][1].report(),
            }
            for name, side in sides.items()
        },
        **report,
        "passed": report["passed"] and not unknown,
        "errors": unknown + report["errors"],
    }


def _identities(side: ManualSide, observed_at: str) -> tuple[AgentIdentity, AgentIdentity]:
    exporter, _ = probe(side.agent, observed_at)
    importer, _ = probe(replace(side.agent, command=side.importer), observed_at)
    return exporter, importer


def _is_one(exporter: AgentIdentity, importer: AgentIdentity) -> bool:
    return (
        exporter.status == VERIFIED
        and importer.status == VERIFIED
        and exporter.fingerprint == importer.fingerprint
    )
