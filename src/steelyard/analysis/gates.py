"""Measures as gates, and what share of the trials each lets through.

A gate is a measure of 0 and 1 of which 1 is a pass. It is not evaluated in a trial that never got
so far, and does not apply to a task in which no trial has a value for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import pandas as pd

from steelyard.analysis.names import resolve_arms, resolve_measure
from steelyard.errors import InputError, UnknownNameError
from steelyard.stats import clustered_wilson_interval, wilson_interval

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

CASE: Final = ["task", "perturbation", "variant", "repeat"]
"""Two trials of these in common are a pair."""

NONE: Final = "none"
"""Stands for an empty list of names."""


def gate_rates(
    tables: StudyTables,
    gates: Sequence[str] | None = None,
    *,
    arms: Sequence[str] | None = None,
    confidence: float = 0.95,
    rows_apply: bool = False,
) -> pd.DataFrame:
    """Return the pass rate of every gate for every arm, by both denominators.

    Parameters
    ----------
    tables : StudyTables
        The study.
    gates : sequence of str, optional
        Measures of 0 and 1; when absent those of `gate_names`.
    arms : sequence of str, optional
        Which arms to show; all when absent. To which tasks a gate applies all arms tell.
    confidence : float, default 0.95
    rows_apply : bool, default False
        As for `gate_values`.

    Returns
    -------
    pandas.DataFrame
        One row per gate and arm:

        - ``passed``, ``evaluated`` (trials in which the gate was), ``applicable`` (trials of tasks
          to which it applies for anybody, without those that are missing as a whole), ``missing``
          (those), ``tasks`` (with an applicable trial);
        - ``conditional`` = passed / evaluated and ``unconditional`` = passed / applicable, where a
          gate that was not reached counts as failed. Of each the Wilson limits that take trials as
          independent, ``*_low`` and ``*_high``, and those that take tasks as the unit,
          ``*_clustered_low`` and ``*_clustered_high`` (see
          `steelyard.stats.clustered_wilson_interval`). Where the denominator is 0 the rate is NaN
          and the limits are 0 and 1;
        - ``lowest`` = passed / (applicable + missing) and ``highest``, for which every missing
          trial counts as passed: the unconditional rate whatever the missing ones would have been;
        - ``level``.

    Raises
    ------
    UnknownNameError
        A gate that no trial has a row for, or no such arm.
    InputError
        A gate with another value than 0 and 1.
    """
    values = gate_values(tables, gates, with_missing=True, rows_apply=rows_apply)
    if arms is not None:
        values = values[values["arm"].isin(resolve_arms(tables, "arms", arms))]
    rows = []
    for (gate, arm), part in values.groupby(["measure", "arm"], sort=False, observed=True):
        # Arrays and not frames: there are arms times gates of these.
        ran = part["ran"].to_numpy(dtype=bool)
        marks, tasks = part["value"].to_numpy()[ran], part["task"].to_numpy()[ran]
        known = ~np.isnan(marks)
        passed, missing = int(marks[known].sum()), len(part) - len(marks)
        rows.append(
            {
                "gate": str(gate),
                "arm": str(arm),
                "passed": passed,
                "evaluated": int(known.sum()),
                "applicable": len(marks),
                "missing": missing,
                "tasks": len(set(tasks)),
                **both_limits("conditional", marks[known], tasks[known], confidence),
                **both_limits("unconditional", np.nan_to_num(marks), tasks, confidence),
                "lowest": passed / len(part),
                "highest": (passed + missing) / len(part),
                "level": confidence,
            }
        )
    return pd.DataFrame(rows)


def both_limits(name: str, values: Any, tasks: Any, confidence: float) -> dict[str, float]:
    """Return the rate of values of 0 and 1 with its limits over trials and over tasks.

    Parameters
    ----------
    name : str
        The rate's; its limits are ``name_low``, ``name_high`` (Wilson, trials as independent),
        ``name_clustered_low`` and ``name_clustered_high`` (tasks as the unit).
    values, tasks : array, shape (trials,)
        Without a value the rate is NaN and its limits are 0 and 1.
    confidence : float
    """
    places = ("", "_low", "_high", "_clustered_low", "_clustered_high")
    names = [f"{name}{place}" for place in places]
    if not len(values):
        return dict(zip(names, (float("nan"), 0.0, 1.0, 0.0, 1.0), strict=True))
    interval = wilson_interval(int(values.sum()), len(values), confidence)
    clustered = clustered_wilson_interval(values, tasks, confidence)
    limits = (interval.low, interval.high, clustered.low, clustered.high)
    return dict(zip(names, (interval.estimate, *limits), strict=True))


def gate_names(tables: StudyTables) -> list[str]:
    """Return the study's gates, sorted: all measures but the primary and the harmful ones.

    Of a measure that the design declares harmful a 1 is an event and no pass.
    """
    known = {str(name) for name in tables.frame("measures")["measure"]}
    declared = tables.design.measures
    return sorted(known - {declared.primary, *declared.harmful})


def gate_values(
    tables: StudyTables,
    gates: Sequence[str] | None = None,
    *,
    with_missing: bool = False,
    rows_apply: bool = False,
) -> pd.DataFrame:
    """Return one row for every gate and every trial of a task that the gate applies to.

    Parameters
    ----------
    tables : StudyTables
        The study.
    gates : sequence of str, optional
        Those of `gate_names` when absent.
    with_missing : bool, default False
        Keep the trials that never ran.
    rows_apply : bool, default False
        To which tasks a gate applies. By default to those in which any trial has a value for it:
        a row without one may stand for either. True is for tables in which a row without a value
        says that the gate was not reached, and no row that it does not apply. Then a gate that
        nobody reached counts. A task without any row of the arm has the gates that it has for
        other arms, else those that all other tasks of the arm have; the primary measure always.

    Returns
    -------
    pandas.DataFrame
        ``trial_id``, ``arm`` (in the order of the design), the columns of `CASE`, ``ran``,
        ``measure`` (in the order of the gates), ``value`` (NaN: not evaluated); sorted.

    Raises
    ------
    UnknownNameError
        A gate that no trial has a row for.
    InputError
        A gate with another value than 0 and 1, or no gate at all.
    """
    chosen = _chosen(tables, gates)
    trials = tables.frame("trials")
    trials["ran"] = trials["status"] != "missing"
    every = tables.frame("measures")
    measures = every[every["measure"].isin(chosen)]
    _refuse_other_values(measures)
    columns = ["trial_id", "arm", *CASE, "ran"]
    crossed = trials[columns].merge(pd.DataFrame({"measure": chosen}), how="cross")
    joined = crossed.merge(
        measures[["trial_id", "measure", "value"]], how="left", on=["trial_id", "measure"]
    )
    joined["value"] = joined["value"].where(joined["ran"])
    if rows_apply:
        applies = _applies_by_rows(joined, every, tables.design.measures.primary)
    else:
        applies = joined.groupby(["measure", "task"])["value"].transform("count") > 0
    joined = joined[applies & (joined["ran"] | with_missing)].copy()
    joined["arm"] = pd.Categorical(joined["arm"], list(tables.design.design.arms), ordered=True)
    joined["measure"] = pd.Categorical(joined["measure"], chosen, ordered=True)
    return joined.sort_values(["measure", "arm", *CASE]).reset_index(drop=True)


def _applies_by_rows(joined: pd.DataFrame, measures: pd.DataFrame, primary: str) -> pd.Series:
    """Return for each trial and gate whether it applies, by the rows that trials like it have.

    Of an arm's task without any row nobody knows: its trials are all missing. Left out, they would
    make the limits for missing trials too narrow.
    """
    trials = joined[["trial_id", "arm", "task"]].drop_duplicates()
    rows = measures[["trial_id", "measure"]].merge(trials, on="trial_id")

    def has_row(*names: str) -> pd.Series:
        seen = pd.MultiIndex.from_frame(rows[list(names)])
        return pd.Series(pd.MultiIndex.from_frame(joined[list(names)]).isin(seen), joined.index)

    named, known = has_row("measure", "arm", "task"), has_row("arm", "task")
    by_arm = named[known].groupby([joined["measure"], joined["arm"]]).all()
    of_arm = pd.MultiIndex.from_frame(joined[["measure", "arm"]]).isin(by_arm[by_arm].index)
    guessed = has_row("measure", "task").where(has_row("task"), of_arm)
    return named.where(known, guessed | joined["measure"].eq(primary)).astype(bool)


def _chosen(tables: StudyTables, gates: Sequence[str] | None) -> list[str]:
    if gates is None:
        chosen = gate_names(tables)
    else:
        listed = [gates] if isinstance(gates, str) else gates
        chosen = [resolve_measure(tables, gate) for gate in dict.fromkeys(listed)]
    if not chosen:
        raise InputError(
            f"study {tables.study}: no gate; one is a measure that is neither the primary one nor "
            "declared harmful"
        )
    return chosen


def _refuse_other_values(measures: pd.DataFrame) -> None:
    known = measures["value"].dropna()
    odd = known[~known.isin([0.0, 1.0])]
    if len(odd):
        wrong = measures.loc[odd.index[0]]
        raise InputError(
            f"measure {wrong['measure']!r} is {wrong['value']} in trial {wrong['trial_id']!r}; "
            "a gate is 0 or 1"
        )


def names_of(names: Sequence[str]) -> str:
    """Return names in one text, separated by ``", "``; ``none`` without any."""
    return ", ".join(names) or NONE


def check_arm(tables: StudyTables, arm: str) -> None:
    """Raise `UnknownNameError` unless the design has the arm, `InputError` if it has no other."""
    arms = tables.design.design.arms
    if arm not in arms:
        raise UnknownNameError("arm", str(arm), arms, f"study {tables.study}")
    if len(arms) == 1:
        raise InputError(f"study {tables.study} has no arm besides {arm!r} to hold against it")
