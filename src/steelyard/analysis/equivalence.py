"""Equivalence: whether a replacement does what the incumbent does, trial by trial.

For each task, perturbation and variant one trial of the incumbent is the reference: the first one
on the path that its repeats took most often. Each trial of the replacement under the same
condition is held against it: did the system of record end in the same state (outcome), were the
same tools called in the same order (path), and if so with the same arguments (argument).

Agreement with the incumbent is not correctness. Where the incumbent was wrong, a replacement that
is right diverges; :func:`steelyard.analysis.compare` asks the other question.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pandas as pd

from steelyard.analysis.divergence import (
    SEVERITY,
    WHOLE_TRIAL,
    Divergence,
    Found,
    argument_divergences,
    divergences_of,
    group_divergences,
    state_text,
    states_equal,
)
from steelyard.analysis.equivalence_verdicts import TARGET, bounded_verdict, published_verdict
from steelyard.analysis.names import resolve_arm
from steelyard.analysis.proportion import (
    Compatibility,
    Outcome,
    check_compatibility,
    lowest,
    proportion,
    proportions_by,
)
from steelyard.analysis.trajectories import (
    Population,
    Ties,
    check_one_study,
    group_by,
    most_frequent,
    population,
    read_trials,
    steps_on_path,
    trial_path,
)
from steelyard.analysis.trajectory_results import Equivalence
from steelyard.errors import InputError, UnknownNameError
from steelyard.trials.argument_schema import ArgumentSchema
from steelyard.trials.ids import published_variant_id
from steelyard.trials.model import Trial
from steelyard.trials.paths import FailedCalls

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


@dataclass(slots=True)
class _Answers:
    """What was found pair by pair."""

    outcome: list[tuple[Trial, Outcome]] = field(default_factory=list)
    path: list[tuple[Trial, Outcome]] = field(default_factory=list)
    argument: list[Outcome] = field(default_factory=list)
    found: list[Found] = field(default_factory=list)
    unpaired: int = 0


@dataclass(frozen=True, slots=True)
class _Settings:
    incumbent: str
    replacement: str
    schemas: Mapping[str, ArgumentSchema]
    missing: str
    confidence: float
    target: float
    compatibility: Compatibility

    @property
    def failed_calls(self) -> FailedCalls:
        return "exclude" if self.compatibility is None else "include"


def equivalence_of_trials(
    trials: Iterable[Trial],
    incumbent: str,
    replacement: str,
    schemas: Mapping[str, ArgumentSchema] | None = None,
    *,
    perturbations: Sequence[str] = (),
    missing: str = "exclude",
    confidence: float = 0.95,
    target: float = TARGET,
    compatibility: Compatibility = None,
) -> Equivalence:
    """Hold a replacement's trials against the incumbent's.

    Parameters
    ----------
    trials : iterable of Trial
        Of one study; arms other than the two are left aside.
    incumbent, replacement : str
        The arms.
    schemas : mapping of str to ArgumentSchema, optional
        How the arguments of each tool are compared.
    perturbations : sequence of str, optional
        The study's perturbations, in the order in which tables list them.
    missing : {"exclude", "recorded"}
        See :func:`steelyard.analysis.trajectories.population`.
    confidence : float, default 0.95
        Level of the intervals.
    target : float, default 0.95
        The rate of agreement that counts as equivalence.
    compatibility : {"plumbline"}, optional
        The published definitions. They differ in what they do with a call that failed (a step of
        the path; by default it is none), with a state that was not read (a different state; by
        default not scored), with conditions that have one trial (self-consistent; by default not
        scored), with equally frequent paths (the first in the order given; by default that of
        the smallest trial key) and with arguments.

    Returns
    -------
    Equivalence

    Raises
    ------
    InputError
        One arm given twice, trials of two studies, an unknown policy or compatibility.
    UnknownNameError
        An arm without trials.
    """
    check_compatibility(compatibility)
    listed = list(trials)
    _check_arms(listed, incumbent, replacement, compatibility)
    check_one_study([t for t in listed if t.key.arm in (incumbent, replacement)])
    old = population([t for t in listed if t.key.arm == incumbent], missing)
    new = population([t for t in listed if t.key.arm == replacement], missing)
    settings = _Settings(
        incumbent,
        replacement,
        schemas or {},
        missing,
        confidence,
        target,
        compatibility,
    )
    references, self_consistency = _references(old.scored, settings)
    answers = _Answers()
    for trial in new.scored:
        reference = references.get(_condition(trial, compatibility))
        if reference is None:
            answers.unpaired += 1
        else:
            _answer(trial, reference, settings, answers)
    # of the pairs, so that a perturbation without one cannot come first between equals
    order = perturbations or list(dict.fromkeys(t.key.perturbation for t, _ in answers.path))
    return _result(new, self_consistency, answers, order, settings)


def _check_arms(
    trials: Sequence[Trial], incumbent: str, replacement: str, compatibility: Compatibility
) -> None:
    if incumbent == replacement and compatibility is None:
        raise InputError(f"incumbent and replacement are both {incumbent!r}; give two arms")
    arms = {trial.key.arm for trial in trials}
    for arm in (incumbent, replacement):
        if arm not in arms:
            raise UnknownNameError("arm", arm, arms, "the trials given")


def _condition(trial: Trial, compatibility: Compatibility) -> Hashable:
    """Return what two trials must share to be a pair.

    Plumbline pairs by task and variant id; the id names the perturbation, but need not name the
    trial's own.
    """
    key = trial.key
    if compatibility is not None:
        return key.task, published_variant_id(key)
    return key.task, key.perturbation, key.variant


def _references(
    trials: Sequence[Trial], settings: _Settings
) -> tuple[dict[Hashable, Trial], list[Outcome]]:
    """Return each condition's reference trial, and how the incumbent agrees with itself."""
    ties: Ties = "key" if settings.compatibility is None else "order"
    references, agreement = {}, []
    for condition, members in group_by(
        trials, lambda trial: _condition(trial, settings.compatibility)
    ).items():

        def path(trial: Trial) -> Hashable:
            return trial_path(trial, "effect", settings.failed_calls)

        chosen = most_frequent(members, path, ties=ties)
        references[condition] = chosen
        silent = len(members) == 1 and settings.compatibility is None
        agreement += [
            (None if silent else path(trial) == path(chosen), trial.key.task) for trial in members
        ]
    return references, agreement


