"""A replacement held against its incumbent in two readings: as published, and by our definitions.

The two readings answer the same questions of the same trials. They part where a call failed: the
published reading counts it as a step of the path, ours does not, because a call that ended in an
error changed nothing. Printed side by side they show how much of a divergence is in the reading.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.divergence import find_group
from steelyard.analysis.equivalence import equivalence_of_trials
from steelyard.analysis.names import resolve_arm
from steelyard.analysis.proportion import Compatibility
from steelyard.analysis.trajectories import read_trials
from steelyard.analysis.trajectory_results import Equivalence

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

AS_PUBLISHED, TOOK_EFFECT = "as published", "calls that took effect"
_GROUP = ("kind", "step_index", "expected", "got")
_BOUNDS = (
    "bound",
    "worst_perturbation",
    "clustered_bound",
    "plumbline_bound",
    "plumbline_worst",
    "target",
    "verdict",
    "path_verdict",
    "plumbline_verdict",
)


@dataclass(frozen=True, eq=False)
class Readings:
    """The same trials in one or two readings; every frame has a column ``reading``.

    Attributes
    ----------
    questions : pandas.DataFrame
        One row per reading and question (``outcome``, ``path``, ``argument``,
        ``incumbent_self_consistency``), with counts and intervals; see
        :class:`steelyard.analysis.Equivalence`.
    by_perturbation : pandas.DataFrame
        ``outcome`` and ``path`` again, by perturbation in the study's order; the readings of one
        perturbation follow each other.
    bounds : pandas.DataFrame
        One row per reading: its bounds and verdicts.
    divergences : pandas.DataFrame
        One row per reading and group of alike divergences: ``kind``, ``step_index``,
        ``expected``, ``got``, ``severity``, ``count``; ``published``: how many the source lists
        (NA where it lists none, and in our reading); ``change``: what differs, in words;
        ``perturbations`` and ``tasks`` as text; ``example``: the first trial that holds one.
    """

    questions: pd.DataFrame = field(repr=False)
    by_perturbation: pd.DataFrame = field(repr=False)
    bounds: pd.DataFrame = field(repr=False)
    divergences: pd.DataFrame = field(repr=False)


def equivalence_readings(
    tables: StudyTables,
    incumbent: str,
    replacement: str,
    *,
    missing: str | None = None,
    confidence: float = 0.95,
) -> Readings:
    """Hold one arm against another in our reading and, where one exists, in the published one.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    incumbent, replacement : str
        The arms.
    missing, confidence
        See :func:`steelyard.analysis.equivalence`.

    Returns
    -------
    Readings
        The published reading first; it is there when the tables hold published divergences of
        the two arms.

    Raises
    ------
    InputError, UnknownNameError
        As :func:`steelyard.analysis.equivalence`.
    """
    arms = [resolve_arm(tables, arm) for arm in (incumbent, replacement)]
    trials = read_trials(tables, arm=arms)
    listed = tables.frame("divergences")
    listed = listed[listed["incumbent"].eq(incumbent) & listed["replacement"].eq(replacement)]
    wanted: dict[str, Compatibility] = {AS_PUBLISHED: "plumbline"} if len(listed) else {}
    wanted[TOOK_EFFECT] = None
    found = {
        reading: equivalence_of_trials(
            trials,
            incumbent,
            replacement,
            tables.design.argument_schemas,
            perturbations=tables.design.design.perturbations,
            missing=tables.design.missing.policy if missing is None else missing,
            confidence=confidence,
            compatibility=compatibility,
        )
        for reading, compatibility in wanted.items()
    }
    return Readings(
        questions=_joined({name: one.to_frame() for name, one in found.items()}),
        by_perturbation=_side_by_side(
            _joined({name: _by_perturbation(one) for name, one in found.items()})
        ),
        bounds=_joined({name: _bounds(one) for name, one in found.items()}),
        divergences=_joined(
            {
                name: _divergences(one, listed if name == AS_PUBLISHED else listed.head(0))
                for name, one in found.items()
            }
        ),
    )


def _joined(parts: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    frames = [frame.assign(reading=reading) for reading, frame in parts.items()]
    joined = pd.concat(frames, ignore_index=True)
    return joined[["reading", *(name for name in joined.columns if name != "reading")]]


def _by_perturbation(one: Equivalence) -> pd.DataFrame:
    frames = {"outcome": one.by_perturbation, "path": one.path_by_perturbation}
    return pd.concat(
        [frame.assign(question=question) for question, frame in frames.items()], ignore_index=True
    )


def _side_by_side(frame: pd.DataFrame) -> pd.DataFrame:
    """Put the readings of one question and perturbation next to each other."""
    keys = ["question", "perturbation"]
    places = frame.assign(**{name: pd.factorize(frame[name])[0] for name in keys})
    return frame.loc[places.sort_values(keys, kind="stable").index].reset_index(drop=True)


def _bounds(one: Equivalence) -> pd.DataFrame:
    row = one.to_row()
    return pd.DataFrame([{name: row[name] for name in ("incumbent", "replacement", *_BOUNDS)}])


def _divergences(one: Equivalence, listed: pd.DataFrame) -> pd.DataFrame:
    """Return the groups with the published counts beside ours.

    A published group that we do not find has a row with the count 0.
    """
    published: dict[tuple[Hashable, ...], int] = {}
    counted = listed.groupby(list(_GROUP), sort=True).size().rename("count").reset_index()
    for row in counted.to_dict("records"):
        group = find_group(
            one.divergences, row["kind"], int(row["step_index"]), row["expected"], row["got"]
        )
        source: Mapping[Any, Any] = row if group is None else group
        place = tuple(source[name] for name in _GROUP)
        published[place] = published.get(place, 0) + row["count"]
    rows: list[dict[str, Any]] = []
    for found in one.divergences.to_dict("records"):
        place = tuple(found[name] for name in _GROUP)
        rows.append({**_described(found), "published": published.pop(place, None)})
    for place, count in published.items():
        absent = dict(zip(_GROUP, place, strict=True))
        rows.append({**absent, "count": 0, "published": count, "change": _change(absent)})
    names = [*_GROUP, "severity", "count", "published", "change", "perturbations", "tasks"]
    frame = pd.DataFrame(rows, columns=[*names, "example"])
    return frame.astype({"published": "Int64"})


def _described(group: Mapping[Hashable, Any]) -> dict[str, Any]:
    counts = [f"{name} {count}" for name, count in group["perturbations"].items()]
    return {
        **{name: group[name] for name in (*_GROUP, "severity", "count")},
        "change": _change(group),
        "perturbations": ", ".join(counts),
        "tasks": ", ".join(group["tasks"]),
        "example": group["trials"][0],
    }


def _change(group: Mapping[Any, Any]) -> str:
    """Say in words what differs: of two terminal states only the members that do."""
    expected, got = str(group["expected"]), str(group["got"])
    if group["kind"] == "outcome":
        before, after = _state(expected), _state(got)
        if before is not None and after is not None:
            return "; ".join(
                f"{name}: {before.get(name, 'none')} \N{RIGHTWARDS ARROW} {after.get(name, 'none')}"
                for name in sorted({*before, *after})
                if before.get(name) != after.get(name)
            )
    plain = [text.removeprefix("tool_call:") for text in (expected, got)]
    return f"{plain[0]} \N{RIGHTWARDS ARROW} {plain[1]}"


def _state(text: str) -> dict[str, Any] | None:
    """Read a terminal state that was printed as JSON or as a Python dictionary, if it is one."""
    for read in (json.loads, ast.literal_eval):
        try:
            state = read(text)
        except (ValueError, SyntaxError):
            continue
        return state if isinstance(state, dict) else None
    return None
