"""What a study's report holds, collected once and then only formatted.

`collect` asks the analysis room every question that the report answers. Everything after it
(Markdown, CSV, SVG, HTML) copies from the result, so that all of them show the same numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.errors import StudyError, UnknownNameError
from steelyard.report.content_declared import OwnSection, own_section
from steelyard.report.content_tables import TABLES, ReportTable, study_tables
from steelyard.report.drawing import Drawing
from steelyard.report.pins import PinResult, count_statuses
from steelyard.report.tables import records

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.analysis.evidence import Evidence
    from steelyard.report.content_trajectories import Trajectories
    from steelyard.store.declaration import Declaration

VERDICTS = ("fail", "caution", "pass")
TRAJECTORIES = "trajectories"


@dataclass(frozen=True)
class StudyContent:
    """Everything one study's report shows.

    Parameters
    ----------
    study : str
        The study's id.
    design : Declaration
        Its ``study.toml``.
    tables : dict of str to ReportTable
        By name, in the order of the report.
    drawings : tuple of Drawing
        In the order of the report.
    audit : pandas.DataFrame
        As `steelyard.analysis.audit` returns it.
    pins : tuple of PinResult
        What became of the published numbers.
    claims : pandas.DataFrame
        The published numbers as printed, those of the studies it is compared with included.
    trajectories : Trajectories, optional
        What the trials did, where the study holds their steps.
    own : OwnSection
        The tables and figures that only this study's report has.
    """

    study: str
    design: Declaration
    tables: dict[str, ReportTable]
    drawings: tuple[Drawing, ...]
    audit: pd.DataFrame
    pins: tuple[PinResult, ...]
    claims: pd.DataFrame
    trajectories: Trajectories | None = None
    own: OwnSection = field(default_factory=OwnSection)

    @property
    def all_tables(self) -> dict[str, ReportTable]:
        """Every table: the study's own, those of every study, those about trajectories."""
        paths = self.trajectories.tables if self.trajectories else {}
        return self.own.tables | self.tables | paths

    @property
    def all_drawings(self) -> tuple[Drawing, ...]:
        """Every figure, in the order of `all_tables`."""
        paths = self.trajectories.drawings if self.trajectories else ()
        own = tuple(captioned.drawing for captioned in self.own.drawings)
        return own + self.drawings + paths

    @property
    def published(self) -> bool:
        """Whether somebody published numbers that this study's tables can be held against."""
        return bool((self.claims["study"] == self.study).any())

    @property
    def pin_counts(self) -> dict[str, int]:
        """How many published numbers have each status."""
        return count_statuses(self.pins)

    @property
    def verdict_counts(self) -> dict[str, int]:
        """How many lines of the audit have each verdict."""
        found = list(self.audit["verdict"])
        return {verdict: found.count(verdict) for verdict in VERDICTS}

    def row(self, table: str, **where: Any) -> dict[str, Any]:
        """Return the only row of a table in which every column of ``where`` has its value.

        This is how a sentence of the report gets its numbers.

        Raises
        ------
        UnknownNameError
            A table or column that the report does not have.
        StudyError
            No row, or more than one.
        """
        tables = self.all_tables
        if table not in tables:
            raise UnknownNameError("table", table, tables, f"the report of {self.study}")
        return _only_row(tables[table].frame, f"{self.study}, table {table}", where)

    def claim(self, name: str, study: str | None = None) -> dict[str, Any]:
        """Return the printed figures of one published number, by default one of this study."""
        where = {"study": self.study if study is None else study, "claim": name}
        return _only_row(self.claims, f"claims of {self.study}", where)


def _only_row(frame: pd.DataFrame, place: str, where: dict[str, Any]) -> dict[str, Any]:
    for name in where:
        if name not in frame.columns:
            raise UnknownNameError("column", name, map(str, frame.columns), place)
    rows = [row for row in records(frame) if all(row[key] == want for key, want in where.items())]
    if len(rows) != 1:
        asked = ", ".join(f"{key}={want!r}" for key, want in where.items())
        raise StudyError(f"{place}: {len(rows)} rows with {asked or 'no condition'}; need one")
    return rows[0]


def collect(evidence: Evidence, pins: Sequence[PinResult]) -> StudyContent:
    """Ask every question of a study's report.

    Parameters
    ----------
    evidence : Evidence
        The study's tables.
    pins : sequence of PinResult
        The checked pins.

    Returns
    -------
    StudyContent
    """
    from steelyard.analysis.audit import audit_evidence
    from steelyard.report.content_figures import study_drawings
    from steelyard.report.content_trajectories import study_trajectories

    design = evidence.tables.design
    omitted = _omitted(design)
    tables = study_tables(evidence, omitted)
    drawings = study_drawings(design, tables)
    trajectories = None if TRAJECTORIES in omitted else study_trajectories(evidence)
    others, figures = dict(tables), list(drawings)
    if trajectories is not None:
        others |= trajectories.tables
        figures += trajectories.drawings
    return StudyContent(
        study=evidence.study,
        design=design,
        tables=tables,
        drawings=drawings,
        audit=audit_evidence(evidence),
        pins=tuple(pins),
        claims=_claims(evidence),
        trajectories=trajectories,
        own=own_section(evidence, others, frozenset(drawing.name for drawing in figures)),
    )


def _omitted(design: Declaration) -> frozenset[str]:
    """Return what the study's report leaves out, checked: a name that is nothing is a slip."""
    omitted = frozenset(() if design.report is None else design.report.omit)
    known = {TRAJECTORIES, *TABLES} - {"trials"}
    for name in sorted(omitted - known):
        where = f"experiments/{design.id}/study.toml: report.omit"
        raise UnknownNameError("table", name, known, where)
    return omitted


def _claims(evidence: Evidence) -> pd.DataFrame:
    import pandas as pd

    sides = [
        side
        for comparison in evidence.tables.design.comparisons
        for side in (comparison.reference, comparison.candidate)
    ]
    studies = [evidence.study, *(side.rpartition(":")[0] for side in sides if ":" in side)]
    frames = [evidence.of_study(study).frame("claims") for study in dict.fromkeys(studies)]
    return pd.concat(frames, ignore_index=True)