def _answer(trial: Trial, reference: Trial, settings: _Settings, answers: _Answers) -> None:
    """Put the three questions to one pair."""
    compatibility, task = settings.compatibility, trial.key.task
    read = compatibility is not None or None not in (trial.state, reference.state)
    same_state = states_equal(reference.state, trial.state, compatibility)
    answers.outcome.append((trial, (same_state if read else None, task)))
    divergences: list[Divergence] = []
    if reference.state is not None and read and not same_state:
        expected_state = state_text(reference.state, compatibility)
        got_state = state_text(trial.state, compatibility)
        divergences.append(
            Divergence("outcome", WHOLE_TRIAL, expected_state, got_state, SEVERITY["outcome"])
        )
    expected = steps_on_path(reference, "effect", settings.failed_calls)
    steps = steps_on_path(trial, "effect", settings.failed_calls)
    paths = [tuple((s.kind, s.name) for s in side) for side in (expected, steps)]
    answers.path.append((trial, (paths[0] == paths[1], task)))
    if paths[0] == paths[1]:
        arguments = [step.arguments for step in expected]
        compared = argument_divergences(arguments, steps, settings.schemas, compatibility)
        answers.argument.append((compared.agree, task))
        divergences += compared.divergences
    else:
        divergences += divergences_of(trial, *paths)
    answers.found += [Found(trial, divergence) for divergence in divergences]


def _result(
    new: Population,
    self_consistency: Sequence[Outcome],
    answers: _Answers,
    order: Sequence[str],
    settings: _Settings,
) -> Equivalence:
    options: dict[str, Any] = {
        "confidence": settings.confidence,
        "compatibility": settings.compatibility,
    }

    def grouped(column: str, pairs: Sequence[tuple[Trial, Outcome]]) -> pd.DataFrame:
        labelled = [(getattr(trial.key, column), outcome) for trial, outcome in pairs]
        listed = order if column == "perturbation" else ()
        return proportions_by(column, labelled, order=listed, **options)

    outcomes = grouped("perturbation", answers.outcome)
    paths = grouped("perturbation", answers.path)
    ties = "value" if settings.compatibility is None else "order"
    divergences = group_divergences(answers.found, order, ties=ties)
    bound, worst = lowest(outcomes, "perturbation", "low")
    plumbline_bound, plumbline_worst = lowest(outcomes, "perturbation", "estimate")
    return Equivalence(
        incumbent=settings.incumbent,
        replacement=settings.replacement,
        compatibility=settings.compatibility,
        missing_policy=settings.missing,
        intended=new.intended,
        excluded=new.excluded,
        pairs=len(answers.path),
        unpaired=answers.unpaired,
        outcome=proportion([o for _, o in answers.outcome], **options),
        path=proportion([o for _, o in answers.path], **options),
        argument=proportion(answers.argument, **options),
        incumbent_self_consistency=proportion(self_consistency, **options),
        by_perturbation=outcomes,
        by_task=grouped("task", answers.outcome),
        path_by_perturbation=paths,
        bound=bound,
        worst_perturbation=worst,
        clustered_bound=lowest(outcomes, "perturbation", "clustered_low")[0],
        plumbline_bound=plumbline_bound,
        plumbline_worst=plumbline_worst,
        verdict=bounded_verdict(outcomes, settings.target, settings.confidence),
        path_verdict=bounded_verdict(paths, settings.target, settings.confidence),
        plumbline_verdict=published_verdict(plumbline_bound, len(answers.found)),
        target=settings.target,
        divergences=divergences,
    )


def equivalence(
    tables: StudyTables,
    incumbent: str,
    replacement: str,
    *,
    missing: str | None = None,
    confidence: float = 0.95,
    target: float = TARGET,
    compatibility: Compatibility = None,
    **filters: Any,
) -> Equivalence:
    """Hold one arm of a study against another.

    Parameters
    ----------
    tables : StudyTables
        The study; it must hold steps.
    incumbent, replacement : str
        The arms.
    missing : {"exclude", "recorded"}, optional
        The study's declared policy when absent.
    confidence, target, compatibility
        See :func:`equivalence_of_trials`.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    Equivalence

    Raises
    ------
    InputError, UnknownNameError
        See :func:`equivalence_of_trials` and
        :func:`steelyard.analysis.trajectories.read_trials`.
    """
    arms = [resolve_arm(tables, arm) for arm in (incumbent, replacement)]
    return equivalence_of_trials(
        read_trials(tables, arm=list(dict.fromkeys(arms)), **filters),
        incumbent,
        replacement,
        tables.design.argument_schemas,
        perturbations=tables.design.design.perturbations,
        missing=tables.design.missing.policy if missing is None else missing,
        confidence=confidence,
        target=target,
        compatibility=compatibility,
    )
