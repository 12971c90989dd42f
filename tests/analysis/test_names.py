"""What callers may pass for groups, filters and margins, and what they are told otherwise."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from steelyard.analysis import compare, rates
from steelyard.analysis.names import resolve_arm, resolve_filters, resolve_measure
from steelyard.errors import InputError, UnknownNameError


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"by": None}, "by is None; accepted: one or several of arm"),
        ({"by": 5}, "by is 5"),
        ({"repeat": 0.0}, r"filter repeat is 0\.0; accepted: text or an integer"),
        ({"arm": []}, "filter arm is an empty list"),
        ({"arm": np.array([])}, "filter arm is an empty list"),
        ({"arm": [["react"]]}, r"filter arm is \['react'\]"),
        ({"task": {"a": 1}}, r"filter task is \{'a': 1\}"),
        ({"task": b"INV"}, "filter task is b'INV'"),
        ({"repeat": True}, "filter repeat is True"),
        ({"repeat": np.array([0.0])}, "filter repeat is .*0.0"),
        ({"repeat": np.array([[0]])}, "filter repeat has 2 dimensions"),
        ({"measure": ["a"]}, r"measure is \['a'\]; accepted: a name, as text"),
    ],
)
def test_wrong_kinds_are_told_from_empty_lists(tables, options, said):
    with pytest.raises(InputError, match=said):
        rates(tables("plumbline_parity"), **options)


@pytest.mark.parametrize("margin", ["x", "0.05", [0.05]])
def test_a_margin_is_a_number(tables, margin):
    with pytest.raises(InputError, match=r"margin is .* accepted: a difference of rates"):
        compare(tables("plumbline_parity"), "plan_execute", "react", margin=margin)


@pytest.mark.parametrize(
    ("filters", "meant"),
    [
        ({"repeat": np.int64(1)}, {"repeat": [1]}),
        ({"repeat": np.array([0, 1])}, {"repeat": [0, 1]}),
        ({"repeat": range(2)}, {"repeat": [0, 1]}),
        ({"task": pd.Series(["t", "u"], index=[5, 7])}, {"task": ["t", "u"]}),
        ({"task": pd.Index(["u"])}, {"task": ["u"]}),
        ({"arm": np.array(["a"])}, {"arm": ["a"]}),
    ],
)
def test_names_come_in_any_sequence(small_study, filters, meant):
    tables = small_study(
        [{"task": task, "success": 1, "repeat": n} for task in "tu" for n in (0, 1)]
    )
    found = resolve_filters(tables, filters)
    assert found == meant
    assert {type(name) for names in found.values() for name in names} <= {int, str}


@pytest.mark.parametrize("name", [5, ["a"], {"a": 1}, b"a"])
def test_an_arm_and_a_measure_are_text(small_study, name):
    tables = small_study([{"success": 1}])
    with pytest.raises(InputError, match="arm is"):
        resolve_arm(tables, name)
    with pytest.raises(InputError, match="measure is"):
        resolve_measure(tables, name)
    assert UnknownNameError("arm", name, ["a"]).nearest == []
