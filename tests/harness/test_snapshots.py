"""A snapshot is a copy that nobody else holds, and the canonical text of the value."""

from __future__ import annotations

import gc
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from steelyard.errors import InputError
from steelyard.harness import snapshots
from steelyard.harness.snapshots import snapshot
from steelyard.trials.strict_json import canonical_dumps, loads

texts = some.text(max_size=6)
scalars = some.one_of(
    some.none(),
    some.booleans(),
    some.integers(),
    some.floats(allow_nan=False, allow_infinity=False),
    texts,
)
values = some.recursive(
    scalars,
    lambda members: some.one_of(
        some.lists(members, max_size=3), some.dictionaries(texts, members, max_size=4)
    ),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(some.one_of(values, some.dictionaries(texts, scalars, max_size=20)))
def test_the_text_is_the_canonical_one_and_the_copy_is_the_value(value):
    copy, text = snapshot(value)
    assert text == canonical_dumps(value)
    assert copy == value
    assert canonical_dumps(loads(text)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": 2}, '{"a":2,"b":1}'),
        ({"one": 1, "true": True, "none": None}, '{"none":null,"one":1,"true":true}'),
        ({"large": 1e16, "small": 1e-7}, '{"large":1e+16,"small":1e-07}'),
        ({"control": '\x00\x1f\x7f\u2028é"\\/'}, '{"control":"\\u0000\\u001f\x7f\u2028é\\"\\\\/"}'),
        ({"huge": 10**100}, f'{{"huge":1{"0" * 100}}}'),
        ({}, "{}"),
    ],
)
def test_flat_objects(value, text):
    assert snapshot(value) == (value, text)


@pytest.mark.parametrize(
    "value",
    [
        {1: "a"}, {True: 1}, {None: 1}, {"a": "\ud800"}, {"\ud800": 1}, {"a": float("nan")},
        {"a": 10**5000}, {"a": {1: 2}}, {"a": object()}, {"a": b"bytes"},
    ],
)  # fmt: skip
def test_what_is_not_json_is_refused_every_time(value: Any):
    for _ in range(2):  # the second time its names are known
        with pytest.raises(InputError):
            snapshot(value)


def test_a_copy_keeps_what_it_was():
    value = {"a": 1, "b": [1, {"c": 2}]}
    copy, _ = snapshot(value)
    value["b"][1]["c"] = 3
    value["a"] = 0
    assert copy == {"a": 1, "b": [1, {"c": 2}]}
    flat = {"a": 1}
    copy, _ = snapshot(flat)
    flat["a"] = 0
    assert copy == {"a": 1}


def test_names_that_are_data_are_not_collected(monkeypatch):
    monkeypatch.setattr(snapshots, "_MOST_SHAPES", 5)
    for number in range(100):
        assert snapshot({f"id{number}": number}) == (
            {f"id{number}": number},
            f'{{"id{number}":{number}}}',
        )
        assert len(snapshots._sorted_names) <= 5


def test_a_run_lets_the_collector_have_its_objects_back(toy, tmp_path):
    from steelyard.harness.runner import run_study

    run_study(toy(), tmp_path / "a.duckdb")
    assert gc.get_freeze_count() == 0
    gc.freeze()
    try:
        run_study(toy(), tmp_path / "b.duckdb")
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
