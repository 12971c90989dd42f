"""Verbs about single arms: rates, certify, manipulation, reliability, attest."""

from __future__ import annotations

from typing import Annotated

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, emit


def rates(
    study: options.StudyName,
    measure: options.Measure = None,
    by: options.By = None,
    missing: options.Missing = None,
    population: options.Population = "assigned",
    confidence: options.Confidence = 0.95,
    threshold: options.Threshold = None,
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
    """Estimate success rates, with intervals over trials and over tasks."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    groups = options.groups(by, ("arm", "perturbation"))
    frame = open_study(study, root=root, database=database).rates(
        measure,
        by=groups,
        missing=missing,
        population=population,
        confidence=confidence,
        threshold=threshold,
        **options.chosen(
            arm=arm, perturbation=perturbation, task=task, variant=variant, repeat=repeat
        ),
    )
    result = Result(
        "rates",
        frame,
        columns.rates(frame, groups),
        captions.rates(frame),
        study,
        columns.sections(frame),
    )
    emit(result, as_json=as_json, as_csv=as_csv)


def certify(
    study: options.StudyName,
    arm: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ARM]...",
            help="Arms of the study; all by default.",
            autocompletion=options.complete_arm,
        ),
    ] = None,
    measure: options.Measure = None,
    missing: options.Missing = None,
    population: options.Population = "assigned",
    confidence: options.Confidence = 0.95,
    threshold: options.Threshold = None,
    perturbation: options.Perturbation = None,
    task: options.Task = None,
    variant: options.Variant = None,
    repeat: options.Repeat = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Certify a lower bound that holds under an arm's worst perturbation."""
    check_format(as_json, as_csv)
    import pandas as pd

    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    opened = open_study(study, root=root, database=database)
    certificates = [
        opened.certify(
            name,
            measure,
            missing=missing,
            population=population,
            confidence=confidence,
            threshold=threshold,
            **options.chosen(perturbation=perturbation, task=task, variant=variant, repeat=repeat),
        )
        for name in arm or opened.arms
    ]
    frame = pd.DataFrame([certificate.to_row() for certificate in certificates])
    result = Result("certify", frame, columns.certificates(), captions.certificates(frame), study)
    emit(result, as_json=as_json, as_csv=as_csv)


def manipulation(
    study: options.StudyName,
    by: options.By = None,
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
    """Count in how many trials the perturbation really happened."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    groups = options.groups(by, ("arm", "perturbation"))
    frame = open_study(study, root=root, database=database).manipulation(
        by=groups,
        confidence=confidence,
        **options.chosen(
            arm=arm, perturbation=perturbation, task=task, variant=variant, repeat=repeat
        ),
    )
    shown = columns.manipulation(frame, groups)
    result = Result("manipulation", frame, shown, captions.manipulation(frame), study)
    emit(result, as_json=as_json, as_csv=as_csv)


def reliability(
    study: options.StudyName,
    measure: options.Measure = None,
    k_max: Annotated[
        int | None,
        typer.Option(metavar="K", help="Largest k. Default: the most trials any task has."),
    ] = None,
    by: options.By = None,
    missing: options.Missing = None,
    population: options.Population = "assigned",
    confidence: options.Confidence = 0.95,
    threshold: options.Threshold = None,
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
    """Estimate pass^k and pass@k: all, or any, of k attempts succeed."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    groups = options.groups(by, ("arm", "perturbation"))
    frame = open_study(study, root=root, database=database).reliability(
        measure,
        k_max,
        by=groups,
        missing=missing,
        population=population,
        confidence=confidence,
        threshold=threshold,
        **options.chosen(
            arm=arm, perturbation=perturbation, task=task, variant=variant, repeat=repeat
        ),
    )
    result = Result(
        "reliability",
        frame,
        columns.reliability(frame, groups),
        captions.reliability(frame),
        study,
        columns.sections(frame),
    )
    emit(result, as_json=as_json, as_csv=as_csv)


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
