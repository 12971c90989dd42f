"""From finished trials to the rows of the tables, column by column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from steelyard.harness.trial import FinishedTrial
from steelyard.store.batch import arrow_schema
from steelyard.store.schema import TABLES

FILLED = (
    "study",
    "trial_id",
    "status",
    "attempts",
    "perturbation_applied",
    "model",
    "tokens_in",
    "tokens_out",
    "cost_usd",
    "wall_ms",
    "error",
)
"""The columns of ``trials`` that are known only when a trial is finished, and its key."""

_TRIALS = arrow_schema(TABLES["trials"])

ROW_SCHEMAS: dict[str, pa.Schema] = {
    "trials": pa.schema([_TRIALS.field(name) for name in FILLED]),
    **{
        name: arrow_schema(TABLES[name])
        for name in ("steps", "states", "measures", "violations", "signals")
    },
}
"""What `finished_rows` returns, by table."""


@dataclass(frozen=True)
class _NotAsked:
    """The usage of a trial that asked no model: unknown and not zero."""

    model = tokens_in = tokens_out = cost_usd = None


_NOT_ASKED = _NotAsked()
_STEP_COLUMNS = ("kind", "name", "arguments", "output", "error", "wall_ms")  # of a StepRow

Columns = dict[str, list[Any]]


def finished_rows(study: str, finished: Sequence[FinishedTrial]) -> dict[str, Columns]:
    """Return the rows of finished trials.

    Parameters
    ----------
    study : str
    finished : sequence of FinishedTrial

    Returns
    -------
    dict of str to dict of str to list
        Table, column, values; sorted by trial, so that a batch depends on its trials alone and
        not on the order in which workers delivered them.
    """
    rows: dict[str, Columns] = {
        name: {column: [] for column in schema.names} for name, schema in ROW_SCHEMAS.items()
    }
    named = sorted(((trial.key.trial_id, trial) for trial in finished), key=lambda pair: pair[0])
    _add_trials(rows["trials"], named)
    for trial_id, trial in named:
        _add_steps(rows["steps"], trial_id, trial)
        if trial.state is not None:
            rows["states"]["trial_id"].append(trial_id)
            rows["states"]["state"].append(trial.state)
        for measure, value in trial.measures:
            rows["measures"]["trial_id"].append(trial_id)
            rows["measures"]["measure"].append(measure)
            rows["measures"]["value"].append(value)
        for table, added in (("violations", trial.violations), ("signals", trial.signals)):
            for row in added:
                rows[table]["trial_id"].append(trial_id)
                for column, value in row.items():
                    rows[table][column].append(value)
    for columns in rows.values():
        columns["study"] = [study] * len(columns["trial_id"])
    return rows


def _add_trials(columns: Columns, named: Sequence[tuple[str, FinishedTrial]]) -> None:
    trials = [trial for _, trial in named]
    usages = [trial.usage if trial.usage.calls else _NOT_ASKED for trial in trials]
    columns["trial_id"] = [trial_id for trial_id, _ in named]
    columns["status"] = [trial.status for trial in trials]
    columns["attempts"] = [t.attempts if t.status != "missing" else None for t in trials]
    columns["perturbation_applied"] = [trial.applied for trial in trials]
    columns["model"] = [usage.model for usage in usages]
    columns["tokens_in"] = [usage.tokens_in for usage in usages]
    columns["tokens_out"] = [usage.tokens_out for usage in usages]
    columns["cost_usd"] = [usage.cost_usd for usage in usages]
    columns["wall_ms"] = [trial.wall_ms for trial in trials]
    columns["error"] = [trial.error for trial in trials]


def _add_steps(columns: Columns, trial_id: str, trial: FinishedTrial) -> None:
    count = len(trial.steps)
    columns["trial_id"].extend([trial_id] * count)
    columns["step_index"].extend(range(count))
    if count:
        for name, values in zip(_STEP_COLUMNS, zip(*trial.steps, strict=True), strict=True):
            columns[name].extend(values)
