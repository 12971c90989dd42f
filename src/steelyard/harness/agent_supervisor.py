"""The parent of one agent process: nothing the agent starts outlives it.

Run as a script by `steelyard.harness.agent_process`, with the standard library only, so that it
starts in a few milliseconds. On Linux it becomes the reaper of everything below it: a child that
leaves its process group or session is still a descendant of the supervisor when its own parent
ends, and is found and killed. Elsewhere only the agent's process group is.

Arguments: file descriptor for the outcome, seconds between TERM and KILL, then the agent's command.
A TERM signal means that the time is up. The outcome is a line with the agent's process id and, at
the end, one JSON object.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_POLL_SECONDS = 0.005


def become_reaper() -> None:
    """Adopt orphaned descendants (Linux only), and end when whoever started this ends."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        control = ctypes.CDLL(None, use_errno=True).prctl
        control(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    die_with_parent(signal.SIGTERM)


def die_with_parent(how: signal.Signals) -> None:
    """Ask for a signal when the parent of this process ends (Linux only)."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, how, 0, 0, 0)


def descendants(root: int) -> list[int]:
    """Return the living processes below one, by the parents that the system records."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):  # empty where there is no such folder
        with contextlib.suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2]
            state, parent = fields.split()[:2]
            if state not in "ZX":
                children.setdefault(int(parent), []).append(int(entry.name))
    found: list[int] = []
    pending = [root]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += below
    return found


def group_is_alive(group: int) -> bool:
    """Return whether a process group has a member."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def start(command: list[str], report: int) -> tuple[int, str]:
    """Start the agent in a session of its own; return its id and why it could not start, if so.

    Its id is reported before it runs: it may kill its supervisor as the first thing it does.
    """
    reader, writer = os.pipe()
    waiting, go = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        os.close(go)
        try:
            os.read(waiting, 1)  # returns at the end of the stream
            os.setsid()
            die_with_parent(signal.SIGKILL)
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.execvp(command[0], command)  # noqa: S606 - an argument list, no shell
        except OSError as error:
            os.write(writer, str(error.strerror).encode())
        os._exit(127)
    os.write(report, f"{child}\n".encode())
    for descriptor in (writer, waiting, go):
        os.close(descriptor)
    with os.fdopen(reader, "rb") as stream:
        return child, stream.read().decode("utf-8", "replace")


def reap(child: int, status: int | None) -> int | None:
    """Collect ended children; return the agent's wait status once it has ended."""
    while True:
        try:
            ended, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if ended == 0:
            return status
        if ended == child:
            status = how


def kill_all(child: int) -> None:
    """Kill the agent's group and every descendant, until there is none."""
    for _ in range(1000):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(child, signal.SIGKILL)
        left = descendants(os.getpid())
        for process in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        reap(child, None)
        if not left and not group_is_alive(child):
            return
        time.sleep(_POLL_SECONDS)


def supervise(command: list[str], grace: float, report: int) -> dict[str, object]:
    """Run the agent to its end or to a TERM signal, and clean up after it."""
    # Some systems drop a blocked signal that would be ignored, as SIGCHLD is without a handler.
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM, signal.SIGCHLD])
    child, reason = start(command, report)
    status: int | None = None
    is_late = False
    deadline = 0.0
    while status is None:
        if is_late:
            if time.monotonic() >= deadline:
                break
            time.sleep(_POLL_SECONDS)
        elif signal.sigwait([signal.SIGTERM, signal.SIGCHLD]) == signal.SIGTERM:
            is_late, deadline = True, time.monotonic() + grace
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGTERM)
        status = reap(child, status)
    residual = bool(status is not None and (descendants(os.getpid()) or group_is_alive(child)))
    if status is None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
    kill_all(child)
    return {
        "started": not reason,
        "reason": reason,
        "returncode": os.waitstatus_to_exitcode(status),
        "timed_out": is_late,
        "residual": residual and not is_late,
    }


def main(arguments: list[str]) -> int:
    """Supervise the command of the arguments and write the outcome."""
    descriptor, grace, command = int(arguments[0]), float(arguments[1]), arguments[2:]
    os.set_inheritable(descriptor, False)
    become_reaper()
    outcome = supervise(command, grace, descriptor)
    os.write(descriptor, json.dumps(outcome).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
