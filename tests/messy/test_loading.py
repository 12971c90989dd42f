"""Files as they come: other locales, Windows line ends, cut in the middle, not files at all.

Public bug reports of this kind: huggingface/datasets#8648, treebeardtech/nbmake#121,
vamseeachanta/digitalmodel#1626 (locale encodings and CRLF), allenai/olmo-eval#338 (a repeated
trial raised a rate above 1), and the skipped tests that Auto-GPT-Benchmarks counts as failures.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys

import pytest

from made_up import SMALL_COLUMNS, SMALL_STUDY, SMALL_TRIALS
from steelyard.errors import DataError, ManifestError, SteelyardError
from steelyard.store.build import build_database, open_database
from steelyard.store.tables import StudyTables

EMOJI = SMALL_TRIALS.replace("t1", "réunion 😀")

SHOW = """
import json, sys
from steelyard.store import StudyTables, open_database
frame = StudyTables(open_database(sys.argv[1], rebuild=True), "small").frame("trials")
print(json.dumps(frame[["trial_id", "task"]].to_dict("list")))
"""


def shown(project, **environment):
    done = subprocess.run(
        [sys.executable, "-c", SHOW, str(project)],
        env={**os.environ, **environment},
        capture_output=True,
        check=True,
    )
    return json.loads(done.stdout)


def test_bom_crlf_and_emoji_give_one_table_under_every_locale(small_project):
    expected = shown(small_project(trials=EMOJI))
    assert expected["task"] == ["réunion 😀"] * 3
    windows = b"\xef\xbb\xbf" + EMOJI.replace("\n", "\r\n").encode()
    project = small_project(trials=windows)
    for locale in ("C", "POSIX", "de_DE.ISO-8859-1"):
        assert shown(project, PYTHONUTF8="0", LC_ALL=locale, LANG=locale) == expected


@pytest.mark.parametrize("packed", [False, True], ids=["csv", "gzip"])
def test_a_file_cut_anywhere_inside_a_row_is_refused(small_project, packed):
    columns = SMALL_COLUMNS.replace("trials.csv", "trials.csv.gz") if packed else SMALL_COLUMNS
    whole = gzip.compress(SMALL_TRIALS.encode(), mtime=0) if packed else SMALL_TRIALS.encode()
    row_ends = {i + 1 for i, byte in enumerate(whole) if byte == ord("\n")}
    for length in range(0, len(whole), 3):
        if not packed and length in row_ends:
            continue  # whole rows: only the manifest can know that more followed
        content = {"trials.csv.gz": whole[:length]} if packed else {}
        project = small_project(
            trials="a\n" if packed else whole[:length], columns=columns, files=content
        )
        with pytest.raises(DataError, match=r"trials\.csv"):
            build_database(project)
        assert not list((project / "build").iterdir())


def test_whole_rows_that_are_gone_are_the_manifests_business(small_project):
    project = small_project()
    small_project(trials="".join(SMALL_TRIALS.splitlines(keepends=True)[:-1]), manifest=False)
    with pytest.raises(ManifestError, match="changed: expected SHA-256"):
        open_database(project)


@pytest.mark.parametrize(
    "trials",
    [
        SMALL_TRIALS.replace("arm,task", "arm,arm"),
        SMALL_TRIALS.replace("success\n", "success,extra\n", 1),
        SMALL_TRIALS.replace("success\n", "\n", 1),
        SMALL_TRIALS.replace(",0,0,1\n", ",0,0\n", 1),
        SMALL_TRIALS + "a,t1,baseline,0,0,1\n",
        SMALL_TRIALS.replace("0,0,1\n", "0,0,one\n", 1),
        SMALL_TRIALS.replace("fault", "fauIt"),
        SMALL_TRIALS.replace("a,t1", "a,\x07t1", 1),
        SMALL_TRIALS.encode("utf-16"),
        "",
        "{}\n",
    ],
    ids=[
        "duplicate header",
        "unknown column",
        "unnamed column",
        "ragged row",
        "duplicate trial",
        "text in a number",
        "undeclared perturbation",
        "control character",
        "utf-16",
        "empty",
        "not csv",
    ],
)
def test_a_broken_file_writes_nothing_and_keeps_the_earlier_database(small_project, trials):
    project = small_project()
    build_database(project)
    before = (project / "build" / "steelyard.duckdb").read_bytes()
    small_project(trials=trials)
    with pytest.raises(SteelyardError, match=r"^data/made_up/trials\.csv"):
        open_database(project)
    assert (project / "build" / "steelyard.duckdb").read_bytes() == before
    assert len(list((project / "build").iterdir())) == 1


def test_a_directory_where_a_file_is_expected(small_project):
    project = small_project(trials="x\n")
    (project / "data" / "made_up" / "trials.csv").unlink()
    (project / "data" / "made_up" / "trials.csv").mkdir()
    with pytest.raises(SteelyardError, match="a directory stands where a file is expected"):
        build_database(project)


def test_messages_hold_no_path_of_this_machine(small_project):
    for change in ({"trials": "a\n"}, {"columns": "x = 1"}, {"study": "x = 1"}):
        project = small_project(**change)
        with pytest.raises(SteelyardError) as caught:
            build_database(project)
        assert str(project) not in str(caught.value)


def test_every_study_states_what_it_does_with_trials_without_a_result(tables):
    """The loader keeps success = false of tests that never ran apart from failures."""
    loaded = tables("autogpt_benchmarks")
    assert loaded.design.missing.policy == "exclude"
    assert loaded.design.missing.reason
    statuses = loaded.frame("trials")["status"].value_counts()
    assert statuses["missing"] > 2 * statuses["completed"]


def test_a_graded_reward_is_kept_as_it_is(small_project):
    rows = "".join(f"a,t1,baseline,0,{i},{v}\n" for i, v in enumerate([".5", ".5", "1.0", "0.0"]))
    project = small_project(
        trials=SMALL_TRIALS.splitlines(keepends=True)[0] + rows, study=SMALL_STUDY
    )
    with open_database(project) as connection:
        values = StudyTables(connection, "small").frame("measures")["value"]
        assert values.tolist() == [0.5, 0.5, 1.0, 0.0]
