"""What needs no simulation: sums over every count that independent trials can give, as fractions.

Rates are whole percentages, so that the probability of a count is a fraction of integers. The
limits are those that the public functions return; a statement holds or fails at each count, and
the probabilities of the counts are added without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt
from procedures import Row

from steelyard.analysis.equivalence_verdicts import TARGET, bounded_verdict
from steelyard.stats import clopper_pearson_interval, jeffreys_interval, wilson_interval

SIZES = (5, 14, 20, 64, 200)
PERCENTAGES = range(2, 99)
INTERVALS = {
    "Wilson": wilson_interval,
    "Clopper-Pearson": clopper_pearson_interval,
    "Jeffreys": jeffreys_interval,
}
Mask = npt.NDArray[np.bool_]


def chance(percentage: int, trials: int, counts: Sequence[int] | npt.NDArray[np.int64]) -> Fraction:
    """Return the probability that the successes of independent trials are among ``counts``."""
    weights = sum(
        math.comb(trials, int(x)) * percentage ** int(x) * (100 - percentage) ** (trials - int(x))
        for x in counts
    )
    return Fraction(weights, 100**trials)


def interval_rows() -> list[Row]:
    """Return coverage and both tails of three intervals, for every size and percentage."""
    rows = []
    for (name, interval), trials in product(INTERVALS.items(), SIZES):
        limits = interval(np.arange(trials + 1), trials, 0.95)
        for percentage in PERCENTAGES:
            rate = percentage / 100
            above = chance(percentage, trials, np.flatnonzero(limits.low > rate))
            below = chance(percentage, trials, np.flatnonzero(limits.high < rate))
            rows.append(
                {
                    "procedure": name,
                    "trials": trials,
                    "rate": rate,
                    "coverage": float(1 - above - below),
                    "low_above_rate": float(above),
                    "high_below_rate": float(below),
                }
            )
    return rows


@cache
def _chance_of_limit_above(percentage: int, trials: int, rate: float) -> Fraction:
    """Return the probability that the lower Wilson limit lies above ``rate``."""
    limits = wilson_interval(np.arange(trials + 1), trials, 0.95)
    return chance(percentage, trials, np.flatnonzero(limits.low > rate))


def bound_rows() -> list[Row]:
    """Return P(certified bound > worst true rate): the minimum of independent lower limits."""
    rows = []
    others = {"all alike": 0, "one worse by 10 points": 10}
    for (case, better), perturbations, trials, percentage in product(
        others.items(), (1, 2, 4, 8), (14, 64, 200), (50, 70, 80, 85, 90, 95)
    ):
        if better and (perturbations == 1 or percentage + better > 95):
            continue  # there is no other perturbation, or none that is better by so much
        above = _chance_of_limit_above(percentage, trials, percentage / 100)
        rest = _chance_of_limit_above(percentage + better, trials, percentage / 100)
        rows.append(
            {
                "procedure": "certified bound",
                "case": case,
                "perturbations": perturbations,
                "trials": trials,
                "rate": percentage / 100,
                "above_rate": float(above * rest ** (perturbations - 1)),
            }
        )
    return rows


def verdict_rows() -> list[Row]:
    """Return how often `steelyard parity` judges groups wrongly that sit at or below its target.

    At the target in every group "different" is wrong; one point below it in every group
    "equivalent" is wrong, and so it is with one group below and the others at 99%.
    """
    target = round(100 * TARGET)
    rows = []
    for groups, trials in product((1, 2, 4, 8), (64, 200, 500)):
        for case, worst, rest, wrong in (
            ("all at the target", target, target, "different"),
            ("all one point below", target - 1, target - 1, "equivalent"),
            ("one is one point below", target - 1, 99, "equivalent"),
        ):
            rows.append(
                {
                    "procedure": "verdict on a target",
                    "case": case,
                    "groups": groups,
                    "trials": trials,
                    "wrong_verdict": wrong,
                    "wrong_rate": float(_wrong(groups, trials, worst, rest, wrong)),
                }
            )
    return rows


def _wrong(groups: int, trials: int, worst: int, rest: int, wrong: str) -> Fraction:
    """Return the probability of the wrong verdict.

    A verdict over groups with k counts each is a statement about every group: "equivalent" needs
    all groups to pass alone, "different" one group that fails at the adjusted level. Each group's
    part is read from verdicts in which the other groups cannot decide.
    """
    passing = _deciding(groups, trials, wrong)
    first, others = chance(worst, trials, passing), chance(rest, trials, passing)
    if wrong == "equivalent":
        return first * others ** (groups - 1)
    return 1 - (1 - first) * (1 - others) ** (groups - 1)


@cache
def _deciding(groups: int, trials: int, wrong: str) -> tuple[int, ...]:
    """Return the counts of one group at which the verdict is ``wrong``, the others all perfect."""
    counts = range(trials + 1)
    return tuple(x for x in counts if _verdict([x] + [trials] * (groups - 1), trials) == wrong)


def _verdict(successes: list[int], trials: int) -> str:
    import pandas as pd

    found = wilson_interval(successes, [trials] * len(successes), 0.95)
    table = pd.DataFrame({"successes": successes, "total": trials, "low": found.low})
    return bounded_verdict(table, TARGET, 0.95)


__all__ = ["bound_rows", "chance", "interval_rows", "verdict_rows"]
