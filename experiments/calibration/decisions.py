"""Decisions held against the truth: tests, verdicts, families of tests, and the certified bound.

Every function returns the rows of one cell. The p-values and verdicts come from the public
functions, called as `steelyard compare` calls them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt
from cells import (
    HOMOGENEOUS,
    ONE_SIDED,
    OWN,
    SHARED,
    Design,
    FloatArray,
    IntArray,
    TwoArms,
    World,
    generator_of,
    outcomes,
    successes,
    task_rates,
)
from procedures import Row, clustered_limits, keys, standard_error

from steelyard.analysis.contrast import over_tasks
from steelyard.stats import (
    clustered_difference,
    clustered_two_one_sided_tests,
    exact_permutation,
    holm,
    mcnemar,
    sign_flip,
    stratified_permutation,
    two_one_sided_tests,
    wilson_interval,
)

LEVEL = 0.05
FAMILY = 7
TRIALS = 64

Booleans = npt.NDArray[np.bool_]
Pair = tuple[tuple[int, ...], tuple[int, ...]]

TESTS = {
    "exact permutation, tasks ignored": "trials",
    "McNemar, exact": "these tasks",
    "exact permutation within tasks": "these tasks",
    "sign flip over tasks": "tasks like these",
    "t interval over tasks": "tasks like these",
}
"""Each test and what its null hypothesis speaks of."""


def draw_arms(world: TwoArms, samples: int) -> tuple[Booleans, Booleans]:
    """Draw the trials of both arms: each (samples, trials)."""
    generator = generator_of(world.name)
    shape, sizes = (samples, world.design.tasks), world.design.sizes
    first = task_rates(generator, world.model, world.rate, shape)
    second = first
    if world.effects == ONE_SIDED:
        first = np.full(shape, world.rate)
        second = task_rates(generator, world.model, world.rate - world.difference, shape)
    elif world.effects == OWN or world.difference:
        second = task_rates(generator, world.model, world.rate - world.difference, shape)
    return outcomes(generator, first, sizes), outcomes(generator, second, sizes)


def paired_keys(a: IntArray, b: IntArray) -> list[Pair]:
    """Return the samples as successes per task of both arms, the tasks sorted."""
    order = np.lexsort((b, a), axis=-1)
    first, second = np.take_along_axis(a, order, -1), np.take_along_axis(b, order, -1)
    return list(zip(map(tuple, first.tolist()), map(tuple, second.tolist()), strict=True))


def null_rows(world: TwoArms, samples: int) -> list[Row]:
    """Count how often each test rejects at 5% where the arms have the same rate over tasks."""
    a, b = draw_arms(world, samples)
    only_a, only_b = (a & ~b).sum(axis=1), (b & ~a).sum(axis=1)
    pairs = paired_keys(successes(a, world.design.sizes), successes(b, world.design.sizes))
    found = _rejections(world.design)
    rejected = dict.fromkeys(TESTS, 0)
    for pair, b_only, c_only in zip(pairs, only_a.tolist(), only_b.tolist(), strict=True):
        rejected["McNemar, exact"] += mcnemar(b_only, c_only).exact <= LEVEL
        for name, outcome in found(pair).items():
            rejected[name] += outcome
    rows = []
    for name, speaks_of in TESTS.items():
        true_null = speaks_of == "tasks like these" or world.effects == SHARED
        meant = world.model == HOMOGENEOUS if speaks_of == "trials" else true_null
        row = {**world.columns, "procedure": name, "speaks_of": speaks_of, "meant": meant}
        rows.append({**row, **_share("rejected", int(rejected[name]), samples)})
    return rows


def _rejections(design: Design) -> Callable[[Pair], dict[str, bool]]:
    """Return the function from successes per task to what each test over counts rejects."""
    repeats, total = design.repeats, design.tasks * design.repeats
    names = np.arange(design.tasks)

    @cache
    def ignoring(s_a: int, s_b: int) -> bool:
        return exact_permutation(s_a, total, s_b, total).p_value <= LEVEL

    @cache
    def found(pair: Pair) -> dict[str, bool]:
        a, b = pair
        strata = [((x, repeats), (y, repeats)) for x, y in zip(a, b, strict=True)]
        rates_a, rates_b = np.array(a) / repeats, np.array(b) / repeats
        interval = clustered_difference(rates_a, names, rates_b, names)
        return {
            "exact permutation, tasks ignored": ignoring(sum(a), sum(b)),
            "exact permutation within tasks": stratified_permutation(strata).p_value <= LEVEL,
            "sign flip over tasks": sign_flip(rates_b - rates_a).p_value <= LEVEL,
            "t interval over tasks": interval.low > 0 or interval.high < 0,
        }

    return found


@dataclass(frozen=True)
class Sides:
    """What `over_tasks` reads of two arms."""

    shared: tuple[FloatArray, IntArray, FloatArray, IntArray]
    counts: tuple[int, int, int, int]


def edge_rows(world: TwoArms, samples: int) -> list[Row]:
    """Count how often arms that differ by exactly the margin are called equivalent."""
    a, b = draw_arms(world, samples)
    sizes, repeats = world.design.sizes, world.design.repeats
    names, total, margin = np.arange(world.design.tasks), int(sizes.sum()), world.difference

    @cache
    def by_trials(s_a: int, s_b: int) -> bool:
        return two_one_sided_tests(s_a, total, s_b, total, margin=margin).equivalent

    @cache
    def found(pair: Pair) -> tuple[bool, bool, bool]:
        rates_a, rates_b = (np.array(side) / repeats for side in pair)
        sides = Sides((rates_a, names, rates_b, names), (sum(pair[0]), total, sum(pair[1]), total))
        tasks = clustered_two_one_sided_tests(*sides.shared, margin=margin).equivalent
        judged = over_tasks(sides, 0.95, margin)["verdict"] == "equivalent"
        return by_trials(sides.counts[0], sides.counts[2]), tasks, judged

    pairs = paired_keys(successes(a, sizes), successes(b, sizes))
    wrong = np.array([found(pair) for pair in pairs]).sum(axis=0).tolist()
    names_of = {
        "two one-sided tests, trials": world.model == HOMOGENEOUS,
        "two one-sided tests, over tasks": True,
        "verdict of compare": True,
    }
    return [
        {**world.columns, "margin": margin, "procedure": name, "meant": meant}
        | _share("equivalent", count, samples)
        for (name, meant), count in zip(names_of.items(), wrong, strict=True)
    ]


def _share(what: str, count: int, samples: int) -> Row:
    share = count / samples
    return {
        "samples": samples,
        what: count,
        f"{what}_rate": share,
        "standard_error": standard_error(share, samples),
    }


@dataclass(frozen=True)
class Family:
    """A cell of seven comparisons whose null hypotheses are true, but for ``effects`` of them."""

    tests: str
    dependence: str
    effects: int = 0

    @property
    def name(self) -> str:
        """What the seed is made of."""
        return f"family, {self.tests}, {self.dependence}, {self.effects}"


NORMAL, COUNTS, TASKS = "normal statistics", "exact permutation", "sign flip over tasks"
SHIFT = 3.0
"""Mean of the statistics of the hypotheses that are false, in standard deviations."""


def families() -> list[Family]:
    """Return the cells of Holm's adjustment."""
    return [
        *(Family(NORMAL, f"correlation {rho}") for rho in (0.0, 0.5, 0.9)),
        *(Family(NORMAL, f"correlation {rho}", 3) for rho in (0.0, 0.5)),
        Family(COUNTS, "independent arms"),
        Family(COUNTS, "one reference for all"),
        Family(TASKS, "the same 20 tasks"),
    ]


