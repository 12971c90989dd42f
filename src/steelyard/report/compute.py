"""Computing what reports show, study by study, on as many processors as there are.

Studies do not need each other's results, so several interpreters may share them, each computing
one after another. They are started as ``python -m steelyard.report.worker`` and not through
``multiprocessing``: that would import the caller's script again, or copy a process that holds a
database open.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from steelyard.errors import StudyError
from steelyard.report.pin_file import ABOUT_THE_TABLES, read_pins
from steelyard.report.pins import PinResult, check_pins, count_statuses

if TYPE_CHECKING:
    from steelyard.analysis.evidence import Evidence
    from steelyard.report.content import StudyContent

Tell: TypeAlias = Callable[[str], None]
_HERE = threading.Lock()


@dataclass(frozen=True)
class StudyResult:
    """What became of one study's published numbers.

    Attributes
    ----------
    study : str
    reproduced, disputed, not_determinable, failed : int
        Published numbers by status.
    pins : tuple of PinResult
        The numbers one by one.
    """

    study: str
    reproduced: int
    disputed: int
    not_determinable: int
    failed: int
    pins: tuple[PinResult, ...]

    def to_row(self) -> dict[str, Any]:
        """Return the counts as one row."""
        return {
            "study": self.study,
            "reproduced": self.reproduced,
            "disputed": self.disputed,
            "not_determinable": self.not_determinable,
            "failed": self.failed,
        }


Computed: TypeAlias = "tuple[StudyResult, StudyContent | None]"


def compute_studies(
    root: Path, studies: Sequence[str], *, reports: bool, processes: int | None, tell: Tell
) -> list[Computed]:
    """Check the pins of each study and, for ``reports``, collect what its report shows.

    Parameters
    ----------
    root : pathlib.Path
        The project's root; its database must be up to date.
    studies : sequence of str
        Their ids; the results have the same order.
    reports : bool
        Whether the contents of the reports are wanted, too.
    processes : int, optional
        How many studies to compute at a time; as many as there are processors when absent.
    tell : callable
        Called with one line for each study.

    Returns
    -------
    list of tuple of (StudyResult, StudyContent or None)
    """
    count = min(len(studies), processes or _processors())
    if count <= 1:
        return list(
            _told(studies, (compute_study(root, s, reports=reports) for s in studies), tell)
        )
    with Interpreters(root, reports=reports) as apart, ThreadPoolExecutor(count) as pool:
        try:
            return list(_told(studies, pool.map(apart.compute, studies), tell))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


class Interpreters:
    """Other interpreters that compute studies, one for each thread that asks.

    A study that an interpreter cannot compute is computed here: a fault of the input is then
    raised as it is, and a machine that starts no process still gets its result.

    Parameters
    ----------
    root : pathlib.Path
        The project's root.
    reports : bool
        Whether the contents of the reports are wanted.
    """

    def __init__(self, root: Path, *, reports: bool) -> None:
        self._root = root
        self._reports = reports
        self._own = threading.local()
        self._started: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._started:
            process.kill()
            process.communicate()

    def compute(self, study: str) -> Computed:
        """Return what `compute_study` gives for ``study``."""
        try:
            computed = self._ask(study)
        except (OSError, EOFError, pickle.UnpicklingError):
            computed = None
        if computed is None:
            with _HERE:  # drawing changes matplotlib's settings, which are the whole process's
                return compute_study(self._root, study, reports=self._reports)
        return computed

    def _ask(self, study: str) -> Computed | None:
        if not hasattr(self._own, "process"):
            self._own.process = self._start()
        process: subprocess.Popen[bytes] = self._own.process
        if process.stdin is None or process.stdout is None:
            raise AssertionError("started with pipes")
        process.stdin.write(f"{study}\n".encode())
        process.stdin.flush()
        computed: Computed | None = pickle.load(process.stdout)  # noqa: S301 - our own process
        return computed

    def _start(self) -> subprocess.Popen[bytes]:
        what = "reports" if self._reports else "pins"
        process = subprocess.Popen(  # noqa: S603 - our own module, no shell
            [sys.executable, "-m", "steelyard.report.worker", str(self._root), what],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._started.append(process)
        return process


def compute_study(root: Path, study: str, *, reports: bool) -> Computed:
    """Check the pins of one study and, for ``reports``, collect what its report shows."""
    from steelyard.analysis.evidence import Evidence
    from steelyard.store.build import DATABASE
    from steelyard.store.connect import connect
    from steelyard.store.tables import StudyTables

    connection = connect(root / DATABASE)
    try:
        evidence = Evidence(StudyTables(connection, study))
        pins = _pins(root, evidence)
        content = None
        if reports:
            content = _content(root, evidence, pins)
    finally:
        connection.close()
    counts = count_statuses(pins)
    result = StudyResult(
        study=study,
        reproduced=counts["reproduced"],
        disputed=counts["disputed"],
        not_determinable=counts["not determinable"],
        failed=counts["failed"],
        pins=tuple(pins),
    )
    return result, content


def _content(root: Path, evidence: Evidence, pins: Sequence[PinResult]) -> StudyContent:
    from steelyard.report.content import collect
    from steelyard.report.content_declared import DeclaredFaultError
    from steelyard.store.toml_files import fault_at

    try:
        return collect(evidence, pins)
    except DeclaredFaultError as fault:
        shown_as = f"experiments/{fault.study}/study.toml"
        raise fault_at(root / shown_as, shown_as, fault.location, fault.reason) from None


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _told(studies: Sequence[str], computed: Iterable[Computed], tell: Tell) -> Iterator[Computed]:
    """Yield what is computed, each announced before it is waited for."""
    results = iter(computed)
    for study in studies:
        tell(study)
        yield next(results)


def _pins(root: Path, evidence: Evidence) -> list[PinResult]:
    tables = evidence.tables
    shown_as = f"experiments/{tables.study}/pins.toml"
    path = root / shown_as
    claims = sorted(tables.frame("claims")["claim"])
    # A folder or a broken link of that name is not absent: reading it says what it is.
    if not os.path.lexists(path):
        if claims:
            raise StudyError(f"{shown_as} is absent; {len(claims)} published numbers need a pin")
        return []
    pins = read_pins(path, shown_as)
    if pins.study != tables.study:
        raise StudyError(f"{shown_as}: study is {pins.study!r}; the folder says {tables.study!r}")
    _require_every_claim(claims, pins.ids(), shown_as)
    return check_pins(tables, pins, evidence=evidence)


def _require_every_claim(claims: Sequence[str], pinned: Sequence[str], shown_as: str) -> None:
    """Refuse pins of numbers that nobody published, and published numbers without a pin."""
    unknown = {name for name in pinned if not name.startswith(ABOUT_THE_TABLES)} - set(claims)
    faults = [
        (sorted(unknown), "pinned, but no published number of the study"),
        (sorted(set(claims) - set(pinned)), "published, but neither pinned nor not_determinable"),
    ]
    told = [
        f"{what}: {', '.join(ids[:5])}" + (f" and {len(ids) - 5} more" if len(ids) > 5 else "")
        for ids, what in faults
        if ids
    ]
    if told:
        raise StudyError(f"{shown_as}: " + "; ".join(told))
