"""The streams of a supervised process, served by one thread within limits of time and memory."""

from __future__ import annotations

import contextlib
import os
import selectors
import socket
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import IO, Self

_CHUNK = 65_536
_MESSAGE_BYTES = 65_536


@dataclass
class _Kept:
    """The start of a stream and whether there was more."""

    limit: int
    content: bytearray = field(default_factory=bytearray)
    is_truncated: bool = False

    def take(self, chunk: bytes) -> None:
        room = self.limit - len(self.content)
        self.content += chunk[: max(0, room)]
        self.is_truncated = self.is_truncated or len(chunk) > room


class Streams:
    """Standard input, both outputs and the supervisors' messages of one process.

    Nothing is read or written but by `serve`. Use it as a context manager, which closes the
    process's three streams at its end.

    Parameters
    ----------
    process : subprocess.Popen
        With three pipes.
    messages : socket.socket
        Where its supervisors write.
    prompt : bytes
        For standard input, which is then closed.
    limit : int
        Bytes kept of each output.

    Attributes
    ----------
    messages : bytearray
        What the supervisors wrote.
    is_reported : bool
        Whether no supervisor can write any more.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], messages: socket.socket, prompt: bytes, limit: int
    ) -> None:
        self.messages = bytearray()
        self.is_reported = False
        self._kept = _Kept(limit), _Kept(limit)
        self._prompt = memoryview(prompt)
        self._selector = selectors.DefaultSelector()
        self._open: list[IO[bytes]] = [
            stream for stream in (process.stdin, process.stdout, process.stderr) if stream
        ]
        read, write = selectors.EVENT_READ, selectors.EVENT_WRITE
        messages.setblocking(False)
        self._selector.register(messages, read, lambda: self._hear(messages))
        for stream in self._open:
            os.set_blocking(stream.fileno(), False)
        feed, *drained = self._open
        self._selector.register(feed, write, lambda: self._feed(feed))
        for stream, kept in zip(drained, self._kept, strict=True):
            self._selector.register(stream, read, self._drainer(stream, kept))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._selector.close()
        for stream in self._open:
            with contextlib.suppress(OSError):
                stream.close()

    @property
    def are_drained(self) -> bool:
        """Whether both outputs have ended."""
        return not any(stream.readable() for stream in self._open)

    @property
    def kept(self) -> tuple[bytes, bytes, bool, bool]:
        """The start of both outputs, and whether there was more of each."""
        out, err = self._kept
        return bytes(out.content), bytes(err.content), out.is_truncated, err.is_truncated

    def serve(self, seconds: float, is_done: Callable[[], bool]) -> bool:
        """Move bytes until something is so; return False if the time was up before."""
        deadline = time.monotonic() + seconds
        while not is_done():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            for key, _ in self._selector.select(left):
                key.data()
        return True

    def _close(self, stream: IO[bytes]) -> None:
        self._selector.unregister(stream)
        self._open.remove(stream)
        with contextlib.suppress(OSError):
            stream.close()

    def _hear(self, messages: socket.socket) -> None:
        chunk = b""
        with contextlib.suppress(ConnectionError):
            chunk = messages.recv(_CHUNK)
        self.messages += chunk[: _MESSAGE_BYTES - len(self.messages)]
        if not chunk:
            self.is_reported = True
            self._selector.unregister(messages)

    def _feed(self, stream: IO[bytes]) -> None:
        try:
            self._prompt = self._prompt[os.write(stream.fileno(), self._prompt[:_CHUNK]) :]
        except BlockingIOError:
            return
        except OSError:  # an agent that does not want to read
            self._prompt = self._prompt[:0]
        if not self._prompt:
            self._close(stream)

    def _drainer(self, stream: IO[bytes], kept: _Kept) -> Callable[[], None]:
        def drain() -> None:
            try:
                chunk = os.read(stream.fileno(), _CHUNK)
            except BlockingIOError:
                return
            if chunk:
                kept.take(chunk)
            else:
                self._close(stream)

        return drain
