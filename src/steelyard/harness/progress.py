"""How far a run is, and what it did."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass
class Progress:
    """How far a run is; one object, updated and shown again and again.

    Attributes
    ----------
    total : int
        Planned trials.
    completed, failed : int
        Of the whole plan, earlier runs included.
    ran : int
        Trials that ended in this run.
    without_result : int
        Of these, the ones that could not be run and stay missing.
    cost_usd : float
        Of this run, as far as prices are known.
    seconds : float
        Of this run.
    stopping : str or None
        Why no other trial is begun.
    """

    total: int = 0
    completed: int = 0
    failed: int = 0
    ran: int = 0
    without_result: int = 0
    cost_usd: float = 0.0
    seconds: float = 0.0
    stopping: str | None = None

    @property
    def missing(self) -> int:
        """Trials without a result so far."""
        return self.total - self.completed - self.failed


@dataclass(frozen=True)
class RunReport:
    """What a run did.

    Attributes
    ----------
    study : str
    database : pathlib.Path
    progress : Progress
        At the end.
    resumed : bool
        Whether the database was there already.
    arms : list of tuple
        Arm, planned, completed, failed, missing, cost in US dollars (None where none is known).
    missing : list of (str, str or None)
        Trials without a result, and why where they were tried.
    damaged_log : pathlib.Path or None
        Where a log that could not be read was set aside; the trials in it were run again.
    """

    study: str
    database: Path
    progress: Progress
    resumed: bool
    arms: list[tuple[str, int, int, int, int, float | None]]
    missing: list[tuple[str, str | None]]
    damaged_log: Path | None = None
