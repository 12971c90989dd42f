"""Documents are read strictly, within limits, and messages do not repeat them."""

from __future__ import annotations

import io

import pytest

from steelyard.evaluators.contract import InvalidJsonError, load_json, load_json_file

CONTENT = "s3cret"


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (b'{"s3cret":1,"s3cret":2}', "line 1, column 13: a member name occurs twice"),
        (b'\n[1, "s3cret" 2]', "line 2, column 14: not valid JSON"),
        (b'["\\ud800s3cret"]', "a lone surrogate"),
        (b"[1e999]", "a number is too large"),
        (b"[" * 33 + b"]" * 33, "deeper than 32"),
        (b"[NaN]", "NaN and Infinity"),
        (b"\xef\xbb\xbf{}", "byte order mark"),
        (b"\xff", "UTF-8"),
        ("\ufeff{}", "byte order mark"),
        ('"\ud800"', "cannot be read"),
        (b" " * 1_000_001, "more than 1,000,000 bytes"),
        ('"' + "é" * 500_000 + '"', "more than 1,000,000 bytes"),
        (b"[" + b"0," * 99_999 + b"0]", "more than 100,000 values"),
        (b"9" * 4301, "line 1, column 1"),
        (b"", "not valid JSON"),
    ],
    ids=lambda part: part if isinstance(part, str) and len(part) < 40 else "",
)
def test_what_is_wrong_is_said_without_the_content(source, says):
    with pytest.raises(InvalidJsonError, match=says) as caught:
        load_json(source)
    assert CONTENT not in str(caught.value)
    assert caught.value.code == "INVALID_JSON_INPUT"


@pytest.mark.parametrize("kind", [io.BytesIO, lambda content: io.StringIO(content.decode())])
def test_a_file_is_read_no_further_than_the_limit(kind):
    file = kind(b"[]" + b" " * 3_000_000)
    with pytest.raises(InvalidJsonError, match="1,000,000"):
        load_json(file)
    assert file.tell() <= 1_000_001


def test_brackets_in_a_text_are_no_nesting():
    assert load_json('["' + "[" * 100 + '"]') == ["[" * 100]


def test_numbers_keep_their_kind():
    loaded = load_json("[1, 1.0, 1e0, -0, -0.0, 1e-999]")
    assert list(map(repr, loaded)) == ["1", "1.0", "1.0", "0", "-0.0", "0.0"]


@pytest.mark.parametrize("name", ["absent.json", "", ".", "a\0b"])
def test_a_file_that_cannot_be_opened_is_not_named(tmp_path, name):
    with pytest.raises(InvalidJsonError, match="cannot be read") as caught:
        load_json_file(f"{tmp_path}/{name}" if "\0" not in name else name)
    assert str(tmp_path) not in str(caught.value)


@pytest.mark.parametrize(
    "source", [io.TextIOWrapper(io.BytesIO(b"\xff\xfe")), object(), io.IOBase()]
)
def test_what_cannot_be_read_is_refused(source):
    with pytest.raises(InvalidJsonError):
        load_json(source)
