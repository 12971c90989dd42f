"""Where the answers of arms differ in content, not only in verdict."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.gates import CASE, both_limits, check_arm
from steelyard.errors import InputError

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

Answer = Mapping[str, Any] | None


def answer_differences(
    tables: StudyTables,
    reference: str,
    *,
    member: str,
    only_differing: bool = False,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Return in which members the answers of arms differ in content, not only in verdict.

    Parameters
    ----------
    tables : StudyTables
        The study.
    reference : str
        The arm that the others are held against.
    member : str
        The member of a trial's terminal state that holds its answer, an object.
    only_differing : bool, default False
        Leave out the rows in which nothing differs.
    confidence : float, default 0.95

    Returns
    -------
    pandas.DataFrame
        One row per other arm and field that occurs in any answer: ``arm``, ``field``, ``pairs`` (in
        which both arms have an answer, and one of these at least has the field), ``unanswered``
        (in which one arm has an answer with the field and the other has none), ``differing``,
        ``share`` with Wilson limits, ``low`` and ``high`` that take pairs as independent and
        ``clustered_low`` and ``clustered_high`` that take tasks as the unit (0 and 1 without a
        pair), ``level``. Values are compared exactly, in type as well.

    Raises
    ------
    UnknownNameError
        No such arm.
    InputError
        No trial has such an answer.
    """
    check_arm(tables, reference)
    answers = _answers(tables, member)
    fields = sorted({name for answer in answers["answer"] if answer is not None for name in answer})
    if not fields:
        raise InputError(
            f"study {tables.study}: no terminal state has a member {member!r} that is an object "
            "with fields"
        )
    own = answers[answers["arm"] == reference].drop(columns="arm")
    rows = []
    for arm in tables.design.design.arms:
        if arm == reference:
            continue
        other = answers[answers["arm"] == arm].drop(columns="arm")
        pairs = own.merge(other, on=CASE, suffixes=("", "_other"))
        both = list(zip(pairs["task"], pairs["answer"], pairs["answer_other"], strict=True))
        rows += [{"arm": arm, **_differences(both, name, confidence)} for name in fields]
    shown = pd.DataFrame(rows)
    return shown[shown["differing"] > 0].reset_index(drop=True) if only_differing else shown


def _differences(
    pairs: list[tuple[str, Answer, Answer]], name: str, confidence: float
) -> dict[str, Any]:
    concerned = [pair for pair in pairs if any(name in (answer or ()) for answer in pair[1:])]
    compared = [
        (task, float(_text(left, name) != _text(right, name)))
        for task, left, right in concerned
        if left is not None and right is not None
    ]
    found = pd.DataFrame(compared, columns=["task", "differs"])
    differs, tasks = found["differs"].to_numpy(), found["task"].to_numpy()
    share = both_limits("share", differs, tasks, confidence)
    return {
        "field": name,
        "pairs": len(found),
        "unanswered": len(concerned) - len(found),
        "differing": int(found["differs"].sum()),
        **{place.removeprefix("share_"): value for place, value in share.items()},
        "level": confidence,
    }


def _answers(tables: StudyTables, member: str) -> pd.DataFrame:
    trials = tables.frame("trials")[["trial_id", "arm", *CASE]]
    states = tables.frame("states")[["trial_id", "state"]]
    joined = trials.merge(states, on="trial_id", how="left")

    def answer(text: Any) -> dict[str, Any] | None:
        found = json.loads(text).get(member) if isinstance(text, str) else None
        return found if isinstance(found, dict) else None

    joined["answer"] = pd.Series([answer(text) for text in joined["state"]], dtype=object)
    return joined.drop(columns=["trial_id", "state"])


def _text(answer: Mapping[str, Any], name: str) -> str:
    """Return a member as the one text that stands for it; an absent one is no JSON text."""
    return json.dumps(answer[name], sort_keys=True) if name in answer else "absent"
