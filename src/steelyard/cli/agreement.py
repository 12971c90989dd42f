"""Verbs about arms that are meant to do the same: parity, consensus."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, emit, to_json, write


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


def consensus(
    study: options.StudyName,
    by: options.By = None,
    full: Annotated[
        bool, typer.Option("--full", help="Align decisions as well as tool calls.")
    ] = False,
    reference_arm: Annotated[
        str | None,
        typer.Option(
            metavar="ARM",
            help="Whose most frequent path is the reference. Default: that of all trials.",
            autocompletion=options.complete_arm,
        ),
    ] = None,
    missing: options.Missing = None,
    confidence: options.Confidence = 0.95,
    arm: options.Arm = None,
    perturbation: options.Perturbation = None,
    task: options.Task = None,
    variant: options.Variant = None,
    repeat: options.Repeat = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Tell at which step of a task's usual path trials leave it, and how often."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    groups = options.groups(by, ("arm", "perturbation"))
    frame = open_study(study, root=root, database=database).consensus(
        by=groups,
        path="full" if full else "effect",
        reference_arm=reference_arm,
        missing=missing,
        confidence=confidence,
        **options.chosen(
            arm=arm, perturbation=perturbation, task=task, variant=variant, repeat=repeat
        ),
    )
    caption = captions.consensus(frame)
    if not (as_json or as_csv):  # where trials left the path; JSON and CSV hold all of it
        frame = frame[frame["event"].isin(columns.DEPARTURES) & (frame["count"] > 0)]
    sections = ["task", *(name for name in groups if name == "arm")]
    shown = columns.consensus(frame, [name for name in groups if name not in sections])
    result = Result("consensus", frame, shown, caption, study, sections)
    emit(result, as_json=as_json, as_csv=as_csv)
