"""Success rates with the interval that was published and the interval that the design supports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack

import pandas as pd

from steelyard.analysis.denominators import COUNTS, cases, count_trials, counted_groups
from steelyard.analysis.names import (
    DIMENSIONS,
    Filters,
    name_success,
    resolve_by,
    resolve_measure,
    resolve_policy,
    sort_by_design,
)
from steelyard.analysis.selection import select
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import clustered_wilson_interval, wilson_interval

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


def rates(
    tables: StudyTables,
    measure: str | None = None,
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    missing: str | None = None,
    population: str = "assigned",
    confidence: float = 0.95,
    threshold: float | None = None,
    attempt: str = "final",
    covariate: str | None = None,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Estimate the success rate of each group of trials.

    Two intervals stand side by side. ``low`` and ``high`` are Wilson limits that take every
    trial as independent; this is what evaluations usually print. ``clustered_low`` and
    ``clustered_high`` take the task as the unit that was sampled: the trials of one task resemble
    each other, so 64 trials of 8 tasks carry less than 64 trials' worth of information about new
    tasks (see :func:`steelyard.stats.clustered_wilson_interval` for method and sources).

    Parameters
    ----------
    tables : StudyTables
        The study.
    measure : str, optional
        A 0/1 measure; the study's primary measure when absent.
    by : str or sequence of str
        Columns among ``arm``, ``perturbation``, ``task``, ``variant``, ``repeat``; one row per
        combination that has a trial. An empty sequence gives one row for all trials.
    missing : {"exclude", "fail", "bounds", "recorded"}, optional
        Missing policy, see :func:`steelyard.analysis.selection.select`; ``bounds`` gives two rows
        per group, the worst and the best case.
    population : {"assigned", "applied"}
        As assigned (intention to treat), or only where the perturbation is known to have
        happened.
    confidence : float
        Level of both intervals, strictly between 0 and 1.
    threshold : float, optional
        Success means a value of at least this.
    attempt : {"final", "first"}
        Whether a retried trial is judged by its final attempt or by its first, which failed.
    covariate : str, optional
        A covariate to group by besides, after the ``by`` columns; trials without it are one group
        of their own, ``NA``.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per group (and case), in the study's order of arms and perturbations:

        - the ``by`` columns and the covariate, ``measure`` (with its threshold, if there is one),
          ``missing_policy``, ``population``, ``attempt``, ``case`` (``observed``,
          ``worst`` or ``best``);
        - ``intended``, ``scored``, ``imputed``, ``excluded``, ``failed``, ``missing``,
          ``unmeasured``, ``not_applied``, ``applied_unknown``: trials, see
          :func:`steelyard.analysis.denominators.count_trials`;
        - ``successes``, ``total``: the counts behind the rate;
        - ``estimate``: successes / total, NaN when total is 0;
        - ``low``, ``high``, ``level``, ``method``: Wilson interval, trials as independent;
          [0, 1] when total is 0;
        - ``n_clusters``: tasks with a counted trial; ``icc``: intraclass correlation within
          tasks; ``design_effect``: variance relative to independent trials; ``effective_n``:
          total / design effect, the number of independent trials this evidence is worth;
        - ``clustered_low``, ``clustered_high``: interval with the task as cluster; [0, 1] with
          one task or none, and ``clustered_reason`` says so (empty text otherwise).

    Raises
    ------
    UnknownNameError, InputError
        As :func:`steelyard.analysis.selection.select`, which also refuses an empty selection.
    """
    columns: tuple[str, ...] = resolve_by(by)
    name, policy = resolve_measure(tables, measure), resolve_policy(tables, missing)
    trials = select(
        tables, name, policy, population, threshold=threshold, attempt=attempt, **filters
    )
    if covariate is not None:
        trials = trials.merge(_covariate(tables, covariate), on="trial_id", how="left")
        trials[covariate] = trials[covariate].fillna("NA")
        columns = (*columns, covariate)
    named = list(cases(trials, policy))
    if name in tables.design.measures.harmful and len(named) > 1:
        named = [("worst", named[1][1]), ("best", named[0][1])]  # the event is the bad outcome
    parts = [_case_table(chosen, columns, confidence).assign(case=case) for case, chosen in named]
    table = pd.concat(parts, ignore_index=True)
    table = table.assign(
        measure=name_success(name, threshold),
        missing_policy=policy,
        population=population,
        attempt=attempt,
    )
    # The sort is stable, so the worst case of a group stays above its best case.
    return sort_by_design(tables, table, columns)[[*columns, *_COLUMNS]]


_COLUMNS = (
    "measure",
    "missing_policy",
    "population",
    "attempt",
    "case",
    *COUNTS,
    "successes",
    "total",
    "estimate",
    "low",
    "high",
    "level",
    "method",
    "n_clusters",
    "icc",
    "design_effect",
    "effective_n",
    "clustered_low",
    "clustered_high",
    "clustered_reason",
)


def _covariate(tables: StudyTables, name: str) -> pd.DataFrame:
    """Return a covariate of every trial that has it, in a column of its name."""
    if name in _COLUMNS or name in DIMENSIONS:
        raise InputError(f"covariate {name!r} has the name of another column of the result")
    frame = tables.frame("covariates")
    known = sorted(set(frame["name"]))
    if name not in known:
        raise UnknownNameError("covariate", name, known, f"study {tables.study}")
    chosen = frame.loc[frame["name"].eq(name), ["trial_id", "value"]]
    return chosen.rename(columns={"value": name})


def _case_table(trials: pd.DataFrame, by: Sequence[str], confidence: float) -> pd.DataFrame:
    table = count_trials(trials, by)
    clustered = []
    for counted in counted_groups(trials, by):
        interval = clustered_wilson_interval(counted.outcomes, counted.tasks, confidence)
        clustered.append(
            {
                "successes": int(counted.outcomes.sum()),
                "total": len(counted.outcomes),
                "n_clusters": interval.n_clusters,
                "icc": interval.icc,
                "design_effect": interval.design_effect,
                "effective_n": interval.effective_n,
                "clustered_low": interval.low,
                "clustered_high": interval.high,
                "clustered_reason": interval.reason,
            }
        )
    table = table.join(pd.DataFrame(clustered))
    plain = wilson_interval(table["successes"].to_numpy(), table["total"].to_numpy(), confidence)
    return table.assign(
        estimate=plain.estimate,
        low=plain.low,
        high=plain.high,
        level=plain.level,
        method=plain.method,
    )
