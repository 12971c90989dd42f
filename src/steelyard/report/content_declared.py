"""The tables and figures that a study's ``[report]`` declares for its own report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.questions import ask
from steelyard.errors import InputError, SteelyardError, StudyError, UnknownNameError
from steelyard.report.content_tables import ReportTable, View
from steelyard.report.drawing import Drawing
from steelyard.report.drawings import draw
from steelyard.report.tables import Column, default_columns

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.analysis.evidence import Evidence
    from steelyard.store.declaration import Declaration
    from steelyard.store.report_declaration import AskedTable, DrawnFigure, PrintedColumn

WRITTEN_ALWAYS = ("audit", "pins")
"""Tables of every report that are no answers; a study's own need other names."""


class DeclaredFaultError(StudyError):
    """A ``[report]`` section that asks for what does not exist.

    Attributes
    ----------
    study : str
        Whose ``study.toml`` it is.
    location : tuple of str or int
        Where in it, from the top: its line can be found from this.
    reason : str
        What is wrong.
    """

    def __init__(self, study: str, location: tuple[str | int, ...], reason: str) -> None:
        from steelyard.store.toml_files import shown_path

        self.study = study
        self.location = location
        self.reason = reason
        super().__init__(f"experiments/{study}/study.toml: {shown_path(location)}: {reason}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Let the error travel between processes."""
        return type(self), (self.study, self.location, self.reason)


@dataclass(frozen=True)
class CaptionedDrawing:
    """A figure with the sentence that is printed below it."""

    drawing: Drawing
    caption: str = ""


@dataclass(frozen=True)
class OwnSection:
    """The section of a report that only this study has.

    Parameters
    ----------
    title : str
        Its heading; empty for a study that declares nothing.
    tables : dict of str to ReportTable
        By name, as declared.
    drawings : tuple of CaptionedDrawing
        As declared.
    """

    title: str = ""
    tables: dict[str, ReportTable] = field(default_factory=dict)
    drawings: tuple[CaptionedDrawing, ...] = ()


def own_section(
    evidence: Evidence, others: Mapping[str, ReportTable], figures: frozenset[str]
) -> OwnSection:
    """Ask a study's own questions and draw its own figures.

    Parameters
    ----------
    evidence : Evidence
        The study.
    others : mapping of str to ReportTable
        The report's other tables, which figures may show and whose names are taken.
    figures : frozenset of str
        Names of the report's other figures.

    Raises
    ------
    DeclaredFaultError
        For a question, drawing, table, column, kind or parameter that does not exist or fit, and
        for a name that is taken.
    """
    design = evidence.tables.design
    if design.report is None:
        return OwnSection()
    tables: dict[str, ReportTable] = {}
    for place, asked in enumerate(design.report.tables):
        if asked.name in others or asked.name in WRITTEN_ALWAYS:
            _refuse_name(design, ("report", "tables", place, "name"), asked.name, "table")
        tables[asked.name] = _table(evidence, asked, ("report", "tables", place))
    drawings = []
    for place, drawn in enumerate(design.report.figures):
        if drawn.name in figures:
            _refuse_name(design, ("report", "figures", place, "name"), drawn.name, "figure")
        found = _drawing(design, drawn, {**others, **tables}, ("report", "figures", place))
        drawings.append(CaptionedDrawing(found, drawn.caption))
    return OwnSection(design.report.title, tables, tuple(drawings))


def _refuse_name(
    design: Declaration, location: tuple[str | int, ...], name: str, what: str
) -> None:
    reason = f"the report has a {what} {name!r} already; it needs another name"
    raise DeclaredFaultError(design.id, location, reason)


def _table(evidence: Evidence, asked: AskedTable, location: tuple[str | int, ...]) -> ReportTable:
    try:
        frame = ask(evidence, asked.ask, asked.parameters)
    except SteelyardError as error:
        at = "ask" if isinstance(error, UnknownNameError) and error.kind == "question" else None
        where = (*location, at or ("parameters" if asked.parameters else "ask"))
        raise DeclaredFaultError(evidence.study, where, str(error)) from None
    columns = _columns(evidence.study, asked, frame, location)
    shown = frame
    for name, value in asked.where.items():
        if name not in frame.columns:
            _unknown_column(evidence.study, (*location, "where", name), name, frame)
        shown = shown[shown[name] == value]
    view = View(asked.title, shown, columns, asked.note)
    return ReportTable(asked.name, frame, (view,) if asked.printed else ())


def _columns(
    study: str, asked: AskedTable, frame: pd.DataFrame, location: tuple[str | int, ...]
) -> tuple[Column, ...]:
    if not asked.columns:
        return tuple(default_columns(frame))
    return tuple(
        _column(study, declared, frame, (*location, "columns", place))
        for place, declared in enumerate(asked.columns)
    )


def _column(
    study: str, declared: PrintedColumn, frame: pd.DataFrame, location: tuple[str | int, ...]
) -> Column:
    try:
        column = Column(declared.heading, declared.sources, declared.kind)
    except InputError as error:
        raise DeclaredFaultError(study, location, str(error)) from None
    for name in column.sources:
        if name not in frame.columns:
            _unknown_column(study, (*location, "from"), name, frame)
    return column


def _unknown_column(
    study: str, location: tuple[str | int, ...], name: str, frame: pd.DataFrame
) -> None:
    error = UnknownNameError("column", name, map(str, frame.columns), "the answer")
    raise DeclaredFaultError(study, location, str(error))


def _drawing(
    design: Declaration,
    drawn: DrawnFigure,
    tables: Mapping[str, ReportTable],
    location: tuple[str | int, ...],
) -> Drawing:
    for name in drawn.tables:
        if name not in tables:
            error = UnknownNameError("table", name, tables, "the report")
            raise DeclaredFaultError(design.id, (*location, "tables"), str(error))
    head = {"name": drawn.name, "title": drawn.title, "subtitle": drawn.subtitle}
    try:
        return draw(drawn.draw, [tables[n].frame for n in drawn.tables], head, drawn.parameters)
    except SteelyardError as error:
        raise DeclaredFaultError(design.id, (*location, "draw"), str(error)) from None
