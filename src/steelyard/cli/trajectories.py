"""Verbs over the steps of single trials: show, diff."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import options
from steelyard.cli.completion import complete_trial
from steelyard.cli.output import Result, check_format, console, emit, to_json, write

if TYPE_CHECKING:
    import pandas as pd
    from rich.text import Text

STYLES = {"match": "", "substitute": "yellow", "skipped": "red", "extra": "green"}
MARKS = {"match": " ", "substitute": "~", "skipped": "-", "extra": "+"}
TRIAL = "arm/task/perturbation/variant/repeat, or STUDY:arm/task/..."

InStudy = Annotated[
    str | None,
    typer.Option(
        "--study",
        metavar="STUDY",
        help="The study of the trials. Default: the only one that has such a trial.",
        autocompletion=options.complete_study,
    ),
]


def show(
    trial: Annotated[str, typer.Argument(help=TRIAL, autocompletion=complete_trial)],
    study: InStudy = None,
    as_json: options.AsJson = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Show one trial: its steps, its end, and what was measured."""
    from steelyard.cli.trials import TrialFinder, record

    found = TrialFinder(root, database).find(trial, study)
    document = record(*found)
    if as_json:
        write(to_json(document))
        return
    _print_trial(document)


def diff(
    reference: Annotated[str, typer.Argument(help=TRIAL, autocompletion=complete_trial)],
    candidate: Annotated[
        str, typer.Argument(help="The trial compared with it.", autocompletion=complete_trial)
    ],
    study: InStudy = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Align the steps of two trials side by side."""
    check_format(as_json, as_csv)
    from steelyard.analysis.trajectories import read_trial
    from steelyard.analysis.trial_diff import align_trials
    from steelyard.cli.trials import TrialFinder

    finder = TrialFinder(root, database)
    (left, first), (right, second) = (finder.find(name, study) for name in (reference, candidate))
    frame = align_trials(
        read_trial(left.tables, first),
        read_trial(right.tables, second),
        left.tables.design.argument_schemas,
    )
    counts = frame["operation"].value_counts()
    caption = ", ".join(f"{int(counts.get(name, 0))} {name}" for name in STYLES) + "."
    if as_json or as_csv:
        emit(Result("diff", frame, None, caption), as_json=as_json, as_csv=as_csv)
        return
    _print_sides(f"{left.name}: {first}", f"{right.name}: {second}", frame)
    console().print(caption)
    sys.stdout.flush()


def _print_trial(document: dict[str, Any]) -> None:
    """Print a trial from its first step to what became of it."""
    from steelyard.report.formats import format_flag, format_number

    out = console()
    out.print(f"{document['study']}: {document['trial_id']}", style="bold")
    told = [document["status"]]
    told += [f"error: {document['error']}"] if document["error"] else []
    applied = document["perturbation_applied"]
    told += [f"perturbation applied: {'unknown' if applied is None else format_flag(applied)}"]
    out.print("; ".join(told))
    if document["steps"] is None:
        out.print("The steps of this study are not among the tables.")
    for index, step in enumerate(document["steps"] or ()):
        out.print(_step(index, step))
    if document["state"]:
        out.print("state: " + ", ".join(f"{k} {v}" for k, v in document["state"].items()))
    for name, value in document["measures"].items():
        if not name.startswith("upheld:"):  # the rules that were broken follow by name
            out.print(f"{name}: {format_number(value)}")
    for violation in document["violations"]:
        out.print(f"broken: {violation['rule']} ({violation['severity']})", style="red")
    sys.stdout.flush()


def _step(index: int, step: dict[str, Any]) -> Text:
    from rich.text import Text

    line = Text(f"{index:>3}  {step['kind']:<10} {step['name']}")
    line.append(f" {step['arguments']}" if step["arguments"] != "?" else " (not recorded)", "dim")
    if step["error"] is not None:
        line.append(f"  failed: {step['error']}", "red")
    return line


def _print_sides(reference: str, candidate: str, frame: pd.DataFrame) -> None:
    """Print reference and candidate beside each other, one operation a line."""
    from rich.table import Table

    from steelyard.report.tables import records

    table = Table.grid(padding=(0, 2))
    table.add_column(width=1)
    table.add_column(ratio=1)
    table.add_column(ratio=1)
    table.add_row("", reference, candidate, style="bold")
    for row in records(frame):
        sides = [_cell(row, side) for side in ("reference", "candidate")]
        table.add_row(MARKS[row["operation"]], *sides, style=STYLES[row["operation"]])
        if row["differences"]:
            table.add_row("≠", "", row["differences"], style="yellow")
    console().print(table, "")


def _cell(row: dict[str, Any], side: str) -> str:
    name = row[f"{side}_name"]
    if not isinstance(name, str):
        return ""
    failed = isinstance(row[f"{side}_error"], str)
    return f"{row[f'{side}_index']:>3}  {name}" + ("  (failed)" if failed else "")
