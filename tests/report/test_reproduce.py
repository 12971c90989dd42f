import gzip
import io
import pickle
import random
import shutil
from dataclasses import replace

import pytest

from steelyard.errors import ManifestError, StoreError, StudyError, UnknownNameError
from steelyard.report import worker
from steelyard.report.compute import Interpreters, compute_study
from steelyard.report.reproduce import reproduce
from steelyard.store.manifest import write_manifest

STUDY = "tau_bench_airline"


@pytest.fixture
def project(root, tmp_path):
    """A project with one committed study, small enough to be reproduced many times."""
    copy = tmp_path / "project"
    shutil.copytree(root / "experiments" / STUDY, copy / "experiments" / STUDY)
    shutil.copytree(root / "data" / STUDY, copy / "data" / STUDY)
    write_manifest(copy / "data")
    return copy


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8", newline="\n")


def test_writes_everything_once(project):
    steps = []
    first = reproduce(project, progress=steps.append)
    assert first.ok
    assert first.failures() == []
    assert first.to_frame()["study"].tolist() == [STUDY]
    assert first.studies[0].reproduced == len(first.studies[0].pins)
    written = contents(project / "reports")
    assert set(first.written) == set(written)
    assert {"index.html", f"{STUDY}/report.md", f"{STUDY}/tables/pins.csv"} <= set(written)
    assert len(steps) == 3
    second = reproduce(project)
    assert second.written == ()
    assert contents(project / "reports") == written


def test_removes_what_is_stale_and_leaves_what_is_not_ours(project):
    reproduce(project)
    folder = project / "reports" / STUDY
    (folder / "figures" / "old.svg").write_text("old")
    (folder / "notes.txt").write_text("mine")
    assert reproduce(project).written == (f"{STUDY}/figures/old.svg",)
    assert not (folder / "figures" / "old.svg").exists()
    assert (folder / "notes.txt").read_text() == "mine"


def test_the_order_of_rows_in_a_file_changes_no_byte(project):
    reproduce(project)
    before = contents(project / "reports")
    path = project / "data" / STUDY / "trials.csv.gz"
    head, *rows = gzip.decompress(path.read_bytes()).decode().splitlines(keepends=True)
    random.Random(7).shuffle(rows)  # noqa: S311
    path.write_bytes(gzip.compress("".join([head, *rows]).encode(), mtime=0))
    write_manifest(project / "data")
    reproduce(project)
    assert contents(project / "reports") == before


@pytest.fixture
def two(project):
    """The project with a second study of the same data, which has no prose."""
    shutil.copytree(project / "experiments" / STUDY, project / "experiments" / "second")
    study = project / "experiments" / "second" / "study.toml"
    edit(study, f'id = "{STUDY}"', 'id = "second"')
    edit(study, f'source = "{STUDY}"', 'source = "second"')
    edit(project / "experiments" / "second" / "pins.toml", f'study = "{STUDY}"', 'study = "second"')
    (project / "experiments" / "second" / "report.md.j2").unlink()
    shutil.copytree(project / "data" / STUDY, project / "data" / "second")
    write_manifest(project / "data")
    return project


def test_some_studies_leave_the_page_over_all_alone(two):
    assert "index.html" not in reproduce(two, [STUDY]).written
    result = reproduce(two)
    assert "index.html" in result.written
    assert [study.study for study in result.studies] == ["second", STUDY]
    assert result.studies[0].to_row() == {
        "study": "second",
        "reproduced": result.studies[1].reproduced,
        "disputed": 0,
        "not_determinable": 0,
        "failed": 0,
    }


