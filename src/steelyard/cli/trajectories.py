"""Verbs over the steps of trials: show, diff, parity, attest."""

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


def parity(
    study: options.StudyName,
    incumbent: options.ArmName,
    replacement: Annotated[
        str,
        typer.Argument(help="The arm that would replace it.", autocompletion=options.complete_arm),
    ],
    target: Annotated[
        float, typer.Option(metavar="RATE", help="Rate of agreement that counts as equivalence.")
    ] = 0.95,
    published: Annotated[
        bool, typer.Option("--published", help="With Plumbline's definitions, to reproduce it.")
    ] = False,
    missing: options.Missing = None,
    confidence: options.Confidence = 0.95,
    perturbation: options.Perturbation = None,
    task: options.Task = None,
    variant: options.Variant = None,
    repeat: options.Repeat = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Tell whether an arm does what the arm it would replace does."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns
    from steelyard.cli.output import rows

    result = open_study(study, root=root, database=database).equivalence(
        incumbent,
        replacement,
        target=target,
        compatibility="plumbline" if published else None,
        missing=missing,
        confidence=confidence,
        **options.chosen(perturbation=perturbation, task=task, variant=variant, repeat=repeat),
    )
    caption = captions.parity(result)
    if as_json:
        write(
            to_json(
                {
                    "verb": "parity",
                    "study": study,
                    "caption": caption,
                    "result": result.to_row(),
                    "rows": rows(result.to_frame()),
                    "divergences": rows(result.divergences),
                }
            )
        )
        return
    frame = result.to_frame()
    emit(Result("parity", frame, columns.parity(frame), caption, study), as_csv=as_csv)
    if not as_csv and len(result.divergences):
        listed = Result("parity", result.divergences, columns.divergences(), "", study)
        write("\n")
        emit(listed)


def attest(
    study: options.StudyName,
    arm: options.ArmName,
    missing: options.Missing = None,
    confidence: Annotated[
        float, typer.Option(metavar="LEVEL", help="One-sided level of the upper limits.")
    ] = 0.95,
    population: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Executions that the trials stand for. Default: more than were seen."
        ),
    ] = None,
    perturbation: options.Perturbation = None,
    task: options.Task = None,
    variant: options.Variant = None,
    repeat: options.Repeat = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Test an arm's controls as auditors do: deviations against a tolerable rate."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    frame = open_study(study, root=root, database=database).attest(
        arm,
        missing=missing,
        confidence=confidence,
        population=population,
        **options.chosen(perturbation=perturbation, task=task, variant=variant, repeat=repeat),
    )
    result = Result("attest", frame, columns.attestation(), captions.attestation(frame), study)
    emit(result, as_json=as_json, as_csv=as_csv)


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
