"""Reading scenario documents: strict JSON, exact fields, every rule named."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from steelyard.evaluators.handoff.evidence import STATUS_WORDS, ExportScenarioFacts
from steelyard.evaluators.handoff.json_text import JsonFaultError, read_json
from steelyard.evaluators.handoff.metadata import HANDOFF, KINDS, REQUEST, RESULT, RESULT_STATUSES
from steelyard.evaluators.handoff.observation import shape_errors
from steelyard.evaluators.handoff.paths import is_non_blank, path_fault, path_list_faults
from steelyard.evaluators.handoff.scenarios import (
    COMMAND_MARKER,
    FIXTURE_FOLDER,
    NETWORK_MARKER,
    ExportScenario,
    FixtureManifest,
    ImportScenario,
    ScenarioDocumentError,
)

MAX_DOCUMENT_BYTES = 1_000_000

_IDENTIFIER = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*\Z")
_FORBIDDEN_IN_BRANCH = re.compile(r"[\s~^:?*\[\\]")
_BROKEN_BRANCH = re.compile(r"^[-/.]|\.\.|//|@\{|/\.|\.lock(?:/|\Z)|[/.]\Z|^@\Z|[\x00-\x1f\x7f]")
_IMPORT_FIELDS = ("schema_version", "id", "description", "bundle", "evidence", "expected")
_EXPORT_FIELDS = (
    "schema_version",
    "id",
    "description",
    "handoff_kind",
    "status",
    "fixture_state",
    "goal",
    "expected_changed_files",
    "risks",
    "next_step",
    "malicious_session_instruction",
    "delegation",
)


class _Document:
    """A JSON object and the place it comes from, for messages."""

    def __init__(self, text: str | bytes, where: str) -> None:
        self.where = where
        if len(text) > MAX_DOCUMENT_BYTES:
            raise ScenarioDocumentError("unreadable", "larger than a million bytes", where)
        try:
            value = read_json(text)
        except JsonFaultError as error:
            message = f"not strict JSON: {error.kind}"
            raise ScenarioDocumentError("unreadable", message, where) from None
        if not isinstance(value, dict):
            raise ScenarioDocumentError("not-object", "must be one JSON object", where)
        self.value: dict[str, Any] = value

    def require(self, holds: bool, error_class: str, message: str) -> None:
        if not holds:
            raise ScenarioDocumentError(error_class, message, self.where)

    def require_fields(self, fields: Iterable[str]) -> None:
        lacking = sorted(set(fields) - self.value.keys())
        unknown = sorted(self.value.keys() - set(fields))
        self.require(not lacking, "missing-fields", f"lacks {', '.join(lacking)}")
        self.require(not unknown, "extra-fields", f"has unknown fields {unknown!r:.200}")

    def require_version(self, *accepted: str) -> None:
        version = self.value["schema_version"]
        holds = isinstance(version, str) and version in accepted
        self.require(holds, "schema-version", f"schema_version must be one of {accepted}")

    def require_identifier(self, file_name: str) -> None:
        name = self.value["id"]
        holds = isinstance(name, str) and _IDENTIFIER.match(name) is not None
        self.require(holds, "id-format", "id is lowercase letters, digits and single hyphens")
        self.require(file_name == f"{name}.json", "id-filename", f"the file must be {name}.json")
        self.require_text("description")

    def require_text(self, field: str) -> None:
        holds = is_non_blank(self.value[field])
        self.require(holds, field.replace("_", "-"), f"{field} must be text that is not blank")

    def require_texts(self, field: str) -> None:
        value = self.value[field]
        holds = isinstance(value, list) and bool(value) and all(map(is_non_blank, value))
        self.require(holds, field, f"{field} must be a list of texts that are not blank")


def parse_import_scenario(
    text: str | bytes, file_name: str, *, compatibility: bool = False
) -> ImportScenario:
    """Read an import scenario.

    Parameters
    ----------
    text : str or bytes
        Strict JSON.
    file_name : str
        Its name, which must be the scenario's id and ``.json``.
    compatibility : bool, default False
        Let the expected kind and status be any text, as the published loader does.

    Raises
    ------
    ScenarioDocumentError
        The first rule that is broken.
    """
    document = _Document(text, file_name)
    value = document.value
    document.require_fields(_IMPORT_FIELDS)
    document.require_version("1", "2")
    document.require_identifier(file_name)
    _check_bundle_path(document)
    document.require_texts("evidence")
    expected = value["expected"]
    document.require(
        isinstance(expected, dict) and not shape_errors(expected, compatibility=compatibility),
        "expected-observation",
        "expected must be a valid observation",
    )
    return ImportScenario(
        value["id"],
        value["description"],
        value["bundle"],
        tuple(value["evidence"]),
        expected,
        value["schema_version"],
    )


def _check_bundle_path(document: _Document) -> None:
    value, bundle = document.value, document.value["bundle"]
    is_path = isinstance(bundle, str) and path_fault(bundle) is None
    document.require(
        bundle is None or is_path, "bundle-path", "bundle must be null or a plain relative path"
    )
    if value["schema_version"] == "2":
        document.require(bundle is not None, "v2-bundle-required", "bundle must not be null")
        folder = f"{FIXTURE_FOLDER}/{value['id']}/"
        document.require(
            str(bundle).startswith(folder), "v2-bundle-prefix", f"bundle must be below {folder}"
        )


def parse_export_scenario(
    text: str | bytes, file_name: str, *, compatibility: bool = False
) -> ExportScenario:
    """Read an export scenario; see `parse_import_scenario` for parameters and errors."""
    document = _Document(text, file_name)
    value = document.value
    document.require_fields(_EXPORT_FIELDS)
    document.require_version("1")
    document.require_identifier(file_name)
    kind, state, changed = (
        value[name] for name in ("handoff_kind", "fixture_state", "expected_changed_files")
    )
    document.require(kind in KINDS, "handoff-kind", f"accepted are {', '.join(KINDS)}")
    document.require_text("status")
    document.require(
        compatibility or value["status"] in STATUS_WORDS,
        "status",
        f"accepted are {', '.join(STATUS_WORDS)}",
    )
    document.require(
        state in ("passing", "failing"), "fixture-state", "accepted are passing and failing"
    )
    document.require_text("goal")
    document.require(
        bool(changed) and not path_list_faults(changed),
        "changed-files",
        "expected_changed_files must be sorted, unique, plain relative paths",
    )
    document.require_texts("risks")
    document.require_text("next_step")
    _check_instruction(document)
    _check_delegation(document)
    told = ("status", "goal", "risks", "next_step", "delegation")
    status, goal, risks, next_step, delegation = (value[name] for name in told)
    return ExportScenario(
        value["id"],
        value["description"],
        ExportScenarioFacts(kind, status, goal, tuple(risks), next_step, delegation),
        state,
        tuple(changed),
        value["malicious_session_instruction"],
    )


def _check_instruction(document: _Document) -> None:
    instruction = document.value["malicious_session_instruction"]
    holds_both = is_non_blank(instruction) and (
        COMMAND_MARKER in instruction and NETWORK_MARKER in instruction
    )
    document.require(
        instruction is None or holds_both,
        "malicious-placeholders",
        f"must be null or hold {COMMAND_MARKER} and {NETWORK_MARKER}",
    )


def _check_delegation(document: _Document) -> None:
    kind, delegation = document.value["handoff_kind"], document.value["delegation"]
    if kind == HANDOFF:
        document.require(delegation is None, "delegation-forbidden", "delegation must be null")
        return
    is_object = isinstance(delegation, dict)
    document.require(is_object, "delegation-required", "delegation must be an object")
    status = document.value["status"]
    if kind == REQUEST:
        document.require(status == "requested", "request-status", "status must be 'requested'")
    fields = ("request_id", "counterparty_agent") + (("result_status",) if kind == RESULT else ())
    unknown, lacking = delegation.keys() - set(fields), set(fields) - delegation.keys()
    document.require(
        not unknown, "delegation-extra-fields", f"delegation has exactly {', '.join(fields)}"
    )
    document.require(
        not lacking, "delegation-missing-fields", f"delegation has exactly {', '.join(fields)}"
    )
    document.require(
        all(is_non_blank(delegation[field]) for field in fields),
        "delegation-type",
        "members of delegation must be texts that are not blank",
    )
    if kind == RESULT:
        result = delegation["result_status"]
        document.require(
            result in RESULT_STATUSES and status == result,
            "result-status",
            "status must be result_status, one of completed, partial, blocked",
        )


def parse_fixture_manifest(
    text: str | bytes, where: str = ".conformance-fixture.json", *, compatibility: bool = False
) -> FixtureManifest:
    """Read the manifest of an import fixture.

    Parameters
    ----------
    text : str or bytes
        Strict JSON.
    where : str
        Named in messages.
    compatibility : bool, default False
        Look only for the characters that the published loader looks for in the branch's name, and
        let Git refuse the rest.

    Raises
    ------
    ScenarioDocumentError
        The first rule that is broken.
    """
    document = _Document(text, where)
    value = document.value
    document.require_fields(("schema_version", "branch", "dirty_paths", "canaries"))
    document.require_version("1")
    branch = value["branch"]
    is_branch = is_non_blank(branch) and not _FORBIDDEN_IN_BRANCH.search(branch)
    if is_branch and not compatibility:
        is_branch = not _BROKEN_BRANCH.search(branch)
    document.require(is_branch, "branch", "branch must be a name that Git accepts")
    document.require(
        not path_list_faults(value["dirty_paths"]),
        "dirty-paths",
        "dirty_paths must be sorted, unique, plain relative paths",
    )
    document.require(
        isinstance(value["canaries"], bool), "canaries", "canaries must be true or false"
    )
    return FixtureManifest(branch, tuple(value["dirty_paths"]), value["canaries"])
