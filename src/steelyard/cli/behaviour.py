"""Verbs about what trials do and how it goes with the outcome: similarity, first-divergence."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, emit

Full = Annotated[bool, typer.Option("--full", help="Take decisions as well as tool calls.")]
FailedCalls = Annotated[
    str,
    typer.Option(
        metavar="POLICY",
        help="exclude: a call that ended in an error is no step. include: it is one.",
    ),
]


def similarity(
    study: options.StudyName,
    measure: options.Measure = None,
    test: Annotated[
        bool, typer.Option("--test", help="Test whether outcomes differ in it, within tasks.")
    ] = False,
    shift: Annotated[
        bool, typer.Option("--shift", help="Test whether perturbations move behaviour.")
    ] = False,
    definition: Annotated[
        str, typer.Option(metavar="NAME", help="levenshtein or alignment_score.")
    ] = "levenshtein",
    full: Full = False,
    failed_calls: FailedCalls = "exclude",
    missing: options.Missing = None,
    confidence: options.Confidence = 0.95,
    seed: Annotated[
        int, typer.Option(metavar="NUMBER", help="Of a test that cannot be made exactly.")
    ] = 0,
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
    """Tell how much trials of one task resemble each other, by outcome and arm."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns
    from steelyard.errors import InputError

    if test and shift:
        raise InputError("--test and --shift exclude each other; give one of them")
    opened = open_study(study, root=root, database=database)
    shared = {
        "measure": measure,
        "definition": definition,
        "path": "full" if full else "effect",
        "failed_calls": failed_calls,
        "missing": missing,
        "confidence": confidence,
        **options.chosen(
            arm=arm, perturbation=perturbation, task=task, variant=variant, repeat=repeat
        ),
    }
    if test:
        frame = opened.similarity_test(seed=seed, **shared)
        shown, caption = columns.similarity_test(frame), captions.similarity_test(frame)
    elif shift:
        frame = opened.behaviour_shift(seed=seed, **shared)
        shown, caption = columns.behaviour_shift(frame), captions.behaviour_shift(frame)
    else:
        frame = opened.similarity(**shared)
        shown, caption = columns.similarity(frame), captions.similarity(frame)
    sections = ["arm"] if shift else []
    result = Result("similarity", frame, shown, caption, study, sections)
    emit(result, as_json=as_json, as_csv=as_csv)


def first_divergence(
    study: options.StudyName,
    measure: options.Measure = None,
    by: options.By = None,
    full: Full = False,
    failed_calls: FailedCalls = "exclude",
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
    """Tell at which step failures first leave the successful trials' path."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    groups = options.groups(by, ("arm",))
    frame = open_study(study, root=root, database=database).first_divergence(
        measure,
        by=groups,
        path="full" if full else "effect",
        failed_calls=failed_calls,
        missing=missing,
        confidence=confidence,
        **options.chosen(
            arm=arm, perturbation=perturbation, task=task, variant=variant, repeat=repeat
        ),
    )
    shown = columns.first_divergence(frame, groups)
    caption = captions.first_divergence(frame, groups)
    emit(
        Result("first-divergence", frame, shown, caption, study),
        as_json=as_json,
        as_csv=as_csv,
    )
