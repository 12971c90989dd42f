"""Studies whose trials have states: signals, and whether each state satisfies the task."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from steelyard.store.rows import add_rows
from steelyard.store.tables import StudyTables

GREEN = {
    "test_pass_rate": 1.0,
    "required_checks_passed": 1.0,
    "lint_passed": True,
    "type_check_passed": True,
}
RED = {
    "test_pass_rate": 0.0,
    "required_checks_passed": 0.0,
    "lint_passed": False,
    "type_check_passed": False,
}


def stopping_study(
    small_study: Any, trials: Sequence[Mapping[str, Any]], **more: Any
) -> StudyTables:
    """Build a study from trials with ``states``: signals, ``satisfied``, ``step_index``.

    Indexes are counted up where none is given. Every other key is one of ``small_study``.
    """
    cells: Counter[tuple[str, ...]] = Counter()
    placed, signals, steps = [], [], []
    for trial in trials:
        cell = (
            trial.get("arm", "a"),
            trial.get("task", "t"),
            trial.get("perturbation", "baseline"),
        )
        repeat = trial.get("repeat", cells[cell])
        cells[cell] += 1
        placed.append({k: v for k, v in trial.items() if k != "states"} | {"repeat": repeat})
        key = {"study": "small", "trial_id": "/".join([*cell, "0", str(repeat)])}
        for place, state in enumerate(trial["states"]):
            index = state.get("step_index", place)
            reported = {k: v for k, v in state.items() if k not in ("satisfied", "step_index")}
            signals.append(key | {"step_index": index} | reported)
            if "satisfied" in state:
                output = {"satisfied": state["satisfied"]}
                steps.append(
                    key
                    | {"step_index": index, "kind": "tool_call", "name": "edit", "output": output}
                )
    tables: StudyTables = small_study(placed, **more)
    add_rows(tables.connection, "signals", signals)
    add_rows(tables.connection, "steps", steps)
    return tables


def truths(*satisfied: bool) -> list[dict[str, Any]]:
    """Return states of known truth that report one gate each; counters rise with the step."""
    return [
        {"lint_passed": bool(one), "tool_call_count": 2 * place, "satisfied": bool(one)}
        for place, one in enumerate(satisfied)
    ]


def wandering(seed: int, tasks: int = 6, repeats: int = 4) -> list[dict[str, Any]]:
    """Return trials whose quality drifts upwards with setbacks; signals are noisy, some absent."""
    random = np.random.default_rng(seed)
    return [
        {"task": f"t{task}", "repeat": repeat, **_walk(random, 0.03 + 0.02 * task)}
        for task in range(tasks)
        for repeat in range(repeats)
    ]


def _walk(random: np.random.Generator, drift: float) -> dict[str, Any]:
    quality, states = 0.0, []
    for place in range(int(random.integers(4, 25))):
        quality = float(np.clip(quality + random.normal(drift, 0.12), 0, 1))
        state = {
            "test_pass_rate": round(quality, 3),
            "lint_passed": bool(random.random() < 0.4 + 0.6 * quality),
            "required_checks_passed": round(quality, 1),
            "type_check_passed": bool(random.random() < 0.5 + 0.5 * quality),
            "retry_count": place // 4,
            "tool_call_count": 3 * place,
            "token_usage": 700 * place,
            "execution_time_seconds": 11.3 * place,
            "files_changed": int(random.integers(0, 14)),
            "unexpected_files_changed": int(random.random() < 0.1),
            "rollback_available": bool(random.random() < 0.95),
            "tests_added": 0,
            "tests_removed": int(random.random() < 0.05),
            "tests_modified": int(random.integers(0, 7)),
        }
        kept = {k: v for k, v in state.items() if random.random() < 0.9 or k == "tool_call_count"}
        states.append(kept | {"satisfied": quality > 0.9})
    return {"states": states, "outcome": float(states[-1]["satisfied"])}
