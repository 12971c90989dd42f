"""Experiments are read with file, line and field; their code is found beside them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from steelyard.errors import StudyError, UnknownNameError
from steelyard.harness.entry_points import resolve
from steelyard.harness.study import as_arm, load_study
from steelyard.store.declaration import Declaration


def test_a_study_has_its_parts(toy):
    study = toy(
        arms={
            "steady": {"entry": "toy:steady", "kind": "model", "model_calls": 4},
            "hasty": {"entry": "toy:Impatient", "parameters": {"crash_in": "t1"}},
        },
        tasks=["t2", "t0"],
    )
    assert list(study.tasks) == ["t2", "t0"]
    assert (study.arms["steady"].kind, study.arms["steady"].model_calls) == ("model", 4)
    assert (study.arms["hasty"].kind, study.arms["hasty"].model_calls) == ("cpu", 0)
    assert len(study.digest) == 64
    assert Declaration.from_json(study.declaration.to_json()) == study.declaration


@pytest.mark.parametrize(
    ("change", "error", "says"),
    [
        ({"repeats": 0}, StudyError, r"study\.toml:\d+: run\.repeats: accepted is 1 or more"),
        ({"repeats": 1.5}, StudyError, r"run\.repeats: "),
        ({"seed": -1}, StudyError, r"run\.seed: "),
        ({"tasks": []}, StudyError, r"run\.tasks"),
        ({"tasks": ["t0", "t0"]}, StudyError, "a task is named twice"),
        ({"tasks": ["t9"]}, UnknownNameError, r"unknown task 't9' in toy_study/study\.toml:\d+"),
        ({"domain": {"entry": "toy"}}, StudyError, "module:attribute"),
        ({"domain": {"entry": "toy:Contour"}}, UnknownNameError, "did you mean 'Counter'"),
        ({"domain": {"entry": "nowhere:X"}}, StudyError, r"run\.domain: 'nowhere' cannot be"),
        ({"domain": {"entry": "toy:steady"}}, StudyError, "it lacks tasks, world"),
        (
            {"domain": {"entry": "toy:Counter", "parameters": {"size": 1}}},
            StudyError,
            "unexpected keyword argument 'size'",
        ),
        ({"unknown": 1}, StudyError, r"run\.unknown: unknown key"),
        ({"arms": {"a": {"entry": "toy:steady", "kind": "gpu"}}}, StudyError, r"arms\.a\.kind"),
        (
            {"arms": {"a": {"entry": "toy:steady", "parameters": {"x": 1}}}},
            StudyError,
            "the parameters do not fit",
        ),
        ({"arms": {"a": {"entry": "toy:os.sep"}}}, StudyError, "an arm has run"),
        (
            {"arms": {"a": {"entry": "toy:os.sep", "parameters": {"x": 1}}}},
            StudyError,
            "takes no parameters",
        ),
        ({"perturbations": {"x": {"entry": "toy:steady"}}}, StudyError, "it lacks variants"),
        ({"perturbations": {"no_such": {}}}, UnknownNameError, "steelyard's own"),
        ({"perturbations": {"x": {"entry": "toy"}}}, StudyError, "module:attribute"),
        ({"expected": {"other": 0.5}}, StudyError, "run.expected names"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(toy, change, error, says):
    with pytest.raises(error, match=says):
        toy(**change)


def test_the_arms_of_the_run_are_those_of_the_design(experiment):
    file = experiment() / "study.toml"
    file.write_text(file.read_text().replace('arms = ["steady"]', 'arms = ["steady", "b"]'))
    with pytest.raises(StudyError, match=r"run\.arms lacks \['b'\]"):
        load_study(file.parent)


def test_a_published_study_is_not_run(experiment, root):
    file = experiment() / "study.toml"
    file.write_text(file.read_text().replace('origin = "run"', 'origin = "published"'))
    with pytest.raises(StudyError, match="origin 'run' or 'replay', not 'published'"):
        load_study(file.parent)
    with pytest.raises(StudyError, match=r"there is no \[run\] section"):
        load_study(root / "experiments" / "plumbline_retry")


def test_duplicate_and_impossible_task_ids(experiment):
    folder = experiment()
    with (folder / "toy.py").open("a") as code:
        code.write(
            "\nclass Twice(Counter):\n"
            "    def tasks(self):\n        return [Task('t', ''), Task('t', '')]\n"
            "class Blank(Counter):\n    def tasks(self):\n        return [Task('', '')]\n"
        )
    file = folder / "study.toml"
    text = file.read_text()
    file.write_text(text.replace("toy:Counter", "toy:Twice"))
    with pytest.raises(StudyError, match="two tasks have the id 't'"):
        load_study(folder)
    file.write_text(text.replace("toy:Counter", "toy:Blank"))
    with pytest.raises(StudyError, match="task is empty"):
        load_study(folder)


def test_two_experiments_may_call_their_module_alike(experiment):
    first = experiment(name="first")
    second = experiment(name="second")
    (second / "toy.py").write_text((second / "toy.py").read_text().replace('"counter"', '"other"'))
    assert load_study(first).domain.name == "counter"
    assert load_study(second).domain.name == "other"
    assert load_study(first).domain.name == "counter"


def test_code_shared_by_experiments_stands_beside_them(experiment):
    folder = experiment()
    shared = folder.parent / "shared_domains"
    shared.mkdir()
    shutil.move(folder / "toy.py", shared / "toy_parts.py")
    assert resolve("shared_domains.toy_parts:Counter", folder, "here").name == "counter"
    assert resolve("json:dumps", folder, "here")(1) == "1"


def test_an_arm_is_anything_that_can_be_called():
    assert as_arm("f", print).run is print
    with pytest.raises(StudyError, match="kind is 'gpu'"):
        as_arm("f", type("A", (), {"kind": "gpu", "run": print}))


def test_a_model_source_gets_the_recordings_and_the_mode(toy):
    study = toy(model={"entry": "toy:Models", "parameters": {"price": 2.0}})
    models = study.models(offline=True)
    assert models.recordings == study.folder / "recordings"
    assert (models.offline, models.price) == (True, 2.0)
    assert toy(name="other").models() is None


def test_a_folder_without_a_declaration(tmp_path: Path):
    with pytest.raises(StudyError, match="there is no such file"):
        load_study(tmp_path)
