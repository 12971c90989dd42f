"""The parents of one agent process: nothing the agent starts outlives them.

Run as a script by `steelyard.harness.agent_process`, with the standard library only, so that it
starts in a few milliseconds. There are two supervisors, the outer one the parent of the inner one,
which is the agent's. On Linux each adopts whatever below it loses its parent: a child that leaves
its process group or session is still a descendant, and is found and killed. An agent has the rights
to kill either supervisor, and then the other one cleans up; they are in sessions of their own, so
that it takes more than one signal to hit both. Elsewhere than on Linux only the agent's process
group is killed.

What this cannot hold: an agent that kills both supervisors between two of their steps, or all
processes of its user at once, and work that it hands to a service (cron, a container, a remote
machine). Nothing short of another user or a virtual machine holds that.

Arguments: file descriptor of a socket for messages, seconds between TERM and KILL, process id of
who started this, then the agent's command. A TERM signal means that the time is up. Each message is
a line with a JSON object: ``supervisor`` and ``agent``, the ids of the inner one and of the agent
before it runs; ``outcome`` at the end.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path

_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_CHILD_SUBREAPER = 1, 4, 36
_WALL = 0x40000000 if sys.platform == "linux" else 0
_POLL_SECONDS = 0.005
_KILL_SECONDS = 20.0
_INNER_SECONDS = 5.0
"""What the inner supervisor gets for its own cleaning up before the outer one does it."""

_IS_GONE = (ProcessLookupError, PermissionError)


def _control(option: int, value: int) -> None:
    """Set an attribute of this process (Linux only)."""
    with contextlib.suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def become_supervisor(parent: int) -> None:
    """Adopt orphaned descendants, hold every signal back, and be told when the parent ends."""
    # Some systems drop a blocked signal that would be ignored, as SIGCHLD is without a handler.
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    _control(_PR_SET_CHILD_SUBREAPER, 1)
    _control(_PR_SET_DUMPABLE, 0)  # its descriptors and memory are closed to the agent's user
    _control(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it ended before it could be watched
        os._exit(1)


def descendants(root: int) -> list[tuple[int, int]]:
    """Return id and group of the living processes below one, by the parents the system records."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in _process_names():
        with contextlib.suppress(OSError, ValueError):
            fields = Path("/proc", name, "stat").read_bytes().rpartition(b")")[2]
            state, parent, group = fields.split()[:3]
            if state not in b"ZX":
                children.setdefault(int(parent), []).append((int(name), int(group)))
    found: list[tuple[int, int]] = []
    pending = [root]
    while pending:
        below = children.get(pending.pop(), [])
        found += below
        pending += [process for process, _ in below]
    return found


def _process_names() -> list[str]:
    try:
        return [name for name in os.listdir("/proc") if name.isdecimal()]  # noqa: PTH208 - text
    except OSError:  # there is no such folder
        return []


def send(message: dict[str, object], report: int) -> None:
    """Write a message; who should read it may be gone."""
    with contextlib.suppress(OSError):
        os.write(report, json.dumps(message).encode() + b"\n")


def start(command: list[str], report: int) -> tuple[int, str]:
    """Start the agent in a session of its own; return its id and why it could not start, if so.

    Its id is reported before it runs: it may kill its supervisor as the first thing it does.
    """
    reader, writer = os.pipe()
    waiting, go = os.pipe()
    supervisor = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            os.close(go)
            os.read(waiting, 1)  # returns at the end of the stream
            os.setsid()
            _control(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() == supervisor:
                _restore_signals()
                os.execvp(command[0], command)  # noqa: S606 - an argument list, no shell
        except (OSError, ValueError, IndexError) as error:
            os.write(writer, (getattr(error, "strerror", None) or str(error)).encode())
        finally:
            os._exit(127)
    send({"agent": child}, report)
    for descriptor in (writer, waiting, go):
        os.close(descriptor)
    with os.fdopen(reader, "rb") as stream:
        return child, stream.read().decode("utf-8", "replace")


def _restore_signals() -> None:
    """Give the agent what a program finds that is started from a terminal, whoever started this."""
    for number in signal.valid_signals():
        with contextlib.suppress(OSError, ValueError):  # two cannot be set
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])


