"""Blank, NA, NaN and infinity have four meanings in numbers, and none in texts."""

from __future__ import annotations

import math

import pytest

from steelyard.errors import DataError
from steelyard.store.columns import Mapping
from steelyard.store.tabular import TextTable
from steelyard.store.values import NOT_APPLICABLE, convert, texts


def table(*cells, **columns):
    columns = columns or {"v": list(cells)}
    length = len(next(iter(columns.values())))
    return TextTable("t.csv", columns, list(range(2, length + 2)))


def read(sql_type, *cells, **mapping):
    source = table(*cells)
    chosen = Mapping(column="v", **mapping)
    rows = range(len(cells))
    return convert(texts(chosen, source, rows), sql_type, source, rows, chosen)


def test_the_four_meanings_in_numbers():
    blank, applies_not, not_a_number, infinite, minus = read(
        "DOUBLE", "", "NA", "nan", "inf", "-Inf"
    )
    assert blank is None
    assert applies_not is NOT_APPLICABLE
    assert repr(applies_not) == "NOT_APPLICABLE"
    assert math.isnan(not_a_number)
    assert infinite == math.inf
    assert minus == -math.inf


def test_in_texts_all_four_are_texts():
    assert read("TEXT", "", "NA", "nan", "inf", "007") == ["", "NA", "nan", "inf", "007"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", 1.0), ("-0.5", -0.5), ("+2", 2.0), (".5", 0.5), ("5.", 5.0), ("1e-3", 0.001)],
)
def test_numbers(text, value):
    assert read("DOUBLE", text) == [value]


@pytest.mark.parametrize(
    ("sql_type", "text", "said"),
    [
        ("DOUBLE", "1_000", "'1_000' is not a number"),
        ("DOUBLE", " 1", "' 1' is not a number"),
        ("DOUBLE", "0x10", "is not a number"),
        ("DOUBLE", "\u0661", "is not a number"),
        ("DOUBLE", "n/a", "is not a number"),
        ("DOUBLE", "1e999", "too large for a 64-bit float"),
        ("INTEGER", "1.0", "'1.0' is not a whole number"),
        ("INTEGER", "nan", "is not a whole number"),
        ("INTEGER", "2147483648", "outside the range of a INTEGER"),
        ("BIGINT", "9223372036854775808", "outside the range of a BIGINT"),
        ("BIGINT", "1" * 5000, "outside the range of a BIGINT"),
        ("BOOLEAN", "yes", "'yes' is not a boolean; accepted: 1, 0, true"),
        ("JSON", '{"a":1,"a":2}', "line 1, column 8: the member name 'a' occurs twice"),
        ("JSON", "{", "not valid JSON"),
    ],
)
def test_what_does_not_fit_is_refused_with_line_and_column(sql_type, text, said):
    with pytest.raises(DataError, match=rf"t\.csv:3: column 'v': .*{said}"):
        read(sql_type, "1" if sql_type != "JSON" else "{}", text)


def test_integers_booleans_and_json():
    assert read("INTEGER", "-2147483648", "007", "") == [-(2**31), 7, None]
    assert read("BIGINT", "9223372036854775807") == [2**63 - 1]
    assert read("BOOLEAN", "1", "false", "", "True") == [True, False, None, True]
    assert read("JSON", '{ "b":1, "a":[] }', "", "{}") == ['{"a":[],"b":1}', None, "{}"]


def test_further_spellings_of_null_and_a_scale():
    assert read("DOUBLE", "None", "0.002", "NA", nulls=("None",), scale=1000.0) == [
        None,
        2.0,
        NOT_APPLICABLE,
    ]
    assert read("TEXT", "None", "", nulls=("None", "")) == [None, None]


def test_a_map_then_patterns_then_otherwise():
    mapping = {
        "map": {"1": "yes"},
        "patterns": ({"match": "rule:(.*)", "give": r"upheld:\1"},),
    }
    assert read("TEXT", "1", "rule:x", **mapping) == ["yes", "upheld:x"]
    assert read("TEXT", "2", otherwise="?", **mapping) == ["?"]
    assert read("TEXT", "2", otherwise="", **mapping) == [None]
    with pytest.raises(
        DataError, match=r"t\.csv:2: column 'v': no meaning is declared for '2'; accepted: '1', /"
    ):
        read("TEXT", "2", **mapping)


def test_a_pattern_must_match_the_whole_text():
    with pytest.raises(DataError, match="no meaning is declared for 'ab'"):
        read("TEXT", "ab", patterns=({"match": "a", "give": "x"},))


def test_joined_columns_leave_blanks_out_and_constants_repeat():
    source = table(suite=["S", ""], task=["x", "y"])
    assert texts(Mapping(join=("suite", "task")), source, range(2)) == ["S:x", "y"]
    assert texts(Mapping(constant="baseline"), source, range(2)) == ["baseline", "baseline"]
    with pytest.raises(DataError, match=r"t\.csv:2: column 'constant': 'b' is not a number"):
        convert(["b"], "DOUBLE", source, [0], Mapping(constant="b"))
