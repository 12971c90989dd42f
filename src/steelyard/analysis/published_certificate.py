"""Plumbline's certificate and arm comparison, under names of their own, to replay its figures.

What it certifies differs from :func:`steelyard.analysis.certify`: the bound is the lower limit of
the perturbation with the lowest point estimate, which is not the lowest lower limit; trials that
errored are scored by the steps they took; and the digest of the evidence covers the paths and not
the arguments, so a tenfold payment keeps it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from steelyard.analysis.certificate import grade
from steelyard.analysis.conformance import Conformance, conformance_of_trials
from steelyard.analysis.consistency import consistency_of_trials
from steelyard.analysis.judgements import judge
from steelyard.analysis.proportion import Proportion, proportion
from steelyard.analysis.trajectory_results import Consistency
from steelyard.errors import InputError
from steelyard.evaluators.invariants import Policy
from steelyard.evaluators.outcome import ExpectedState
from steelyard.stats import Result, monte_carlo_permutation
from steelyard.trials.argument_schema import ArgumentSchema
from steelyard.trials.model import Trial
from steelyard.trials.paths import path_text

DRAWS = 20_000


@dataclass(frozen=True)
class PublishedCertificate:
    """Plumbline's certificate of one set of trials.

    Attributes
    ----------
    bound : float
        The published "certified bound".
    worst_perturbation : str or None
        Where it was read off.
    grade : str
        Of that bound.
    lowest_bound : float
        The minimum over perturbations of the lower limit, which the documentation describes.
    evidence_hash : str
        See :func:`evidence_hash`.
    outcome : Proportion
        Trials that ended in the expected state; a state that was not read is a failure.
    conformance : Conformance
    consistency : Consistency
    """

    bound: float
    worst_perturbation: str | None
    grade: str
    lowest_bound: float
    evidence_hash: str
    outcome: Proportion
    conformance: Conformance = field(repr=False)
    consistency: Consistency = field(repr=False)


def published_certificate(
    trials: Iterable[Trial],
    policy: Policy,
    contexts: Mapping[str, Mapping[str, Any]],
    schemas: Mapping[str, ArgumentSchema] | None = None,
    expected_states: Mapping[str, ExpectedState] | None = None,
) -> PublishedCertificate:
    """Certify trials as Plumbline 0.3.0 does.

    Parameters
    ----------
    trials : iterable of Trial
        In the order in which they were recorded, which decides between equals. Failed trials are
        scored; leave them out to get what the command line of Plumbline prints.
    policy : Policy
        With ``compatibility="plumbline"``.
    contexts : mapping of str to mapping
        By task; a task without one is checked against an empty context.
    schemas : mapping of str to ArgumentSchema, optional
        By tool.
    expected_states : mapping of str to ExpectedState, optional
        By task. Without it no outcome is graded.

    Returns
    -------
    PublishedCertificate

    Raises
    ------
    InputError
        No trials, or a policy of another reading.
    """
    _check_policy(policy)
    listed = list(trials)
    conformance = conformance_of_trials(listed, policy, contexts, missing="recorded")
    consistency = consistency_of_trials(
        listed, schemas, missing="recorded", compatibility="plumbline"
    )
    graded = expected_states or {}
    outcomes = [(_met(graded.get(t.key.task), t), t.key.task) for t in listed] if graded else []
    return PublishedCertificate(
        bound=conformance.plumbline_bound,
        worst_perturbation=conformance.plumbline_worst,
        grade=grade(conformance.plumbline_bound),
        lowest_bound=conformance.bound,
        evidence_hash=evidence_hash(listed),
        outcome=proportion(outcomes, compatibility="plumbline"),
        conformance=conformance,
        consistency=consistency,
    )


def _met(expected: ExpectedState | None, trial: Trial) -> bool:
    return expected is not None and bool(expected.met_by(trial.state))


def _check_policy(policy: Policy) -> None:
    if policy.compatibility != "plumbline":
        raise InputError("the published definitions need a policy with compatibility='plumbline'")


def evidence_hash(trials: Iterable[Trial]) -> str:
    """Return Plumbline's digest of the trials' paths.

    The first 16 hexadecimal digits of the SHA-256 of a compact JSON list of
    ``trial_id|path text``, sorted by trial id. Arguments, outputs, errors and states play no part.
    """
    ordered = sorted(trials, key=lambda trial: trial.label)
    lines = [f"{trial.label}|{path_text(trial.full_path)}" for trial in ordered]
    return hashlib.sha256(json.dumps(lines, separators=(",", ":")).encode()).hexdigest()[:16]


@dataclass(frozen=True)
class PublishedComparison(Result):
    """Plumbline's comparison of two arms in critical conformance.

    Attributes
    ----------
    a, b : str
        The arms.
    a_rate, b_rate : Proportion
    difference_points : float
        100 (b - a).
    p_value : float
        Monte Carlo, see :func:`steelyard.stats.monte_carlo_permutation`.
    draws : int
    """

    a: str
    b: str
    a_rate: Proportion
    b_rate: Proportion
    difference_points: float
    p_value: float
    draws: int

    @property
    def significant(self) -> bool:
        """Whether the p-value is below 0.05, without regard to how many were computed."""
        return self.p_value < 0.05


def published_comparison(
    trials: Sequence[Trial],
    policy: Policy,
    contexts: Mapping[str, Mapping[str, Any]],
    arms: tuple[str, str],
    perturbation: str | None = None,
) -> PublishedComparison:
    """Compare two arms as Plumbline 0.3.0 does.

    Parameters
    ----------
    trials : sequence of Trial
        In the order in which they were recorded: the Monte-Carlo test depends on it.
    policy, contexts
        See :func:`published_certificate`.
    arms : tuple of (str, str)
        a and b.
    perturbation : str, optional
        Only its trials; all perturbations when absent. An arm without trials has the rate 0 of 0,
        in [0, 0], and p is then 1.
    """
    _check_policy(policy)
    chosen = [t for t in trials if perturbation is None or t.key.perturbation == perturbation]
    judged = judge(chosen, policy, contexts, missing="recorded") if chosen else []
    sides = [
        [(bool(judgement.critical), judgement.task) for judgement in judged if judgement.arm == arm]
        for arm in arms
    ]
    rates = [proportion(side, compatibility="plumbline") for side in sides]
    outcomes = [[int(held) for held, _ in side] for side in sides]
    test = monte_carlo_permutation(outcomes[0], outcomes[1], DRAWS)
    return PublishedComparison(
        a=arms[0],
        b=arms[1],
        a_rate=rates[0],
        b_rate=rates[1],
        difference_points=100 * (rates[1].estimate - rates[0].estimate),
        p_value=test.p_value,
        draws=DRAWS,
    )
