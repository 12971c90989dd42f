"""What may become of one request, and what it means for the trial and the run."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from steelyard.harness.arms import ArmError
from steelyard.harness.models.backoff import retry_after_seconds
from steelyard.harness.protocols import NotRunError, StopRunError
from steelyard.harness.snapshots import storable

STOPPING = {401: "the key was refused", 402: "payment is required", 403: "access was refused"}
PASSING = frozenset({408, 409, 425, 429, 529})
REFUSALS = ("context_length_exceeded", "content_filter", "content_policy_violation")
TOO_LONG = ("prompt is too long", "maximum context length")
NO_FUNDS = ("insufficient_quota", "billing_hard_limit_reached")
LONGEST_TEXT = 300


class PassingError(Exception):
    """One attempt failed in a way that another may not.

    Attributes
    ----------
    retry_after : float or None
        Seconds, where the server asked for a wait.
    may_cost : bool
        Whether the provider may have answered, and charge for it, though nothing arrived.
    """

    def __init__(
        self, text: str, retry_after: float | None = None, *, may_cost: bool = False
    ) -> None:
        super().__init__(text)
        self.retry_after = retry_after
        self.may_cost = may_cost


class RequestRefusedError(ArmError):
    """The provider does not answer this request, now or later: the trial has failed.

    The conversation is too long for the model, or the provider's filter objects to it. This is
    recorded like an answer, so that a replay ends the same way.
    """


class UnforeseenError(NotRunError):
    """A client library raised what it does not say it raises; what the provider did is unknown."""


def failure_of(error: Exception, library: ModuleType) -> Exception:
    """Return what an exception of a client library means.

    Parameters
    ----------
    error : Exception
    library : module
        ``openai`` or ``anthropic``: they name their exceptions alike.

    Returns
    -------
    PassingError, RequestRefusedError, StopRunError or NotRunError
        Their texts may hold what the server said; the caller takes secrets out of it.
    """
    if isinstance(error, library.APITimeoutError):
        connected = not _has_cause(error, "ConnectTimeout", "PoolTimeout")
        return PassingError("no answer in time", may_cost=connected)
    if isinstance(error, library.APIStatusError):
        return _of_status(error)
    if isinstance(error, library.APIConnectionError):
        connected = not _has_cause(error, "ConnectError", "UnsupportedProtocol")
        cause = type(error.__cause__ or error).__name__
        return PassingError(f"the connection failed ({cause})", may_cost=connected)
    return UnforeseenError(f"the request could not be made: {type(error).__name__}: {error}")


def _of_status(error: Any) -> Exception:
    status = int(error.status_code)
    code, message = _said(error)
    text = f"HTTP {status}: {message}"
    if status in STOPPING or status == 404 or code in NO_FUNDS:
        return StopRunError(f"{STOPPING.get(status, 'the run cannot go on')}: {text}")
    too_long = status == 413 or any(words in message.lower() for words in TOO_LONG)
    if code in REFUSALS or too_long:
        return RequestRefusedError(f"the provider refused the request: {text}")
    if status in PASSING or status >= 500:
        return PassingError(text, retry_after_seconds(error.response.headers))
    return NotRunError(f"the provider did not accept the request: {text}")


def _said(error: Any) -> tuple[str, str]:
    """Return the code and the message of an error's body, in whichever form it is."""
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    if isinstance(inner, dict):
        body = inner
    if not isinstance(body, dict):
        return "", shortened(str(body or error.response.reason_phrase or "no text"))
    code = body.get("code") or body.get("type") or ""
    return str(code), shortened(str(body.get("message") or body))


def shortened(text: str) -> str:
    """Return a text of a server as one line of bearable length."""
    line = storable(" ".join(text.split()))
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"


def _has_cause(error: BaseException, *names: str) -> bool:
    cause = error.__cause__
    while cause is not None:
        if type(cause).__name__ in names:
            return True
        cause = cause.__cause__ or cause.__context__
    return False