def test_a_pin_that_fails_is_counted_and_shown(project):
    edit(project / "experiments" / STUDY / "pins.toml", "value = 0.273", "value = 0.274")
    result = reproduce(project)
    assert not result.ok
    ((study, pin),) = result.failures()
    assert (study, pin.id) == (STUDY, "tau.pass_hat_2")
    text = (project / "reports" / STUDY / "report.md").read_text(encoding="utf-8")
    assert "### Failed" in text
    assert "tau.pass_hat_2" in text


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", r"pins\.toml is absent; 14 published numbers need a pin"),
        (
            '"tau.pass_hat_2"',
            '"tau.pass_hat_22"',
            "number of the study: tau.pass_hat_22; published, but .*: tau.pass_hat_2$",
        ),
        ("value = 0.273", 'value = "0.273"', "accepted is a number"),
        ("value = 0.273", "value = nan", "finite number"),
        ("tolerance = ", "tolerance = inf # ", "finite number"),
    ],
)
def test_every_published_number_needs_a_pin_that_can_fail(project, old, new, message):
    path = project / "experiments" / STUDY / "pins.toml"
    if old:
        edit(path, old, new)
    else:
        path.unlink()
    with pytest.raises(StudyError, match=message):
        reproduce(project, write_reports=False)


def test_without_reports_nothing_is_written(project):
    result = reproduce(project, write_reports=False)
    assert result.ok
    assert not (project / "reports").exists()


@pytest.mark.parametrize("fault", ["study", "data", "pins", "template", "page"])
def test_bad_input_writes_nothing(project, fault):
    experiment = project / "experiments" / STUDY
    studies = None
    if fault == "study":
        studies, expected = ["tau_bench"], (UnknownNameError, "did you mean 'tau_bench_airline'")
    elif fault == "data":
        path = project / "data" / STUDY / "published.csv"
        path.write_bytes(path.read_bytes() + b"\n")
        expected = (ManifestError, r"published\.csv")
    elif fault == "pins":
        edit(experiment / "pins.toml", f'study = "{STUDY}"', 'study = "other"')
        expected = (StudyError, "study is 'other'; the folder says 'tau_bench_airline'")
    elif fault == "template":
        edit(experiment / "report.md.j2", "{{ fraction(all) }}", "{{ fractoin(all) }}")
        expected = (StudyError, "'fractoin' is undefined")
    else:
        (project / "experiments" / "page.toml").write_text("titel = 'x'\n")
        expected = (StudyError, r"experiments/page\.toml")
    with pytest.raises(expected[0], match=expected[1]):
        reproduce(project, studies)
    assert not (project / "reports").exists()


def test_a_file_where_the_reports_belong(project):
    (project / "reports").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        reproduce(project)


def test_one_process_or_two_write_the_same(two):
    one = reproduce(two, processes=1)
    assert len(one.written) > 10
    assert reproduce(two, processes=2) == replace(one, written=())


def test_a_fault_in_another_process_is_raised_as_it_is(two):
    edit(two / "experiments" / STUDY / "pins.toml", f'study = "{STUDY}"', 'study = "other"')
    with pytest.raises(StudyError, match="study is 'other'; the folder says"):
        reproduce(two, processes=2)
    assert not (two / "reports").exists()


def test_a_machine_that_starts_no_process_still_computes(two, monkeypatch):
    def refuse(*_, **__):
        raise OSError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("subprocess.Popen", refuse)
    assert reproduce(two, processes=2, write_reports=False).ok


def test_the_worker_answers_every_line(project, capfdbinary, monkeypatch):
    reproduce(project, write_reports=False)
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{STUDY}\nnobody\n{STUDY}\n"))
    worker.main(str(project), "pins")
    out, err = capfdbinary.readouterr()
    answers = io.BytesIO(out)
    first, nothing, again = (pickle.load(answers) for _ in range(3))  # noqa: S301
    assert answers.read() == b""
    assert first == again == compute_study(project, STUDY, reports=False)
    assert nothing is None
    assert b"unknown study 'nobody'" in err


def test_an_interpreter_that_dies_is_replaced_by_this_one(two, monkeypatch):
    start = Interpreters._start

    def die(self):
        process = start(self)
        process.kill()
        process.wait()
        return process

    monkeypatch.setattr(Interpreters, "_start", die)
    assert reproduce(two, processes=2, write_reports=False).ok