def family_rows(family: Family, samples: int) -> list[Row]:
    """Count how often a true null hypothesis is rejected, adjusted and unadjusted."""
    draw = {NORMAL: _normal_p, COUNTS: _count_p, TASKS: _task_p}[family.tests]
    p_values = draw(family, generator_of(family.name), samples)
    true = slice(family.effects, None)
    adjusted = sum(bool((holm(row)[true] <= LEVEL).any()) for row in p_values)
    unadjusted = int((p_values[:, true] <= LEVEL).any(axis=1).sum())
    columns = {
        "tests": family.tests, "dependence": family.dependence,
        "comparisons": FAMILY, "false_nulls": family.effects,
    }  # fmt: skip
    return [
        {**columns, "procedure": name, "meant": name == "Holm", **_share("any", count, samples)}
        for name, count in (("Holm", adjusted), ("no adjustment", unadjusted))
    ]


def _normal_p(family: Family, generator: np.random.Generator, samples: int) -> FloatArray:
    from scipy.special import ndtr

    rho = float(family.dependence.removeprefix("correlation "))
    common = generator.standard_normal((samples, 1))
    own = generator.standard_normal((samples, FAMILY))
    statistics = np.sqrt(rho) * common + np.sqrt(1.0 - rho) * own
    statistics[:, : family.effects] += SHIFT
    return 2.0 * ndtr(-np.abs(statistics))


