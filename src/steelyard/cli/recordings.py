"""``steelyard recordings``: which answers of models a study holds, and whether all can be read."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from steelyard.cli import options
from steelyard.cli.experiments import Folder, experiment_folder
from steelyard.cli.output import Result, check_format, emit


def recordings(
    study: Folder,
    merge: Annotated[
        bool, typer.Option("--merge", help="Merge what ended runs have left into one file.")
    ] = False,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Count a study's recorded answers, name damaged ones; exit 1 if there are any."""
    check_format(as_json, as_csv)
    from steelyard.harness.models.inventory import inventory
    from steelyard.harness.models.recordings import Recordings
    from steelyard.harness.study import RECORDINGS

    folder = experiment_folder(study).resolve()
    held = Recordings(folder / RECORDINGS)
    if merge:
        held.compact()
    damages = held.damages
    emit(
        Result(
            "recordings",
            inventory(held),
            None,
            f"{len(held)} answers, {len(damages)} damaged.",
            folder.name,
        ),
        as_json=as_json,
        as_csv=as_csv,
    )
    for damage in damages:
        print(f"damaged: {damage}", file=sys.stderr)
    if damages:
        raise typer.Exit(1)
