"""From committed data to committed reports: verify, load, check the pins, write.

Nothing is written before everything has been computed, so bad input leaves the reports alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from steelyard.errors import StudyError, UnknownNameError
from steelyard.report.files import write_files
from steelyard.report.pins import PinResult, check_pins, count_statuses, read_pins

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.report.content import StudyContent

Progress = Callable[[str], None]


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


@dataclass(frozen=True)
class ReproduceResult:
    """What `reproduce` found and wrote.

    Attributes
    ----------
    studies : tuple of StudyResult
        In alphabetical order.
    written : tuple of str
        The files below ``reports/`` whose bytes changed, stale ones that were removed included.
    """

    studies: tuple[StudyResult, ...]
    written: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether no pin failed."""
        return not any(study.failed for study in self.studies)

    def failures(self) -> list[tuple[str, PinResult]]:
        """Return every failed pin with its study."""
        return [(s.study, pin) for s in self.studies for pin in s.pins if pin.status == "failed"]

    def to_frame(self) -> pd.DataFrame:
        """Return the counts, one row per study."""
        import pandas as pd

        return pd.DataFrame([study.to_row() for study in self.studies])


def reproduce(
    root: str | Path,
    studies: Iterable[str] | None = None,
    *,
    write_reports: bool = True,
    progress: Progress | None = None,
) -> ReproduceResult:
    """Recompute every published number and write the reports.

    Parameters
    ----------
    root : str or pathlib.Path
        The project's root; see `steelyard.store.project.find_root`.
    studies : iterable of str, optional
        Which studies; all when absent. ``reports/index.html`` is a page over all studies and is
        only written when all are asked for.
    write_reports : bool, default True
        Whether to write below ``reports/``. A failed pin does not prevent it: the report shows
        the failure.
    progress : callable, optional
        Called with one line before each step.

    Returns
    -------
    ReproduceResult

    Raises
    ------
    UnknownNameError
        A study that is not declared.
    SteelyardError
        Evidence that differs from its manifest, a declaration or template that cannot be used,
        or a place that cannot be written. Nothing has been written then, unless the writing
        itself failed.
    """
    from steelyard.store.build import open_database
    from steelyard.store.declaration import read_declarations

    root = Path(root)
    tell = progress or (lambda _: None)
    declared = sorted(read_declarations(root))
    chosen = sorted(set(studies)) if studies is not None else declared
    for name in chosen:
        if name not in declared:
            raise UnknownNameError("study", name, declared)
    tell("verifying and loading the data")
    connection = open_database(root)
    try:
        results, contents = [], []
        for name in chosen:
            tell(f"{name}: pins" + (" and report" if write_reports else ""))
            result, content = _study(root, connection, name, collect=write_reports)
            results.append(result)
            contents += [] if content is None else [content]
        written: list[str] = []
        if write_reports:
            tell("writing reports")
            written = _write(root, contents, whole=chosen == declared)
    finally:
        connection.close()
    return ReproduceResult(tuple(results), tuple(written))


def _study(
    root: Path, connection: Any, name: str, *, collect: bool
) -> tuple[StudyResult, StudyContent | None]:
    from steelyard.analysis.evidence import Evidence
    from steelyard.store.tables import StudyTables

    tables = StudyTables(connection, name)
    pins = _pins(root, tables)
    counts = count_statuses(pins)
    result = StudyResult(
        study=name,
        reproduced=counts["reproduced"],
        disputed=counts["disputed"],
        not_determinable=counts["not determinable"],
        failed=counts["failed"],
        pins=tuple(pins),
    )
    if not collect:
        return result, None
    from steelyard.report import content

    return result, content.collect(Evidence(tables), pins)


def _pins(root: Path, tables: Any) -> list[PinResult]:
    shown_as = f"experiments/{tables.study}/pins.toml"
    path = root / shown_as
    if not path.is_file():
        return []
    pins = read_pins(path, shown_as)
    if pins.study != tables.study:
        raise StudyError(f"{shown_as}: study is {pins.study!r}; the folder says {tables.study!r}")
    return check_pins(tables, pins)


def _write(root: Path, contents: list[StudyContent], *, whole: bool) -> list[str]:
    """Render everything, then write everything."""
    from steelyard.report.page import page_html, read_page
    from steelyard.report.render import OWNED, environment, report_files

    templates = environment(root)
    folders = {content.study: report_files(content, templates) for content in contents}
    index = {"index.html": page_html(read_page(root), contents, templates)} if whole else {}
    reports = root / "reports"
    written = []
    for study, files in folders.items():
        written += [f"{study}/{name}" for name in write_files(reports / study, files, OWNED)]
    return written + write_files(reports, index)
