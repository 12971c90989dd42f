"""What a domain and a perturbation say about a trial, checked before it becomes rows.

A value that the tables cannot hold is found here, in the trial that gave it: further on it would
stop the run, and take the other trials of its transaction along.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from steelyard.errors import InputError
from steelyard.harness.snapshots import storable
from steelyard.store.declaration import Rule
from steelyard.store.schema import TABLES

VIOLATION_COLUMNS = ("rule", "severity", "step_index", "step_name", "detail")
LARGEST_STEP_INDEX = 2**31 - 1  # the column is a 32-bit INTEGER
SIGNAL_TYPES = {
    column.name: column.type
    for column in TABLES["signals"].columns
    if column.name not in ("study", "trial_id")
}
_ACCEPTED = {
    "INTEGER": "whole numbers from 0",
    "BIGINT": "whole numbers from 0",
    "DOUBLE": "finite numbers from 0",
    "BOOLEAN": "True, False",
}


def checked_applied(value: Any, perturbation: str) -> bool | None:
    """Return whether a perturbation took effect; InputError for what is neither bool nor None."""
    if value is None or isinstance(value, bool):
        return value
    raise InputError(
        f"perturbation {perturbation!r}: applied() is {value!r}; accepted are True, False and None"
    )


def checked_measures(given: Mapping[str, float | None]) -> list[tuple[str, float | None]]:
    """Return the measures sorted by name; InputError for a name or value that is none."""
    measures: list[tuple[str, float | None]] = []
    for name, value in given.items():
        if not isinstance(name, str) or not name or storable(name) != name:
            raise InputError(f"a measure's name is text, not {name!r}")
        if value is not None and not isinstance(value, int | float):
            raise InputError(f"measure {name!r} is {value!r}; accepted are numbers and None")
        measures.append((name, None if value is None else float(value)))
    measures.sort()  # no two have one name, so no values are compared
    return measures


def checked_violations(
    given: Sequence[Mapping[str, Any]], rules: Mapping[str, Rule], task: str
) -> list[dict[str, Any]]:
    """Return the rows with every column; the loader would refuse an undeclared rule much later."""
    violations = []
    for row in given:
        unknown = sorted(set(row) - set(VIOLATION_COLUMNS))
        if unknown:
            raise InputError(
                f"a violation has {unknown}; accepted are {', '.join(VIOLATION_COLUMNS)}"
            )
        name = row.get("rule")
        if not isinstance(name, str) or name not in rules:
            known = ", ".join(rules) or "none"
            raise InputError(f"rule {str(name)!r} is not declared in study.toml; declared: {known}")
        if row.get("severity") != rules[name].severity:
            raise InputError(
                f"a violation of {name!r} has severity {row.get('severity')!r}; "
                f"study.toml declares {rules[name].severity!r}"
            )
        if not rules[name].applies_to(task):
            raise InputError(f"rule {name!r} does not apply to task {task!r} by study.toml")
        _check_place(name, row)
        violations.append({column: row.get(column) for column in VIOLATION_COLUMNS})
    return violations


def checked_signals(given: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows of ``signals`` with every column; InputError for what the table cannot hold."""
    rows, seen = [], set()
    for row in given:
        unknown = sorted(set(row) - set(SIGNAL_TYPES))
        if unknown:
            raise InputError(f"a signal has {unknown}; accepted are {', '.join(SIGNAL_TYPES)}")
        index = row.get("step_index")
        if not _is_step(index) or index in seen:
            raise InputError(
                f"signals have step_index {index!r}; accepted are whole numbers from 0, each once"
            )
        seen.add(index)
        for name, value in row.items():
            _check_signal(name, value)
        rows.append({name: row.get(name) for name in SIGNAL_TYPES})
    return rows


def _check_signal(name: str, value: Any) -> None:
    kind = SIGNAL_TYPES[name]
    if value is None:
        return
    if kind == "BOOLEAN":
        good = isinstance(value, bool)
    else:
        number = int if kind != "DOUBLE" else (int, float)
        good = isinstance(value, number) and not isinstance(value, bool) and 0 <= value < 2**63
    if not good:
        raise InputError(f"signal {name!r} is {value!r}; accepted are {_ACCEPTED[kind]} and None")


def _is_step(index: Any) -> bool:
    whole = isinstance(index, int) and not isinstance(index, bool)
    return whole and 0 <= index <= LARGEST_STEP_INDEX


def _check_place(rule: str, row: Mapping[str, Any]) -> None:
    """Refuse a step or a detail that the table has no place for."""
    index = row.get("step_index")
    if index is not None and not _is_step(index):
        raise InputError(
            f"a violation of {rule!r} has step_index {index!r}; accepted are whole numbers from 0 "
            "and None"
        )
    for column in ("step_name", "detail"):
        text = row.get(column)
        if text is not None and (not isinstance(text, str) or storable(text) != text):
            raise InputError(
                f"a violation of {rule!r} has {column} {text!r}; accepted are text and None"
            )
