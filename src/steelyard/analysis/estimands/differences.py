"""Differences between two arms and the p-values printed beside them."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from steelyard.analysis.estimands.registry import Computed, estimand
from steelyard.analysis.evidence import Evidence
from steelyard.errors import InputError
from steelyard.stats import exact_permutation, monte_carlo_permutation

P_VALUES = ("exact", "expected Monte Carlo", "Monte Carlo")
"""Three readings of the same two-sided permutation test of equal rates.

``exact`` sums the hypergeometric distribution. ``Monte Carlo`` repeats the published shuffles,
which depends on the seed and on the order of the trials. ``expected Monte Carlo`` is the mean of
that random number over seeds, (draws * exact + 1) / (draws + 1): the value that the published one
scatters around, whatever the order.
"""


@estimand
def difference_points(
    evidence: Evidence,
    *,
    measure: str,
    missing: str,
    reference: str,
    candidate: str,
    perturbation: str | None = None,
    p: str = "exact",
    draws: int = 20_000,
    seed: int = 11,
    reference_order: Sequence[str] = (),
    candidate_order: Sequence[str] = (),
) -> Computed:
    """Return the candidate's rate minus the reference's in points, with a two-sided p-value.

    The test takes every trial as independent, as published. ``reference`` and ``candidate`` are
    an arm or ``"study:arm"``. The two orders are the columns by which each side's trials are
    sorted before they are shuffled; only the p-value of the kind ``Monte Carlo`` depends on them.
    """
    question = (measure, missing, perturbation)
    a = _values(evidence, reference, question, reference_order)
    b = _values(evidence, candidate, question, candidate_order)
    points = 100.0 * (sum(b) / len(b) - sum(a) / len(a))
    key = ("p", p, draws, seed, tuple(a), tuple(b))
    return Computed(
        value=points, p_value=evidence.once(key, lambda: _p_value(a, b, p, draws, seed))
    )


def _values(
    evidence: Evidence, arm: str, question: tuple[str, str, str | None], order: Sequence[str]
) -> list[int]:
    """Return the 0/1 outcomes that an arm's denominator counts, in the order asked for."""
    measure, missing, perturbation = question
    place, name = evidence.of_arm(arm)
    trials = place.trials(measure, missing)
    chosen = trials[trials["arm"].eq(name) & trials["value"].notna()]
    if perturbation is not None:
        chosen = chosen[chosen["perturbation"].eq(perturbation)]
    if chosen.empty:
        raise InputError(f"no scored trial of arm {arm!r} under {perturbation or 'anything'}")
    return [int(value) for value in _sort(chosen, order)["value"]]


def _sort(trials: pd.DataFrame, order: Sequence[str]) -> pd.DataFrame:
    for column in order:
        if column not in trials:
            raise InputError(f"cannot order trials by {column!r}")
    # A stable sort of rows that come in the study's order: ties keep it.
    return trials.sort_values(list(order), kind="stable") if order else trials


def _p_value(a: list[int], b: list[int], kind: str, draws: int, seed: int) -> float:
    if kind == "Monte Carlo":
        return monte_carlo_permutation(a, b, draws=draws, seed=seed).p_value
    exact = exact_permutation(sum(a), len(a), sum(b), len(b)).p_value
    if kind == "exact":
        return exact
    if kind == "expected Monte Carlo":
        return (draws * exact + 1.0) / (draws + 1.0)
    raise InputError(f"p is {kind!r}; accepted: {', '.join(P_VALUES)}")
