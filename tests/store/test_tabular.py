"""CSV files are read as text, whole, and with every line known."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import DataError
from steelyard.store.tabular import read_csv

cell = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\x00\ufeff"))


def write(folder, content, name="t.csv"):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_cells_stay_the_texts_they_are(tmp_path):
    table = read_csv(write(tmp_path, 'id,v\n007,NA\n7, \n"a,b","say ""x"""\n,nan\n'))
    assert table.columns == {"id": ["007", "7", "a,b", ""], "v": ["NA", " ", 'say "x"', "nan"]}
    assert table.lines == [2, 3, 4, 5]
    assert len(table) == 4


@given(st.lists(st.tuples(cell, cell), max_size=6))
def test_what_was_quoted_reads_back(tmp_path_factory, rows):
    def quoted(text):
        return '"' + text.replace('"', '""') + '"'

    lines = ["a,b", *(",".join(map(quoted, row)) for row in rows)]
    path = write(tmp_path_factory.mktemp("csv"), "\n".join(lines) + "\n")
    table = read_csv(path)
    assert list(zip(table.columns["a"], table.columns["b"], strict=True)) == rows


def test_lines_are_counted_through_quoted_line_ends(tmp_path):
    table = read_csv(write(tmp_path, 'a,b\n"x\ny\nz",1\nq,2\n'))
    assert table.lines == [2, 5]
    assert table.place(1) == "t.csv:5"
    assert table.place(1, "b") == "t.csv:5: column 'b'"


def test_a_header_alone_is_an_empty_table(tmp_path):
    table = read_csv(write(tmp_path, "a,b\n"))
    assert table.columns == {"a": [], "b": []}
    assert len(table) == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", r"t\.csv: the file is empty"),
        ("\ufeff", r"t\.csv: the file is empty"),
        ("a,b\n1,2\n3", r"t\.csv:3: the last line has no line end; the file may be cut off"),
        ("a,b\n1,2\n3,\n4\n", r"t\.csv:4: 1 fields where the header has 2"),
        ("a,b\n1,2,3\n", r"t\.csv:2: 3 fields where the header has 2"),
        ("a,b\n1,2\n\n3,4\n", r"t\.csv:3: a blank line"),
        ('a,b\n1,2\n3,"x\n', r"t\.csv:3: the row that begins here is broken: unexpected end"),
        ('a,b\n1,"x"y\n', r"t\.csv:2: the row that begins here is broken"),
        ("a,b,a\n1,2,3\n", r"t\.csv:1: the column name 'a' occurs twice"),
        ("a, \n1,2\n", r"t\.csv:1: column 2 has no name"),
        (b"a,b\n1,2\n3,\xff\n", r"t\.csv:3: byte 10 of the file is not UTF-8"),
        (b"a,b\n1,\x00\n", r"t\.csv:2: a NUL byte"),
        ("a\n" + "x" * 70_000_000 + "\n", r"t\.csv:2: .*field larger"),
    ],
    ids=lambda value: (
        value[:20].encode("unicode_escape").decode() if isinstance(value, str) else "bytes"
    ),
)
def test_a_damaged_file_is_refused_with_its_line(tmp_path, content, said):
    with pytest.raises(DataError, match=said):
        read_csv(write(tmp_path, content))


def test_what_is_no_file_is_refused_by_name(tmp_path):
    with pytest.raises(DataError, match=r"data/s/none\.csv: there is no such file"):
        read_csv(tmp_path / "none.csv", "data/s/none.csv")
    (tmp_path / "d.csv").mkdir()
    with pytest.raises(DataError, match=r"d\.csv: a directory stands where a file is expected"):
        read_csv(tmp_path / "d.csv")
    (tmp_path / "f").write_text("")
    with pytest.raises(DataError, match="cannot be read"):
        read_csv(tmp_path / "f" / "x.csv")


def test_gzip_is_unpacked_and_a_damaged_archive_refused(tmp_path):
    packed = gzip.compress(b"a\n1\n2\n", mtime=0)
    assert read_csv(write(tmp_path, packed, "t.csv.gz")).columns == {"a": ["1", "2"]}
    for broken in (packed[:-9], packed[:-1], b"a\n1\n", packed[:12] + b"\xff" + packed[13:], b""):
        with pytest.raises(
            DataError, match=r"t\.csv\.gz: (the gzip archive is damaged|the file is)"
        ):
            read_csv(write(tmp_path, broken, "t.csv.gz"))
