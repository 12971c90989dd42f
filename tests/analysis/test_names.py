"""What callers may pass for groups, filters and margins, and what they are told otherwise."""

from __future__ import annotations

import pytest

from steelyard.analysis import compare, rates
from steelyard.errors import InputError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": None}, "by is None; accepted: one or several of arm"),
        ({"by": 5}, "by is 5"),
        ({"repeat": 0.0}, r"filter repeat is 0\.0; accepted: text or an integer"),
        ({"arm": []}, "filter arm is an empty list"),
    ],
)
def test_wrong_kinds_are_told_from_empty_lists(tables, options, said):
    with pytest.raises(InputError, match=said):
        rates(tables("plumbline_parity"), **options)


@pytest.mark.parametrize("margin", ["x", "0.05", [0.05]])
def test_a_margin_is_a_number(tables, margin):
    with pytest.raises(InputError, match=r"margin is .* accepted: a difference of rates"):
        compare(tables("plumbline_parity"), "plan_execute", "react", margin=margin)
