"""Control testing as auditors do it: deviations found in a sample against a tolerable rate.

A control is shown at work by some rules. A trial tests the control where at least one of them
applies, and deviates where it breaks one. What a sample of trials shows about the control is the
exact upper limit of its deviation rate (attribute sampling, AICPA Audit Guide "Audit Sampling"):
the control can be relied on when even that limit does not exceed the tolerable rate.

Trials are a sample of what the agent would do. They are the whole population only when the caller
says so, for example when every transaction of a period was examined; only then can they show that
no deviation occurred.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import pandas as pd

from steelyard.analysis.control_sampling import assess_control, control_verdict
from steelyard.analysis.judgements import Judgement, judge, recorded_judgements
from steelyard.analysis.names import resolve_arm
from steelyard.analysis.proportion import counts_of
from steelyard.errors import InputError
from steelyard.evaluators.invariants import Policy
from steelyard.stats import clustered_wilson_interval
from steelyard.trials.model import Trial

if TYPE_CHECKING:
    from steelyard.store.tables import StudyTables


class Control(Protocol):
    """A control: `steelyard.store.declaration.Control`, or anything with its fields."""

    @property
    def id(self) -> str: ...  # noqa: D102
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def rules(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def tolerable_rate(self) -> float: ...  # noqa: D102


def attest(
    tables: StudyTables,
    arm: str,
    controls: Sequence[Control] | None = None,
    *,
    missing: str | None = None,
    population: int | None = None,
    confidence: float = 0.95,
    **filters: Any,
) -> pd.DataFrame:
    """Test the controls of a study on the trials of one arm.

    Parameters
    ----------
    tables : StudyTables
        The study; its recorded judgements are used
        (:func:`steelyard.analysis.judgements.recorded_judgements`).
    arm : str
        The arm.
    controls : sequence of Control, optional
        Those that the study declares when absent.
    missing : {"exclude", "fail", "recorded"}, optional
        The study's declared policy when absent.
    population : int, optional
        Executions that the trials stand for, per control; see
        :func:`steelyard.analysis.control_sampling.assess_control`.
    confidence : float, default 0.95
        One-sided.
    **filters
        ``task``, ``perturbation``, ``variant``, ``repeat``: one name or several.

    Returns
    -------
    pandas.DataFrame
        See :func:`attest_judgements`.

    Raises
    ------
    InputError
        A study that declares no controls when none are given, and as above.
    """
    chosen = tables.design.controls if controls is None else controls
    if not chosen:
        raise InputError(
            f"study {tables.study} declares no controls; add [[controls]] to its study.toml, or "
            "pass some"
        )
    policy = tables.design.missing.policy if missing is None else missing
    judgements = recorded_judgements(tables, resolve_arm(tables, arm), policy, **filters)
    return attest_judgements(
        judgements,
        chosen,
        perturbations=tables.design.design.perturbations,
        population=population,
        confidence=confidence,
    )


def attest_trials(
    trials: Iterable[Trial],
    policy: Policy,
    contexts: Mapping[str, Mapping[str, Any]],
    controls: Sequence[Control],
    *,
    missing: str = "exclude",
    population: int | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Test controls on trials by checking a policy on their steps.

    Parameters and result are those of :func:`attest` and
    :func:`steelyard.analysis.conformance.conformance_of_trials`.
    """
    judgements = judge(trials, policy, contexts, missing)
    return attest_judgements(judgements, controls, population=population, confidence=confidence)


