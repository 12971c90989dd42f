"""The verb that sets two arms against each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import options
from steelyard.cli.output import Result, check_format, emit
from steelyard.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.study import Study


def compare(
    study: options.StudyName,
    reference: Annotated[
        str | None,
        typer.Argument(
            metavar="[REFERENCE]",
            help="An arm, or STUDY:ARM for an arm of another study.",
            autocompletion=options.complete_arm,
        ),
    ] = None,
    candidate: Annotated[
        str | None,
        typer.Argument(
            metavar="[CANDIDATE]",
            help="The other arm. Without both, the comparisons that the study declares are made.",
            autocompletion=options.complete_arm,
        ),
    ] = None,
    measure: options.Measure = None,
    by: options.By = None,
    missing: options.Missing = None,
    population: options.Population = "assigned",
    margin: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Largest difference of rates that would be 'the same', as 0.05. Default: as the "
            "study declares.",
        ),
    ] = None,
    adjust: Annotated[
        str,
        typer.Option(
            metavar="METHOD", help="For the table's rows: holm, benjamini_hochberg, none."
        ),
    ] = "holm",
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
    """Compare two arms: difference, exact tests, equivalence, verdict."""
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.cli import captions, columns

    if (reference is None) != (candidate is None):
        raise InputError("compare takes two arms, REFERENCE and CANDIDATE, or none")
    opened = open_study(study, root=root, database=database)
    settings = {
        "by": options.groups(by, ("perturbation",)),
        "missing": missing,
        "population": population,
        "margin": margin,
        "adjust": adjust,
        "confidence": confidence,
        "threshold": threshold,
        **options.chosen(perturbation=perturbation, task=task, variant=variant, repeat=repeat),
    }
    if reference is not None and candidate is not None:
        frame = opened.compare(reference, candidate, measure, **settings)
    else:
        frame = _declared(opened, measure, settings)
    result = Result(
        "compare",
        frame,
        columns.comparison(frame),
        captions.comparison(frame),
        study,
        sections=columns.sections(frame),
    )
    emit(result, as_json=as_json, as_csv=as_csv)


def _declared(study: Study, measure: str | None, settings: dict[str, Any]) -> pd.DataFrame:
    """Make each comparison that the study declares; its own perturbations and margin hold."""
    import pandas as pd

    declared = study.tables.design.comparisons
    if not declared:
        raise InputError(f"study {study.name} declares no comparison; name REFERENCE and CANDIDATE")
    parts = []
    for item in declared:
        own = dict(settings)
        if own["margin"] is None:
            own["margin"] = item.margin
        if item.perturbations:
            own.setdefault("perturbation", list(item.perturbations))
        table = study.compare(item.reference, item.candidate, measure or item.measure, **own)
        table.insert(0, "comparison", item.name)
        parts.append(table)
    return pd.concat(parts, ignore_index=True)
