"""How results are printed: JSON without NaN, CSV with every column, tables that fit and explain."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest

from steelyard.cli.output import Result, check_format, emit, json_value, to_json
from steelyard.errors import InputError
from steelyard.report.tables import column

VERBS = [
    ("rates", "plumbline_retry"),
    ("rates", "plumbline_retry", "--missing", "bounds"),
    ("rates", "plumbline_retry", "--by", "task,perturbation"),
    ("rates", "autogpt_benchmarks", "--by", "arm"),
    ("compare", "plumbline_parity", "plumbline_retry:react", "plan_execute"),
    ("compare", "plumbline_retry"),
    ("certify", "plumbline_determinism"),
    ("manipulation", "plumbline_parity"),
    ("reliability", "tau_bench_airline"),
    ("audit", "plumbline_retry"),
    ("studies",),
    ("sql", "SELECT * FROM trials LIMIT 3"),
    ("sql",),
]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (math.nan, None),
        (np.nan, None),
        (pd.NA, None),
        (pd.NaT, None),
        (None, None),
        (math.inf, None),
        (-math.inf, None),
        (np.int64(3), 3),
        (np.float64(0.5), 0.5),
        (np.bool_(True), True),
        ((1, 2), [1, 2]),
        (np.array([1.0, math.nan]), [1.0, None]),
        ({1: math.nan}, {"1": None}),
        (dt.date(2026, 1, 2), "2026-01-02"),
        (Decimal("0.10"), "0.10"),
    ],
)
def test_json_value(value, expected):
    result = json_value(value)
    assert result == expected
    assert type(result) is type(expected)


def test_json_has_sorted_members_and_keeps_text():
    assert to_json({"b": 1, "a": "é😀"}) == '{\n  "a": "é😀",\n  "b": 1\n}\n'


def test_two_formats_are_one_too_many():
    with pytest.raises(InputError, match="exclude each other"):
        check_format(as_json=True, as_csv=True)


def printed(capsys, frame, columns=None, caption="", **formats) -> str:
    emit(Result("verb", frame, columns, caption, "s"), **formats)
    return capsys.readouterr().out


def test_names_are_shown_literally(capsys):
    frame = pd.DataFrame({"arm": ["[red]x[/red]", ":smile:", "[/]"]})
    text = printed(capsys, frame)
    assert all(name in text for name in frame["arm"])


def test_empty_frame_is_a_header(capsys):
    frame = pd.DataFrame({"arm": pd.Series([], dtype=str), "n": pd.Series([], dtype=int)})
    assert "arm" in printed(capsys, frame)
    assert json.loads(printed(capsys, frame, as_json=True))["rows"] == []
    assert printed(capsys, frame, as_csv=True) == "arm,n\n"


def test_hidden_columns_are_counted(capsys):
    frame = pd.DataFrame({"a": [1], "b": [2], "c": [3]})
    text = printed(capsys, frame, [column("a", "a", kind="count")], "What it is.")
    assert text.splitlines()[-2:] == ["What it is.", "2 more columns: --json or --csv."]


def test_table_without_chosen_columns_shows_those_that_fit(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    frame = pd.DataFrame({f"column_{i}": ["x" * 30] for i in range(10)})
    text = printed(capsys, frame)
    assert "7 more columns" in text
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize("arguments", VERBS, ids=" ".join)
class TestEveryVerb:
    def test_table_fits_and_names_what_it_leaves_out(self, cli, arguments):
        done = cli(*arguments)
        assert (done.code, done.err) == (0, "")
        assert max(map(len, done.out.splitlines())) <= 100
        assert "\x1b" not in done.out

    def test_json_parses_and_repeats_byte_for_byte(self, cli, arguments):
        done = cli(*arguments, "--json")
        assert done.code == 0
        assert done.json["rows"]
        assert done.json["verb"] == arguments[0]
        assert done.out == cli(*arguments, "--json").out

    def test_csv_holds_the_rows_and_columns_of_json(self, cli, arguments):
        rows = cli(*arguments, "--json").json["rows"]
        table = list(csv.DictReader(io.StringIO(cli(*arguments, "--csv").out)))
        assert len(table) == len(rows)
        assert set(table[0]) == set(rows[0])


@pytest.mark.parametrize(
    "arguments",
    [a for a in VERBS if a[0] in {"rates", "compare", "certify", "reliability"}],
    ids=" ".join,
)
def test_caption_names_measure_policy_and_denominators(cli, arguments):
    text = " ".join(cli(*arguments).out.split())
    assert "--missing" in text
    for word in ("intended", "scored", "excluded"):
        assert f" {word}" in text


def test_caption_tells_comparisons_that_share_an_arm_apart(cli):
    """Three declared comparisons of arms with 384 trials each: 1,152 would count them twice."""
    text = " ".join(cli("compare", "plumbline_retry").out.split())
    assert "- plan_execute, react: reference 384 intended, 384 scored, 0 excluded;" in text
    assert "1,152" not in text


def test_long_query_result_is_cut_in_the_table_only(cli):
    query = ("sql", "SELECT trial_id FROM trials")
    assert re.search(r"The first 100 of [0-9,]+ rows", cli(*query).out)
    assert len(cli(*query, "--csv").out.splitlines()) > 25_000
