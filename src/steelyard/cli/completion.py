"""Names for the shell's completion, from the declarations; for trial ids from the tables.

A completion never fails: where nothing can be read, nothing is offered.
"""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

import typer


def complete_study(incomplete: str) -> list[str]:
    """Offer the studies of the project."""
    return [name for name in _declarations() if name.startswith(incomplete)]


def complete_arm(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the arms of the study that was typed before, else of all studies."""
    return _designed(ctx, "arms", incomplete)


def complete_perturbation(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer the perturbations of the study that was typed before, else of all studies."""
    return _designed(ctx, "perturbations", incomplete)


def complete_trial(ctx: typer.Context, incomplete: str) -> list[str]:
    """Offer trial ids, one part at a time: the arms first, then what the tables hold below."""
    if "/" not in incomplete:
        return [f"{arm}/" for arm in _designed(ctx, "arms", incomplete)]
    try:
        return _trials_below(ctx.params.get("study"), incomplete)
    except Exception:  # a shell that completes nothing is better than one that shows a traceback
        return []


def _trials_below(study: str | None, incomplete: str) -> list[str]:
    from steelyard.study import open_connection

    depth = incomplete.count("/") + 1
    rows = (
        open_connection()
        .execute(
            "SELECT DISTINCT string_split(trial_id, '/')[1:?] FROM trials "
            "WHERE starts_with(trial_id, ?) AND (? IS NULL OR study = ?) ORDER BY ALL",
            [depth, incomplete, study, study],
        )
        .fetchall()
    )
    whole = 5  # arm, task, perturbation, variant, repeat
    return ["/".join(parts) + ("" if depth == whole else "/") for (parts,) in rows]


def _designed(ctx: typer.Context, key: str, incomplete: str) -> list[str]:
    known = _declarations()
    study = ctx.params.get("study")
    designs = [known[study]] if study in known else list(known.values())
    names = {name: None for design in designs for name in design.get("design", {}).get(key, [])}
    return [name for name in names if name.startswith(incomplete)]


def _declarations() -> dict[str, dict[str, Any]]:
    """Return the content of each ``study.toml`` that can be read, by study."""
    found = {}
    for path in sorted(_experiments().glob("*/study.toml")):
        try:
            found[path.parent.name] = tomllib.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
    return found


def _experiments() -> Path:
    home = os.environ.get("STEELYARD_HOME")
    start = Path(home) if home else Path.cwd()
    inside = [folder / "experiments" for folder in (start, *start.parents)]
    checkout = Path(__file__).resolve().parents[3] / "experiments"
    return next((folder for folder in inside if folder.is_dir()), checkout)
