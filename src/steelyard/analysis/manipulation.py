"""Did the perturbation take place? The check that comes before any reading of its effect."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import pandas as pd

from steelyard.analysis.names import Filters, resolve_by, resolve_filters, sort_by_design
from steelyard.analysis.selection import fetch_trials
from steelyard.errors import InputError
from steelyard.stats import wilson_interval

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


def manipulation(
    tables: StudyTables,
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Count in how many of the trials assigned to a perturbation it really happened.

    A perturbation that never took place tells nothing about how an agent meets it. A rate far
    below 1, or one that differs between arms or between repeats, means that the rates "as
    assigned" compare something else than the perturbation's name says.

    Parameters
    ----------
    tables : StudyTables
        The study.
    by : str or sequence of str
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``. Where
        ``perturbation`` is not among them, the trials of the baseline are left out: there was
        nothing to apply.
    confidence : float
        Level of the Wilson interval, strictly between 0 and 1.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group that has a trial, in the study's order:

        - the ``by`` columns;
        - ``assigned``: trials of the design, whatever their status;
        - ``recorded``: those for which it is known whether the perturbation happened, the sum of
          ``applied`` and ``not_applied``; ``unknown``: the others, of which ``never_ran`` have
          the status missing;
        - ``rate``: applied / recorded, NaN when nothing is recorded; ``low``, ``high``,
          ``level``, ``method``: its Wilson interval, [0, 1] when nothing is recorded;
        - ``reason``: why there is no rate (``baseline: nothing to apply`` or ``not recorded``),
          else empty.

    Raises
    ------
    UnknownNameError, InputError
        A name that the study does not hold, an unknown column, or no trial at all.
    """
    columns = resolve_by(by)
    trials = fetch_trials(tables, resolve_filters(tables, filters))
    baseline = tables.design.design.perturbations[0]
    if "perturbation" not in columns:
        trials = trials[trials["perturbation"] != baseline]
    if trials.empty:
        raise InputError(f"study {tables.study}: no trial was assigned to a perturbation here")
    table = _count(trials, columns)
    interval = wilson_interval(
        table["applied"].to_numpy(), table["recorded"].to_numpy(), confidence
    )
    table = table.assign(
        rate=interval.estimate,
        low=interval.low,
        high=interval.high,
        level=interval.level,
        method=interval.method,
        reason=_reasons(table, baseline),
    )
    return sort_by_design(tables, table, columns)


def _count(trials: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    applied = trials["perturbation_applied"]
    known = applied.notna()
    flags = pd.DataFrame(
        {
            "assigned": 1,
            "recorded": known.astype(int),
            "applied": applied.fillna(False).astype(int),
            "not_applied": (known & ~applied.fillna(True)).astype(int),
            "unknown": (~known).astype(int),
            "never_ran": (~known & trials["status"].eq("missing")).astype(int),
        },
        index=trials.index,
    )
    if not columns:
        return flags.sum().to_frame().T
    return flags.groupby([trials[c] for c in columns], sort=False).sum().reset_index()


def _reasons(table: pd.DataFrame, baseline: str) -> list[str]:
    names = table["perturbation"] if "perturbation" in table else [""] * len(table)
    reasons = []
    for name, recorded in zip(names, table["recorded"], strict=True):
        if recorded:
            reasons.append("")
        else:
            reasons.append("baseline: nothing to apply" if name == baseline else "not recorded")
    return reasons
