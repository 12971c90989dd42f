"""Public bug reports on tests and p-values: what went wrong there must not happen here.

Each test opens with the report it answers.
"""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from steelyard.stats import (
    exact_permutation,
    family_size,
    fisher_exact,
    holm,
    mcnemar,
    monte_carlo_permutation,
    sign_flip,
    stratified_permutation,
)


def test_a_p_value_is_never_0() -> None:
    """scipy issue 16459, and AmenRa/ranx: Monte-Carlo p without the + 1."""
    assert exact_permutation(6, 6, 0, 6).p_value == pytest.approx(0.0021645, abs=5e-8)
    drawn = monte_carlo_permutation([1] * 60, [0] * 60, draws=99)
    assert drawn.p_value == 1 / 100
    far_apart = 0, 10_000, 10_000, 10_000
    assert exact_permutation(*far_apart).p_value > 0
    assert fisher_exact(*far_apart).p_value > 0
    assert stratified_permutation([((0, 500), (500, 500))] * 10).p_value > 0
    assert sign_flip(np.linspace(1, 2, 200) ** 0.5, n_resamples=99).p_value == 1 / 100
    assert mcnemar(0, 10_000).exact > 0
    assert mcnemar(0, 10_000).mid_p > 0


def test_systems_that_never_disagree() -> None:
    """huggingface/evaluate issue 795: division by zero; statsmodels gives p = 0 and infinity."""
    found = mcnemar(0, 0)
    assert (found.exact, found.mid_p) == (1.0, 1.0)
    assert found.reason == "no discordant pairs"


def test_pairs_are_tested_as_pairs() -> None:
    """lm-evaluation-harness issue 3831: an unpaired z test on paired data."""
    found = mcnemar(1, 6)
    assert found.exact == 0.125
    assert found.mid_p == pytest.approx(0.0703, abs=5e-5)
    # the same pairs as strata of one trial a side: the exact conditional test is McNemar's
    pairs = [((1, 1), (0, 1))] * 1 + [((0, 1), (1, 1))] * 6 + [((1, 1), (1, 1))] * 93
    assert stratified_permutation(pairs).p_value == pytest.approx(0.125)
    assert sign_flip([-1] + [1] * 6 + [0] * 93).p_value == 0.125


def test_a_missing_p_value_is_not_a_test() -> None:
    """scverse/scvi-tools issue 2762: NaN breaks the adjustment, or statsmodels counts it."""
    p_values = [0.01, 0.02, math.nan, 0.04]
    assert holm(p_values) == pytest.approx([0.03, 0.04, math.nan, 0.04], nan_ok=True)
    assert family_size(p_values) == 3


def test_many_comparisons_are_adjusted() -> None:
    """inspect_ai issue 4206: 12 tasks scanned for wins without correction.

    8 arms that do not differ make 28 pairs. In 500 runs at most 6.5 % may have a Holm rejection;
    without the adjustment it is far more.
    """
    generator = np.random.default_rng(20)
    raw, adjusted = 0, 0
    for _ in range(500):
        successes = generator.binomial(40, 0.7, size=8)
        p_values = [
            exact_permutation(a, 40, b, 40).p_value for a, b in itertools.combinations(successes, 2)
        ]
        assert family_size(p_values) == 28
        raw += min(p_values) <= 0.05
        adjusted += holm(p_values).min() <= 0.05
    assert adjusted / 500 <= 0.065
    assert raw / 500 > 0.2
