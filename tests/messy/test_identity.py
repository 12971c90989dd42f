"""Who is who, in what order, and when: ids, sort orders and times.

Public bug reports of this kind: inspect_ai#3905 and #972 (1 and "1" became one sample),
duckdb#21164 and #7634 (the order of ties), duckdb#14082, #6466 and #18180 (times shifted by the
session's zone), inspect_ai#2316 and #3802 (surrogates).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from made_up import SMALL_COLUMNS, SMALL_STUDY, SMALL_TRIALS
from steelyard.errors import DataError, InputError
from steelyard.store.build import open_database
from steelyard.store.connect import create
from steelyard.store.rows import add_rows
from steelyard.store.schema import TABLES
from steelyard.store.tables import StudyTables

HEADER, *ROWS = SMALL_TRIALS.splitlines(keepends=True)


def trials_of(project):
    with open_database(project) as connection:
        return StudyTables(connection, "small").frame("trials")


def test_leading_zeros_signs_and_case_make_different_tasks(small_project):
    names = ["007", "7", "07", "7.0", "+7", " 7", "A", "a", "1e3", "1000", "TRUE", "NA", "nan"]
    rows = "".join(f"a,{name},baseline,0,0,1\n" for name in names)
    frame = trials_of(small_project(trials=HEADER + rows))
    assert sorted(frame["task"]) == sorted(names)
    assert frame["task"].nunique() == len(names)


def test_a_number_and_a_text_id_in_one_source_are_refused():
    row = {"study": "s", "arm": "a", "perturbation": "baseline", "variant": "0", "repeat": 0}
    with create() as connection:
        loaded = json.loads('[{"task": 1}, {"task": "1"}]')
        with pytest.raises(InputError, match=r"the ids 1 \(a number\) and '1' \(a text\) both"):
            add_rows(
                connection, "trials", [{**row, **task, "status": "completed"} for task in loaded]
            )


def test_a_repeated_trial_is_refused_and_both_rows_are_named(small_project):
    content = HEADER + "".join(ROWS) + "b,t1,baseline,0,0,0\n" + ROWS[1]
    with pytest.raises(
        DataError,
        match=r"data/made_up/trials\.csv:3 and data/made_up/trials\.csv:6 are both trial "
        r"'a/t1/baseline/0/1' of study small",
    ):
        open_database(small_project(trials=content))


def test_a_separator_inside_a_part_cannot_make_two_trials_one(small_project):
    columns = SMALL_COLUMNS
    rows = "a,x/baseline,baseline,0,0,1\n" + "a,x,baseline,baseline/0,0,1\n"
    frame = trials_of(small_project(trials=HEADER + rows, columns=columns))
    assert frame["trial_id"].nunique() == 2


def test_the_order_of_a_files_rows_does_not_matter(small_project):
    rows = [
        f"{arm},t{task},{perturbation},0,{repeat},{(task * repeat) % 2}\n"
        for arm in "ab"
        for task in (1, 2, 10)
        for perturbation in ("baseline", "fault")
        for repeat in range(12)
    ]
    reference = None
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(len(rows))
        project = small_project(trials=HEADER + "".join(rows[i] for i in order))
        with open_database(project) as connection:
            tables = StudyTables(connection, "small")
            frames = {name: tables.frame(name) for name in TABLES}
        if reference is None:
            reference = frames
        for name, frame in frames.items():
            pd.testing.assert_frame_equal(frame, reference[name])
    assert reference["trials"]["task"].tolist()[:2] == ["t1", "t1"]


def test_repeats_sort_as_numbers_within_a_frame(small_study):
    tables = small_study([{"success": 1, "repeat": repeat} for repeat in (10, 9, 2)])
    assert sorted(tables.frame("trials")["repeat"]) == [2, 9, 10]


def test_emoji_and_combining_characters_are_kept_apart(small_study):
    tasks = ["😀", "é", "e\u0301", "\u00a0", "日本"]
    frame = small_study([{"task": task} for task in tasks]).frame("trials")
    assert set(frame["task"]) == set(tasks)
    with pytest.raises(InputError, match="lone surrogate"):
        small_study([{"task": "\ud83d"}])


def test_text_in_steps_survives(small_study):
    arguments = {"a": "\x00", "b": "😀", "c": "e\u0301"}
    steps = small_study([{"steps": [{"name": "x", "arguments": arguments}]}]).frame("steps")
    assert json.loads(steps.loc[0, "arguments"]) == arguments


TIMES = """
import json, sys
from steelyard.store import StudyTables, open_database
tables = StudyTables(open_database(sys.argv[1], rebuild=True), "small")
print(json.dumps([tables.info["created_at"], *tables.frame("covariates")["value"]]))
"""


def test_times_stay_the_text_they_were_in_every_zone(small_project):
    times = ["2025-03-30T01:30Z", "2023-08-16-08:13", "2025-03-30T03:30+02:00"]
    header = HEADER.rstrip("\n") + ",started\n"
    rows = "".join(f"a,t1,baseline,0,{i},1,{time}\n" for i, time in enumerate(times))
    project = small_project(
        trials=header + rows,
        columns=SMALL_COLUMNS
        + '[[files."trials.csv".into]]\ntable = "covariates"\nvalues = { started = "started" }\n',
        study=SMALL_STUDY.replace('"small"', '"small"\ncreated_at = "2025-03-30T01:30Z"', 1),
    )
    for zone in ("UTC", "Australia/Sydney", "America/New_York"):
        done = subprocess.run(
            [sys.executable, "-c", TIMES, str(project)],
            env={**os.environ, "TZ": zone},
            capture_output=True,
            check=True,
        )
        assert json.loads(done.stdout) == ["2025-03-30T01:30Z", *times]
