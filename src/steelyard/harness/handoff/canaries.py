"""Loopback addresses that nobody has a reason to visit."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from types import TracebackType
from typing import Self

_METHODS = (b"GET", b"HEAD", b"POST", b"PUT")
_READ_SECONDS = 2.0
_ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"


class Canary:
    """A server on the loopback interface that notes who comes.

    Every connection gets an empty HTTP answer. Use it as a context manager.

    Parameters
    ----------
    any_connection : bool, default True
        Count every connection. Otherwise only GET, HEAD, POST and PUT requests, as the published
        import runner does, which DELETE and a bare connection pass by.

    Attributes
    ----------
    url : str
        Its address.
    """

    def __init__(self, *, any_connection: bool = True) -> None:
        self._any_connection = any_connection
        self._visits = 0
        self._last_call = secrets.token_hex(16).encode()
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/canary"
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def triggered(self) -> bool:
        """Whether anybody came; final after `close`."""
        return self._visits > 0

    def close(self) -> None:
        """Stop listening. Connections that were made before are still counted."""
        if self._thread.is_alive():
            # Waking the server by a call of our own works everywhere, and comes after all others.
            with (
                contextlib.suppress(OSError),
                socket.create_connection(self._socket.getsockname(), _READ_SECONDS) as own,
            ):
                own.sendall(self._last_call)
            self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                request = self._request(connection)
            if request == self._last_call:
                return
            if self._any_connection or request.startswith(_METHODS):
                self._visits += 1

    def _request(self, connection: socket.socket) -> bytes:
        connection.settimeout(_READ_SECONDS)
        with contextlib.suppress(OSError):
            request = connection.recv(4096)
            if request:
                connection.sendall(_ANSWER)
            return request
        return b""
