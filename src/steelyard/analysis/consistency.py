"""Consistency: how far one arm does the same thing each time it is given the same task.

The reference of a task is the path that its baseline trials took most often. Four questions are
put to the trials of the task: did they take that path (structural), did the baseline trials
themselves (self), did those on the path call with the same arguments (argument), and did they
leave the system of record in the same state (outcome).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from steelyard.analysis.divergence import (
    Found,
    argument_divergences,
    divergences_of,
    group_divergences,
    states_equal,
)
from steelyard.analysis.names import resolve_arm
from steelyard.analysis.proportion import (
    Compatibility,
    Outcome,
    check_compatibility,
    proportion,
    proportions_by,
)
from steelyard.analysis.trajectories import (
    Ties,
    group_by,
    most_frequent,
    population,
    read_trials,
    steps_on_path,
    trial_path,
)
from steelyard.analysis.trajectory_results import Consistency
from steelyard.trials.argument_schema import ArgumentSchema
from steelyard.trials.model import Arguments, Trial
from steelyard.trials.paths import FailedCalls, Path, path_text
from steelyard.trials.tokens import arguments_text, canonical_text

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


@dataclass(frozen=True, slots=True)
class _Reference:
    """What the trials of one task are held against."""

    path: Path
    arguments: tuple[Arguments, ...]
    state: Mapping[str, Any] | None


@dataclass(slots=True)
class _Answers:
    """Outcomes collected trial by trial."""

    structural: list[tuple[Trial, bool]]
    argument: list[Outcome]
    outcome: list[Outcome]
    found: list[Found]


def consistency_of_trials(
    trials: Iterable[Trial],
    schemas: Mapping[str, ArgumentSchema] | None = None,
    *,
    perturbations: Sequence[str] = (),
    missing: str = "exclude",
    confidence: float = 0.95,
    compatibility: Compatibility = None,
) -> Consistency:
    """Measure the consistency of the trials of one arm.

    Parameters
    ----------
    trials : iterable of Trial
        Of one study and one arm.
    schemas : mapping of str to ArgumentSchema, optional
        How the arguments of each tool are compared.
    perturbations : sequence of str, optional
        The study's perturbations in their order. The trials of the first one (``"baseline"``
        where none are given) set the reference; a task without such trials takes all of its
        trials.
    missing : {"exclude", "recorded"}
        See :func:`steelyard.analysis.trajectories.population`.
    confidence : float, default 0.95
        Level of the intervals.
    compatibility : {"plumbline"}, optional
        The published definitions. They differ in what they do with a call that failed (a step of
        the path; by default it is none, so a correct retry stays on the path), with equally
        frequent paths (the first one in the order given; by default that of the smallest trial
        key), with a state that was not read (a different state; by default not scored), and with
        arguments (see `steelyard.trials.published_arguments`).

    Returns
    -------
    Consistency
        Without trials, proportions of nothing.

    Raises
    ------
    InputError
        Trials of two studies, a trial given twice, an unknown policy or compatibility.
    """
    check_compatibility(compatibility)
    chosen = population(trials, missing)
    answers = _Answers([], [], [], [])
    references = {}
    baseline = perturbations[0] if perturbations else "baseline"
    for task, members in group_by(chosen.scored, lambda trial: trial.key.task).items():
        start = [t for t in members if t.key.perturbation == baseline]
        reference = _reference(start or members, start, compatibility)
        references[str(task)] = path_text(reference.path)
        for trial in members:
            _answer(trial, reference, schemas or {}, compatibility, answers)
    order = perturbations or list(dict.fromkeys(t.key.perturbation for t in chosen.scored))
    return Consistency(
        arm=", ".join(dict.fromkeys(trial.key.arm for trial in chosen.scored)),
        compatibility=compatibility,
        missing_policy=missing,
        intended=chosen.intended,
        scored=len(chosen.scored),
        excluded=chosen.excluded,
        divergences=group_divergences(
            answers.found, order, ties="value" if compatibility is None else "order"
        ),
        references=references,
        **_proportions(answers, order, baseline, confidence, compatibility),
    )


def _proportions(
    answers: _Answers,
    order: Sequence[str],
    baseline: str,
    confidence: float,
    compatibility: Compatibility,
) -> dict[str, Any]:
    options: dict[str, Any] = {"confidence": confidence, "compatibility": compatibility}
    structural = [(trial, (same, trial.key.task)) for trial, same in answers.structural]
    at_baseline = [o for trial, o in structural if trial.key.perturbation == baseline]
    return {
        "structural": proportion([outcome for _, outcome in structural], **options),
        "self_consistency": proportion(at_baseline, **options),
        "argument": proportion(answers.argument, **options),
        "outcome": proportion(answers.outcome, **options),
        "by_perturbation": proportions_by(
            "perturbation",
            [(t.key.perturbation, outcome) for t, outcome in structural],
            order=order,
            **options,
        ),
        "by_task": proportions_by(
            "task", [(t.key.task, outcome) for t, outcome in structural], **options
        ),
    }


def _failed_calls(compatibility: Compatibility) -> FailedCalls:
    return "exclude" if compatibility is None else "include"


def _reference(
    trials: Sequence[Trial], at_baseline: Sequence[Trial], compatibility: Compatibility
) -> _Reference:
    """Return the reference of one task, from the trials that set it."""
    failed = _failed_calls(compatibility)
    ties: Ties = "key" if compatibility is None else "order"
    chosen = most_frequent(trials, lambda t: trial_path(t, "full", failed), ties=ties)
    path = trial_path(chosen, "full", failed)
    on_path = [t for t in trials if trial_path(t, "full", failed) == path]
    with_state = [t for t in at_baseline if t.state is not None]
    state = None
    if with_state:
        state = most_frequent(with_state, lambda t: canonical_text(t.state), ties=ties).state
    return _Reference(path, _usual_arguments(on_path, len(path), compatibility), state)


def _usual_arguments(
    trials: Sequence[Trial], length: int, compatibility: Compatibility
) -> tuple[Arguments, ...]:
    """Return, for each step of the path, the arguments used most often."""
    if compatibility is None:
        trials = sorted(trials, key=lambda trial: trial.key)
    failed = _failed_calls(compatibility)
    calls = [[s.arguments for s in steps_on_path(t, "full", failed)] for t in trials]
    usual = []
    for index in range(length):
        at_step = [arguments[index] for arguments in calls]
        usual.append(
            _most_used(at_step) if compatibility is None else _most_used_as_published(at_step)
        )
    return tuple(usual)


def _most_used(arguments: Sequence[Arguments]) -> Arguments:
    known = {arguments_text(a): a for a in reversed(arguments) if a is not None}
    counts = Counter(arguments_text(a) for a in arguments if a is not None)
    return known[counts.most_common(1)[0][0]] if counts else None


def _most_used_as_published(arguments: Sequence[Arguments]) -> Arguments:
    """Return the last arguments that print like the most frequent ones."""
    printed = [
        tuple(sorted((k, str(v)) for k, v in a.items())) if isinstance(a, Mapping) else ()
        for a in arguments
    ]
    best = Counter(printed).most_common(1)[0][0]  # the first of equals
    return [a for a, text in zip(arguments, printed, strict=True) if text == best][-1]


def _answer(
    trial: Trial,
    reference: _Reference,
    schemas: Mapping[str, ArgumentSchema],
    compatibility: Compatibility,
    answers: _Answers,
) -> None:
    """Put the four questions to one trial."""
    steps = steps_on_path(trial, "full", _failed_calls(compatibility))
    path = tuple((step.kind, step.name) for step in steps)
    answers.structural.append((trial, path == reference.path))
    if path == reference.path:
        compared = argument_divergences(reference.arguments, steps, schemas, compatibility)
        answers.argument.append((compared.agree, trial.key.task))
        divergences = compared.divergences
    else:
        divergences = divergences_of(trial, reference.path, path)
    answers.found += [Found(trial, divergence) for divergence in divergences]
    if reference.state is not None:
        read = trial.state is not None or compatibility is not None
        same = states_equal(reference.state, trial.state, compatibility) if read else None
        answers.outcome.append((same, trial.key.task))


def consistency(
    tables: StudyTables,
    arm: str,
    *,
    missing: str | None = None,
    confidence: float = 0.95,
    compatibility: Compatibility = None,
    **filters: Any,
) -> Consistency:
    """Measure the consistency of one arm of a study.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    arm : str
        The arm.
    missing : {"exclude", "recorded"}, optional
        The study's declared policy when absent.
    confidence, compatibility
        See :func:`consistency_of_trials`.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    Consistency

    Raises
    ------
    InputError, UnknownNameError
        See :func:`steelyard.analysis.trajectories.read_trials`.
    """
    trials = read_trials(tables, arm=resolve_arm(tables, arm), **filters)
    return consistency_of_trials(
        trials,
        tables.design.argument_schemas,
        perturbations=tables.design.design.perturbations,
        missing=tables.design.missing.policy if missing is None else missing,
        confidence=confidence,
        compatibility=compatibility,
    )
