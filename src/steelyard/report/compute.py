"""Computing what reports show, study by study, on as many processors as there are.

Studies do not need each other's results, so each may be computed in an interpreter of its own.
The interpreters are started as ``python -m steelyard.report.worker`` and not through
``multiprocessing``: that would import the caller's script again, or copy a process that holds a
database open.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from steelyard.errors import StudyError
from steelyard.report.pin_file import read_pins
from steelyard.report.pins import PinResult, check_pins, count_statuses

if TYPE_CHECKING:
    from steelyard.report.content import StudyContent
    from steelyard.store.tables import StudyTables

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
    compute = compute_study if count <= 1 else _compute_apart
    with ThreadPoolExecutor(max_workers=max(1, count)) as pool:
        pending = [pool.submit(compute, root, name, reports=reports) for name in studies]
        try:
            return list(_gather(studies, pending, tell))
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def compute_study(root: Path, study: str, *, reports: bool) -> Computed:
    """Check the pins of one study and, for ``reports``, collect what its report shows."""
    from steelyard.analysis.evidence import Evidence
    from steelyard.store.build import DATABASE
    from steelyard.store.connect import connect
    from steelyard.store.tables import StudyTables

    connection = connect(root / DATABASE)
    try:
        tables = StudyTables(connection, study)
        pins = _pins(root, tables)
        content = None
        if reports:
            from steelyard.report.content import collect

            content = collect(Evidence(tables), pins)
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


def _processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _gather(studies: Sequence[str], pending: Sequence[Any], tell: Tell) -> Iterator[Computed]:
    for study, future in zip(studies, pending, strict=True):
        tell(study)
        yield future.result()


def _compute_apart(root: Path, study: str, *, reports: bool) -> Computed:
    """Compute one study in another interpreter.

    When that fails, the study is computed here: a fault of the input is then raised as it is, and
    a machine that cannot start a process still gets its result.
    """
    command = [sys.executable, "-m", "steelyard.report.worker", str(root), study]
    try:
        done = subprocess.run(  # noqa: S603 - our own module, no shell
            [*command, "reports" if reports else "pins"], capture_output=True, check=True
        )
    except (OSError, subprocess.SubprocessError):
        with _HERE:  # drawing changes matplotlib's settings, which belong to the whole process
            return compute_study(root, study, reports=reports)
    computed: Computed = pickle.loads(done.stdout)  # noqa: S301 - written by our own process
    return computed


def _pins(root: Path, tables: StudyTables) -> list[PinResult]:
    shown_as = f"experiments/{tables.study}/pins.toml"
    path = root / shown_as
    if not path.is_file():
        return []
    pins = read_pins(path, shown_as)
    if pins.study != tables.study:
        raise StudyError(f"{shown_as}: study is {pins.study!r}; the folder says {tables.study!r}")
    return check_pins(tables, pins)
