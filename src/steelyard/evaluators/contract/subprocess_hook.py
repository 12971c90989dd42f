"""An evaluator in another process: one JSON request per line, one JSON result per line.

The program is trusted code: it runs with the rights of its caller, and only its answers are
checked. A request is ``{"policy": ..., "response": ...}``. The answer is a result as `evaluate`
returns it, or ``{"error": NAME}`` for an evaluation that failed, with the name of an exception;
the name `NOT_JSON` says that it ended, with something that JSON has no form for.
"""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from types import TracebackType
from typing import IO, Any, NamedTuple, NoReturn, cast

from steelyard.errors import InputError
from steelyard.evaluators.contract.errors import EvaluatorFailure, InvalidJsonError
from steelyard.evaluators.contract.loading import load_json
from steelyard.evaluators.contract.values import MAX_BYTES, canonical

DEFAULT_TIMEOUT = 10.0
"""Seconds that one evaluation may take; the first one includes starting the program."""

NOT_JSON = "not_json"

_WORKER = "steelyard.evaluators.contract.hook_worker"
_GRACE_SECONDS = 1.0  # for a program that ends by itself once its input has ended
_LONGEST_WAIT = 3_600.0  # seconds; the system's own limit is lower than what a float may hold
_CHUNK = 65_536
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,127}")


class _Program(NamedTuple):
    """A running program and its two pipes."""

    process: subprocess.Popen[bytes]
    requests: IO[bytes]
    answers: IO[bytes]


