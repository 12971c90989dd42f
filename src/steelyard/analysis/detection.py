"""Precision, recall and F1 of one 0/1 measure as a detector of another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import pandas as pd

from steelyard.analysis.denominators import strata
from steelyard.analysis.names import Filters, resolve_by, resolve_policy, sort_by_design
from steelyard.analysis.selection import select
from steelyard.errors import InputError
from steelyard.stats import wilson_interval
from steelyard.stats.ratios import cluster_ratio_interval

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

RATIOS: Final[dict[str, tuple[tuple[str, int], ...]]] = {
    "precision": (("true_positives", 1), ("false_positives", 0)),
    "recall": (("true_positives", 1), ("false_negatives", 0)),
    "f1": (("true_positives", 2), ("false_positives", 0), ("false_negatives", 0)),
}


def detection(
    tables: StudyTables,
    predicted: str,
    actual: str,
    *,
    by: str | Sequence[str] = ("arm",),
    missing: str | None = None,
    confidence: float = 0.95,
    n_resamples: int = 10_000,
    seed: int = 0,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Judge one measure as a detector of another.

    Parameters
    ----------
    tables : StudyTables
        The study.
    predicted, actual : str
        Measures of 0 and 1: what the arm flagged, and what was there.
    by : str or sequence of str, default "arm"
        Grouping, of arm, perturbation, task, variant and repeat.
    missing : {"exclude", "fail", "recorded"}, optional
        What becomes of a trial without a flag: ``fail`` counts it as not flagged. The study's
        declared policy when absent. A trial whose ``actual`` is not recorded is never counted.
    confidence : float, default 0.95
    n_resamples, seed : int
        Of the bootstrap over tasks.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group: the ``by`` columns, ``predicted``, ``actual``, ``missing_policy``,
        ``n``, ``uncounted`` trials, ``true_positives``, ``false_positives``,
        ``false_negatives``, ``true_negatives``; ``precision``, ``recall`` and ``f1``, NaN where
        the denominator is 0; ``precision_low`` ... ``recall_high``: Wilson limits, trials as
        independent; ``*_clustered_low`` and ``*_clustered_high`` of all three: percentile limits
        over resampled tasks, NaN where these say nothing; ``n_clusters``, ``level``,
        ``n_resamples``, ``seed``.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.select`, and for the policy ``bounds``.
    """
    columns, policy = resolve_by(by), resolve_policy(tables, missing)
    if policy == "bounds":
        raise InputError("a detector has one flag per trial; accepted: exclude, fail, recorded")
    trials = _flags(tables, predicted, actual, policy, filters)
    options = {"confidence": confidence, "n_resamples": n_resamples, "seed": seed}
    rows = [
        place
        | {"predicted": predicted, "actual": actual, "missing_policy": policy}
        | _judged(part, options)
        for place, part in strata(trials, columns)
    ]
    return sort_by_design(tables, pd.DataFrame(rows), columns)


def _flags(
    tables: StudyTables, predicted: str, actual: str, policy: str, filters: Filters
) -> pd.DataFrame:
    """Return the trials with both values, as columns ``flag`` and ``truth``."""
    truth = select(tables, actual, "recorded", **filters)
    flags = select(tables, predicted, policy, **filters)[["trial_id", "value"]]
    return truth.rename(columns={"value": "truth"}).merge(
        flags.rename(columns={"value": "flag"}), on="trial_id", how="left", validate="1:1"
    )


def _judged(part: pd.DataFrame, options: dict[str, Any]) -> dict[str, Any]:
    known = part.dropna(subset=["truth", "flag"])
    truth, flag = known["truth"].eq(1), known["flag"].eq(1)
    cells = pd.DataFrame(
        {
            "true_positives": truth & flag,
            "false_positives": ~truth & flag,
            "false_negatives": truth & ~flag,
            "true_negatives": ~truth & ~flag,
        }
    ).astype("int64")
    by_task = cells.groupby(known["task"]).sum().sort_index()
    total = by_task.sum()
    counts = {name: int(total[name]) for name in cells.columns}
    row: dict[str, Any] = {"n": len(known), "uncounted": len(part) - len(known)} | counts
    for name, terms in RATIOS.items():
        row |= _ratio(name, terms, by_task, counts, options)
    return row | {
        "n_clusters": len(by_task),
        "level": options["confidence"],
        "n_resamples": options["n_resamples"],
        "seed": options["seed"],
    }


def _ratio(
    name: str,
    terms: tuple[tuple[str, int], ...],
    by_task: pd.DataFrame,
    counts: dict[str, int],
    options: dict[str, Any],
) -> dict[str, Any]:
    """Return one ratio, its Wilson limits where it is a rate, and its limits over tasks."""
    factor = terms[0][1]
    above = factor * by_task["true_positives"]
    below = above + sum(by_task[cell] for cell, _ in terms[1:])
    successes = factor * counts["true_positives"]
    total = successes + sum(counts[cell] for cell, _ in terms[1:])
    row: dict[str, Any] = {name: successes / total if total else math.nan}
    if factor == 1:
        simple = wilson_interval(successes, total, options["confidence"])
        row |= {f"{name}_low": simple.low, f"{name}_high": simple.high}
    found = cluster_ratio_interval(above.to_numpy(), below.to_numpy(), **options)
    return row | {f"{name}_clustered_low": found.low, f"{name}_clustered_high": found.high}
