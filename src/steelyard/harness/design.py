"""What a study would cost and could show, before anything is spent."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from steelyard.harness.plan import count_trials
from steelyard.harness.protocols import Perturbation
from steelyard.harness.study import RunnableStudy
from steelyard.stats import clustered_wilson_interval, power_exact_permutation, wilson_interval

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.store.declaration import Comparison

LARGEST_POWER = 4_000
"""The exact power is summed for up to this many trials of both sides together."""

ASSUMED_RATE = 0.5
"""Assumed of a reference arm without an expected rate: no other rate is harder to tell apart."""


@dataclass(frozen=True)
class DesignSummary:
    """A study's design in numbers.

    Attributes
    ----------
    study : str
    arms : pandas.DataFrame
        One row per arm: ``arm``, ``kind``, ``trials``, ``model_calls_per_trial`` and
        ``model_calls`` (both at most), ``smallest_n`` (trials under the perturbation with the
        fewest), ``best_bound`` and ``best_clustered_bound``: the certified bound if no trial
        fails, from trials and from tasks.
    perturbations : pandas.DataFrame
        One row per perturbation: ``perturbation``, ``preserves``, ``variants``, ``tasks``,
        ``repeats``, ``trials_per_arm``, ``model_calls`` (at most, to write the variants).
    comparisons : pandas.DataFrame
        One row per declared comparison: ``comparison``, ``reference``, ``candidate``,
        ``reference_rate``, ``candidate_rate`` (assumed), ``trials`` and ``tasks`` per side,
        ``power`` if trials were independent, ``power_of_tasks`` if the trials of a task are all
        alike; the truth lies between. NaN where it cannot be stated, with ``reason``.
    trials : int
    model_calls : int
        At most, of arms and perturbations together.
    largest_cost_usd : float
        What these calls can cost at most, each as long as it may be; no more than a spend cap. NaN
        where the study's model does not say, or no prices are declared; 0 without model calls.
    """

    study: str
    arms: pd.DataFrame
    perturbations: pd.DataFrame
    comparisons: pd.DataFrame
    trials: int
    model_calls: int
    largest_cost_usd: float


def summarise(study: RunnableStudy, confidence: float = 0.95) -> DesignSummary:
    """Return the design of a study in numbers.

    Parameters
    ----------
    study : RunnableStudy
    confidence : float, default 0.95
        Of the bounds; the tests' level is its complement.

    Returns
    -------
    DesignSummary
        Nothing is run for it and no variant is made; perturbations that discard variants leave
        fewer trials.

    Notes
    -----
    The certified bound is the least of the lower Wilson limits over the perturbations, so the best
    that can be reached is the limit at n successes of n, for the perturbation with the fewest
    trials. The power is that of the exact permutation test at two assumed rates: the declared
    expected ones, else `ASSUMED_RATE` for the reference and, for the candidate, the comparison's
    margin away from it towards 0.5 (downwards at 0.5).
    """
    import pandas as pd

    arms = pd.DataFrame(_arm_rows(study, confidence))
    perturbations = pd.DataFrame(_perturbation_rows(study))
    calls = int(arms["model_calls"].sum() + perturbations["model_calls"].sum())
    return DesignSummary(
        study.id,
        arms,
        perturbations,
        pd.DataFrame(
            [
                _comparison_row(study, comparison, 1 - confidence)
                for comparison in study.declaration.comparisons
            ],
            columns=COMPARISON_COLUMNS,
        ),
        count_trials(study),
        calls,
        _largest_cost(study, calls),
    )


COMPARISON_COLUMNS = [
    "comparison",
    "reference",
    "candidate",
    "reference_rate",
    "candidate_rate",
    "trials",
    "tasks",
    "power",
    "power_of_tasks",
    "reason",
]


def _arm_rows(study: RunnableStudy, confidence: float) -> list[dict[str, object]]:
    tasks, repeats = len(study.tasks), study.settings.repeats
    variants = [study.settings.variants_of(name) for name in study.perturbations]
    trials = tasks * repeats * sum(variants)
    smallest = tasks * repeats * min(variants)
    bound = wilson_interval(smallest, smallest, confidence).low
    per_task = smallest // tasks
    clusters = [str(task) for task in range(tasks) for _ in range(per_task)]
    clustered = clustered_wilson_interval([1] * smallest, clusters, confidence).low
    return [
        {
            "arm": arm.name,
            "kind": arm.kind,
            "trials": trials,
            "model_calls_per_trial": arm.model_calls,
            "model_calls": arm.model_calls * trials,
            "smallest_n": smallest,
            "best_bound": bound,
            "best_clustered_bound": clustered,
        }
        for arm in study.arms.values()
    ]


def _perturbation_rows(study: RunnableStudy) -> list[dict[str, object]]:
    tasks, repeats = len(study.tasks), study.settings.repeats
    rows: list[dict[str, object]] = []
    for name, perturbation in study.perturbations.items():
        variants = study.settings.variants_of(name)
        rows.append(
            {
                "perturbation": name,
                "preserves": getattr(perturbation, "preserves", ""),
                "variants": variants,
                "tasks": tasks,
                "repeats": repeats,
                "trials_per_arm": variants * tasks * repeats,
                "model_calls": tasks * _calls_for_variants(perturbation, variants),
            }
        )
    return rows


def _calls_for_variants(perturbation: Perturbation, variants: int) -> int:
    """Return how often a perturbation asks the model for one task's variants, as it says."""
    calls = getattr(perturbation, "model_calls", None)
    return int(calls(variants)) if callable(calls) else 0


