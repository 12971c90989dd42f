"""What must not change within an arm: who answered, how it was started, and what it was held to.

Trials of two identities are never pooled, nor are trials of one identity under other scenarios,
instructions or runners, with another model or another time limit. Whatever differs in one of these
is another arm, by its name.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from steelyard.evaluators.handoff.digests import framed_digest, source_contract_digest
from steelyard.evaluators.handoff.identity import AgentIdentity
from steelyard.harness.handoff.environment import ROUTING
from steelyard.harness.handoff.import_trials import AgentCommand
from steelyard.harness.handoff.provenance import (
    ProvenanceError,
    adapter_files,
    files_in_use,
    read_provenance,
    runner_files,
)

STRATUM_DOMAIN, INVOCATION_DOMAIN = "steelyard-handoff-stratum-v1", "steelyard-invocation-v1"
NO_REVISION = "none"

_LABEL_DIGITS, _STRATUM_DIGITS = 12, 8


@dataclass(frozen=True)
class Role:
    """An agent in a trial.

    Attributes
    ----------
    identity : AgentIdentity
        Who it is, verified.
    command : AgentCommand
        How it is started.
    name : str
        ``exporter`` or ``importer`` in a roundtrip, blank where there is one agent only.
    """

    identity: AgentIdentity
    command: AgentCommand
    name: str = ""

    @property
    def label(self) -> str:
        """Product, version, kind and the start of the executable's digest."""
        identity = self.identity
        digest = (identity.sha256 or "sha256:unknown").removeprefix("sha256:")[:_LABEL_DIGITS]
        return f"{identity.product} {identity.version} {identity.identity_kind} {digest}"

    def named(self, facts: Mapping[str, str | None]) -> dict[str, str | None]:
        """Return facts about this agent under names that say which agent's they are."""
        prefix = f"{self.name}_" if self.name else ""
        return {prefix + name: value for name, value in facts.items()}


@dataclass(frozen=True)
class Stratum:
    """An arm.

    Attributes
    ----------
    arm : str
        Its name: who, and the start of the digest of everything else.
    covariates : dict
        The facts that the name stands for, for the table of that name.
    """

    arm: str
    covariates: dict[str, str | None]


def stratum(capability: str, roles: Sequence[Role], source_root: Path) -> Stratum:
    """Return the arm that a trial belongs to.

    Parameters
    ----------
    capability : str
        ``import``, ``export`` or ``roundtrip``.
    roles : sequence of Role
        One agent, or the exporter and the importer of a roundtrip.
    source_root : pathlib.Path
        Holds the scenarios in use, which need not be those of a commit.

    Returns
    -------
    Stratum

    Raises
    ------
    ProvenanceError
        A scenario file is no regular file.
    """
    corpus = source_contract_digest(files_in_use(source_root, capability))
    runner = source_contract_digest(runner_files())
    digests: dict[str, str | None] = {
        "scenario_corpus_sha256": corpus,
        "runner_contract_sha256": runner,
    }
    facts: dict[str, str | None] = {"capability": capability}
    for role in roles:
        facts |= role.named(_identity_facts(role.identity))
        digests |= role.named(
            {
                "adapter_entrypoint_sha256": source_contract_digest(
                    adapter_files(role.identity.adapter)
                ),
                "invocation_sha256": invocation_digest(role.command),
            }
        )
    whole = framed_digest(
        STRATUM_DOMAIN, ((name, str(digests[name]).encode()) for name in sorted(digests))
    )
    who = " to ".join(role.label for role in roles)
    facts |= {"revision": _revision(capability, roles, source_root)}
    short = whole.removeprefix("sha256:")[:_STRATUM_DIGITS]
    return Stratum(f"{who} {short}", facts | digests)


def _identity_facts(identity: AgentIdentity) -> dict[str, str | None]:
    """Return who an agent is; what a launcher says of the agent behind it is called reported."""
    shown = identity.report()
    shown["executable_sha256"] = shown.pop("sha256")
    return {name: value for name, value in shown.items() if name not in {"status", "error_code"}}


def invocation_digest(command: AgentCommand) -> str:
    """Return the digest of how an agent is started, apart from which file that is.

    Arguments, time limit and the variables that choose a model decide what an agent does: with
    another model it is not the same agent. Only the digest is kept, since arguments can be private.

    Parameters
    ----------
    command : AgentCommand
        Its program is not counted: the identity holds that file's own digest.

    Returns
    -------
    str
    """
    components = [("argument", argument) for argument in command.arguments[1:]]
    components.append(("timeout_seconds", repr(command.timeout_seconds)))
    if command.inherit_user_config:
        components += [(name, os.environ[name]) for name in ROUTING if name in os.environ]
    return framed_digest(
        INVOCATION_DOMAIN,
        ((name, text.encode("utf-8", "surrogateescape")) for name, text in components),
    )


def _revision(capability: str, roles: Sequence[Role], source_root: Path) -> str:
    try:
        found = read_provenance(source_root, capability, roles[0].identity.adapter)
    except ProvenanceError:
        return NO_REVISION
    return str(found["waybill_revision"])
