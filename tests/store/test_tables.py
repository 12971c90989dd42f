"""Frames are sorted by a total key, typed, and the caller's own."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from steelyard.errors import UnknownNameError
from steelyard.store.connect import create
from steelyard.store.rows import add_rows, add_study
from steelyard.store.schema import TABLES
from steelyard.store.tables import StudyTables, study_names


def test_types_and_nulls(small_study):
    tables = small_study(
        [
            {"task": "1", "success": 1, "perturbation_applied": True, "seed": 2**62 + 1},
            {"task": "2", "success": None, "status": "failed"},
            {"task": "3", "success": math.nan},
        ],
        claims=[{"claim": "c", "successes": 1, "total": 3}],
    )
    trials = tables.frame("trials")
    assert trials["perturbation_applied"].dtype == "boolean"
    assert trials["seed"].dtype == "Int64"
    assert trials["seed"].tolist()[0] == 2**62 + 1
    assert trials["error"].isna().all()
    assert trials["repeat"].dtype == "int64"
    assert trials["cost_usd"].dtype == "float64"
    measures = tables.frame("measures")
    assert list(measures["measured"]) == [True, False, True]
    assert measures["value"].isna().tolist() == [False, True, True]
    assert tables.frame("claims").loc[0, "total"] == 3


@pytest.mark.parametrize("table", list(TABLES))
def test_every_table_can_be_read_even_empty(small_study, table):
    frame = small_study([{}]).frame(table)
    assert list(frame.columns)[: len(TABLES[table].names)] == list(TABLES[table].names)


def test_the_order_of_insertion_does_not_show(small_study):
    trials = [
        {"arm": arm, "task": f"t{task}", "success": (task + repeat) % 2, "repeat": repeat}
        | {"violations": [{"rule": "r", "detail": detail} for detail in (None, "b", "a")]}
        for arm in "ab"
        for task in range(11)
        for repeat in range(2)
    ]
    reference = small_study(trials, design={"arms": ["a", "b"]})
    for seed in range(3):
        shuffled = [trials[i] for i in np.random.default_rng(seed).permutation(len(trials))]
        again = small_study(shuffled, design={"arms": ["a", "b"]})
        for table in TABLES:
            pd.testing.assert_frame_equal(reference.frame(table), again.frame(table))
    assert reference.frame("violations")["detail"].isna().tolist()[:3] == [False, False, True]


def test_a_frame_is_the_callers_to_change(small_study):
    tables = small_study([{"success": 1}])
    frame = tables.frame("trials")
    frame["arm"] = "changed"
    assert tables.frame("trials").loc[0, "arm"] == "a"


def test_unknown_names_get_hints(small_study):
    tables = small_study([{}])
    with pytest.raises(UnknownNameError, match=r"unknown table 'trails'.*did you mean 'trials'"):
        tables.frame("trails")
    with pytest.raises(UnknownNameError, match="unknown study 'smal'; did you mean 'small'"):
        StudyTables(tables.connection, "smal")


def test_two_studies_in_one_database_stay_apart(small_study):
    one = small_study([{"success": 1}], "one")
    two = small_study([{"success": 0}], "two", beside=one)
    assert study_names(one.connection) == ["one", "two"]
    assert one.frame("measures")["value"].tolist() == [1.0]
    assert two.frame("measures")["value"].tolist() == [0.0]
    assert two.design.id == "two"


def test_an_equal_view_is_equal_and_immutable(small_study):
    tables = small_study([{}])
    tables.frame("trials")
    assert tables == StudyTables(tables.connection, "small")
    with pytest.raises(AttributeError):
        tables.study = "other"


def test_a_database_without_studies_says_so():
    with create() as connection, pytest.raises(UnknownNameError, match="there are none"):
        StudyTables(connection, "any")


def test_a_study_cannot_be_added_twice(small_study):
    tables = small_study([{}])
    with pytest.raises(Exception, match="table studies already holds the row with study 'small'"):
        add_study(tables.connection, tables.design)
    assert add_rows(tables.connection, "claims", []) == 0
