import csv
import io
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from steelyard.errors import InputError
from steelyard.report.formats import MISSING
from steelyard.report.tables import (
    Column,
    column,
    csv_text,
    default_columns,
    html_table,
    markdown_table,
    rich_table,
)

FRAME = pd.DataFrame(
    {
        "arm": ["react|x", "plan\nexecute", "<b>"],
        "successes": [55, 52, 0],
        "total": [56, 64, 0],
        "estimate": [55 / 56, 52 / 64, np.nan],
        "low": [0.906, 0.7, 0.0],
        "high": [0.997, 0.889, 1.0],
        "p_exact": [0.0029, 1e-9, np.nan],
    }
)
COLUMNS = [
    column("arm", "arm", kind="code"),
    column("passed/n", "successes", "total", kind="fraction"),
    column("rate", "estimate", kind="rate"),
    column("95%", "low", "high", kind="rate interval"),
]


def cells_of(line):
    """Split a Markdown row at the pipes that are not escaped."""
    return line.strip().strip("|").replace("\\|", "\0").split("|")


def test_markdown_rows_have_one_cell_per_column_whatever_stands_in_them():
    lines = markdown_table(FRAME, COLUMNS).splitlines()
    assert len(lines) == 2 + len(FRAME)
    assert {len(cells_of(line)) for line in lines} == {len(COLUMNS)}
    assert lines[1] == "| --- | ---: | ---: | ---: |"
    assert "`plan execute`" in lines[3]
    assert "| 52/64 | 81.2% | [70.0%, 88.9%] |" in lines[3]


def test_markdown_text_cannot_open_a_tag():
    frame = pd.DataFrame({"arm": ["<script>"]})
    assert "&lt;script>" in markdown_table(frame, [column("arm", "arm")])


def test_html_escapes_and_marks_headers():
    text = html_table(FRAME, COLUMNS, "Rates <&>")
    assert "&lt;b&gt;" in text
    assert "<b>" not in text
    assert "<caption>Rates &lt;&amp;&gt;</caption>" in text
    assert text.count('scope="col"') == len(COLUMNS)
    assert text.count('scope="row"') == len(FRAME)
    HTMLParser().feed(text)


def test_csv_is_fixed_in_format():
    frame = pd.DataFrame(
        {
            "name": ["a,b", None],
            "n": pd.array([1, pd.NA], dtype="Int64"),
            "flag": [True, False],
            "value": [1 / 3, -1e-17],
            "limit": [np.inf, -np.inf],
            "p_exact": [1.23456789e-9, np.nan],
        }
    )
    text = csv_text(frame)
    assert "\r" not in text
    assert text.splitlines() == [
        "name,n,flag,value,limit,p_exact",
        '"a,b",1,true,0.3333333333,inf,1.23457e-09',
        ",,false,0,-inf,",
    ]
    assert len(list(csv.reader(io.StringIO(text)))) == 3


def test_terminal_table_chooses_kinds_by_name():
    console = Console(width=200, file=io.StringIO())
    console.print(rich_table(FRAME, title="Rates"))
    shown = console.file.getvalue()
    assert "81.2%" in shown
    assert "1.0e-9" in shown
    console.print(rich_table(FRAME, COLUMNS))
    assert "52/64" in console.file.getvalue()


def test_default_kinds():
    frame = pd.DataFrame(
        {"a": ["x"], "n": [1], "icc": [0.4], "flag": [True], "difference": [0.1], "p_x": [0.5]}
    )
    kinds = [c.kind for c in default_columns(frame)]
    assert kinds == ["text", "count", "number", "flag", "points", "p"]


def test_a_column_knows_its_kind():
    with pytest.raises(InputError, match="'per cent' is none of"):
        column("rate", "estimate", kind="per cent")
    with pytest.raises(InputError, match="fraction"):
        Column("passed/n", ("successes",), "fraction")
    row = {"successes": np.nan, "total": 3}
    assert column("passed/n", "successes", "total", kind="fraction").cell(row) == MISSING
