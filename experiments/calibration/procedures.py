"""Intervals held against the truth: how often they miss it, and on which side.

Every function returns the rows of one cell. The limits come from the public functions of
``steelyard.stats``, and those of pass^k from the function behind `steelyard reliability`, which
would otherwise need a database for each sample. A sample that has occurred before in a cell is
looked up, not computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
from cells import (
    HOMOGENEOUS,
    FloatArray,
    IntArray,
    World,
    generator_of,
    outcomes,
    successes,
    task_rates,
    true_pass_hat,
)

from steelyard.analysis.reliability import _mean as pass_interval
from steelyard.stats import (
    cluster_bootstrap_interval,
    clustered_wilson_interval,
    pass_hat_k_per_task,
    wilson_interval,
)

Row = dict[str, Any]
Limits = tuple[float, float]

RESAMPLES = 1_000
BOOTSTRAP_SEED = 1
ATTEMPTS = (1, 4, 8)


@dataclass
class Misses:
    """How an interval did over the samples of a cell."""

    truth: float
    above: int = 0
    below: int = 0
    absent: int = 0
    widths: list[float] = field(default_factory=list)

    def add(self, low: float, high: float) -> None:
        """Count one interval; limits that are NaN are no interval."""
        if np.isnan(low):
            self.absent += 1
            return
        self.above += bool(low > self.truth)
        self.below += bool(high < self.truth)
        self.widths.append(high - low)

    def columns(self) -> Row:
        """Return the counts, the rates that they make, and their Monte-Carlo standard error."""
        samples = len(self.widths) + self.absent
        covered = samples - self.above - self.below - self.absent
        coverage = covered / samples
        return {
            "samples": samples,
            "covered": covered,
            "low_above": self.above,
            "high_below": self.below,
            "no_interval": self.absent,
            "coverage": coverage,
            "standard_error": standard_error(coverage, samples),
            "low_above_rate": self.above / samples,
            "high_below_rate": self.below / samples,
            "median_width": float(np.median(self.widths)) if self.widths else np.nan,
        }


def standard_error(share: float, samples: int) -> float:
    """Return the Monte-Carlo standard error of a share of the samples."""
    return float(np.sqrt(share * (1.0 - share) / samples))


def clustered_limits(sizes: IntArray) -> Callable[[tuple[int, ...]], Limits]:
    """Return the function from successes per task to the task-clustered limits."""
    tasks = np.repeat(np.arange(len(sizes)), sizes)
    place = np.concatenate([np.arange(size) for size in sizes])

    @cache
    def limits(counts: tuple[int, ...]) -> Limits:
        values = (place < np.array(counts)[tasks]).astype(np.float64)
        found = clustered_wilson_interval(values, tasks)
        return found.low, found.high

    return limits


def keys(counts: IntArray, sizes: IntArray) -> Iterable[tuple[int, ...]]:
    """Return the samples as successes per task; among tasks of one size the order is no matter."""
    if np.ptp(sizes) == 0:
        counts = np.sort(counts, axis=-1)
    return map(tuple, counts.tolist())


def draw_counts(world: World, samples: int) -> IntArray:
    """Draw the successes of every task: shape (samples, tasks)."""
    generator, sizes = generator_of(world.name), world.design.sizes
    rates = task_rates(generator, world.model, world.rate, (samples, world.design.tasks))
    return successes(outcomes(generator, rates, sizes), sizes)


def rate_rows(world: World, samples: int) -> list[Row]:
    """Hold the clustered and the unclustered Wilson interval against the true rate."""
    sizes = world.design.sizes
    counts = draw_counts(world, samples)
    clustered, unclustered = Misses(world.rate), Misses(world.rate)
    limits = clustered_limits(sizes)
    for key in keys(counts, sizes):
        clustered.add(*limits(key))
    found = wilson_interval(counts.sum(axis=1), int(sizes.sum()))
    for low, high in zip(found.low.tolist(), found.high.tolist(), strict=True):
        unclustered.add(low, high)
    return [
        _row(world, "Wilson, over tasks", meant=True, misses=clustered),
        _row(world, "Wilson", meant=world.model == HOMOGENEOUS, misses=unclustered),
    ]


def pass_rows(world: World, samples: int) -> list[Row]:
    """Hold the interval of pass^k that `steelyard reliability` prints against the true pass^k."""
    counts = draw_counts(world, samples)
    names = np.array([f"{i:03d}" for i in range(world.design.tasks)], dtype=object)
    rows = []
    for k in ATTEMPTS:
        misses = Misses(true_pass_hat(world.model, world.rate, k))

        @cache
        def limits(key: tuple[int, ...], k: int = k) -> Limits:
            shares = pass_hat_k_per_task(list(key), [world.design.repeats] * len(key), k)
            found = pass_interval(shares, names, 0.95)
            return found.low, found.high

        for key in keys(counts, world.design.sizes):
            misses.add(*limits(key))
        row = _row(world, "pass^k, t over tasks", meant=True, misses=misses)
        rows.append({"k": k, "truth": misses.truth, **row})
    return rows


def bootstrap_rows(world: World, samples: int) -> list[Row]:
    """Hold the percentile bootstrap over tasks against the true rate."""
    counts, sizes = draw_counts(world, samples), world.design.sizes
    tasks = np.arange(world.design.tasks)
    misses = Misses(world.rate)

    @cache
    def limits(key: tuple[int, ...]) -> Limits:
        found = cluster_bootstrap_interval(
            np.array(key) / world.design.repeats, tasks, n_resamples=RESAMPLES, seed=BOOTSTRAP_SEED
        )
        return found.low, found.high

    for key in keys(counts, sizes):
        misses.add(*limits(key))
    return [_row(world, "bootstrap over tasks", meant=True, misses=misses)]


def _row(world: World, procedure: str, *, meant: bool, misses: Misses) -> Row:
    return {**world.columns, "procedure": procedure, "meant": meant, **misses.columns()}


__all__ = ["FloatArray", "Misses", "Row", "bootstrap_rows", "pass_rows", "rate_rows"]
