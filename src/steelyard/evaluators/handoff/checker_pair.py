"""The stand-alone checker's rules for a result that should answer a request.

The published checker takes the request as an option and names what it finds by codes of its own;
`verify_pair` is the room's own verdict, ten checks of both bundles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from steelyard.evaluators.handoff.inventory import METADATA
from steelyard.evaluators.handoff.issues import Issue, fault
from steelyard.evaluators.handoff.metadata import (
    REQUEST,
    RESULT,
    MetadataFaultError,
    handoff_of,
    load_metadata,
)
from steelyard.evaluators.handoff.paths import is_non_blank


def request_issues(bundle: Path | str, request: Path | str) -> Iterator[Issue]:
    """Yield why a bundle is no answer to a request.

    Parameters
    ----------
    bundle, request : pathlib.Path or str
        Two folders; `check_bundle` judges the first one by itself.

    Yields
    ------
    Issue
        ``delegation-request`` and ``delegation-result`` when metadata cannot be read, and nothing
        is compared then; ``delegation-request-kind``, ``delegation-result-kind``,
        ``delegation-result-for`` and ``delegation-role`` when they do not agree. Two values agree
        when both are text that is not blank and they are equal to the character.
    """
    asked, answered = _handoff(request), _handoff(bundle)
    if asked is None:
        yield fault("delegation-request", "the request's metadata cannot be read", METADATA)
    if answered is None:
        yield fault("delegation-result", "the result's metadata cannot be read", METADATA)
    if asked is None or answered is None:
        return
    if asked.get("kind") != REQUEST:
        yield fault("delegation-request-kind", f"the request must be a {REQUEST}", METADATA)
    if answered.get("kind") != RESULT:
        yield fault("delegation-result-kind", f"the bundle must be a {RESULT}", METADATA)
    if not _agree(asked.get("request_id"), answered.get("result_for")):
        yield fault("delegation-result-for", "result_for must name the request_id", METADATA)
    for role in ("parent_agent", "child_agent"):
        if not _agree(asked.get(role), answered.get(role)):
            yield fault("delegation-role", f"both must name one {role}", METADATA)


def _handoff(bundle: Path | str) -> Mapping[str, Any] | None:
    try:
        return handoff_of(load_metadata(Path(bundle)))
    except MetadataFaultError:
        return None


def _agree(left: Any, right: Any) -> bool:
    return is_non_blank(left) and is_non_blank(right) and bool(left == right)
