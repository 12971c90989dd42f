"""From committed data to committed reports: verify, load, check the pins, write.

Nothing is written before everything has been computed, so bad input leaves the reports alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from steelyard.errors import UnknownNameError
from steelyard.report.compute import StudyResult, compute_studies
from steelyard.report.files import write_files
from steelyard.report.pins import PinResult

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.report.content import StudyContent

Progress = Callable[[str], None]


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
    processes: int | None = None,
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
    processes : int, optional
        How many studies to compute at a time; as many as there are processors when absent.

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
    open_database(root).close()
    what = "pins and report" if write_reports else "pins"
    computed = compute_studies(
        root,
        chosen,
        reports=write_reports,
        processes=processes,
        tell=lambda study: tell(f"{study}: {what}"),
    )
    written: list[str] = []
    if write_reports:
        tell("writing reports")
        contents = [content for _, content in computed if content is not None]
        written = _write(root, contents, whole=chosen == declared)
    return ReproduceResult(tuple(result for result, _ in computed), tuple(written))


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
