"""The spend journal: what all runs together have spent, and a cap that none of them can break.

Before a request goes out, the most it can cost is reserved; afterwards the reservation is settled
with what it did cost. Both are lines of one file that is only appended to, under a lock, so that
runs at the same time see each other's reservations. A run that is killed leaves its reservations
open. They count in full, since nobody knows what the provider made of the requests.
"""

from __future__ import annotations

import io
import json
import math
import os
import secrets
import threading
import time
from pathlib import Path
from typing import Any, NamedTuple

from steelyard.errors import InputError, StoreError
from steelyard.harness.models.checked_lines import (
    append_durably,
    checked_line,
    make_name_durable,
    read_lines,
)
from steelyard.harness.models.locks import locked, open_for_appending
from steelyard.harness.protocols import StopRunError

PICO = 10**12
"""Amounts are added as whole picodollars: the sum does not depend on the order."""

POLL_SECONDS = 0.05


class _Reservation(NamedTuple):
    picodollars: int
    owner: str
    pid: int


class SpendJournal:
    """One journal, open in this process.

    Parameters
    ----------
    path : pathlib.Path
        Made when something is written first.
    cap_usd : float or None
        None keeps the account and refuses nothing.
    patience_seconds : float
        How long to wait for the reservations of requests that are under way, where the cap is
        reached by them alone.

    Raises
    ------
    StoreError
        If a line of the journal is damaged: what it accounted for is not known.
    """

    def __init__(
        self, path: Path, cap_usd: float | None = None, patience_seconds: float = 120.0
    ) -> None:
        if cap_usd is not None and not (math.isfinite(cap_usd) and cap_usd >= 0):
            raise InputError(f"spend_cap_usd is {cap_usd!r}; accepted are numbers from 0")
        self.path = path
        self.cap = None if cap_usd is None else _pico(cap_usd)
        self.patience = patience_seconds
        self._descriptor: int | None = None
        self._read = 0
        self._spent = 0
        self._open: dict[str, _Reservation] = {}
        self._latest: dict[str, str] = {}
        self._lock = threading.RLock()
        if path.exists():
            with self._lock, locked(self._file()):
                self._catch_up()

    @property
    def spent_usd(self) -> float:
        """What is settled, and what is reserved and not settled, as far as was read."""
        with self._lock:
            return self._balance() / PICO

    def reserve(self, owner: str, amount_usd: float) -> str:
        """Set money aside for one request.

        Parameters
        ----------
        owner : str
            What the request is for.
        amount_usd : float
            The most it can cost.

        Returns
        -------
        str
            The reservation; `settle` it.

        Raises
        ------
        StopRunError
            If the cap leaves too little, or the journal cannot be written.
        """
        amount = _pico(amount_usd)
        give_up = time.monotonic() + self.patience
        while True:
            with self._lock, locked(self._file()):
                self._catch_up()
                if self.cap is None or self._balance() + amount <= self.cap:
                    number = secrets.token_hex(8)
                    reservation = _Reservation(amount, owner, os.getpid())
                    self._append({"id": number, **reservation._asdict()})
                    return number
                under_way = self._under_way()
                waits = under_way and self._balance() - under_way + amount <= self.cap
                refusal = self._refusal(amount)
            if not waits or time.monotonic() > give_up:
                raise StopRunError(refusal)
            time.sleep(POLL_SECONDS)

    def settle(self, reservation: str, amount_usd: float | None) -> None:
        """Say what a request did cost; None if that is not known, so that it counts in full."""
        with self._lock, locked(self._file()):
            self._catch_up()
            if reservation not in self._open:
                return
            reserved = self._open[reservation].picodollars
            spent = reserved if amount_usd is None else _pico(amount_usd)
            self._append({"id": reservation, "spent": spent})

    def settle_recorded(self, owner: str, amount_usd: float | None) -> None:
        """Settle the last request of an owner whose answer is there, if that was not done.

        A run that is killed between recording an answer and settling it leaves this to the next.
        """
        with self._lock:
            reservation = self._latest.get(owner)
            is_open = reservation in self._open
        if reservation is not None and is_open:
            self.settle(reservation, amount_usd)

    def close(self) -> None:
        """Let go of the file."""
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _file(self) -> int:
        if self._descriptor is None:
            self._descriptor = open_for_appending(self.path)
            make_name_durable(self.path)
        return self._descriptor

    def _catch_up(self) -> None:
        """Read what was written since; the file is locked."""
        descriptor = self._file()
        size = os.fstat(descriptor).st_size
        if size < self._read:
            raise StopRunError(f"{self.path.name}: the journal was cut or replaced during the run")
        data = os.pread(descriptor, size - self._read, self._read)
        for line in read_lines(io.BytesIO(data), self._read):
            if line.cut:
                # Its writer was killed before the line was whole, so before any request.
                os.ftruncate(descriptor, line.offset)
                return
            self._take(line.content, line.offset)
            self._read = line.offset + line.length

    def _take(self, content: bytes | None, offset: int) -> None:
        try:
            entry = json.loads(content or b"")
            number = entry.pop("id")
            if "spent" in entry:
                reservation = self._open.pop(number)
                self._spent += int(entry["spent"])
                if self._latest.get(reservation.owner) == number:
                    del self._latest[reservation.owner]
            else:
                self._open[number] = _Reservation(**entry)
                self._latest[entry["owner"]] = number
        except (ValueError, KeyError, TypeError):
            raise StoreError(
                f"{self.path.name}: the entry at byte {offset} is damaged, so what was spent is "
                "not known; restore the journal, or name a new one"
            ) from None

    def _append(self, entry: dict[str, Any]) -> None:
        line = checked_line(json.dumps(entry, sort_keys=True).encode("ascii"))
        try:
            append_durably(self._file(), line)
        except OSError as error:
            raise StopRunError(
                f"{self.path.name}: the spend journal cannot be written: {error.strerror}"
            ) from None
        self._catch_up()

    def _balance(self) -> int:
        return self._spent + sum(held.picodollars for held in self._open.values())

    def _under_way(self) -> int:
        """Return what is reserved by processes that can still settle it."""
        alive = {pid: _alive(pid) for pid in {held.pid for held in self._open.values()}}
        return sum(held.picodollars for held in self._open.values() if alive[held.pid])

    def _refusal(self, amount: int) -> str:
        held = self._balance() - self._spent
        return (
            f"the spend cap of {(self.cap or 0) / PICO:g} USD leaves too little: "
            f"{self._spent / PICO:.6f} USD are spent, {held / PICO:.6f} USD reserved "
            f"({len(self._open)} requests not settled), and the next request can cost "
            f"{amount / PICO:.6f} USD ({self.path.name})"
        )


def _pico(amount_usd: float) -> int:
    if isinstance(amount_usd, bool) or not isinstance(amount_usd, int | float):
        raise InputError(f"an amount is {amount_usd!r}; accepted are numbers from 0")
    if not math.isfinite(amount_usd) or amount_usd < 0:
        raise InputError(f"an amount is {amount_usd!r}; accepted are numbers from 0")
    return round(amount_usd * PICO)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists and is another user's
        return True
    return True
