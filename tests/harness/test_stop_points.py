"""The experiment of stopping policies: its repositories are what they claim, and it repeats."""

from __future__ import annotations

import json
import sys

import pandas as pd
import pytest

from steelyard.harness.study import load_study
from steelyard.harness.tools import ToolError
from steelyard.harness.trial import PlannedTrial, run_trial, seed_of
from steelyard.trials.ids import TrialKey

MEASURED = "execution_time_seconds"
AGAIN = [
    ("scripted_good", "fields", "fewer_tests"),
    ("scripted_hopeless", "stock", "no_type_check"),
]


@pytest.fixture(scope="module")
def study(root):
    return load_study(root / "experiments" / "stop_points")


@pytest.fixture(scope="module")
def parts(study):
    """The experiment's own modules, which `load_study` has made importable."""
    assert study.domain.name == "small repositories"
    from stop_points import repositories, world

    assert "stop_points.repositories" in sys.modules
    return repositories, world


@pytest.fixture
def report(parts):
    """Return what the checks say of versions of a repository's functions."""
    _, world = parts
    opened = []

    def of(repository, versions, tests=None):
        made = world.RepositoryWorld(repository)
        opened.append(made)
        files = repository.files() | {repository.module: repository.source(versions)}
        if tests is not None:
            files[repository.tests] = tests
        made.begin_from(files)
        return made.read_file(repository.module)

    yield of
    for made in opened:
        made.close()


def repositories_of(parts):
    found = parts[0].load_repositories()
    assert len(found) == 10
    return found


def test_right_versions_pass_everything_and_given_ones_do_not(parts, report):
    for repository in repositories_of(parts):
        right = report(repository, dict.fromkeys(repository.functions, "right"))
        assert not right["failed"], repository.id
        assert right["satisfied"], repository.id
        assert right["lint"], repository.id
        assert right["types"], repository.id
        given = report(repository, dict.fromkeys(repository.functions, "given"))
        assert given["failed"], repository.id
        assert not given["satisfied"], repository.id


def test_near_passes_what_is_visible_and_wrong_does_not(parts, report):
    for repository in repositories_of(parts)[::4]:
        right = dict.fromkeys(repository.functions, "right")
        for name in repository.functions:
            near = report(repository, right | {name: "near"})
            assert (near["failed"], near["satisfied"]) == ([], False), (repository.id, name)
            assert report(repository, right | {name: "wrong"})["failed"], (repository.id, name)


def test_a_stale_test_fails_on_right_work(parts, report):
    for repository in repositories_of(parts)[::4]:
        tests = f"{repository.visible}\n\n{repository.stale}"
        right = report(repository, dict.fromkeys(repository.functions, "right"), tests)
        assert len(right["failed"]) == 1, repository.id
        assert right["satisfied"], repository.id


def test_a_module_that_cannot_be_imported_passes_no_test(parts):
    repository = repositories_of(parts)[0]
    made = parts[1].RepositoryWorld(repository)
    try:
        said = made.write_file(repository.module, "def broken(:\n")
        assert (said["passed"], said["hidden_passed"], said["satisfied"]) == (0, 0, False)
        assert said["required"] == 0.0
        assert said["tests"] == len(said["failed"])
        with pytest.raises(ToolError, match="outside of the repository"):
            made.write_file("../x.py", "")
    finally:
        made.close()
    assert not made.root.exists()


@pytest.mark.parametrize("place", AGAIN, ids="/".join)
def test_a_trial_run_again_gives_the_committed_rows(study, tables, place):
    key = TrialKey(*place, "0", 0)
    finished = run_trial(study, PlannedTrial(key, seed_of(study.settings.seed, key)))
    assert (finished.status, finished.error, finished.applied) == ("completed", None, True)
    committed = tables("stop_points")
    rows = {}
    for table in ("steps", "signals", "measures", "states"):
        frame = committed.frame(table)
        rows[table] = frame[frame["trial_id"].eq(key.trial_id)]
    assert len(rows["steps"]) == len(finished.steps) >= 6
    for row, step in zip(rows["steps"].itertuples(), finished.steps, strict=True):
        assert (row.kind, row.name) == step[:2]
        for stored, again in ((row.arguments, step[2]), (row.output, step[3])):
            assert _value(stored) == _value(again)
    for (_, row), signal in zip(rows["signals"].iterrows(), finished.signals, strict=True):
        same = {name: value for name, value in signal.items() if name != MEASURED}
        assert {name: _plain(row[name]) for name in same} == same
        assert row[MEASURED] >= 0
    measured = {row.measure: row.value for row in rows["measures"].itertuples()}
    assert measured == dict(finished.measures)
    assert _value(rows["states"]["state"].iloc[0]) == _value(finished.state)


def _value(text):
    return json.loads(text) if isinstance(text, str) else None


def _plain(cell):
    """Return a cell in Python's own types; a missing one as None."""
    if pd.isna(cell):
        return None
    return cell.item() if hasattr(cell, "item") else cell
