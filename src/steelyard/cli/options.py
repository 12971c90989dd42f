"""The arguments and options that several verbs share, each declared once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from steelyard.cli.completion import complete_arm, complete_perturbation, complete_study

StudyName = Annotated[
    str, typer.Argument(metavar="STUDY", help="Id of a study.", autocompletion=complete_study)
]
StudyNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[STUDY]...", help="Ids of studies; all by default.", autocompletion=complete_study
    ),
]
ArmName = Annotated[
    str, typer.Argument(metavar="ARM", help="An arm of the study.", autocompletion=complete_arm)
]
Measure = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The measure. Default: the study's primary one."),
]
Missing = Annotated[
    str | None,
    typer.Option(
        metavar="POLICY",
        help="What becomes of a trial without a score: exclude, fail (counts as 0), bounds (worst "
        "and best case) or recorded (as the table says). Default: as the study declares.",
    ),
]
Population = Annotated[
    str,
    typer.Option(
        metavar="WHO",
        help="assigned: every trial of the condition. applied: only those in which the "
        "perturbation is known to have happened.",
    ),
]
Confidence = Annotated[float, typer.Option(metavar="LEVEL", help="Level of the intervals.")]
Threshold = Annotated[
    float | None,
    typer.Option(metavar="VALUE", help="Turn a graded measure into success: at least this."),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COLUMN",
        help="Group by arm, perturbation, task, variant or repeat; may be repeated. 'none' gives "
        "one group.",
    ),
]
Arm = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME", help="Only this arm; may be repeated.", autocompletion=complete_arm
    ),
]
Perturbation = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME",
        help="Only this perturbation; may be repeated.",
        autocompletion=complete_perturbation,
    ),
]
Task = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this task; may be repeated.")
]
Variant = Annotated[
    list[str] | None, typer.Option(metavar="NAME", help="Only this variant; may be repeated.")
]
Repeat = Annotated[
    list[str] | None, typer.Option(metavar="NUMBER", help="Only this repeat; may be repeated.")
]
AsJson = Annotated[
    bool, typer.Option("--json", help="Print every column as JSON; NaN and infinities become null.")
]
AsCsv = Annotated[bool, typer.Option("--csv", help="Print every column as CSV; NaN is blank.")]
Root = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The project: holds experiments/ and data/. Default: STEELYARD_HOME, else found from "
        "the working directory.",
    ),
]
Database = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A DuckDB file made by steelyard, read as it is."),
]


def groups(by: Sequence[str] | None, default: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to group by: ``--by`` repeated or separated by commas, or the default."""
    if not by:
        return tuple(default)
    names = [name.strip() for part in by for name in part.split(",")]
    return () if names == ["none"] else tuple(names)


def chosen(**filters: Sequence[str] | None) -> dict[str, Any]:
    """Return the filters that were given, as the analyses take them."""
    return {column: list(names) for column, names in filters.items() if names}
