"""Permutation within blocks against an enumeration that knows nothing of kinds or convolution."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from steelyard.errors import InputError
from steelyard.stats import blocked_permutation as module
from steelyard.stats.blocked_permutation import blocked_permutation, pair_contrasts
from steelyard.stats.pair_blocks import CONTRASTS

PAIR = [[1.0, 0.5], [0.5, 1.0]]


def naive_contrast(matrix, labels, contrast):
    """The contrast of one block from its definition."""
    pairs = {(1, 1): [], (0, 0): [], (0, 1): []}
    for i, j in itertools.combinations(range(len(labels)), 2):
        pairs[tuple(sorted((labels[i], labels[j])))].append(matrix[i][j])
    mean = {key: (sum(v) / len(v) if v else math.nan) for key, v in pairs.items()}
    if contrast == "ones-mixed":
        return mean[1, 1] - mean[0, 1]
    if contrast == "zeros-mixed":
        return mean[0, 0] - mean[0, 1]
    if contrast == "ones-zeros":
        return mean[1, 1] - mean[0, 0]
    inside = [m for m in (mean[1, 1], mean[0, 0]) if not math.isnan(m)]
    return sum(inside) / len(inside) - mean[0, 1] if inside else math.nan


def naive_test(matrices, labels, contrast, alternative):
    """Mean contrast and exact p-value over all labellings of all blocks."""
    kept = [
        (m, marks)
        for m, marks in zip(matrices, labels, strict=True)
        if not math.isnan(naive_contrast(m, marks, contrast))
    ]
    if not kept:
        return math.nan, math.nan
    observed = sum(naive_contrast(m, marks, contrast) for m, marks in kept)
    options = []
    for m, marks in kept:
        ways = itertools.combinations(range(len(marks)), sum(marks))
        each = [[int(i in way) for i in range(len(marks))] for way in ways]
        options.append([naive_contrast(m, way, contrast) for way in each])
    sums = [sum(chosen) for chosen in itertools.product(*options)]
    if alternative == "greater":
        extreme = [s >= observed - 1e-9 for s in sums]
    else:
        extreme = [abs(s) >= abs(observed) - 1e-9 for s in sums]
    return observed / len(kept), sum(extreme) / len(sums)


@st.composite
def blocks(draw):
    """Blocks of trials, each of one of a few kinds, or all different."""
    matrices, labels = [], []
    for _ in range(draw(st.integers(1, 3))):
        size = draw(st.integers(0, 5))
        kinds = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        table = {}
        for pair in itertools.combinations_with_replacement(range(3), 2):
            table[pair] = draw(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 1.0]))
        matrix = [[table[tuple(sorted((a, b)))] for b in kinds] for a in kinds]
        if draw(st.booleans()):  # a diagonal that says nothing about kinds
            matrix = [
                [0.1 * i if i == j else v for j, v in enumerate(r)] for i, r in enumerate(matrix)
            ]
        matrices.append(matrix)
        labels.append(draw(st.lists(st.integers(0, 1), min_size=size, max_size=size)))
    return matrices, labels


@settings(deadline=None)
@given(blocks(), st.sampled_from(CONTRASTS), st.sampled_from(["two-sided", "greater"]))
def test_equals_the_enumeration(given_blocks, contrast, alternative):
    matrices, labels = given_blocks
    found = blocked_permutation(matrices, labels, contrast, alternative=alternative)
    statistic, p_value = naive_test(matrices, labels, contrast, alternative)
    assert found.statistic == pytest.approx(statistic, abs=1e-12, nan_ok=True)
    assert found.p_value == pytest.approx(p_value, abs=1e-12, nan_ok=True)
    assert found.exact == (found.n_blocks > 0)
    expected = [
        naive_contrast(m, marks, contrast) for m, marks in zip(matrices, labels, strict=True)
    ]
    assert pair_contrasts(matrices, labels, contrast) == pytest.approx(expected, nan_ok=True)


def two_groups(size: int) -> list[list[float]]:
    return [
        [1.0 if (i < size) == (j < size) else 0.0 for j in range(2 * size)] for i in range(2 * size)
    ]


def test_alike_trials_make_large_blocks_exact():
    labels = [1] * 40 + [0] * 40
    found = blocked_permutation([two_groups(40)], [labels], "within-between")
    assert found.exact
    assert found.statistic == 1.0
    assert found.p_value == pytest.approx(2 / math.comb(80, 40), rel=1e-12)
    assert found.p_value > 0


def test_monte_carlo_is_seeded_and_near_the_exact_value(monkeypatch):
    generator = np.random.default_rng(3)
    matrices, labels = [], []
    for _ in range(3):
        raw = generator.random((6, 6)).round(3)
        matrices.append((raw + raw.T) / 2)
        labels.append([1, 1, 1, 0, 0, 0])
    exact = blocked_permutation(matrices, labels, "ones-mixed")
    monkeypatch.setattr(module, "LARGEST_SUPPORT", 10)
    draws = {
        seed: blocked_permutation(matrices, labels, "ones-mixed", seed=seed) for seed in (1, 2)
    }
    for seed, drawn in draws.items():
        assert not drawn.exact
        assert (drawn.n_resamples, drawn.seed) == (9_999, seed)
        assert drawn.p_value == pytest.approx(exact.p_value, abs=0.02)
        assert drawn.statistic == exact.statistic
        again = blocked_permutation(matrices, labels, "ones-mixed", seed=seed)
        assert again == drawn
    assert exact.seed is None
    assert exact.n_resamples is None


def test_p_of_a_monte_carlo_test_is_never_zero(monkeypatch):
    monkeypatch.setattr(module, "LARGEST_BLOCK", 1)
    labels = [1] * 20 + [0] * 20
    found = blocked_permutation([two_groups(20)], [labels], "within-between", n_resamples=99)
    assert found.p_value == 0.01


def test_uniform_under_the_null():
    """A p-value at most 0.1 turns up in at most a tenth of labellings drawn at random."""
    generator = np.random.default_rng(0)
    raw = generator.random((8, 8))
    matrix = (raw + raw.T) / 2
    values = [
        blocked_permutation(
            [matrix],
            [list(generator.permutation([1] * 4 + [0] * 4))],
            "within-between",
            alternative="greater",
        ).p_value
        for _ in range(300)
    ]
    assert np.mean(np.array(values) <= 0.1) < 0.14
    assert np.mean(np.array(values) <= 0.1) > 0.05


def test_block_with_one_trial_of_a_label():
    found = blocked_permutation([PAIR], [[1, 0]], "within-between")
    assert math.isnan(found.p_value)
    assert found.reason
    three = [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    assert blocked_permutation([three], [[0, 0, 1]], "within-between").statistic == 1.0


def test_nothing_at_all():
    found = blocked_permutation([], [], "ones-zeros")
    assert math.isnan(found.statistic)
    assert (found.n_blocks, found.n) == (0, 0)


@pytest.mark.parametrize(
    ("matrices", "labels", "options", "words"),
    [
        ([PAIR], [[1, 0]], {"contrast": "ones"}, "contrast is 'ones'"),
        ([PAIR], [[1, 0]], {"alternative": "less"}, "alternative is 'less'"),
        ([PAIR], [], {}, "1 matrices but 0 sets"),
        ([PAIR], [[1, 0, 1]], {}, r"shape \(2, 2\), but there are 3 labels"),
        ([PAIR], [[1, 2]], {}, "an outcome is 0 or 1"),
        ([[[1, 0.5], [0.4, 1]]], [[1, 0]], {}, "finite and symmetric"),
        ([[[1, math.nan], [math.nan, 1]]], [[1, 0]], {}, "finite and symmetric"),
        ([PAIR], [[1, 0]], {"n_resamples": 0}, "n_resamples is 0"),
    ],
)
def test_refusals(matrices, labels, options, words):
    arguments = {"contrast": "within-between", **options}
    with pytest.raises(InputError, match=words):
        blocked_permutation(matrices, labels, **arguments)
