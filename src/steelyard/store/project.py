"""Finding the project: the folder that holds ``experiments/`` and ``data/manifest.toml``."""

from __future__ import annotations

import os
from pathlib import Path

from steelyard.errors import StudyError, shown_file

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


def named_root(root: str | Path | None) -> Path:
    """Return the root that was named, or find it where none was.

    Parameters
    ----------
    root : str, pathlib.Path or None
        As the caller gave it.

    Raises
    ------
    StudyError
        If no such folder exists, it is no project, or none is found.
    """
    if root is None:
        return find_root()
    folder = Path(root)
    if not folder.is_dir():
        raise StudyError(f"{shown_file(folder)}: there is no such folder; {_EXPECTED}")
    if not (folder / "experiments").is_dir() and not (folder / "data").is_dir():
        raise StudyError(f"{shown_file(folder)}: is no project; {_EXPECTED}")
    return folder


_EXPECTED = "a project's root holds experiments/ and data/manifest.toml"


def is_root(folder: Path) -> bool:
    """Tell whether ``folder`` holds ``experiments/`` and ``data/manifest.toml``."""
    return (folder / "experiments").is_dir() and (folder / "data" / "manifest.toml").is_file()
