"""Which capabilities of which agent are covered by evidence that still holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.handoff.identity import ADAPTERS, VERIFIED

CAPABILITIES = ("export", "import")
REQUIRED = {
    "import": frozenset(ADAPTERS),
    "export": frozenset({"claude-code", "codex"}),
}
"""The adapters from which each capability is required."""

_IDENTITY = ("product", "version", "sha256")


@dataclass(frozen=True)
class Coverage:
    """One capability of one adapter.

    Attributes
    ----------
    status : str
        ``source_mismatch`` (evidence from other sources), the identity's status when it is not
        verified, ``not_run``, ``evidence_mismatch`` (another executable), ``passed``, ``failed``.
    required : bool
        Whether the matrix needs it.
    identity_match, source_match : bool or None
        Whether the evidence is of this executable and these sources; None without evidence.
    """

    status: str
    required: bool
    identity_match: bool | None
    source_match: bool | None


@dataclass(frozen=True)
class AdapterRow:
    """The coverage of one adapter."""

    capabilities: dict[str, Coverage]
    identity_success: bool

    @property
    def success(self) -> bool:
        """Whether the identity is verified and every required capability passed."""
        return self.identity_success and all(
            coverage.status == "passed"
            for coverage in self.capabilities.values()
            if coverage.required
        )


def adapter_row(
    adapter: str,
    current_identity: Mapping[str, Any],
    evidence: Iterable[Mapping[str, Any]],
    current_provenance: Mapping[str, Any],
) -> AdapterRow:
    """Return the coverage of an adapter by the evidence there is.

    Parameters
    ----------
    adapter : str
        Its name.
    current_identity : mapping
        ``status``, ``product``, ``version``, ``sha256`` as probed now.
    evidence : iterable of mapping
        ``capability``, ``outcome``, ``identity`` and ``provenance`` of checked reports, at most
        one for each capability.
    current_provenance : mapping
        As the sources are now.
    """
    by_capability = {item["capability"]: item for item in evidence}
    return AdapterRow(
        {
            name: _coverage(
                adapter in REQUIRED[name],
                by_capability.get(name),
                current_identity,
                current_provenance,
            )
            for name in CAPABILITIES
        },
        current_identity["status"] == VERIFIED,
    )


def _coverage(
    required: bool,
    evidence: Mapping[str, Any] | None,
    identity: Mapping[str, Any],
    provenance: Mapping[str, Any],
) -> Coverage:
    is_verified = identity["status"] == VERIFIED
    if evidence is None:
        return Coverage("not_run" if is_verified else identity["status"], required, None, None)
    same_source = evidence["provenance"] == provenance
    same_agent = is_verified and all(
        evidence["identity"][name] == identity[name] for name in _IDENTITY
    )
    if not same_source:
        status = "source_mismatch"
    elif not is_verified:
        status = identity["status"]
    elif not same_agent:
        status = "evidence_mismatch"
    else:
        status = evidence["outcome"]
    return Coverage(status, required, same_agent, same_source)
