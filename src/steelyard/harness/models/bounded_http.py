"""An HTTP client whose answers end in time and in size.

The client libraries bound the wait for the next byte, not for the whole answer: a server that
sends one byte a minute would hold a trial for ever.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

CONNECT_SECONDS = 10.0
LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes."""


def bounded_client(make_client: Callable[..., Any], seconds: float) -> Any:
    """Return an HTTP client for a client library.

    Parameters
    ----------
    make_client : callable
        The library's own class of HTTP clients, with its own defaults.
    seconds : float
        From the first byte of an answer to its last, and for every wait before.

    Returns
    -------
    object
        An answer that takes longer ends as a read timeout, one that is larger than
        `LARGEST_ANSWER` as a protocol error.
    """
    import httpx2

    class BoundedStream(httpx2.SyncByteStream):
        """An answer's body, ended when it takes too long."""

        def __init__(self, stream: Any, request: Any) -> None:
            self.stream = stream
            self.request = request
            self.until = time.monotonic() + seconds

        def __iter__(self) -> Any:
            size = 0
            for chunk in self.stream:
                size += len(chunk)
                if time.monotonic() > self.until:
                    raise httpx2.ReadTimeout("the answer takes too long", request=self.request)
                if size > LARGEST_ANSWER:
                    raise httpx2.RemoteProtocolError(
                        "the answer is too large", request=self.request
                    )
                yield chunk

        def close(self) -> None:
            self.stream.close()

    def bound(response: Any) -> None:
        response.stream = BoundedStream(response.stream, response.request)

    return make_client(
        timeout=httpx2.Timeout(seconds, connect=min(CONNECT_SECONDS, seconds)),
        event_hooks={"response": [bound]},
    )
