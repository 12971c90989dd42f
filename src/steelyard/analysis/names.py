"""Names that a caller may pass to an analysis, checked against what the study holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypedDict

import numpy as np
import numpy.typing as npt
import pandas as pd

from steelyard.errors import InputError, UnknownNameError
from steelyard.store.schema import MISSING_POLICIES

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

Filter: TypeAlias = (
    str | int | np.integer | Sequence[str] | Sequence[int] | npt.NDArray[Any] | pd.Series | None
)


class TrialFilters(TypedDict, total=False):
    """The filters of an analysis that takes its arms in another way."""

    task: Filter
    perturbation: Filter
    variant: Filter
    repeat: Filter


class Filters(TrialFilters, total=False):
    """The filters of every other analysis: one name or several of each column."""

    arm: Filter


DIMENSIONS: Final = ("arm", "perturbation", "task", "variant", "repeat")
"""The columns that place a trial in the design, in the order in which results are sorted."""


def resolve_measure(tables: StudyTables, measure: str | None) -> str:
    """Return the measure to use: the one asked for, or the study's primary one.

    Raises
    ------
    InputError
        When it is no text.
    UnknownNameError
        When no trial of the study has a row for it.
    """
    name = tables.design.measures.primary if measure is None else measure
    _check_text("measure", name)
    known = _distinct(tables, "measures", "measure")
    if name not in known:
        raise UnknownNameError("measure", str(name), known, f"study {tables.study}")
    return name


def resolve_policy(tables: StudyTables, missing: str | None) -> str:
    """Return the missing policy to use: the one asked for, or the study's declared one."""
    policy = tables.design.missing.policy if missing is None else missing
    if policy not in MISSING_POLICIES:
        raise InputError(f"missing policy is {policy!r}; accepted: {', '.join(MISSING_POLICIES)}")
    return str(policy)


def resolve_arm(tables: StudyTables, arm: str) -> str:
    """Return ``arm`` when the study has a trial of it, else raise ``UnknownNameError``.

    What is no text is an ``InputError``.
    """
    _check_text("arm", arm)
    known = _distinct(tables, "trials", "arm")
    if arm not in known:
        raise UnknownNameError("arm", str(arm), known, f"study {tables.study}")
    return arm


def resolve_arms(tables: StudyTables, name: str, arms: str | Iterable[str]) -> list[str]:
    """Return one arm or several as a list, each checked; ``name`` is the parameter's name."""
    listed = _listed(name, arms)
    for arm in listed:
        _check_text(name, arm)
    return [resolve_arm(tables, arm) for arm in listed]


def present_arms(tables: StudyTables) -> list[str]:
    """Return the arms that have a trial, in the study's order."""
    arms = pd.DataFrame({"arm": sorted(_distinct(tables, "trials", "arm"))})
    return list(sort_by_design(tables, arms, ("arm",))["arm"])


def name_success(measure: str, threshold: float | None) -> str:
    """Return what a table calls success: the measure, and the threshold where it has one."""
    return measure if threshold is None else f"{measure} >= {threshold:g}"


def resolve_by(by: str | Sequence[str]) -> tuple[str, ...]:
    """Return the grouping columns, checked: each one of :data:`DIMENSIONS`, none twice."""
    if not isinstance(by, str | list | tuple):
        raise InputError(
            f"by is {by!r}; accepted: one or several of {', '.join(DIMENSIONS)}, or an empty list"
        )
    columns = (by,) if isinstance(by, str) else tuple(by)
    for column in columns:
        if column not in DIMENSIONS:
            raise InputError(f"cannot group by {column!r}; accepted: {', '.join(DIMENSIONS)}")
    if len(set(columns)) < len(columns):
        raise InputError(f"by names a column twice: {', '.join(columns)}")
    return columns


def resolve_filters(
    tables: StudyTables, filters: Mapping[str, Any]
) -> dict[str, list[str] | list[int]]:
    """Check the filters' names and values and add the study's declared scope.

    Parameters
    ----------
    tables : StudyTables
        The study.
    filters : dict
        Column to one name, several names, or None (no filter). A column that is absent or None
        takes the study's declared scope, if that names the column.

    Returns
    -------
    dict
        Column to the list of values that pass; repeats are integers, all others text.

    Raises
    ------
    InputError
        A column that is not one of :data:`DIMENSIONS`, or an empty list of names.
    UnknownNameError
        A value of which the study has no trial.
    """
    for column in filters:
        if column not in DIMENSIONS:
            raise InputError(f"cannot filter by {column!r}; accepted: {', '.join(DIMENSIONS)}")
    asked: dict[str, Filter] = dict(tables.design.scope)
    asked.update({column: value for column, value in filters.items() if value is not None})
    resolved = {}
    for column in DIMENSIONS:
        if column in asked:
            resolved[column] = _resolve_values(tables, column, asked[column])
    return resolved


def sort_by_design(
    tables: StudyTables, frame: pd.DataFrame, columns: Iterable[str]
) -> pd.DataFrame:
    """Sort rows by ``columns``: arms and perturbations as declared, all else by text or number.

    A name that the design does not declare comes after those it does. The index is renumbered.
    """
    return frame.take(design_order(tables, frame, columns)).reset_index(drop=True)


def design_order(
    tables: StudyTables, frame: pd.DataFrame, columns: Iterable[str]
) -> npt.NDArray[np.int64]:
    """Return the places of the rows in the order of :func:`sort_by_design`."""
    keys = []
    for column in columns:
        codes, names = pd.factorize(frame[column], sort=True)
        declared = {name: place for place, name in enumerate(_declared_order(tables, column))}
        if declared:
            codes = _places(list(names), declared)[codes]
        keys.append(codes)
    if not keys:
        return np.arange(len(frame))
    return np.lexsort(tuple(reversed(keys)))


def _places(names: list[str], declared: dict[str, int]) -> npt.NDArray[np.int64]:
    """Return the place of each of the sorted names: as declared, then those that are not."""
    known = [declared.get(name, len(declared) + place) for place, name in enumerate(names)]
    return np.array(known, dtype=np.int64)


def _declared_order(tables: StudyTables, column: str) -> list[str]:
    if column == "arm":
        return list(tables.design.design.arms)
    if column == "perturbation":
        return list(tables.design.design.perturbations)
    return []


def _resolve_values(tables: StudyTables, column: str, value: Filter) -> list[str] | list[int]:
    names = _listed(f"filter {column}", value)
    if not names:
        raise InputError(f"filter {column} is an empty list; give at least one name")
    for name in names:
        # True is an int to Python, and no repeat to anyone.
        if isinstance(name, bool) or not isinstance(name, str | int | np.integer):
            raise InputError(f"filter {column} is {name!r}; accepted: text or an integer")
    known = _distinct(tables, "trials", column)
    texts = [str(name) for name in names]
    for text in texts:
        if text not in known:
            raise UnknownNameError(column, text, known, f"study {tables.study}")
    return [int(text) for text in texts] if column == "repeat" else texts


def _listed(name: str, value: Any) -> list[Any]:
    """Return a value alone in a list, or the members of a sequence of any library."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        return [value]
    if isinstance(value, np.ndarray | pd.DataFrame) and value.ndim != 1:
        raise InputError(f"{name} has {value.ndim} dimensions; give one name or a list of them")
    return list(value)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}; accepted: a name, as text")


def _distinct(tables: StudyTables, table: str, column: str) -> set[str]:
    query = f"SELECT DISTINCT CAST({column} AS VARCHAR) FROM {table} WHERE study = ?"
    return {row[0] for row in tables.connection.execute(query, [tables.study]).fetchall()}
