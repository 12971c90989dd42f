"""Trials with their steps, as the trajectory analyses take them from the tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar

import pandas as pd

from steelyard.analysis.names import resolve_filters, sort_by_design
from steelyard.errors import DataError, InputError, UnknownNameError
from steelyard.trials import strict_json
from steelyard.trials.arguments import read_arguments
from steelyard.trials.ids import parse_trial_id
from steelyard.trials.model import Step, Trial
from steelyard.trials.paths import FailedCalls, Path, control_steps, effect_steps, path_of

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables

T = TypeVar("T")
PathKind: TypeAlias = Literal["full", "effect"]
Ties: TypeAlias = Literal["key", "order"]
MISSING_POLICIES = ("exclude", "recorded")


def read_trials(tables: StudyTables, **filters: Any) -> list[Trial]:
    """Return the study's trials with their steps and terminal states.

    Parameters
    ----------
    tables : StudyTables
        The study.
    **filters
        ``arm``, ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several; the
        study's declared scope where none is given.

    Returns
    -------
    list of Trial
        Sorted by arm, task, perturbation (arms and perturbations in the study's order), variant
        and repeat. Arguments that are not a JSON object are kept and marked
        (:func:`steelyard.trials.arguments.read_arguments`). ``state`` is None where the tables
        hold none.

    Raises
    ------
    InputError
        The study holds no steps at all: an empty path would be taken for an agent that did
        nothing.
    UnknownNameError
        A filter value of which the study has no trial.
    """
    steps = tables.frame("steps")
    if steps.empty:
        raise InputError(
            f"study {tables.study} holds no steps, so its trajectories cannot be compared; only "
            "its outcomes and violations are recorded"
        )
    trials = tables.frame("trials")
    for column, names in resolve_filters(tables, filters).items():
        trials = trials[trials[column].isin(names)]
    trials = sort_by_design(
        tables, trials, ("arm", "task", "perturbation", "variant", "repeat", "trial_id")
    )
    by_trial: dict[str, list[dict[Hashable, Any]]] = {}
    for row in steps.sort_values("step_index", kind="stable").to_dict("records"):
        by_trial.setdefault(row["trial_id"], []).append(row)
    states = tables.frame("states").set_index("trial_id")["state"].to_dict()
    read = []
    for row in trials.to_dict("records"):
        name, where = row["trial_id"], f"{tables.study}, trial {row['trial_id']}"
        read.append(
            Trial(
                key=parse_trial_id(name),
                status=row["status"],
                steps=_steps(by_trial.get(name, ()), where),
                study=tables.study,
                state=_state(states.get(name), where),
                error=_text(row["error"]),
            )
        )
    return read


def read_trial(tables: StudyTables, trial_id: str) -> Trial:
    """Return one trial of the study with its steps.

    Parameters
    ----------
    tables : StudyTables
        The study.
    trial_id : str
        ``arm/task/perturbation/variant/repeat``.

    Raises
    ------
    UnknownNameError
        With the nearest trial ids.
    InputError
        The study holds no steps.
    """
    known = tables.frame("trials")["trial_id"].tolist()
    if trial_id not in known:
        raise UnknownNameError("trial", str(trial_id), known, f"study {tables.study}")
    key = parse_trial_id(trial_id)
    named = {
        "arm": key.arm,
        "task": key.task,
        "perturbation": key.perturbation,
        "variant": key.variant,
        "repeat": str(key.repeat),
    }
    return read_trials(tables, **named)[0]


def _steps(rows: Sequence[Mapping[Hashable, Any]], where: str) -> tuple[Step, ...]:
    return tuple(_step(row, f"{where}, step {row['step_index']}") for row in rows)


def _step(row: Mapping[Hashable, Any], where: str) -> Step:
    try:
        return Step(
            kind=row["kind"],
            name=row["name"],
            arguments=read_arguments(_text(row["arguments"])),
            output=_json(row["output"], f"{where}, output"),
            error=_text(row["error"]),
            wall_ms=None if pd.isna(row["wall_ms"]) else float(row["wall_ms"]),
        )
    except InputError as error:
        raise DataError(f"{where}: {error}") from None


def _state(value: Any, where: str) -> Mapping[str, Any] | None:
    state = _json(value, f"{where}, state")
    if state is None or isinstance(state, Mapping):
        return state
    raise DataError(f"{where}: the terminal state is {state!r:.80}; accepted is a JSON object")


def _json(value: Any, where: str) -> Any:
    text = _text(value)
    return None if text is None else strict_json.loads(text, path=where, replace_surrogates=True)


def _text(value: Any) -> str | None:
    """Return text, or None for NULL, which a frame holds as None or NaN."""
    return value if isinstance(value, str) else None


@dataclass(frozen=True, slots=True)
class Population:
    """The trials of one arm that an analysis scores.

    Parameters
    ----------
    scored : tuple of Trial
        In the order given.
    intended : int
        All trials, scored or not.
    """

    scored: tuple[Trial, ...]
    intended: int

    @property
    def excluded(self) -> int:
        """Trials that never ran, or ran and failed."""
        return self.intended - len(self.scored)


def population(trials: Iterable[Trial], missing: str = "exclude") -> Population:
    """Choose the trials that are scored.

    Parameters
    ----------
    trials : iterable of Trial
        Of one study: trials of two studies have no common design.
    missing : {"exclude", "recorded"}
        ``exclude`` scores the completed trials. ``recorded`` also scores trials that failed, by
        the steps they took; it exists to reproduce published figures. A trial that never ran
        has no steps and is never scored.

    Raises
    ------
    InputError
        Another policy, a trial that occurs twice, or trials of two studies.
    """
    if missing not in MISSING_POLICIES:
        raise InputError(
            f"missing policy is {missing!r}; accepted for trajectories are "
            + " and ".join(repr(policy) for policy in MISSING_POLICIES)
            + ": a trial without a result took no path that could be counted as right or wrong"
        )
    listed = tuple(trials)
    check_one_study(listed)
    statuses = ("completed",) if missing == "exclude" else ("completed", "failed")
    return Population(tuple(t for t in listed if t.status in statuses), len(listed))


def check_one_study(trials: Sequence[Trial]) -> None:
    """Refuse trials of different studies, and one trial given twice."""
    studies = sorted({trial.study for trial in trials})
    if len(studies) > 1:
        first = {trial.study: trial.label for trial in reversed(trials)}
        shown = ", ".join(f"{first[study]} of {study or '(no study)'}" for study in studies[:2])
        raise InputError(f"the trials are of {len(studies)} studies ({shown}); compare within one")
    seen: set[str] = set()
    for trial in trials:
        if trial.label in seen:
            raise InputError(f"trial {trial.label} was given twice")
        seen.add(trial.label)


def steps_on_path(trial: Trial, kind: PathKind, failed_calls: FailedCalls) -> tuple[Step, ...]:
    """Return the steps that form the trial's full path or its effect path."""
    if kind == "full":
        return control_steps(trial.steps, failed_calls)
    return effect_steps(trial.steps, failed_calls)


def trial_path(trial: Trial, kind: PathKind, failed_calls: FailedCalls) -> Path:
    """Return the trial's full path or its effect path."""
    return path_of(steps_on_path(trial, kind, failed_calls))


def most_frequent(
    trials: Sequence[Trial], key: Callable[[Trial], Hashable], *, ties: Ties
) -> Trial:
    """Return a trial whose ``key`` is the most frequent one.

    Parameters
    ----------
    trials : sequence of Trial
        At least one.
    key : callable
        What is counted.
    ties : {"key", "order"}
        Between equally frequent values, and among the trials that share the value, take the
        smallest trial key, whatever order the trials are in; or the first in the order given,
        as Plumbline does.
    """
    ordered = sorted(trials, key=lambda trial: trial.key) if ties == "key" else list(trials)
    counts: dict[Hashable, int] = {}
    for trial in ordered:
        value = key(trial)
        counts[value] = counts.get(value, 0) + 1
    best = max(counts, key=lambda value: counts[value])  # the first of equals
    return next(trial for trial in ordered if key(trial) == best)


def group_by(trials: Iterable[T], key: Callable[[T], Hashable]) -> dict[Hashable, list[T]]:
    """Return the members of each group, groups in order of appearance."""
    groups: dict[Hashable, list[T]] = {}
    for trial in trials:
        groups.setdefault(key(trial), []).append(trial)
    return groups
