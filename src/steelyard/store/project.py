"""Finding the project: the folder that holds ``experiments/`` and ``data/manifest.toml``."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.errors import StudyError

HOME_VARIABLE = "STEELYARD_HOME"


def find_root(start: str | Path | None = None) -> Path:
    """Find the project's root.

    Looked for in this order: the environment variable ``STEELYARD_HOME``; ``start`` (by default
    the working directory) and the folders above it; the checkout that an editable install of
    steelyard points to.

    Parameters
    ----------
    start : str or pathlib.Path, optional
        Where to begin. When given, the environment and the checkout are not consulted.

    Returns
    -------
    pathlib.Path
        Absolute.

    Raises
    ------
    StudyError
        If ``STEELYARD_HOME`` points to something else, or no root is found.
    """
    named = os.environ.get(HOME_VARIABLE)
    if named and start is None:
        root = Path(named).expanduser().resolve()
        if not is_root(root):
            raise StudyError(
                f"{HOME_VARIABLE} is {named!r}, which does not hold experiments/ and "
                "data/manifest.toml"
            )
        return root
    begin = Path(start or Path.cwd()).resolve()
    candidates = [begin, *begin.parents]
    if start is None:
        candidates.append(Path(__file__).resolve().parents[3])
    for folder in candidates:
        if is_root(folder):
            return folder
    raise StudyError(
        "no project found: neither this folder nor one above it holds experiments/ and "
        f"data/manifest.toml; change to a checkout of steelyard, or set {HOME_VARIABLE}"
    )


def is_root(folder: Path) -> bool:
    """Tell whether ``folder`` holds ``experiments/`` and ``data/manifest.toml``."""
    return (folder / "experiments").is_dir() and (folder / "data" / "manifest.toml").is_file()
