"""What is simulated: worlds in which the truth is known, each with a name and a seed of its own.

A cell fixes how tasks differ, how many there are, how often each is repeated, and the true rate.
Tasks are drawn anew in every sample, because the statements under test are about tasks like these.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

HOMOGENEOUS, FAILING = "all tasks alike", "some tasks always fail"
CORRELATIONS = {f"beta-binomial {rho}": rho for rho in (0.1, 0.3, 0.6)}
MODELS = (HOMOGENEOUS, *CORRELATIONS, FAILING)

WORKING = 0.995
"""Rate of the tasks that do not always fail, where some do."""

UNEQUAL = (2, 4, 8, 18)
"""Cluster sizes that are repeated where sizes differ; their mean is 8."""


def generator_of(name: str) -> np.random.Generator:
    """Return the generator of a cell: PCG64, seeded with the SHA-256 of the cell's name."""
    digest = hashlib.sha256(name.encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


@dataclass(frozen=True)
class Design:
    """How many tasks there are, and how often each is repeated; repeats 0 means unequal sizes."""

    tasks: int
    repeats: int

    @property
    def sizes(self) -> IntArray:
        """Trials of each task."""
        if self.repeats:
            return np.full(self.tasks, self.repeats, dtype=np.int64)
        return np.resize(np.array(UNEQUAL, dtype=np.int64), self.tasks)

    @property
    def text(self) -> str:
        """Tasks and repeats in words."""
        return f"{self.tasks} x {self.repeats or 'unequal'}"


@dataclass(frozen=True)
class World:
    """A cell of one arm: how tasks differ, the design, and the true rate over tasks."""

    part: str
    model: str
    design: Design
    rate: float

    @property
    def name(self) -> str:
        """What the seed is made of."""
        return f"{self.part}, {self.model}, {self.design.text}, {self.rate}"

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that say which cell a row is about."""
        return {
            "model": self.model,
            "tasks": self.design.tasks,
            "repeats": str(self.design.repeats or "unequal"),
            "rate": self.rate,
        }


@dataclass(frozen=True)
class TwoArms:
    """A cell of two arms: whether they share the tasks' rates, and by how much they differ."""

    part: str
    model: str
    effects: str
    design: Design
    rate: float
    difference: float = 0.0

    @property
    def name(self) -> str:
        """What the seed is made of."""
        return (
            f"{self.part}, {self.model}, {self.effects}, {self.design.text}, {self.rate}, "
            f"{self.difference}"
        )

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that say which cell a row is about."""
        return {
            "model": self.model,
            "effects": self.effects,
            "tasks": self.design.tasks,
            "repeats": str(self.design.repeats),
            "rate": self.rate,
        }


def task_rates(
    generator: np.random.Generator, model: str, rate: float, shape: tuple[int, ...]
) -> FloatArray:
    """Draw the true rates of tasks; their mean over all tasks that could be drawn is ``rate``."""
    if model == HOMOGENEOUS:
        return np.full(shape, rate)
    if model == FAILING:
        return np.where(generator.random(shape) < 1.0 - rate / WORKING, 0.0, WORKING)
    weight = 1.0 / CORRELATIONS[model] - 1.0
    return generator.beta(rate * weight, (1.0 - rate) * weight, shape)


def true_pass_hat(model: str, rate: float, k: int) -> float:
    """Return the true pass^k of a model: the mean over tasks of (rate of the task)^k."""
    if model == HOMOGENEOUS:
        return rate**k
    if model == FAILING:
        return rate / WORKING * WORKING**k
    weight = 1.0 / CORRELATIONS[model] - 1.0
    result = 1.0
    for i in range(k):
        result *= (rate * weight + i) / (weight + i)
    return result


def outcomes(
    generator: np.random.Generator, rates: FloatArray, sizes: IntArray
) -> npt.NDArray[np.bool_]:
    """Draw the trials of every sample: rates (samples, tasks) to outcomes (samples, trials)."""
    chances = np.repeat(rates, sizes, axis=-1)
    return generator.random(chances.shape) < chances


def successes(drawn: npt.NDArray[np.bool_], sizes: IntArray) -> IntArray:
    """Return the successes of every task: (samples, trials) to (samples, tasks)."""
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(drawn.astype(np.int64), starts, axis=-1)


RATES = (0.5, 0.8, 0.95, 0.98)


def rate_worlds() -> list[World]:
    """Return the cells of the intervals of one rate."""
    equal = [
        World("rate", model, Design(tasks, repeats), rate)
        for model, tasks, repeats, rate in product(MODELS, (4, 8, 20, 50), (4, 8, 24), RATES)
    ]
    unequal = [
        World("rate", model, Design(tasks, 0), rate)
        for model, tasks, rate in product(
            (HOMOGENEOUS, "beta-binomial 0.3", FAILING), (4, 8, 20, 50), RATES
        )
    ]
    return equal + unequal


def pass_worlds() -> list[World]:
    """Return the cells of the interval of pass^k."""
    return [
        World("pass^k", model, Design(tasks, 8), rate)
        for model, tasks, rate in product(MODELS, (8, 20, 50), (0.8, 0.95))
    ]


def bootstrap_worlds() -> list[World]:
    """Return the cells of the bootstrap over tasks."""
    return [
        World("bootstrap", model, Design(tasks, 8), rate)
        for model, tasks, rate in product(
            (HOMOGENEOUS, "beta-binomial 0.3", FAILING), (4, 8, 20, 50), (0.8, 0.95)
        )
    ]


SHARED, OWN = "the same in both arms", "each arm its own"


def null_worlds() -> list[TwoArms]:
    """Return the cells of two arms with the same rate over tasks."""
    kinds = [
        (HOMOGENEOUS, SHARED),
        ("beta-binomial 0.3", SHARED),
        (FAILING, SHARED),
        ("beta-binomial 0.3", OWN),
        (FAILING, OWN),
    ]
    designs = [Design(4, 24), Design(8, 8), Design(20, 8), Design(50, 4)]
    return [
        TwoArms("null", model, effects, design, rate)
        for (model, effects), design, rate in product(kinds, designs, (0.8, 0.95))
    ]


ONE_SIDED = "in the candidate only"


def edge_worlds() -> list[TwoArms]:
    """Return the cells of two arms that differ by exactly the margin; the rate is the reference's.

    In the last kind the reference works on every task, and the candidate always fails on some.
    """
    kinds = [
        (HOMOGENEOUS, SHARED, 0.9),
        ("beta-binomial 0.1", OWN, 0.9),
        ("beta-binomial 0.3", OWN, 0.9),
        (FAILING, ONE_SIDED, WORKING),
    ]
    designs = [Design(8, 8), Design(20, 8), Design(50, 4)]
    return [
        TwoArms("edge", model, effects, design, rate, margin)
        for (model, effects, rate), design, margin in product(kinds, designs, (0.1, 0.2))
    ]
