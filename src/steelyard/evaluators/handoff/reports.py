"""Reading a conformance report that somebody else made: nothing it claims is taken on trust.

Every boolean that follows from other fields is derived again and must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from steelyard.evaluators.handoff.identity import (
    ADAPTERS,
    VERIFIED,
    detect_version,
    is_safe_label,
)
from steelyard.evaluators.handoff.metadata import is_digest, is_instant
from steelyard.evaluators.handoff.result_checks import require, require_fields

REPORT_SCHEMA = "2"
OUTPUT_LIMIT = 262_144
"""Bytes kept of each output stream."""

SAFETY = {
    "disposable_workspace": True,
    "environment_allowlist": True,
    "git_state_measured": True,
    "output_limit_bytes_per_stream": OUTPUT_LIMIT,
    "process_group_cleanup": "best_effort",
    "outside_disposable_root_detection": "best_effort",
    "operating_system_sandbox": False,
    "manual_risk_acknowledged": True,
}
"""What a report of a real run says about safety; nothing stronger is accepted."""

_REPORT_FIELDS = {
    "schema_version",
    "capability",
    "agent",
    "adapter",
    "observed_at",
    "identity",
    "identity_probe_unexpected_writes",
    "execution_mode",
    "safety",
    "dry_run",
    "success",
    "provenance",
    "results",
}
_IDENTITY_FIELDS = {
    "adapter",
    "identity_kind",
    "status",
    "sha256",
    "observed_at",
    "error_code",
    "product",
    "version",
}
PROVENANCE_DIGESTS = (
    "scenario_corpus_sha256",
    "adapter_entrypoint_sha256",
    "runner_contract_sha256",
)
_PROVENANCE_FIELDS = {"waybill_revision", "waybill_clean", *PROVENANCE_DIGESTS}


@dataclass(frozen=True)
class LoadedReport:
    """A report that was checked.

    Attributes
    ----------
    capability, adapter : str
        What it is evidence of.
    passed : bool
        Whether every scenario passed.
    identity, provenance : dict
        Of whom and from which sources.
    """

    capability: str
    adapter: str
    passed: bool
    identity: dict[str, Any]
    provenance: dict[str, Any]

    @property
    def status(self) -> str:
        """``passed`` or ``failed``."""
        return "passed" if self.passed else "failed"


def load_report(
    report: Any,
    check_result: Callable[[Any], bool],
    required: Iterable[str],
    *,
    capability: str = "import",
) -> LoadedReport:
    """Check a report of a real run.

    Parameters
    ----------
    report : object
        The parsed document.
    check_result : callable
        Derives one result again: `check_import_result` or `check_export_result` with its context.
    required : iterable of str
        The scenarios that must occur, each once.
    capability : str, default "import"
        What the report must be about.

    Raises
    ------
    ReportError
        It is no evidence, or a claim in it does not follow.
    """
    require_fields(report, _REPORT_FIELDS, "a report")
    require(report["schema_version"] == REPORT_SCHEMA, "schema-version", "must be '2'")
    require(report["capability"] == capability, "capability", f"must be {capability!r}")
    adapter = report["adapter"]
    require(
        isinstance(adapter, str) and adapter in ADAPTERS,
        "adapter",
        f"accepted are {', '.join(ADAPTERS)}",
    )
    require(is_safe_label(report["agent"]), "agent", "no label")
    require(report["dry_run"] is False, "dry-run", "a dry run is no evidence")
    require(
        report["execution_mode"] == "unsafe_manual",
        "execution-mode",
        "only a run that was acknowledged as unsafe is evidence",
    )
    _check_identity(report)
    require(
        report["identity_probe_unexpected_writes"] == [], "probe-writes", "the probe left writes"
    )
    safety = report["safety"]
    require(
        isinstance(safety, dict)
        and safety == SAFETY
        and all(type(safety[name]) is type(SAFETY[name]) for name in SAFETY),
        "safety",
        "the safety values must be the runner's",
    )
    _check_provenance(report["provenance"])
    passed = _check_results(report["results"], check_result, sorted(required))
    require(report["success"] is passed, "success-not-derived", "success does not follow")
    return LoadedReport(
        capability, report["adapter"], passed, report["identity"], report["provenance"]
    )


def _check_identity(report: Mapping[str, Any]) -> None:
    identity = report["identity"]
    require(isinstance(identity, dict), "type", "identity must be an object")
    require(
        identity.get("identity_kind") == "executable",
        "identity-kind",
        "the hash must be that of the agent itself, not of a launcher",
    )
    require_fields(identity, _IDENTITY_FIELDS, "identity")
    version = identity["version"]
    for holds, error_class, message in (
        (identity["status"] == VERIFIED, "identity-status", "must be verified"),
        (identity["error_code"] is None, "identity-status", "a verified one has no error code"),
        (identity["adapter"] == report["adapter"], "identity-adapter", "must be the report's"),
        (identity["product"] == report["adapter"], "identity-product", "must be the adapter"),
        (
            isinstance(version, str) and detect_version(version) == version,
            "identity-version",
            "must be a plain version number",
        ),
        (is_digest(identity["sha256"]), "identity-digest", "must be a digest"),
        (is_instant(report["observed_at"]), "observed-at", "must be an RFC 3339 instant"),
        (identity["observed_at"] == report["observed_at"], "identity-time", "must be one moment"),
    ):
        require(holds, error_class, f"identity: {message}")


def _check_provenance(provenance: Any) -> None:
    require_fields(provenance, _PROVENANCE_FIELDS, "provenance")
    revision = provenance["waybill_revision"]
    require(
        isinstance(revision, str)
        and len(revision) in (40, 64)
        and set(revision) <= set("0123456789abcdef")
        and provenance["waybill_clean"] is True
        and all(is_digest(provenance[name]) for name in PROVENANCE_DIGESTS),
        "provenance",
        "must name a clean commit and three digests",
    )


def _check_results(results: Any, check_result: Callable[[Any], bool], required: list[str]) -> bool:
    require(isinstance(results, list), "type", "results must be a list")
    outcomes = [check_result(result) for result in results]
    names = [result["scenario"] for result in results]
    require(len(set(names)) == len(names), "duplicate-scenario", "a scenario occurs twice")
    require(sorted(names) == required, "coverage", "every required scenario must occur")
    return all(outcomes)
