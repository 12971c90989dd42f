"""Arms of one study or of several, side by side: an earlier study and the one that redoes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.comparison import compare
from steelyard.analysis.evidence import Evidence
from steelyard.analysis.questions import ask as ask_question
from steelyard.errors import InputError, UnknownNameError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

_PAIR = {"label", "reference", "candidate"}
_STACKED = {"group", "label", "arm"}


def side_by_side(
    tables: StudyTables,
    ask: str,
    arms: Mapping[str, str | Mapping[str, Any]],
    columns: Sequence[str],
    *,
    by: str | Sequence[str] = ("perturbation",),
    parameters: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Ask one question of several arms and put the answers beside each other.

    Parameters
    ----------
    tables : StudyTables
        The study.
    ask : str
        A question of `steelyard.analysis.questions` that can be asked of one arm (it takes ``arm``
        and ``by``).
    arms : mapping of str to str or mapping
        What an arm is called in the result, and the arm: of this study, or ``study_id:arm`` for an
        arm of another study in the same database. Where arms are asked with other parameters, or
        one arm in several ways, a mapping with ``arm`` and these parameters.
    columns : sequence of str
        Which columns of the answers are kept.
    by : str or sequence of str
        What the rows are.
    parameters : mapping, optional
        The question's other parameters.

    Returns
    -------
    pandas.DataFrame
        One row per group that any of the arms has, those of the first arm in their order and then
        what the others have besides: the ``by`` columns, and for each arm ``<label>_<column>``,
        missing where the arm has no such group.

    Raises
    ------
    UnknownNameError
        A question, study, arm or column that does not exist.
    InputError
        No arm, or answers with several rows for a group.
    SteelyardError
        As the question itself.
    """
    rows = [by] if isinstance(by, str) else list(by)
    if not arms or not rows:
        raise InputError("side_by_side: arms and by must not be empty")
    parts = []
    for label, asked in arms.items():
        own = {"arm": asked} if isinstance(asked, str) else dict(asked)
        if not isinstance(own.get("arm"), str):
            raise InputError(f"side_by_side: {label!r} names no arm; found {own}")
        evidence, name = Evidence(tables).of_arm(own["arm"])
        given = {**(parameters or {}), **own, "arm": name, "by": rows}
        parts.append(_part(ask_question(evidence, ask, given), ask, label, rows, columns))
    order = pd.concat([part[rows] for part in parts]).drop_duplicates(ignore_index=True)
    for part in parts:
        order = order.merge(part, on=rows, how="left")
    return order


def _part(
    answer: pd.DataFrame, ask: str, label: str, rows: list[str], columns: Sequence[str]
) -> pd.DataFrame:
    """Return the wanted columns of one arm's answer under names that hold the arm's label."""
    for name in (*rows, *columns):
        if name not in answer.columns:
            raise UnknownNameError("column", name, map(str, answer.columns), f"the answer to {ask}")
    if answer.duplicated(rows).any():
        raise InputError(f"side_by_side: {ask} gives several rows for one of {', '.join(rows)}")
    names = {name: f"{label}_{name}" for name in columns}
    return answer[[*rows, *columns]].rename(columns=names).reset_index(drop=True)


def stack_arms(
    tables: StudyTables,
    ask: str,
    arms: Sequence[Mapping[str, str]],
    parameters: Mapping[str, Any] | None = None,
) -> pd.DataFrame:
    """Ask one question of several arms and put the answers one below another, as a figure needs it.

    Parameters
    ----------
    tables : StudyTables
        The study.
    ask : str
        A question of `steelyard.analysis.questions` that can be asked of one arm.
    arms : sequence of mapping
        Each with ``arm`` (of this study, or ``study_id:arm``), what it is called (``label``) and
        what it is shown under (``group``).
    parameters : mapping, optional
        The question's other parameters.

    Returns
    -------
    pandas.DataFrame
        ``group``, ``label``, then the answer, its ``arm`` as given; in the order of ``arms``.

    Raises
    ------
    InputError
        No arm, or one with other keys.
    SteelyardError
        As the question itself.
    """
    if not arms:
        raise InputError("stack_arms: arms must not be empty")
    parts = []
    for given in arms:
        if set(given) != _STACKED:
            raise InputError(
                f"stack_arms: an arm has {', '.join(sorted(_STACKED))}; found {dict(given)}"
            )
        evidence, name = Evidence(tables).of_arm(given["arm"])
        answer = ask_question(evidence, ask, {**(parameters or {}), "arm": name})
        part = answer.assign(arm=given["arm"])
        part.insert(0, "label", given["label"])
        part.insert(0, "group", given["group"])
        parts.append(part)
    return pd.concat(parts, ignore_index=True)


def compare_pairs(
    tables: StudyTables, pairs: Sequence[Mapping[str, str]], **parameters: Any
) -> pd.DataFrame:
    """Compare several pairs of arms, of this study or of others, one pair after the other.

    Parameters
    ----------
    tables : StudyTables
        The study.
    pairs : sequence of mapping
        Each with ``label``, ``reference`` and ``candidate``.
    **parameters
        Of :func:`steelyard.analysis.comparison.compare`, the same for all pairs.

    Returns
    -------
    pandas.DataFrame
        ``pair`` (the label), then what ``compare`` returns; p-values are adjusted within each
        pair.

    Raises
    ------
    InputError
        No pair, two with one label, or one with other keys.
    SteelyardError
        As ``compare``.
    """
    labels = []
    for pair in pairs:
        if set(pair) != _PAIR:
            raise InputError(f"compare_pairs: a pair has {', '.join(sorted(_PAIR))}; found {pair}")
        labels.append(pair["label"])
    if not labels or len(set(labels)) < len(labels):
        raise InputError("compare_pairs: there must be a pair, and no two with one label")
    parts = []
    for pair in pairs:
        frame = compare(tables, pair["reference"], pair["candidate"], **parameters)
        frame.insert(0, "pair", pair["label"])
        parts.append(frame)
    return pd.concat(parts, ignore_index=True)
