"""What RFC 8259 does not allow is refused where it stands."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from steelyard.errors import DataError, InputError
from steelyard.trials.strict_json import canonical_dumps, loads, parse

text = st.text(st.characters(exclude_categories=("Cs",)))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text,
    lambda inner: st.lists(inner) | st.dictionaries(text, inner),
    max_leaves=20,
)


@given(values)
def test_valid_json_reads_as_the_standard_library_reads_it(value):
    written = json.dumps(value)
    assert loads(written) == loads(written.encode()) == json.loads(written)


@given(values)
def test_canonical_text_reads_back_and_is_stable(value):
    written = canonical_dumps(value)
    assert loads(written) == value
    assert canonical_dumps(loads(written)) == written


def test_canonical_text_sorts_names_and_keeps_types_apart():
    assert canonical_dumps({"b": 1, "a": [True, 1.0, None], "é": "😀"}) == (
        '{"a":[true,1.0,null],"b":1,"é":"😀"}'
    )
    assert canonical_dumps((1, 2)) == "[1,2]"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('{"a": 1, "a": 2}', r"line 1, column 10: the member name 'a' occurs twice"),
        ('{\n  "a": {"b": 1,\n "b": 2}}', r"line 3, column 2: the member name 'b' occurs twice"),
        (r'{"a": 1, "\u0061": 2}', "column 10: the member name 'a' occurs twice"),
        ("[1,\n NaN]", "line 2, column 2: NaN is not JSON; use null or a number"),
        ("-Infinity", "column 1: -Infinity is not JSON"),
        ('["NaN", Infinity]', "column 9: Infinity is not JSON"),
        ("[1e999]", "column 2: the number 1e999 is too large"),
        pytest.param(
            "[" + "1" * 5000 + "]", "column 2: the number 1{40} is too large", id="digits"
        ),
        ("", "line 1, column 1: not valid JSON: expecting value"),
        ("{'a': 1}", "not valid JSON"),
        ("[1,]", "column 4: not valid JSON|column 3: not valid JSON"),
        ("[1] 2", "column 5: not valid JSON: extra data"),
        ('"a\nb"', "column 3: not valid JSON: invalid control character"),
        ('{"a": 1', "not valid JSON"),
        ('"\\ud83d"', "column 1: a lone surrogate"),
        ('["ok",\n  {"\\ude00": 1}]', "line 2, column 4: a lone surrogate"),
    ],
)
def test_a_fault_is_refused_with_its_place(source, said):
    with pytest.raises(DataError, match=said):
        loads(source)


def test_the_path_stands_before_line_and_column():
    with pytest.raises(DataError, match=r"^runs/log\.json:2:1: NaN is not JSON"):
        loads("\nNaN", path="runs/log.json")


def test_bytes_that_are_not_utf8_are_refused_with_their_place():
    with pytest.raises(DataError, match="line 2, column 3: not valid UTF-8"):
        loads(b'{\n "\xff": 1}')


def test_a_byte_order_mark_is_skipped():
    assert loads(b"\xef\xbb\xbf[1]") == loads("\ufeff[1]") == [1]


def test_depth_is_limited_but_brackets_in_texts_do_not_count():
    assert loads("[" * 5 + "]" * 5, max_depth=5) == [[[[[]]]]]
    with pytest.raises(DataError, match="column 6: nested deeper than 5 levels"):
        loads("[" * 6 + "]" * 6, max_depth=5)
    with pytest.raises(DataError, match="column 101: nested deeper than 100 levels"):
        loads("[" * 100_000)
    with pytest.raises(DataError, match="column 14: nested deeper than 5 levels"):
        loads(r'{"\ud8": ' + "[" * 6, max_depth=5)  # the name before is no text either
    assert loads('["[[[[[[{{{{"]', max_depth=2) == ["[[[[[[{{{{"]
    assert loads('[{"a": "\\"["}, [], []]', max_depth=2)


def test_emoji_and_combining_characters_stay_what_they_are():
    assert loads('"😀"') == loads('"\\ud83d\\ude00"') == "😀"
    assert loads('"e\u0301"') != loads('"é"')
    assert loads('"\\u0000"') == "\x00"


def test_lone_surrogates_can_be_replaced_and_are_counted():
    parsed = parse('{"a": "\\ud83d", "\\ude00": ["x\\ud83dy\\ud83d"]}', replace_surrogates=True)
    assert parsed.value == {"a": "\ufffd", "\ufffd": ["x\ufffdy\ufffd"]}
    assert parsed.surrogates_replaced == 4
    assert parse('"\\ud83d\\ude00"', replace_surrogates=True).surrogates_replaced == 0
    with pytest.raises(DataError, match="two member names differ only in lone surrogates"):
        loads('{"\\ud83d": 1, "\\ude00": 2}', replace_surrogates=True)


def test_only_text_and_bytes_are_read():
    with pytest.raises(InputError, match="JSON is read from text or bytes, not dict"):
        loads({})


def _inside_itself():
    value: list[object] = []
    value.append(value)
    return value


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"a": [0, float("nan")]}, r"\$\.a\[1\] is nan"),
        (float("inf"), r"\$ is inf"),
        ({1: 2}, r"\$ has the member name 1; names are text"),
        (["\ud83d"], r"\$\[0\] holds a lone surrogate"),
        ({"\ud83d": 1}, r"a name in \$ holds a lone surrogate"),
        ({"a": {1, 2}}, r"\$\.a is a set, which JSON has no form for"),
        (_inside_itself(), "nested deeper than 500 levels"),
        pytest.param(10**5000, "has no JSON form", id="too many digits"),
    ],
)
def test_what_json_cannot_hold_is_refused(value, said):
    with pytest.raises(InputError, match=said):
        canonical_dumps(value)


def test_a_name_may_come_again_in_another_object_of_a_deep_text():
    deep = "[" * 200 + '{"a": 1}' + "]" * 200 + ', {"a": 2, "b": 3}'
    assert loads(f"[{deep}]", max_depth=300)[1] == {"a": 2, "b": 3}
    with pytest.raises(DataError, match="'b' occurs twice"):
        loads(f"[{deep.replace('a', 'b')}]", max_depth=300)


@pytest.mark.parametrize("end", ["", "\\"])
def test_a_string_that_never_ends_is_one_fault_and_not_one_per_quote(end):
    # With one attempt per quote this text would take minutes.
    with pytest.raises(DataError, match="nested deeper"):
        loads("[" * 200 + '"' + '\\"' * 300_000 + end)
