"""Asking a provider: concurrency, retries, the spend cap, and an answer kept before it is used."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from steelyard.errors import SteelyardError
from steelyard.harness.models.answers import parse_answer, without_secret
from steelyard.harness.models.backoff import BackOff
from steelyard.harness.models.failures import (
    PassingError,
    RequestRefusedError,
    UnforeseenError,
    failure_of,
)
from steelyard.harness.models.journal import SpendJournal
from steelyard.harness.models.keys import request_text
from steelyard.harness.models.request import ModelResponse
from steelyard.harness.models.settings import ClientSettings
from steelyard.harness.protocols import NotRunError, StopRunError

GIVE_UP_AFTER = 20
"""So many requests in a row that nobody answered, whatever the retries, end the run."""

Keep = Callable[[ModelResponse | RequestRefusedError], None]
"""Records what came of a request before anybody sees it."""


class Wire(Protocol):
    """A provider's protocol: a module of this shape."""

    def connect(self, settings: Any, key: str) -> Any:
        """Return a client of the official library."""
        ...

    def send(self, client: Any, settings: Any, content: Mapping[str, Any]) -> bytes:
        """Make one attempt and return the answer's body."""
        ...

    def read(self, answer: Mapping[str, Any]) -> ModelResponse:
        """Return an answer in our form."""
        ...


class Sender:
    """Puts requests to a provider.

    Parameters
    ----------
    library : str
        The client library's name, which is also that of the extra that installs it.
    wire : Wire
    settings : ClientSettings
    journal : SpendJournal or None
    """

    def __init__(
        self, library: str, wire: Wire, settings: ClientSettings, journal: SpendJournal | None
    ) -> None:
        self.library = library
        self.wire = wire
        self.settings = settings
        self.price = settings.price()
        self.journal = journal
        self.back_off = BackOff(
            settings.retries, settings.longest_wait_seconds, settings.first_wait_seconds
        )
        self._slots = threading.BoundedSemaphore(settings.concurrency)
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self._client: Any = None
        self._module: Any = None
        self._secret = ""
        self._unanswered = 0

    def ask(self, content: Mapping[str, Any], key: str, owner: str, keep: Keep) -> ModelResponse:
        """Ask until there is an answer, and keep it.

        Parameters
        ----------
        content : mapping
            See `steelyard.harness.models.request.ModelRequest.content`.
        key : str
            The recording's.
        owner : str
            Who the money is spent for.
        keep : callable
            See `Keep`.

        Raises
        ------
        RequestRefusedError
            After it was kept.
        NotRunError
            If no attempt led to an answer.
        StopRunError
            If the run has to end: no key, no money, no client library, or `GIVE_UP_AFTER` requests
            in a row without an answer.
        """
        try:
            response = self._ask(content, key, owner, keep)
        except NotRunError as failure:
            self._unanswered += 1
            if self._unanswered >= GIVE_UP_AFTER:
                raise StopRunError(
                    f"{self._unanswered} requests in a row had no answer; the last: {failure}"
                ) from None
            raise
        except RequestRefusedError:
            self._unanswered = 0
            raise
        self._unanswered = 0
        return response

    def _ask(self, content: Mapping[str, Any], key: str, owner: str, keep: Keep) -> ModelResponse:
        for attempt in range(self.back_off.retries + 1):
            try:
                return self._attempt(content, owner, keep)
            except PassingError as failure:
                text = self._told(failure)
                if attempt < self.back_off.retries:
                    self._wait(failure.retry_after, attempt, key, text)
        raise NotRunError(f"no answer after {self.back_off.retries + 1} attempts; the last: {text}")

    def close(self) -> None:
        """Let go of connections; whoever waits for another attempt gives up."""
        self._closing.set()
        with self._lock:
            if self._client is not None:
                self._client.close()
                self._client = None

    def _attempt(self, content: Mapping[str, Any], owner: str, keep: Keep) -> ModelResponse:
        client = self._connected()
        reservation = self._reserve(content, owner)
        spent: float | None = None
        try:
            response = self._exchange(client, content)
            spent = self._cost(response)
            keep(response)  # before the account is settled: an answer may be lost to neither
        except PassingError as failure:
            spent = None if failure.may_cost else 0.0
            raise
        except RequestRefusedError as refusal:
            spent = 0.0
            keep(refusal)
            raise
        except (NotRunError, StopRunError) as failure:
            spent = None if isinstance(failure, UnforeseenError) else 0.0
            raise
        finally:
            if self.journal is not None and reservation is not None:
                self.journal.settle(reservation, spent)
        return response

    def _exchange(self, client: Any, content: Mapping[str, Any]) -> ModelResponse:
        try:
            with self._slots:
                body = self.wire.send(client, self.settings, content)
        except Exception as error:  # whatever a client library raises
            failure = failure_of(error, self._module)
            if isinstance(failure, PassingError):
                raise failure from None
            raise type(failure)(self._told(failure)) from None
        return self.wire.read(parse_answer(body, self._secret))

    def _connected(self) -> Any:
        with self._lock:
            if self._closing.is_set():
                raise NotRunError("the model client was closed")
            if self._client is None:
                self._secret = self.settings.key()
                try:
                    self._module = importlib.import_module(self.library)
                except ImportError:
                    raise StopRunError(
                        f"the package {self.library} is not installed; "
                        f"pip install 'steelyard[{self.library}]' brings it"
                    ) from None
                self._client = self.wire.connect(self.settings, self._secret)
            return self._client

    def _reserve(self, content: Mapping[str, Any], owner: str) -> str | None:
        if self.journal is None:
            return None
        largest = self.settings.largest_cost(len(request_text(content)), content["max_tokens"])
        return self.journal.reserve(owner, largest)

    def _cost(self, response: ModelResponse) -> float | None:
        if self.price is None or response.usage is None:
            return None
        return self.price.cost(response.usage)

    def _wait(self, retry_after: float | None, attempt: int, key: str, text: str) -> None:
        seconds = self.back_off.seconds(attempt, key)
        if retry_after is not None:
            if retry_after > self.back_off.longest_seconds:
                raise NotRunError(
                    f"{text}; the server asks to wait {retry_after:g} seconds, longer than "
                    f"longest_wait_seconds = {self.back_off.longest_seconds:g}"
                )
            seconds = max(seconds, retry_after)
        if self._closing.wait(seconds):
            raise NotRunError(f"{text}; the run ended before another attempt")

    def _told(self, error: Exception) -> str:
        return str(without_secret(str(error), self._secret))


def not_of_the_arm(error: Exception) -> Exception:
    """Return an error that is not the arm's doing as one that ends the run and not the trial."""
    if isinstance(error, OSError):
        return StopRunError(f"{error.filename or 'a file'}: {error.strerror or error}")
    if isinstance(error, SteelyardError):
        return StopRunError(str(error))
    return error
