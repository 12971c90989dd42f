"""The verb that holds a study against the checklist."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, console, emit

if TYPE_CHECKING:
    import pandas as pd

STYLES = {"fail": "bold red", "caution": "yellow", "pass": "green"}
"""The verdicts, gravest first, with the colour they have on a terminal."""


def audit(
    study: options.StudyName,
    queries: Annotated[
        bool, typer.Option("--queries", help="Show the SQL behind each line as well.")
    ] = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Check what the study's evidence supports and what it does not."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study

    frame = open_study(study, root=root, database=database).audit()
    if as_json or as_csv:
        emit(Result("audit", frame, study=study), as_json=as_json, as_csv=as_csv)
    else:
        _print_findings(frame, queries=queries)


def _print_findings(frame: pd.DataFrame, *, queries: bool) -> None:
    """Print the gravest findings first, each with its evidence; what passed in one line each."""
    from rich.table import Table
    from rich.text import Text

    out = console()
    grid = Table.grid(padding=(0, 2))
    grid.add_column(min_width=max(map(len, STYLES)), no_wrap=True)
    grid.add_column()
    for verdict, style in STYLES.items():
        for finding in frame[frame["verdict"] == verdict].to_dict("records"):
            lines = [f"{finding['check']}: {finding['subject']}"]
            if verdict != "pass":
                lines += [finding["evidence"], finding["recommendation"]]
            if queries:
                lines.append(finding["query"])
            head, *rest = [line for line in lines if line]
            grid.add_row(Text(verdict, style), head)
            for line in rest:
                grid.add_row("", line)
    out.print(grid, "")
    counts = frame["verdict"].value_counts()
    out.print(", ".join(f"{int(counts.get(verdict, 0))} {verdict}" for verdict in STYLES) + ".")
    if not queries:
        out.print("The query behind each line: --queries.")
    sys.stdout.flush()
