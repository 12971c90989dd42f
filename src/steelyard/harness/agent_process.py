"""Running one agent command within bounds: time, output, environment, descendants.

The command is an argument list and never passes through a shell. Its prompt goes to standard
input. Both output streams are drained to the end but kept to a limit. When it ends, or its time is
up, everything it started is killed: see `steelyard.harness.agent_supervisor`.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

OUTPUT_LIMIT = 262_144
"""Bytes kept of each stream by default."""

GRACE_SECONDS = 0.5
"""Between TERM and KILL."""

_SUPERVISOR = Path(__file__).with_name("agent_supervisor.py")
_CHUNK = 65_536
_CLEANUP_SECONDS = 30.0


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
        Whether it left living descendants behind after ending by itself; they were killed.
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


@dataclass
class _Kept:
    """The start of a stream and its whole length."""

    limit: int
    content: bytearray = field(default_factory=bytearray)
    total: int = 0

    def drain(self, stream: IO[bytes]) -> None:
        with stream, contextlib.suppress(OSError, ValueError):
            while chunk := stream.read1(_CHUNK) if hasattr(stream, "read1") else b"":
                self.total += len(chunk)
                self.content += chunk[: max(0, self.limit - len(self.content))]

    @property
    def truncated(self) -> bool:
        return self.total > self.limit


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
    reader, writer = os.pipe()
    supervisor = [sys.executable, "-I", "-S", str(_SUPERVISOR), str(writer), str(GRACE_SECONDS)]
    try:
        process = subprocess.Popen(  # noqa: S603 - an argument list, no shell
            [*supervisor, *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            pass_fds=[writer],
            start_new_session=True,
        )
    except (OSError, ValueError):  # ValueError: NUL in an argument
        os.close(reader)
        return ProcessOutcome(False, None, False, False, b"", b"", False, False)
    finally:
        os.close(writer)
    stdout, stderr = _Kept(output_limit), _Kept(output_limit)
    threads = _serve_streams(process, prompt, stdout, stderr)
    outcome = _outcome(process, reader, timeout_seconds)
    for thread in threads:
        thread.join(_CLEANUP_SECONDS)
    return ProcessOutcome(
        outcome["started"],
        outcome["returncode"] if outcome["started"] else None,
        outcome["timed_out"],
        outcome["residual"],
        bytes(stdout.content),
        bytes(stderr.content),
        stdout.truncated,
        stderr.truncated,
    )


def _serve_streams(
    process: subprocess.Popen[bytes], prompt: bytes, stdout: _Kept, stderr: _Kept
) -> list[threading.Thread]:
    tasks: list[tuple[Any, tuple[Any, ...]]] = [(_feed, (process.stdin, prompt))]
    tasks += [(stdout.drain, (process.stdout,)), (stderr.drain, (process.stderr,))]
    threads = [threading.Thread(target=task, args=given, daemon=True) for task, given in tasks]
    for thread in threads:
        thread.start()
    return threads


def _feed(stream: IO[bytes], prompt: bytes) -> None:
    # A broken pipe is an agent that did not want to read; closing may try to write once more.
    with contextlib.suppress(OSError, ValueError):
        stream.write(prompt)
    with contextlib.suppress(OSError, ValueError):
        stream.close()


def _outcome(process: subprocess.Popen[bytes], reader: int, timeout: float) -> dict[str, Any]:
    """Wait for the supervisor and read what it says; it cleans up even when its time is up.

    The agent's time starts when its id is known: the supervisor's own start is not the agent's.
    """
    stream = os.fdopen(reader, "rb")
    try:
        agent = stream.readline().strip()
        try:
            process.wait(timeout)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGTERM)
            process.wait(GRACE_SECONDS + _CLEANUP_SECONDS)
    except BaseException:  # interrupted, or the supervisor itself hangs
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_SECONDS + 1)
        process.kill()
        process.wait()
        stream.close()
        raise
    with stream:
        report = stream.read()
    if report:
        outcome: dict[str, Any] = json.loads(report)
        return outcome
    # The supervisor was killed, by the agent or from outside. The agent died with it; its group
    # may live on and is killed here. It counts as a process left behind.
    if agent:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(int(agent), signal.SIGKILL)
    return {
        "started": bool(agent),
        "returncode": -signal.SIGKILL,
        "timed_out": False,
        "residual": bool(agent),
    }
