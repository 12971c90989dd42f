"""Paths: the ordered names of what an agent did, without what it said.

Two paths are read from the steps of a trial. The *full path* holds every control step (a tool
call or a decision); the *effect path* holds the tool calls only, because a decision that calls
nothing changes nothing in the system of record.

Whether a call that failed belongs to a path is a choice that changes results, so every function
here names it. ``"include"`` is how Plumbline publishes its figures: an agent that meets a 503 and
repeats the call has then left the reference path. ``"exclude"`` keeps only the calls that took
effect, so a correct retry stays on the path.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.trials.model import Step

FailedCalls: TypeAlias = Literal["include", "exclude"]
Path: TypeAlias = tuple[tuple[str, str], ...]

CONTROL_KINDS = ("tool_call", "decision")
EMPTY_PATH_TEXT = "(no control steps)"


def check_failed_calls(failed_calls: str) -> None:
    """Refuse a value of ``failed_calls`` that is neither ``"include"`` nor ``"exclude"``."""
    if failed_calls not in ("include", "exclude"):
        raise InputError(
            f"failed_calls is {failed_calls!r}; accepted are 'include' (a failed call is part of "
            "the path) and 'exclude' (only calls that took effect are)"
        )


def control_steps(steps: Iterable[Step], failed_calls: FailedCalls = "include") -> tuple[Step, ...]:
    """Return the tool calls and decisions among the steps, in order.

    Parameters
    ----------
    steps : iterable of Step
        The steps of one trial, in the order they happened.
    failed_calls : {"include", "exclude"}, default "include"
        Whether a step whose ``error`` is not None is kept.

    Returns
    -------
    tuple of Step
    """
    check_failed_calls(failed_calls)
    return tuple(
        step
        for step in steps
        if step.kind in CONTROL_KINDS and (failed_calls == "include" or not step.failed)
    )


def effect_steps(steps: Iterable[Step], failed_calls: FailedCalls = "include") -> tuple[Step, ...]:
    """Return the tool calls among the steps, in order; see `control_steps`."""
    return tuple(s for s in control_steps(steps, failed_calls) if s.kind == "tool_call")


def path_of(steps: Iterable[Step]) -> Path:
    """Return the (kind, name) of each step: arguments, outputs and errors play no part."""
    return tuple((step.kind, step.name) for step in steps)


def path_text(path: Path) -> str:
    """Return ``kind:name`` joined by ``" -> "``, or ``"(no control steps)"`` for an empty path."""
    return " -> ".join(f"{kind}:{name}" for kind, name in path) or EMPTY_PATH_TEXT


def path_hash(path: Path) -> str:
    """Return the first 12 hexadecimal digits of the SHA-256 of the path's text.

    Notes
    -----
    The digest identifies a path in a table; it is not evidence. It says nothing about arguments,
    and two paths whose names contain the separator can share a text.
    """
    return hashlib.sha256(path_text(path).encode()).hexdigest()[:12]