def reap(child: int, status: int | None) -> tuple[bool, int | None]:
    """Collect ended children; return whether a living one is left, and how the agent ended.

    Whoever adopts orphans has a living descendant exactly if it has a living child, and the system
    knows that for certain. A list of processes can miss one that is born while it is read.
    """
    while True:
        try:
            ended, how = os.waitpid(-1, os.WNOHANG | _WALL)
        except ChildProcessError:
            return False, status
        if ended == 0:
            return True, status
        if ended == child:
            status = how


def _signal_group(group: int, number: int) -> None:
    with contextlib.suppress(*_IS_GONE):
        os.killpg(group, number)


def kill_all(child: int, status: int | None) -> tuple[bool, int | None]:
    """Kill every descendant until there is none.

    Parameters
    ----------
    child : int
        The agent; for the outer supervisor, the inner one.
    status : int or None
        How it ended, None if it may be alive.

    Returns
    -------
    (bool, int or None)
        Whether anything was alive besides it, and how it ended.
    """
    # A group that is stopped cannot be left or enlarged while it is looked at. Its number is used
    # only here: once its leader has been collected another process can get it.
    _signal_group(child, signal.SIGSTOP)
    found = any(process != child for process, _ in descendants(os.getpid()))
    found = found or (sys.platform != "linux" and _group_is_alive(child))
    _signal_group(child, signal.SIGKILL)
    deadline = time.monotonic() + _KILL_SECONDS
    while True:
        is_first = status is None
        is_left, status = reap(child, status)
        if not is_left or time.monotonic() >= deadline:
            return found, status
        found = found or not is_first
        _kill_below()
        time.sleep(0 if found else _POLL_SECONDS)


def _kill_below() -> None:
    """Kill what is seen of the descendants; a group at once, so that none of it forks meanwhile."""
    below = descendants(os.getpid())
    for group in {group for _, group in below} - {os.getpgrp()}:
        _signal_group(group, signal.SIGKILL)
    for process, _ in below:
        with contextlib.suppress(*_IS_GONE):
            os.kill(process, signal.SIGKILL)


def _group_is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except _IS_GONE:
        return False
    return True


def supervise(command: list[str], grace: float, report: int) -> dict[str, object]:
    """Run the agent to its end or to a TERM signal, and clean up after it."""
    child, reason = start(command, report)
    status: int | None = None
    deadline: float | None = None
    while status is None:
        if deadline is not None:
            if time.monotonic() >= deadline:
                break
            time.sleep(_POLL_SECONDS)
        elif signal.sigwait([signal.SIGTERM, signal.SIGCHLD]) == signal.SIGTERM:
            deadline = time.monotonic() + grace
            _signal_group(child, signal.SIGTERM)
        _, status = reap(child, status)
    found, status = kill_all(child, status)
    return {
        "started": not reason,
        "returncode": -signal.SIGKILL if status is None else os.waitstatus_to_exitcode(status),
        "asked": deadline is not None,
        "residual": found and deadline is None,
    }


def guard(command: list[str], grace: float, report: int) -> None:
    """Have the agent supervised, and clean up after its supervisor."""
    parent = os.getpid()
    inner = os.fork()
    if inner == 0:
        os.setsid()
        become_supervisor(parent)
        send({"outcome": supervise(command, grace, report)}, report)
        os._exit(0)
    send({"supervisor": inner}, report)
    status: int | None = None
    deadline: float | None = None
    while status is None and (deadline is None or time.monotonic() < deadline):
        if deadline is not None:
            for number in (signal.SIGCONT, signal.SIGTERM):  # the agent may have stopped it
                with contextlib.suppress(*_IS_GONE):
                    os.kill(inner, number)
            time.sleep(_POLL_SECONDS)
        elif signal.sigwait([signal.SIGTERM, signal.SIGCHLD]) == signal.SIGTERM:
            deadline = time.monotonic() + grace + _INNER_SECONDS
        _, status = reap(inner, status)
    kill_all(inner, status)


def main(arguments: list[str]) -> int:
    """Supervise the command of the arguments and report on it."""
    report, grace, parent = int(arguments[0]), float(arguments[1]), int(arguments[2])
    os.set_inheritable(report, False)
    become_supervisor(parent)
    guard(arguments[3:], grace, report)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
