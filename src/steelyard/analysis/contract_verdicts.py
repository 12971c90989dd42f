"""Trials judged by a contract on their final output: rows of measures, and rates over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

import pandas as pd

from steelyard.analysis.names import (
    DIMENSIONS,
    Filters,
    resolve_by,
    resolve_filters,
    sort_by_design,
)
from steelyard.analysis.selection import fetch_trials
from steelyard.errors import DataError, InputError
from steelyard.evaluators.contract import validate_policy
from steelyard.evaluators.contract.judging import judge_output, measure_names
from steelyard.stats import clustered_wilson_interval, wilson_interval
from steelyard.trials import strict_json

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

COLUMNS: Final = ("trial_id", *DIMENSIONS, "status", "measure", "value")


def contract_verdicts(tables: StudyTables, policy: Any, **filters: Unpack[Filters]) -> pd.DataFrame:
    """Judge the final output of every trial, as rows of the table ``measures``.

    Parameters
    ----------
    tables : StudyTables
        The study; its trials have steps.
    policy : dict or Policy
        A policy of schema 1.0.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        One row per trial and measure, sorted as the study: ``trial_id``, ``arm``,
        ``perturbation``, ``task``, ``variant``, ``repeat``, ``status``, ``measure``
        (``contract:<policy>`` and ``contract:<policy>:<rule>``), ``value`` (1 or 0; NaN where
        there is no final output, or it is no JSON object). The final output is that of the last
        step of kind ``final``.

    Raises
    ------
    PolicyError
        If the policy is invalid.
    UnknownNameError, InputError
        For a filter that the study does not hold, or no trial.
    """
    checked = validate_policy(policy)
    names = measure_names(checked)
    trials = fetch_trials(tables, resolve_filters(tables, filters))
    if trials.empty:
        raise InputError(f"study {tables.study}: no trial passes the filters")
    outputs = _final_outputs(tables)
    trials = sort_by_design(tables, trials, DIMENSIONS)
    rows = []
    for trial in trials[["trial_id", *DIMENSIONS, "status"]].to_records(index=False).tolist():
        held = outputs.get(trial[0])
        verdict = judge_output(checked, None if held is None else _value(held))
        rows += [(*trial, name, verdict[name]) for name in names]
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"value": "float64"})


def contract_rates(
    tables: StudyTables,
    policy: Any,
    *,
    by: str | Sequence[str] = ("arm", "perturbation"),
    confidence: float = 0.95,
    **filters: Unpack[Filters],
) -> pd.DataFrame:
    """Return how often final outputs keep a contract, and each of its rules.

    Parameters
    ----------
    tables, policy, **filters
        As :func:`contract_verdicts`.
    by : str or sequence of str, default ("arm", "perturbation")
    confidence : float, default 0.95

    Returns
    -------
    pandas.DataFrame
        One row per group and measure: the ``by`` columns, ``measure``, ``intended`` trials,
        ``judged`` ones, ``without_json`` (completed, but no JSON object to judge), ``kept``,
        ``estimate``, ``low``, ``high`` (Wilson), ``clustered_low``, ``clustered_high`` (tasks as
        the unit), ``level``.

    Raises
    ------
    PolicyError, UnknownNameError, InputError
        As :func:`contract_verdicts`.
    """
    columns = resolve_by(by)
    verdicts = contract_verdicts(tables, policy, **filters)
    rows = []
    for key, part in verdicts.groupby([*columns, "measure"], sort=False):
        judged = part.dropna(subset=["value"])
        kept, total = int(judged["value"].sum()), len(judged)
        simple = wilson_interval(kept, total, confidence)
        clustered = clustered_wilson_interval(judged["value"], judged["task"], confidence)
        rows.append(
            dict(zip([*columns, "measure"], key, strict=True))
            | {
                "intended": len(part),
                "judged": total,
                "without_json": int((part["status"].eq("completed") & part["value"].isna()).sum()),
                "kept": kept,
                "estimate": simple.estimate,
                "low": simple.low,
                "high": simple.high,
                "clustered_low": clustered.low,
                "clustered_high": clustered.high,
                "level": confidence,
            }
        )
    return pd.DataFrame(rows)


def _value(text: str) -> Any:
    """Return a stored output; None for what strict JSON is not, such as a repeated member name."""
    try:
        return strict_json.loads(text)
    except DataError:
        return None


def _final_outputs(tables: StudyTables) -> dict[str, str]:
    """Return the JSON text of the last final step of each trial that has one with an output."""
    query = """
        SELECT trial_id, arg_max(output::VARCHAR, step_index) FROM steps
        WHERE study = ? AND kind = 'final' AND output IS NOT NULL GROUP BY trial_id
    """
    return dict(tables.connection.execute(query, [tables.study]).fetchall())
