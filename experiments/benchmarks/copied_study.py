"""A study of the benchmarks, copied into a project of its own so that it can be run and changed."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

HERE = Path(__file__).resolve().parent
DOMAIN = "echo_domain.py"  # stands beside the studies that use it


def copy_study(name: str, folder: Path, changes: Mapping[str, str]) -> Path:
    """Copy a study below a folder, with changes of its declaration; return the study's folder.

    Parameters
    ----------
    name : str
        The study's.
    folder : pathlib.Path
        The root of the new project.
    changes : mapping of str to str
        Text of ``study.toml`` and what it becomes; every text has to be there.

    Raises
    ------
    ValueError
        A text is not in the declaration.
    """
    study = folder / "experiments" / name
    shutil.copytree(HERE / name, study, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy2(HERE / DOMAIN, study.parent)
    file = study / "study.toml"
    text = file.read_text(encoding="utf-8")
    for old, new in changes.items():
        if old not in text:
            raise ValueError(f"{name}/study.toml does not hold {old!r}")
        text = text.replace(old, new)
    file.write_text(text, encoding="utf-8")
    return study