def _largest_cost(study: RunnableStudy, calls: int) -> float:
    """Ask the study's model what so many calls can cost; nothing is asked of its provider."""
    if calls == 0:
        return 0.0
    models = study.models(offline=True)
    if models is None:
        return math.nan
    try:
        largest = getattr(models, "largest_cost_usd", None)
        return float(largest(calls)) if callable(largest) else math.nan
    finally:
        models.close()


def _comparison_row(
    study: RunnableStudy, comparison: Comparison, alpha: float
) -> dict[str, object]:
    perturbations = comparison.perturbations or tuple(study.perturbations)
    tasks = len(study.tasks)
    variants = sum(study.settings.variants_of(name) for name in perturbations)
    trials = tasks * study.settings.repeats * variants
    first, second = _assumed_rates(study, comparison)
    power = power_of_tasks = math.nan
    reason = ""
    if ":" in comparison.reference or ":" in comparison.candidate:
        reason = "one side belongs to another study"
    else:
        power_of_tasks = _power(first, second, tasks, alpha)
        power = _power(first, second, trials, alpha)
        if math.isnan(power):
            reason = f"more than {LARGEST_POWER:,} trials together: the exact sum is not made"
    values = (
        comparison.name,
        comparison.reference,
        comparison.candidate,
        first,
        second,
        trials,
        tasks,
        power,
        power_of_tasks,
        reason,
    )
    return dict(zip(COMPARISON_COLUMNS, values, strict=True))


def _power(first: float, second: float, n: int, alpha: float) -> float:
    if 2 * n > LARGEST_POWER:
        return math.nan
    return power_exact_permutation(first, second, n, n, alpha).power


def _assumed_rates(study: RunnableStudy, comparison: Comparison) -> tuple[float, float]:
    """Return the rates of reference and candidate: expected, or the margin apart."""
    expected = study.settings.expected
    first = expected.get(comparison.reference)
    second = expected.get(comparison.candidate)
    if first is None:
        first = ASSUMED_RATE if second is None else _away(second, comparison.margin)
    if second is None:
        second = _away(first, comparison.margin)
    return first, second


def _away(rate: float, margin: float) -> float:
    """Return the rate a margin nearer to 0.5, where a difference is harder to see."""
    moved = rate + margin if rate < ASSUMED_RATE else rate - margin
    return min(max(moved, 0.0), 1.0)
