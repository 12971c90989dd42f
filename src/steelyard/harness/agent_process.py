"""Running one agent command within bounds: time, output, environment, descendants.

The command is an argument list and never passes through a shell. Its prompt goes to standard
input. Both output streams are drained to the end but kept to a limit. When it ends, or its time is
up, everything it started is killed: see `steelyard.harness.agent_supervisor`, which also says what
an agent with its user's rights can do that cannot be held.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from steelyard.harness.agent_streams import Streams

OUTPUT_LIMIT = 262_144
"""Bytes kept of each stream by default."""

GRACE_SECONDS = 0.5
"""Between TERM and KILL."""

DRAIN_SECONDS = 5.0
"""How long the streams may stay open when everything known to hold them is dead."""

_SUPERVISOR = Path(__file__).with_name("agent_supervisor.py")
_START_SECONDS = 30.0
_CLEANUP_SECONDS = 30.0
_NUDGE_SECONDS = 0.01


@dataclass(frozen=True)
class ProcessOutcome:
    """How an agent's process ended.

    Attributes
    ----------
    started : bool
        Whether the command could be executed.
    returncode : int or None
        Exit code, negative for a signal; None when it did not start.
    timed_out : bool
        Whether it was stopped for its time.
    residual : bool
        Whether it left something behind after ending by itself: living descendants, which were
        killed, or a stream that somebody holds open. An agent that laid hands on its supervisors
        counts as well.
    stdout, stderr : bytes
        The first bytes of each stream, up to the limit.
    stdout_truncated, stderr_truncated : bool
        Whether there were more.
    """

    started: bool
    returncode: int | None
    timed_out: bool
    residual: bool
    stdout: bytes
    stderr: bytes
    stdout_truncated: bool
    stderr_truncated: bool


_NOT_STARTED = ProcessOutcome(False, None, False, False, b"", b"", False, False)


def run_agent(
    command: Sequence[str],
    *,
    prompt: bytes,
    folder: Path,
    environment: Mapping[str, str],
    timeout_seconds: float,
    output_limit: int = OUTPUT_LIMIT,
) -> ProcessOutcome:
    """Run an agent command to its end or its timeout.

    Parameters
    ----------
    command : sequence of str
        Program and arguments. No shell reads them.
    prompt : bytes
        Written to standard input, which is then closed. An agent may stop reading at any time.
    folder : pathlib.Path
        Working folder.
    environment : mapping of str to str
        All variables the agent gets.
    timeout_seconds : float
        From the start to the TERM signal.
    output_limit : int
        Bytes kept of each stream.

    Returns
    -------
    ProcessOutcome
        When it is returned, no descendant of the agent is alive.
    """
    # A socket, unlike a pipe, cannot be opened by its number in /proc: only the supervisors write.
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            process = _start_supervisor(command, folder, environment, theirs.fileno())
        if process is None:
            return _NOT_STARTED
        with Streams(process, ours, prompt, output_limit) as streams:
            try:
                is_late = _watch(streams, timeout_seconds)
            finally:  # also when interrupted
                _end(process, streams)
            is_held = not streams.serve(DRAIN_SECONDS, lambda: streams.are_drained)
    return _outcome(streams, is_late, is_held)


def _start_supervisor(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], report: int
) -> subprocess.Popen[bytes] | None:
    supervisor = [sys.executable, "-I", "-S", str(_SUPERVISOR)]
    settings = [str(report), str(GRACE_SECONDS), str(os.getpid())]
    try:
        return subprocess.Popen(  # noqa: S603 - an argument list, no shell
            [*supervisor, *settings, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            pass_fds=[report],
            start_new_session=True,
        )
    except (OSError, ValueError):  # ValueError: NUL in an argument
        return None


def _watch(streams: Streams, timeout_seconds: float) -> bool:
    """Serve the streams until the supervisors have ended; return whether the time was up before.

    The agent's time starts when its id is known: the supervisors' own start is not the agent's.
    """
    streams.serve(_START_SECONDS, lambda: streams.is_reported or "agent" in _said(streams))
    return not streams.serve(
        timeout_seconds, lambda: streams.is_reported or "outcome" in _said(streams)
    )


def _end(process: subprocess.Popen[bytes], streams: Streams) -> None:
    """Have the supervisors end, if they have not, and clean up after the agent."""
    try:
        deadline = time.monotonic() + GRACE_SECONDS + _CLEANUP_SECONDS
        while not streams.is_reported and time.monotonic() < deadline:
            _nudge(process, streams)
            streams.serve(_NUDGE_SECONDS, lambda: streams.is_reported)
    finally:
        process.kill()
        process.wait()


def _nudge(process: subprocess.Popen[bytes], streams: Streams) -> None:
    """Ask a supervisor to end; the agent may have stopped it.

    While a message can still come, one of the two is alive, and nobody else can have its id.
    """
    supervisor = process.pid if process.poll() is None else _said(streams).get("supervisor")
    for number in (signal.SIGCONT, signal.SIGTERM):
        if supervisor is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(supervisor, number)


def _outcome(streams: Streams, is_late: bool, is_held: bool) -> ProcessOutcome:
    said = _said(streams)
    known = said.get("outcome")
    if known is None:
        # Both supervisors were killed, by the agent or from outside. The agent itself dies with the
        # inner one; its group is killed here, in case it was about to start.
        agent = said.get("agent")
        if agent is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(agent, signal.SIGKILL)
        known = {
            "started": agent is not None,
            "returncode": -signal.SIGKILL,
            "asked": True,
            "residual": agent is not None,
        }
    is_late = is_late and known["asked"]
    has_meddled = known["started"] and (known["residual"] or known["asked"] or is_held)
    return ProcessOutcome(
        known["started"],
        known["returncode"] if known["started"] else None,
        is_late,
        has_meddled and not is_late,
        *streams.kept,
    )


def _said(streams: Streams) -> dict[str, Any]:
    """Return what the supervisors said; a line that is cut off says nothing."""
    said: dict[str, Any] = {}
    for line in streams.messages.splitlines():
        with contextlib.suppress(ValueError):
            said |= json.loads(line)
    return said
