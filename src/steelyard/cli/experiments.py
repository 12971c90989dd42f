"""How the verbs of the harness are told which experiment they are about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from steelyard.errors import UnknownNameError, shown_file

Folder = Annotated[
    Path,
    typer.Argument(metavar="STUDY", help="The experiment's folder, experiments/STUDY, or its id."),
]


def experiment_folder(study: Path) -> Path:
    """Return the experiment's folder, named by its path, its file or its id.

    Raises
    ------
    UnknownNameError
        If no ``study.toml`` is there; the message names the experiments beside it.
    """
    folder = _named_folder(study)
    if not (folder / "study.toml").exists():
        beside = [file.parent.name for file in folder.parent.glob("*/study.toml")]
        raise UnknownNameError("experiment", folder.name, beside, shown_file(folder.parent))
    return folder


def _named_folder(study: Path) -> Path:
    if study.name == "study.toml":
        return study.parent
    if study.is_dir() or len(study.parts) > 1:
        return study
    from steelyard.store import find_root

    return find_root() / "experiments" / study.name
