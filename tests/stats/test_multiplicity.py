from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from steelyard.errors import InputError
from steelyard.stats import benjamini_hochberg, family_size, holm

families = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(families)
@pytest.mark.parametrize(("adjust", "method"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_statsmodels_agrees_where_every_test_was_made(adjust, method: str, p: list[float]) -> None:
    np.testing.assert_allclose(adjust(p), multipletests(p, method=method)[1], atol=1e-12)


@given(families, st.data())
@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_missing_tests_change_nothing(adjust, p: list[float], data: st.DataObject) -> None:
    with_gaps: list[float | None] = list(p)
    for _ in range(3):
        at = data.draw(st.integers(0, len(with_gaps)))
        with_gaps.insert(at, data.draw(st.sampled_from([None, math.nan])))
    found = adjust(with_gaps)
    kept = [not (v is None or math.isnan(v)) for v in with_gaps]
    assert found[kept].tolist() == adjust(p).tolist()
    assert np.isnan(found[~np.array(kept)]).all()
    assert family_size(with_gaps) == len(p)


def test_no_tests() -> None:
    assert holm([]).tolist() == []
    assert np.isnan(holm([None, math.nan])).all()
    assert family_size([]) == 0


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([0.1, 1.2], r"p_values\[1\] is 1\.2"),
        ([-0.1], r"p_values\[0\] is -0\.1"),
        (["small"], "sequence of numbers"),
        ([[0.1], [0.2]], "2 dimensions"),
        (0.1, "sequence of numbers"),
    ],
)
def test_bad_values_are_refused(adjust, p, message: str) -> None:
    with pytest.raises(InputError, match=message):
        adjust(p)


@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
@pytest.mark.parametrize(
    ("p", "held"),
    [
        (["0.01", "0.5"], "text"),
        ([True, False], "truth values"),
        ([0.1, True], "truth values"),
        ([0.1, "1"], "text"),
    ],
)
def test_what_only_reads_like_a_number_is_refused(adjust, p, held: str) -> None:
    with pytest.raises(InputError, match=f"it holds {held}"):
        adjust(p)
