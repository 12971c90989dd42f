"""``[report]`` of a ``study.toml``: the tables and figures that only this study's report has.

A table is the answer to a registered question, a figure is a registered drawing of such tables.
Whether the names exist, and whether a table has the columns that are to be printed, is known only
where questions and drawings are: the report room checks it and names the line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Self

from pydantic import Field, model_validator

from steelyard.store.toml_files import Declared, Parameters

Text = Annotated[str, Field(min_length=1)]
FileName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Scalar = Annotated[str | bool | int | float, Field(union_mode="smart")]


class PrintedColumn(Declared):
    """One printed column: its heading, the table's columns it is made of, and its kind.

    Kinds are those of `steelyard.report.tables.Column`. A fraction or an interval is made of two
    columns, everything else of one.
    """

    heading: Text
    sources: Annotated[tuple[Text, ...], Field(min_length=1, max_length=2, alias="from")]
    kind: Text = "text"


class AskedTable(Declared):
    """``[[report.tables]]``: a question, and how its answer is printed.

    Attributes
    ----------
    name : str
        ``tables/<name>.csv``, which holds the whole answer.
    ask : str
        A question of `steelyard.analysis.questions`.
    parameters : dict
        What the question is asked with.
    title, note : str
        What stands above and below the printed table; the note says how to read it.
    columns : tuple of PrintedColumn
        What is printed; every column when empty.
    where : dict of str to scalar
        Only rows with these values are printed, by column.
    printed : bool
        False leaves the table to its CSV file.
    """

    name: FileName
    ask: Text
    parameters: Parameters = Field(default_factory=dict)
    title: Text
    note: str = ""
    columns: tuple[PrintedColumn, ...] = ()
    where: dict[str, Scalar] = Field(default_factory=dict)
    printed: bool = True


class DrawnFigure(Declared):
    """``[[report.figures]]``: a drawing of tables of this report.

    Attributes
    ----------
    name : str
        ``figures/<name>.svg``.
    draw : str
        A drawing of `steelyard.report.drawings`.
    tables : tuple of str
        The tables it is given, whole, in this order: declared ones or any other of the report.
    parameters : dict
        What the drawing is told besides.
    title, subtitle : str
        Drawn at the top of the figure.
    caption : str
        Printed below the figure.
    """

    name: FileName
    draw: Text
    tables: Annotated[tuple[Text, ...], Field(min_length=1)]
    parameters: Parameters = Field(default_factory=dict)
    title: Text
    subtitle: str = ""
    caption: str = ""


class ReportDeclaration(Declared):
    """The whole ``[report]`` section.

    Attributes
    ----------
    title : str
        Stands above the study's own tables and figures.
    omit : tuple of str
        Tables of every report that would mislead in this one (with the figures of their names),
        and ``trajectories`` for all about steps.
    tables, figures
        The study's own.
    """

    title: Text = "Results of this study"
    omit: tuple[FileName, ...] = ()
    tables: tuple[AskedTable, ...] = ()
    figures: tuple[DrawnFigure, ...] = ()

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        _once("tables", (table.name for table in self.tables))
        _once("figures", (figure.name for figure in self.figures))
        return self


def _once(what: str, names: Iterable[str]) -> None:
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise ValueError(f"two {what} are called {twice[0]!r}")