def _count_p(family: Family, generator: np.random.Generator, samples: int) -> FloatArray:
    references = 1 if family.dependence == "one reference for all" else FAMILY
    a = (generator.random((samples, references, TRIALS)) < 0.8).sum(axis=2)
    b = (generator.random((samples, FAMILY, TRIALS)) < 0.8).sum(axis=2)

    @cache
    def p_value(s_a: int, s_b: int) -> float:
        return exact_permutation(s_a, TRIALS, s_b, TRIALS).p_value

    pairs = zip(np.broadcast_to(a, b.shape).ravel().tolist(), b.ravel().tolist(), strict=True)
    return np.array([p_value(*pair) for pair in pairs]).reshape(b.shape)


def _task_p(_family: Family, generator: np.random.Generator, samples: int) -> FloatArray:
    """Seven perturbations of the same tasks, whose rates each arm has to itself."""
    design = Design(20, 8)
    rates = [
        task_rates(generator, "beta-binomial 0.3", 0.8, (samples, 1, design.tasks))
        for _ in range(2)
    ]
    shape = (samples, FAMILY, design.tasks)
    a, b = (
        successes(outcomes(generator, np.broadcast_to(side, shape), design.sizes), design.sizes)
        for side in rates
    )
    differences = (b - a).reshape(-1, design.tasks) / design.repeats
    return np.array([sign_flip(row).p_value for row in differences]).reshape(samples, FAMILY)


PERTURBATIONS = 8
WORSE = 0.1


def bound_worlds() -> list[World]:
    """Return the cells of the certified bound over tasks; the rate is that of the worst."""
    return [
        World(case, model, Design(tasks, 8), rate)
        for case in ("all alike", "one worse by 10 points")
        for model in (HOMOGENEOUS, "beta-binomial 0.3", "some tasks always fail")
        for tasks in (8, 20)
        for rate in (0.8, 0.85)
    ]


def bound_rows(world: World, samples: int) -> list[Row]:
    """Count how often the bound over tasks, and the usual one, lies above the worst true rate.

    All perturbations meet the same tasks. The worst one comes last; where it is worse, the tasks
    of the others are drawn at the higher rate, and the worst one's at its own.
    """
    generator, sizes = generator_of(f"bound, {world.name}"), world.design.sizes
    better = world.rate + (WORSE if world.part != "all alike" else 0.0)
    shared = task_rates(generator, world.model, better, (samples, 1, world.design.tasks))
    rates = np.repeat(shared, PERTURBATIONS, axis=1)
    if better != world.rate:
        rates[:, -1] = task_rates(generator, world.model, world.rate, rates[:, -1].shape)
    counts = successes(outcomes(generator, rates, sizes), sizes)
    limits = clustered_limits(sizes)
    flat = keys(counts.reshape(-1, world.design.tasks), sizes)
    lows = np.array([limits(key)[0] for key in flat]).reshape(samples, PERTURBATIONS)
    usual = wilson_interval(counts.sum(axis=2), int(sizes.sum())).low
    columns = {"case": world.part, "perturbations": PERTURBATIONS, **world.columns}
    return [
        {**columns, "procedure": name, "meant": meant}
        | _share("above", int((low.min(axis=1) > world.rate).sum()), samples)
        for name, low, meant in (
            ("certified bound, over tasks", lows, True),
            ("certified bound", usual, world.model == HOMOGENEOUS),
        )
    ]
