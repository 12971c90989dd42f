"""Divergences: where a trial left its reference, one by one and in groups.

Kinds, and what ``step_index``, ``expected`` and ``got`` hold:

========== ======== ================================ ============================ ==============
kind       severity step_index                       expected                     got
========== ======== ================================ ============================ ==============
outcome    critical -1 (the whole trial)             the reference's state        the trial's
skipped    high     the reference's step             ``kind:name``                (not called)
substitute high     the reference's step             ``kind:name``                ``kind:name``
arg        declared the step on the common path      ``tool.argument=value``      the value
extra      medium   the reference's step before it,  (nothing)                    ``kind:name``
                    -1 before the first
========== ======== ================================ ============================ ==============

Indices count the steps of the path that was compared, so with ``failed_calls="exclude"`` they
count the calls that succeeded.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pandas as pd

from steelyard.analysis.proportion import Compatibility, counts_of
from steelyard.errors import InputError
from steelyard.stats.alignment import align
from steelyard.trials.argument_schema import ArgumentDifference, ArgumentSchema
from steelyard.trials.arguments import compare_arguments
from steelyard.trials.model import Arguments, Step, Trial
from steelyard.trials.paths import Path
from steelyard.trials.tokens import canonical_text

KINDS = ("outcome", "skipped", "substitute", "arg", "extra")
SEVERITY = {"outcome": "critical", "skipped": "high", "substitute": "high", "extra": "medium"}
NOT_CALLED, NOTHING = "(not called)", "(nothing)"
WHOLE_TRIAL = BEFORE_FIRST = -1
GROUP_COLUMNS = (
    "kind",
    "step_index",
    "expected",
    "got",
    "severity",
    "count",
    "perturbations",
    "tasks",
    "trials",
)


@dataclass(frozen=True, slots=True)
class Divergence:
    """One difference between a trial and its reference; see the module's text."""

    kind: str
    step_index: int
    expected: str
    got: str
    severity: str


@dataclass(frozen=True, slots=True)
class Found:
    """A divergence and the trial it was found in."""

    trial: Trial
    divergence: Divergence


@lru_cache(maxsize=1024)
def path_divergences(reference: Path, candidate: Path) -> tuple[Divergence, ...]:
    """Align two paths and list what the candidate skipped, substituted and added.

    Parameters
    ----------
    reference, candidate : Path
        Of one kind, see `steelyard.trials.paths`.

    Returns
    -------
    tuple of Divergence
        In the order of the alignment; empty when the paths are equal.

    Raises
    ------
    InputError
        Paths too long to align (see :func:`steelyard.stats.alignment.align`).
    """
    found = []
    for op, i, j in align(reference, candidate).script:
        expected = NOTHING if op == "extra" or i is None else _label(reference[i])
        got = NOT_CALLED if j is None else _label(candidate[j])
        if op != "match":
            index = BEFORE_FIRST if i is None else i
            found.append(Divergence(op, index, expected, got, SEVERITY[op]))
    return tuple(found)


def divergences_of(trial: Trial, reference: Path, path: Path) -> tuple[Divergence, ...]:
    """Return `path_divergences`, naming the trial whose path cannot be aligned."""
    try:
        return path_divergences(reference, path)
    except InputError as error:
        raise InputError(
            f"trial {trial.label}: its path of {len(path):,} steps cannot be aligned with the "
            f"reference of {len(reference):,}: {error}"
        ) from None


def _label(step: tuple[str, str]) -> str:
    return f"{step[0]}:{step[1]}"


@dataclass(frozen=True, slots=True)
class ArgumentComparison:
    """How the arguments along one path compare with the reference's.

    Parameters
    ----------
    agree : bool or None
        None when nothing is known to differ but some arguments were not recorded.
    divergences : tuple of Divergence
        Differences of severity ``low`` are not divergences.
    """

    agree: bool | None
    divergences: tuple[Divergence, ...]


def argument_divergences(
    reference: Sequence[Arguments],
    steps: Sequence[Step],
    schemas: Mapping[str, ArgumentSchema],
    compatibility: Compatibility = None,
) -> ArgumentComparison:
    """Compare arguments step by step along a path that both trials took.

    Parameters
    ----------
    reference : sequence of Arguments
        One per step of the path.
    steps : sequence of Step
        The candidate's steps, as many.
    schemas : mapping of str to ArgumentSchema
        By tool; the arguments of a tool without one are compared exactly.
    compatibility : {"plumbline"}, optional
        Compare arguments as Plumbline does.
    """
    found, unknown = [], False
    for index, (expected, step) in enumerate(zip(reference, steps, strict=True)):
        for difference in compare_arguments(
            expected,
            step.arguments,
            schemas.get(step.name),
            tool=step.name,
            compatibility=compatibility,
        ):
            if difference.policy == "unknown":
                unknown = True
            elif difference.severity != "low":
                found.append(_argument_divergence(index, difference, compatibility))
    agree = None if unknown and not found else not found
    return ArgumentComparison(agree, tuple(found))