def attest_judgements(
    judgements: Sequence[Judgement],
    controls: Sequence[Control],
    *,
    perturbations: Sequence[str] = (),
    population: int | None = None,
    confidence: float = 0.95,
) -> pd.DataFrame:
    """Test controls on what is known about trials.

    Parameters
    ----------
    judgements : sequence of Judgement
        One per trial.
    controls : sequence of Control
        Each with its rules and tolerable rate.
    perturbations : sequence of str, optional
        The order in which deviations are counted.
    population, confidence
        See :func:`steelyard.analysis.control_sampling.assess_control`.

    Returns
    -------
    pandas.DataFrame
        One row per control:

        - ``control``, ``title``, ``verdict``;
        - ``intended``, ``excluded``: trials, and those of them that were not scored;
        - the fields of :class:`steelyard.analysis.control_sampling.ControlAssessment`;
          ``tested`` counts the trials to which a rule of the control applies, ``deviations``
          those that broke one;
        - ``n_clusters``, ``clustered_upper_limit``, ``clustered_verdict``: tasks, and upper limit
          and verdict with the task as the unit that was sampled, at the same one-sided
          confidence. Repeats of a task are no new transactions: where they always agree, the
          sample is as large as the number of tasks;
        - ``reason``: why a control was not tested, or why its trials were taken as a sample and
          not as the population; else empty. The other controls are judged all the same;
        - ``untested_rules``: rules of the control that applied to no trial. A control is tested
          as far as its other rules reach, and no further;
        - ``perturbations``: dict of deviations by perturbation; ``trials``: those that deviated.
    """
    if not controls:
        raise InputError("there are no controls to test")
    rows = [
        _attest_one(control, judgements, perturbations, population, confidence)
        for control in controls
    ]
    frame = pd.DataFrame(rows)
    if population is not None and frame["tested"].gt(population).all():
        least = frame["tested"].min()
        raise InputError(
            f"population is {population}, but each control was tested at least {least} times"
        )
    return frame.astype({"population": "Int64", "required_sample": "Int64"})


def _attest_one(
    control: Control,
    judgements: Sequence[Judgement],
    order: Sequence[str],
    population: int | None,
    confidence: float,
) -> dict[str, Any]:
    tested: list[tuple[Judgement, bool]] = []
    applied: set[str] = set()
    for judgement in judgements:
        held = [(rule, upheld) for rule, upheld in judgement.rules if rule in control.rules]
        known = [upheld for _, upheld in held if upheld is not None]
        if judgement.scored and known:
            applied |= {rule for rule, upheld in held if upheld is not None}
            tested.append((judgement, not all(known)))
    deviating = [judgement for judgement, deviates in tested if deviates]
    whole = population if population is None or population >= len(tested) else None
    assessment = assess_control(
        len(tested), len(deviating), control.tolerable_rate, whole, confidence
    )
    level = _two_sided(confidence)
    tasks, low, high = 0, 0.0, 1.0  # nothing tested: the rate can be anything
    if tested:
        clustered = clustered_wilson_interval(
            [int(deviates) for _, deviates in tested],
            [judgement.task for judgement, _ in tested],
            level,
        )
        tasks, low, high = clustered.n_clusters, clustered.low, clustered.high
    counts: dict[str, int] = {}
    for judgement in deviating:
        counts[judgement.perturbation] = counts.get(judgement.perturbation, 0) + 1
    row = assessment.to_row()
    return {
        "control": control.id,
        "title": control.title,
        "verdict": row.pop("verdict"),
        "intended": len(judgements),
        "excluded": sum(not judgement.scored for judgement in judgements),
        **row,
        "n_clusters": tasks,
        "clustered_upper_limit": high,
        "clustered_verdict": control_verdict(
            len(tested), len(deviating), control.tolerable_rate, low, high
        ),
        "reason": _reason(judgements, len(tested), population),
        "untested_rules": tuple(rule for rule in control.rules if rule not in applied),
        "perturbations": counts_of(counts, order),
        "trials": tuple(judgement.label for judgement in deviating),
    }


def _reason(judgements: Sequence[Judgement], tested: int, population: int | None) -> str:
    """Say why a control was not tested, or not with the population that was given."""
    scored = sum(judgement.scored for judgement in judgements)
    if not scored:
        return f"none of {len(judgements)} trials is scored"
    if not tested:
        return f"no rule of the control is known to apply to any of {scored} scored trials"
    if population is not None and population < tested:
        return (
            f"population is {population}, but {tested} trials test the control: taken as a sample"
        )
    return ""


def _two_sided(confidence: float) -> float:
    """Return the level of the two-sided interval whose each tail is 1 - confidence."""
    if not (0.5 < confidence < 1):
        raise InputError(
            f"confidence is {confidence!r}; accepted for controls are numbers above 0.5 and below 1"
        )
    return 2 * confidence - 1
