"""Rows from Python are checked as rows from files are."""

from __future__ import annotations

import numpy as np
import pytest

from steelyard.errors import DataError, InputError, StoreError, UnknownNameError
from steelyard.store.connect import connect, create
from steelyard.store.rows import add_rows


@pytest.fixture
def connection():
    with create() as opened:
        yield opened


def trial(**changes):
    row = {
        "study": "s",
        "arm": "a",
        "task": "t",
        "perturbation": "baseline",
        "variant": "0",
        "repeat": 0,
        "status": "completed",
    }
    return {**row, **changes}


def test_ids_are_composed_and_integers_become_text(connection):
    added = add_rows(connection, "trials", [trial(task=7, variant=1), trial(task="a/b", repeat=3)])
    assert added == 2
    ids = connection.execute("SELECT trial_id FROM trials ORDER BY 1").fetchall()
    assert ids == [("a/7/baseline/1/0",), ("a/a%2Fb/baseline/0/3",)]


def test_json_and_numbers_are_converted(connection):
    add_rows(
        connection,
        "steps",
        [
            {
                "study": "s",
                "trial_id": "x",
                "step_index": i,
                "kind": "k",
                "name": "n",
                "arguments": a,
            }
            for i, a in enumerate([None, {}, {"b": 1, "a": "😀"}])
        ],
    )
    stored = connection.execute("SELECT arguments FROM steps ORDER BY step_index").fetchall()
    assert stored == [(None,), ("{}",), ('{"a":"😀","b":1}',)]
    measure = {"study": "s", "trial_id": "x", "measure": "m", "value": np.int64(1)}
    add_rows(connection, "measures", [measure])
    assert connection.execute("SELECT value FROM measures").fetchall() == [(1.0,)]


@pytest.mark.parametrize(
    ("rows", "error", "said"),
    [
        ([trial(arm=None)], DataError, r"trials\[1\]: arm is missing"),
        ([trial(task=1), trial(task="1")], InputError, r"trials\.task: the ids 1 \(a number\)"),
        ([trial(), trial()], DataError, r"trials\[1\] and trials\[2\] are both the row of trials"),
        ([trial(trial_id="x")], DataError, "trial_id is 'x', but its parts give 'a/t/base"),
        ([trial(status="done")], DataError, r"trials\[1\]: trials\.status is 'done'; accepted"),
        ([trial(status=None)], DataError, r"trials\[1\]: trials\.status is blank"),
        ([trial(seed=1.5)], DataError, r"trials\[1\]\.seed is 1\.5; a BIGINT column"),
        ([trial(seed=True)], DataError, "a BIGINT column does not take that"),
        ([trial(seed=2**63)], DataError, "outside the range of a BIGINT"),
        ([trial(model=3)], DataError, "a TEXT column does not take that"),
        ([trial(cost_usd="1")], DataError, "a DOUBLE column does not take that"),
        ([trial(perturbation_applied=1)], DataError, "a BOOLEAN column does not take that"),
        ([trial(repeat=-1)], InputError, "repeat must be 0 or more"),
        ([trial(outcome=1)], UnknownNameError, "unknown column 'outcome' in table trials"),
    ],
)
def test_a_row_that_does_not_fit_is_refused_and_none_is_written(connection, rows, error, said):
    with pytest.raises(error, match=said):
        add_rows(connection, "trials", [trial(task="good"), *rows])
    assert connection.execute("SELECT count(*) FROM trials").fetchall() == [(0,)]


def test_a_state_without_a_json_form_is_refused(connection):
    with pytest.raises(DataError, match=r"states\[0\]\.state: \$ is nan"):
        add_rows(connection, "states", [{"study": "s", "trial_id": "x", "state": float("nan")}])


def test_a_row_that_is_there_already_is_refused_with_its_key(connection):
    add_rows(connection, "trials", [trial()])
    with pytest.raises(StoreError, match="trials already holds the row with study 's', trial_id"):
        add_rows(connection, "trials", [trial(task="new"), trial()])
    assert connection.execute("SELECT count(*) FROM trials").fetchall() == [(1,)]


def test_tables_without_a_key_take_repeated_rows(connection):
    row = {"study": "s", "trial_id": "x", "rule": "r", "severity": "low"}
    assert add_rows(connection, "violations", [row, row]) == 2


def test_an_unknown_table_and_a_read_only_database(tmp_path):
    create(tmp_path / "x.duckdb").close()
    with connect(tmp_path / "x.duckdb") as connection:
        with pytest.raises(UnknownNameError, match="did you mean 'trials'"):
            add_rows(connection, "trial", [])
        with pytest.raises(StoreError, match=r"table trials cannot take rows: .*read-only"):
            add_rows(connection, "trials", [trial()])
