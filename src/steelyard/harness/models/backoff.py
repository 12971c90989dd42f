"""How long to wait before a request is made again."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

FIRST_SECONDS = 1.0
"""The first wait is at most this long; each further one may be twice as long."""


@dataclass(frozen=True)
class BackOff:
    """Waits that grow, scattered so that many clients do not come back together.

    Attributes
    ----------
    retries : int
        Attempts after the first at most.
    longest_seconds : float
        No wait is longer, and nobody who asks for more is waited for.
    first_seconds : float
    """

    retries: int = 5
    longest_seconds: float = 120.0
    first_seconds: float = FIRST_SECONDS

    def seconds(self, attempt: int, key: str) -> float:
        """Return the wait after a failed attempt.

        Parameters
        ----------
        attempt : int
            From 0.
        key : str
            Seeds the scatter, together with the attempt: the same request waits the same time.

        Returns
        -------
        float
            Between half of the doubled wait and all of it.
        """
        whole = min(self.first_seconds * 2.0 ** min(attempt, 100), self.longest_seconds)
        generator = random.Random(f"{key}/{attempt}")  # noqa: S311 - reproducible, not secret
        return whole * (0.5 + 0.5 * generator.random())


def retry_after_seconds(headers: Mapping[str, str]) -> float | None:
    """Return how long a server asks to wait.

    Parameters
    ----------
    headers : mapping of str to str
        Of its answer, looked up in lower case: ``retry-after`` holds seconds or a date (RFC 9110),
        ``retry-after-ms`` milliseconds.

    Returns
    -------
    float or None
        At least 0. None where it does not ask, or nothing can be read from what it says. A date is
        held against the answer's own ``date``, since clocks differ, and against ours without one.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000.0
    text = headers.get("retry-after")
    seconds = _number(text)
    if seconds is not None or text is None:
        return seconds
    until = _moment(text)
    if until is None:
        return None
    now = _moment(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (until - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None


def _moment(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