class SubprocessEvaluator:
    """A hook that asks a program. Use it in a ``with`` statement, or call `close`.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments; no shell is involved.
    timeout : float, default `DEFAULT_TIMEOUT`
        Seconds per evaluation.
    show_errors : bool, default False
        Pass the program's standard error on; else it is discarded.

    Raises
    ------
    InputError
        For an empty command or a timeout that is not a positive number.
    EvaluatorFailure
        When called: ``timeout``; ``crash`` (it cannot be started, or ended); ``garbage`` (anything
        but one line of strict JSON per request); ``exception`` (it reported an error). The
        program and what it started are killed then; the next call starts it again.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        timeout: float = DEFAULT_TIMEOUT,
        show_errors: bool = False,
    ) -> None:
        if isinstance(command, str) or not command or not command[0]:
            raise InputError("the command of a hook is a list: the program, then its arguments")
        if not 0 < timeout < float("inf"):
            raise InputError(f"timeout is {timeout}; it must be a positive number of seconds")
        self.command = list(command)
        self.timeout = timeout
        self.show_errors = show_errors
        self._program: _Program | None = None
        self._received = bytearray()

    def __call__(self, policy: dict[str, Any], response: dict[str, Any]) -> Any:
        """Ask the program once; see the class for what can go wrong."""
        request = canonical({"policy": policy, "response": response}).encode() + b"\n"
        deadline = time.monotonic() + self.timeout
        program = self._started()
        try:
            line = self._exchange(program, request, deadline)
        except BaseException:  # also an interrupt: what was asked must not answer the next request
            self._kill()
            raise
        return self._result(line)

    def restart(self) -> SubprocessEvaluator:
        """End the program, so that the next call finds it with new state; return the evaluator."""
        self.close()
        return self

    def close(self) -> None:
        """End the program: by the end of its input if it heeds that, else by force."""
        if self._program is not None:
            self._wait_for_end(self._program)
            self._kill()

    def __enter__(self) -> SubprocessEvaluator:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _started(self) -> _Program:
        if self._program is None:
            try:
                process = subprocess.Popen(  # noqa: S603 - the user names the program
                    self.command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=None if self.show_errors else subprocess.DEVNULL,
                    start_new_session=True,  # a process group of its own, so that it can be killed
                )
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else "not a possible command"
                raise EvaluatorFailure("crash", f"it cannot be started: {reason}") from None
            self._received.clear()
            pipes = cast("tuple[IO[bytes], IO[bytes]]", (process.stdin, process.stdout))
            for pipe in pipes:
                os.set_blocking(pipe.fileno(), False)
            self._program = _Program(process, *pipes)
        return self._program

    def _exchange(self, program: _Program, request: bytes, deadline: float) -> bytes:
        """Write the request and read one line, whichever the program does first."""
        to_send = memoryview(request)
        with selectors.DefaultSelector() as selector:
            selector.register(program.answers, selectors.EVENT_READ)
            if selector.select(0) and os.read(program.answers.fileno(), 1):
                raise EvaluatorFailure("garbage", "it wrote without having been asked")
            selector.register(program.requests, selectors.EVENT_WRITE)
            while True:
                left = deadline - time.monotonic()
                if left <= 0:
                    raise EvaluatorFailure("timeout", f"no answer within {self.timeout:g} s")
                for key, _ in selector.select(min(left, _LONGEST_WAIT)):
                    if key.fileobj is program.requests:
                        to_send = self._send(program.requests.fileno(), to_send)
                        if not to_send:
                            selector.unregister(program.requests)
                    elif self._receive(program, answered=not to_send):
                        return bytes(self._received)

    def _send(self, pipe: int, to_send: memoryview) -> memoryview:
        try:
            return to_send[os.write(pipe, to_send) :]
        except BlockingIOError:
            return to_send
        except OSError:  # it has gone; reading says how
            return to_send[:0]

    def _receive(self, program: _Program, *, answered: bool) -> bool:
        """Read what is there; return whether it completes the one line."""
        chunk = os.read(program.answers.fileno(), _CHUNK)
        if not chunk:
            self._say_how_it_ended(program)
        self._received += chunk
        end = self._received.find(b"\n")
        if end < 0:
            if len(self._received) > MAX_BYTES:
                raise EvaluatorFailure("garbage", f"a line of more than {MAX_BYTES:,} bytes")
            return False
        if not answered:
            raise EvaluatorFailure("garbage", "it answered before it was asked")
        if end < len(self._received) - 1:
            raise EvaluatorFailure("garbage", "more than one line for one request")
        return True

    def _result(self, line: bytes) -> Any:
        self._received.clear()
        try:
            result = load_json(line)
        except InvalidJsonError as error:
            self._kill()
            raise EvaluatorFailure("garbage", f"no strict JSON: {error.message}") from None
        if isinstance(result, dict) and set(result) == {"error"}:
            name = result["error"]
            if name == NOT_JSON:
                raise EvaluatorFailure("contract", "the result is no JSON value within the limits")
            known = isinstance(name, str) and _NAME.fullmatch(name)
            reason = f"it raised {name}" if known else "it reported an error"
            raise EvaluatorFailure("exception", reason)
        return result

    def _say_how_it_ended(self, program: _Program) -> NoReturn:
        if not self._wait_for_end(program):
            raise EvaluatorFailure("crash", "it closed its output and did not end")
        self._signal_group(program)
        code = program.process.wait()
        if code < 0:
            raise EvaluatorFailure("crash", f"it was ended by {_signal_name(-code)}")
        raise EvaluatorFailure("crash", f"it ended with exit code {code} instead of an answer")

    def _wait_for_end(self, program: _Program) -> bool:
        """Close the program's input and return whether it ends soon; it is not reaped."""
        with contextlib.suppress(OSError):
            program.requests.close()
        deadline = time.monotonic() + _GRACE_SECONDS
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        with contextlib.suppress(ChildProcessError):  # where children are reaped by themselves
            while os.waitid(os.P_PID, program.process.pid, flags) is None:
                if time.monotonic() > deadline:
                    return False
                time.sleep(0.002)
        return True

    def _kill(self) -> None:
        program, self._program = self._program, None
        self._received.clear()
        if program is not None:
            self._signal_group(program)
            program.process.wait()
            for pipe in (program.requests, program.answers):
                with contextlib.suppress(OSError):
                    pipe.close()

    def _signal_group(self, program: _Program) -> None:
        # Until it is reaped, its number and that of its group belong to nobody else.
        if program.process.returncode is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(program.process.pid, signal.SIGKILL)


def python_command(entry_point: str) -> list[str]:
    """Return the command that serves a Python function ``module:function`` as a hook."""
    return [sys.executable, "-m", _WORKER, entry_point]


def is_importable(
    entry_point: str, *, timeout: float = DEFAULT_TIMEOUT, show_errors: bool = False
) -> bool:
    """Return whether a process like that of the hook finds something to call under this name.

    Parameters
    ----------
    entry_point : str
        ``module:function``; both may be dotted.
    timeout : float, default `DEFAULT_TIMEOUT`
        Seconds that importing may take.
    show_errors : bool, default False
        Pass on what is written to standard error meanwhile, the reason above all.

    Returns
    -------
    bool
        True also if the module starts to run and then hangs or ends the process: the name is
        right, and the check is to tell what happened.
    """
    try:
        entry_point.encode()
    except UnicodeEncodeError:
        return False
    command = python_command(f"{_WORKER}:find")
    with SubprocessEvaluator(command, timeout=timeout, show_errors=show_errors) as ask:
        try:
            answer = ask({"entry_point": entry_point}, {})
        except EvaluatorFailure:
            return True
    return bool(answer["found"])


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
