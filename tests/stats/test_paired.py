from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest
from statsmodels.stats.contingency_tables import mcnemar as statsmodels_mcnemar

from steelyard.errors import InputError
from steelyard.stats import mcnemar, paired


@given(st.integers(0, 60), st.integers(0, 60))
def test_exact_equals_the_binomial_test(b: int, c: int) -> None:
    found = mcnemar(b, c)
    assert 0 < found.mid_p <= found.exact <= 1
    if b + c:
        expected = statsmodels_mcnemar([[5, b], [c, 5]], exact=True).pvalue
        assert found.exact == pytest.approx(expected, abs=1e-12)
        point = binomtest(b, b + c, 0.5, alternative="less").pvalue - (
            binomtest(b - 1, b + c, 0.5, alternative="less").pvalue if b else 0.0
        )
        assert found.mid_p == pytest.approx(found.exact - point, abs=1e-12)


def test_sides_do_not_matter() -> None:
    assert mcnemar(6, 28).exact == mcnemar(28, 6).exact


def test_without_discordant_pairs_nothing_was_shown() -> None:
    found = mcnemar(0, 0)
    assert (found.exact, found.mid_p, found.reason) == (1.0, 1.0, "no discordant pairs")


def test_many_pairs(monkeypatch) -> None:
    exact = mcnemar(4_900, 5_100)
    monkeypatch.setattr(paired, "LARGEST_INTEGER_PAIRS", 10)
    doubles = mcnemar(4_900, 5_100)
    assert (doubles.exact, doubles.mid_p) == pytest.approx((exact.exact, exact.mid_p), rel=1e-9)
    assert 0 < mcnemar(0, 5_000_000).exact < 1e-300


@pytest.mark.parametrize(("b", "c"), [(-1, 2), (1.5, 2), (True, 2), (1, None)])
def test_bad_counts_are_refused(b, c) -> None:
    with pytest.raises(InputError, match=r"is (-1|1\.5|True|None)"):
        mcnemar(b, c)


@pytest.mark.parametrize(
    ("b", "c", "exact", "mid_p"),  # sums of binomial terms with mpmath 1.4.1, 40 digits
    [
        (10_001, 10_000, 1.0, 0.994358456750839),
        (10_000, 12_000, 1.87795890509475e-41, 1.72068860964388e-41),
        (5 * 10**8, 5 * 10**8 + 30_000, 0.342805039149825, 0.342788950970695),
        (5 * 10**8, 5 * 10**8 + 10**6, 2.96354157501022e-219, 2.96058099695623e-219),
        (5 * 10**11, 5 * 10**11 + 10**6, 2 * 0.158655616887604, None),
    ],
)
def test_very_many_pairs(b: int, c: int, exact: float, mid_p: float | None) -> None:
    found = mcnemar(b, c)
    assert found.exact == pytest.approx(exact, rel=1e-10)
    if mid_p is not None:
        assert found.mid_p == pytest.approx(mid_p, rel=1e-10)
