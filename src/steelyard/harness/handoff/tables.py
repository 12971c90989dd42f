"""Trials of a real agent as rows: a database that every analysis can read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from steelyard.errors import InputError
from steelyard.evaluators.handoff.identity import AgentIdentity
from steelyard.harness.handoff.manual import TrialRecord
from steelyard.store.declaration import Declaration

STUDY = "handoff_manual"
PASSED = "passed"


def arm_of(identity: AgentIdentity) -> str:
    """Return the arm of an agent: another version or another executable is another arm."""
    digest = (identity.sha256 or "sha256:unknown").removeprefix("sha256:")[:12]
    return f"{identity.product} {identity.version} {identity.identity_kind} {digest}"


def write_trials(path: Path, identity: AgentIdentity, records: Sequence[TrialRecord]) -> None:
    """Write trials into a new database.

    A trial whose sandbox could not start is ``missing`` with the reason; a gate that was not
    evaluated is NULL and not 0.

    Parameters
    ----------
    path : pathlib.Path
        A DuckDB file that does not exist; it appears when everything is in it.
    identity : AgentIdentity
        Whose trials they are.
    records : sequence of TrialRecord
        At least one.

    Raises
    ------
    InputError
        There is no trial, or the file exists.
    """
    from steelyard.store.connect import create
    from steelyard.store.rows import add_rows, add_study

    if not records:
        raise InputError("there is no trial to write")
    if path.exists():
        raise InputError(f"{path.name} exists already; a database is not overwritten")
    arm = arm_of(identity)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        connection = create(temporary)
        try:
            add_study(connection, _declaration(arm, identity, records))
            trials = [_trial(record, arm, repeat) for repeat, record in _repeats(records)]
            add_rows(connection, "trials", trials)
            ids = [f"{arm}/{trial['task']}/none/0/{trial['repeat']}" for trial in trials]
            pairs = list(zip(ids, records, strict=True))
            add_rows(connection, "states", [_state(name, record) for name, record in pairs])
            add_rows(connection, "measures", [row for pair in pairs for row in _measures(*pair)])
        finally:
            connection.close()
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _repeats(records: Sequence[TrialRecord]) -> list[tuple[int, TrialRecord]]:
    seen: dict[tuple[str, str], int] = {}
    numbered = []
    for record in records:
        key = (record.capability, record.scenario)
        numbered.append((seen.get(key, 0), record))
        seen[key] = seen.get(key, 0) + 1
    return numbered


def _declaration(arm: str, identity: AgentIdentity, records: Sequence[TrialRecord]) -> Declaration:
    gates = sorted({gate for record in records for gate in record.gates})
    return Declaration.model_validate(
        {
            "study": {
                "id": STUDY,
                "title": f"Handoff conformance of {arm}",
                "question": "Which gates does this agent pass?",
                "origin": "run",
                "source": f"adapter {identity.adapter}, observed {identity.observed_at}",
                "licence": "not stated",
                "model": identity.product,
            },
            "data": {"source": STUDY},
            "design": {"arms": [arm], "perturbations": ["none"]},
            "measures": {"primary": PASSED, "others": gates},
        }
    )


def _trial(record: TrialRecord, arm: str, repeat: int) -> dict[str, object]:
    return {
        "study": STUDY,
        "arm": arm,
        "task": f"{record.capability} {record.scenario}",
        "perturbation": "none",
        "variant": "0",
        "repeat": repeat,
        "status": "completed" if record.blocked is None else "missing",
        "attempts": 1,
        "wall_ms": record.seconds * 1000.0,
        "error": None if record.blocked is None else f"environment blocked: {record.blocked}",
    }


def _state(trial_id: str, record: TrialRecord) -> dict[str, object]:
    return {"study": STUDY, "trial_id": trial_id, "state": record.report}


def _measures(trial_id: str, record: TrialRecord) -> list[dict[str, object]]:
    values: dict[str, bool | None] = {PASSED: record.passed, **record.gates}
    if record.blocked is not None:
        values = dict.fromkeys(values)
    return [
        {
            "study": STUDY,
            "trial_id": trial_id,
            "measure": name,
            "value": None if value is None else float(value),
        }
        for name, value in values.items()
    ]
