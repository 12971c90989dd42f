"""Builds a study of a few hand-written trials in memory, for tests of the analyses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import duckdb

from steelyard.store.declaration import Declaration
from steelyard.store.schema import statements
from steelyard.store.tables import StudyTables
from steelyard.trials.ids import TrialKey

ABSENT = object()
"""Stands for "no row in measures": the measure does not apply to the trial."""


def trial(
    arm: str = "a",
    task: str = "t1",
    value: object = 1,
    *,
    perturbation: str = "baseline",
    variant: str = "0",
    repeat: int = 0,
    status: str = "completed",
    applied: bool | None = None,
    attempts: int | None = None,
    state: Mapping[str, Any] | None = None,
    steps: Sequence[str] = (),
    **measures: object,
) -> dict[str, Any]:
    """Return one trial; ``value`` is its ``success``, None for NULL, ABSENT for no row."""
    return {
        "key": TrialKey(arm, task, perturbation, variant, repeat),
        "status": status,
        "applied": applied,
        "attempts": attempts,
        "state": state,
        "steps": steps,
        "measures": {"success": value, **measures},
    }


def outcomes(arm: str, task: str, values: Iterable[object], **more: Any) -> list[dict[str, Any]]:
    """Return one completed trial per value, as repeats 0, 1, 2 ... of one condition."""
    return [trial(arm, task, value, repeat=i, **more) for i, value in enumerate(values)]


def make_study(
    trials: Iterable[dict[str, Any]],
    *,
    study: str = "toy",
    connection: duckdb.DuckDBPyConnection | None = None,
    **declared: Any,
) -> StudyTables:
    """Write the trials to a database in memory (or to ``connection``) and return the study.

    ``declared`` overrides parts of the declaration: ``design``, ``measures``, ``missing``,
    ``scope``, ``comparisons``, ``rules``.
    """
    rows = list(trials)
    if connection is None:
        connection = duckdb.connect()
        for statement in statements():
            connection.execute(statement)
    design = {
        "arms": list(dict.fromkeys(row["key"].arm for row in rows)),
        "perturbations": list(dict.fromkeys(row["key"].perturbation for row in rows)),
    }
    content: dict[str, Any] = {
        "study": {
            "id": study,
            "title": study,
            "question": "?",
            "origin": "run",
            "source": "a test",
            "licence": "MIT",
        },
        "data": {"source": study},
        "measures": {"primary": "success"},
        **declared,
        "design": {**design, **declared.get("design", {})},
    }
    declaration = Declaration.of(**content)
    connection.execute(
        "INSERT INTO studies (study, title, origin, source, licence, design) "
        "VALUES (?, ?, 'run', 'a test', 'MIT', ?)",
        [study, study, declaration.to_json()],
    )
    for row in rows:
        _insert(connection, study, row)
    return StudyTables(connection, study)


def _insert(connection: duckdb.DuckDBPyConnection, study: str, row: dict[str, Any]) -> None:
    key = row["key"]
    connection.execute(
        "INSERT INTO trials (study, trial_id, arm, task, perturbation, variant, repeat, status, "
        "attempts, perturbation_applied) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            study,
            key.trial_id,
            key.arm,
            key.task,
            key.perturbation,
            key.variant,
            key.repeat,
            row["status"],
            row["attempts"],
            row["applied"],
        ],
    )
    for name, value in row["measures"].items():
        if value is not ABSENT:
            connection.execute(
                "INSERT INTO measures VALUES (?, ?, ?, ?)", [study, key.trial_id, name, value]
            )
    if row["state"] is not None:
        connection.execute(
            "INSERT INTO states VALUES (?, ?, ?)", [study, key.trial_id, json.dumps(row["state"])]
        )
    for index, name in enumerate(row["steps"]):
        connection.execute(
            "INSERT INTO steps (study, trial_id, step_index, kind, name) "
            "VALUES (?, ?, ?, 'tool_call', ?)",
            [study, key.trial_id, index, name],
        )
