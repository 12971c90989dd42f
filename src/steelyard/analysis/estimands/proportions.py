"""Rates and what they look like over repeats and over tasks."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.errors import InputError


@estimand
def rate(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    arm: str | None = None,
    task: str | None = None,
    perturbation: str | None = None,
    variant: str | None = None,
    repeat: int | None = None,
) -> Computed:
    """Return the success rate with its unclustered 95 % Wilson interval, as a proportion.

    The name of the missing policy is part of the question: ``recorded`` scores errored trials on
    whatever the table holds for them, ``exclude`` leaves them out.
    """
    row = rate_row(
        evidence,
        measure,
        missing,
        {
            "arm": arm,
            "perturbation": perturbation,
            "task": task,
            "variant": variant,
            "repeat": repeat,
        },
    )
    return Computed(
        successes=int(row["successes"]),
        total=int(row["total"]),
        value=float(row["estimate"]),
        low=float(row["low"]),
        high=float(row["high"]),
    )


def rate_row(
    evidence: Evidence, measure: str, missing: str, place: Mapping[str, str | int | None]
) -> pd.Series:
    """Return the row of the rates table for one place in the design.

    Parameters
    ----------
    evidence : Evidence
    measure, missing : str
        As for :func:`steelyard.analysis.rates`.
    place : mapping
        Dimension to name; a dimension that is absent or None is pooled over.

    Raises
    ------
    InputError
        When no trial was assigned to that place.
    """
    chosen = {dimension: name for dimension, name in place.items() if name is not None}
    by = tuple(chosen)
    key = tuple(chosen.values())
    table = evidence.rates(measure, missing, by)
    rows = evidence.once(("rate rows", measure, missing, by), lambda: _by_key(table, by))
    if key not in rows:
        where = ", ".join(f"{dimension} {name!r}" for dimension, name in chosen.items())
        raise InputError(f"study {evidence.study}: {measure!r} applies to no trial of {where}")
    return rows[key]


def _by_key(table: pd.DataFrame, by: tuple[str, ...]) -> dict[tuple[object, ...], pd.Series]:
    keys = zip(*(table[column] for column in by), strict=True) if by else iter([()])
    return {key: table.iloc[position] for position, key in enumerate(keys)}
