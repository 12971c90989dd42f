"""Loopback addresses that nobody has a reason to visit."""

from __future__ import annotations

import contextlib
import selectors
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
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=16)
        self._socket.setblocking(False)
        self._end, self._our_end = socket.socketpair()
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
        self._our_end.close()
        if self._thread.is_alive():
            self._thread.join()
        self._end.close()
        self._socket.close()

    def _serve(self) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self._socket, selectors.EVENT_READ)
            selector.register(self._end, selectors.EVENT_READ)
            while True:
                ready = {key.fileobj for key, _ in selector.select()}
                if self._socket in ready:
                    self._answer()
                elif self._end in ready:  # and nobody is waiting
                    return

    def _answer(self) -> None:
        try:
            connection, _ = self._socket.accept()
        except OSError:  # it has gone, or there is no descriptor left for it
            self._visits += self._any_connection
            return
        with connection:
            request = self._request(connection)
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