def _argument_divergence(
    index: int, difference: ArgumentDifference, compatibility: Compatibility
) -> Divergence:
    if compatibility == "plumbline":  # it prints Python's form of every value
        expected = f"{difference.tool}.{difference.field}={difference.expected!r}"
        return Divergence("arg", index, expected, repr(difference.got), difference.severity)
    where = ".".join(part for part in (difference.tool, difference.field) if part)
    expected = f"{where}={_shown(difference.expected)}"
    return Divergence("arg", index, expected, _shown(difference.got), difference.severity)


def _shown(value: Any) -> str:
    """Return a value as one text, whatever order its members were recorded in."""
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, sort_keys=True, ensure_ascii=False, default=repr)
    return repr(value)


def state_text(state: Mapping[str, Any] | None, compatibility: Compatibility = None) -> str:
    """Return a terminal state as one text: its JSON with sorted names, or Python's form of it.

    Plumbline prints the Python dictionary, members in the order in which they were recorded.
    """
    if compatibility == "plumbline":
        return repr(None if state is None else dict(state))
    return _shown(state)


def states_equal(
    left: Mapping[str, Any] | None,
    right: Mapping[str, Any] | None,
    compatibility: Compatibility = None,
) -> bool:
    """Return whether two terminal states were both read and hold the same JSON value.

    Plumbline compares Python dictionaries, in which ``True == 1``.
    """
    if left is None or right is None:
        return False
    if compatibility == "plumbline":
        return bool(left == right)
    return canonical_text(left) == canonical_text(right)


def group_divergences(
    found: Iterable[Found], perturbations: Sequence[str], *, ties: str = "value"
) -> pd.DataFrame:
    """Count divergences that are alike.

    Parameters
    ----------
    found : iterable of Found
        The divergences of many trials.
    perturbations : sequence of str
        The order in which their counts are listed.
    ties : {"value", "order"}
        Groups of one kind and count follow each other by step index and texts, whatever order
        they were found in; or in the order in which they were found, as Plumbline lists them.

    Returns
    -------
    pandas.DataFrame
        One row per (kind, step_index, expected, got), by kind and falling count:

        - ``kind``, ``step_index``, ``expected``, ``got``, ``severity``;
        - ``count``: occurrences (a trial can hold one divergence twice);
        - ``perturbations``: dict of perturbation to count; see :func:`by_perturbation`;
        - ``tasks`` (sorted) and ``trials`` (as found): tuples without repetition.
    """
    groups: dict[tuple[str, int, str, str], list[Found]] = {}
    for item in found:
        d = item.divergence
        groups.setdefault((d.kind, d.step_index, d.expected, d.got), []).append(item)
    rows = [_group_row(key, members, perturbations) for key, members in groups.items()]
    rows.sort(key=lambda row: (KINDS.index(row["kind"]), -row["count"], *_tie(row, ties)))
    return pd.DataFrame(rows, columns=list(GROUP_COLUMNS))


def _tie(row: Mapping[str, Any], ties: str) -> tuple[Any, ...]:
    return (row["step_index"], row["expected"], row["got"]) if ties == "value" else ()


def _group_row(
    key: tuple[str, int, str, str], members: Sequence[Found], order: Sequence[str]
) -> dict[str, Any]:
    counts: dict[str, int] = {}
    for member in members:
        name = member.trial.key.perturbation
        counts[name] = counts.get(name, 0) + 1
    return {
        "kind": key[0],
        "step_index": key[1],
        "expected": key[2],
        "got": key[3],
        "severity": members[0].divergence.severity,
        "count": len(members),
        "perturbations": counts_of(counts, order),
        "tasks": tuple(sorted({member.trial.key.task for member in members})),
        "trials": tuple(dict.fromkeys(member.trial.label for member in members)),
    }


def by_perturbation(groups: pd.DataFrame) -> pd.DataFrame:
    """Return the groups in long form, one row per group and perturbation.

    Parameters
    ----------
    groups : pandas.DataFrame
        A result of :func:`group_divergences`.

    Returns
    -------
    pandas.DataFrame
        ``kind``, ``step_index``, ``expected``, ``got``, ``severity``, ``perturbation``, ``count``.
    """
    keys = list(GROUP_COLUMNS[:5])
    rows = [
        [*(row[key] for key in keys), name, count]
        for row in groups.to_dict("records")
        for name, count in row["perturbations"].items()
    ]
    return pd.DataFrame(rows, columns=[*keys, "perturbation", "count"])


def find_group(
    groups: pd.DataFrame, kind: str, step_index: int, expected: str, got: str
) -> dict[str, Any] | None:
    """Return the group of one published divergence, or None.

    Terminal states are compared by value, because sources print them in several forms (a Python
    dictionary, JSON) and with their members in any order; all other texts are compared as texts.

    Parameters
    ----------
    groups : pandas.DataFrame
        A result of :func:`group_divergences`.
    kind, step_index, expected, got
        As printed.
    """
    wanted = (kind, step_index, _comparable(kind, expected), _comparable(kind, got))
    for row in groups.to_dict("records"):
        texts = (_comparable(row["kind"], row["expected"]), _comparable(row["kind"], row["got"]))
        if (row["kind"], row["step_index"], *texts) == wanted:
            return {str(column): value for column, value in row.items()}
    return None


def _comparable(kind: str, text: str) -> str:
    if kind != "outcome":
        return text
    for read in (json.loads, ast.literal_eval):
        try:
            return canonical_text(read(text))
        except (ValueError, SyntaxError):
            continue
    return text
