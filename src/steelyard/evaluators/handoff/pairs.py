"""Whether a result bundle answers a request bundle."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.issues import ERROR, OK, Check
from steelyard.evaluators.handoff.metadata import (
    REQUEST,
    RESULT,
    RESULT_STATUSES,
    MetadataFaultError,
    handoff_of,
    load_metadata,
)
from steelyard.evaluators.handoff.paths import is_non_blank
from steelyard.evaluators.handoff.validator import validate


@dataclass(frozen=True)
class _Side:
    is_valid: bool
    source: Any
    handoff: Mapping[str, Any]


def verify_pair(
    request: Path | str, result: Path | str, *, compatibility: bool = False
) -> list[Check]:
    """Check that a result answers a request: one delegation, seen from both sides.

    Parameters
    ----------
    request, result : pathlib.Path or str
        Two bundles.
    compatibility : bool, default False
        Validate both by the published rules.

    Returns
    -------
    list of Check
        Ten, in a fixed order. Two values agree when both are text that is not blank and they are
        equal to the character.
    """
    asked, answered = (_side(bundle, compatibility) for bundle in (request, result))
    outcomes = {
        "request_bundle": asked.is_valid,
        "result_bundle": answered.is_valid,
        "request_kind": asked.handoff.get("kind") == REQUEST,
        "result_kind": answered.handoff.get("kind") == RESULT,
        "correlation": _agree(asked.handoff.get("request_id"), answered.handoff.get("result_for")),
        "parent_agent": _agree(
            asked.handoff.get("parent_agent"), answered.handoff.get("parent_agent")
        ),
        "child_agent": _agree(
            asked.handoff.get("child_agent"), answered.handoff.get("child_agent")
        ),
        "request_source": _agree(asked.source, asked.handoff.get("parent_agent")),
        "result_source": _agree(answered.source, answered.handoff.get("child_agent")),
        "result_status": answered.handoff.get("result_status") in RESULT_STATUSES,
    }
    return [
        Check(name, OK if holds else ERROR, _MESSAGES[name] + ("" if holds else ": not so"))
        for name, holds in outcomes.items()
    ]


_MESSAGES = {
    "request_bundle": "the request is a valid bundle",
    "result_bundle": "the result is a valid bundle",
    "request_kind": f"the request is a {REQUEST}",
    "result_kind": f"the result is a {RESULT}",
    "correlation": "result_for names the request_id",
    "parent_agent": "both name one parent agent",
    "child_agent": "both name one child agent",
    "request_source": "the parent wrote the request",
    "result_source": "the child wrote the result",
    "result_status": f"the result says {', '.join(RESULT_STATUSES)}",
}


def _side(bundle: Path | str, compatibility: bool) -> _Side:
    is_valid = validate(bundle, compatibility=compatibility).is_valid
    try:
        metadata = load_metadata(Path(bundle), strict=not compatibility)
    except MetadataFaultError:
        return _Side(is_valid, None, {})
    return _Side(is_valid, metadata.get("source_agent"), handoff_of(metadata))


def _agree(left: Any, right: Any) -> bool:
    return is_non_blank(left) and is_non_blank(right) and bool(left == right)
