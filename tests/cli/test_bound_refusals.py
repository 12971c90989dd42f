"""``steelyard bound``: no score that is no number, no file that is not there, no raw escape."""

from __future__ import annotations

import json
import math

import pytest

SCORES = ["--acceptance", "1", "--influence", "1", "--risk", "0", "--cost", "0"]
EVALUATE = ["bound", "evaluate", "--action", "a", "--goal", "g", *SCORES]
ESCAPE = "\x1b[31m"
STEP = {"id": "s", "description": "d", "goal": "g"}
CHECKS = [{"id": "exit_code_zero", "description": "the program exits with 0"}]


def trajectory(**signals: object) -> dict:
    steps = [
        {"step_index": 0, "signals": {"lint_passed": True, "execution_time_seconds": 1}},
        {"step_index": 1, "signals": {"lint_passed": True} | signals},
    ]
    return {"task_id": "t", "steps": steps, "actual_stop_step": 1}


def write(path, document):
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def verbs(tmp_path):
    """A working command of every verb that takes weights."""
    step = write(tmp_path / "step.json", STEP | {"acceptance_checks": CHECKS})
    evidence = write(tmp_path / "evidence.json", {})
    run = write(tmp_path / "run.json", trajectory())
    return {
        "evaluate": EVALUATE,
        "contract": ["bound", "contract", step, evidence],
        "stop": ["bound", "stop", run],
    }


@pytest.mark.parametrize("verb", ["evaluate", "contract", "stop"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--risk-weight", "inf"], "weights.risk is inf; accepted: a finite number"),
        (["--weight", "inf"], "weights.acceptance is inf; accepted: a finite number"),
        (["--acceptance-weight", "1e308", "--influence-weight", "1e308"], "more than any double"),
        (["--cost-weight", "1e308", "--threshold", "1e308"], "more than any double"),
    ],
)
def test_no_score_overflows(program, verbs, verb, options, said):
    assert program(*verbs[verb], "--threshold", "0.6").code == 0
    done = program(*verbs[verb], "--threshold", "0.6", *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_an_infinite_threshold_is_one_that_nothing_reaches(program):
    done = program(*EVALUATE, "--threshold", "inf", "--acceptance-weight", "1e308")
    assert done.code == 0
    document = json.loads(done.out)
    assert (document["threshold"], document["decision"]) == (math.inf, "REPLAN")
    assert math.isfinite(document["score"])


@pytest.mark.parametrize("seconds", ["inf", "1e999", "Infinity"])
def test_an_infinite_number_in_a_file(program, tmp_path, seconds):
    run = write(tmp_path / "run.json", trajectory(execution_time_seconds=seconds))
    done = program("bound", "stop", run, "--threshold", "0")
    assert done.code == 1
    assert done.json["trajectories"] == []
    assert done.json["refused"] == [
        {
            "name": "run.json",
            "error": "AgentTrajectory: steps.1.signals.execution_time_seconds is inf; accepted: a "
            "finite number",
        }
    ]


def test_an_infinite_number_in_the_evidence(program, tmp_path, verbs):
    evidence = write(tmp_path / "evidence.json", {"runtime_seconds": "inf"})
    done = program(*verbs["contract"], "--threshold", "0.6")
    assert (done.code, done.out) == (2, "")
    assert f"{evidence.name}: ExecutionEvidence: runtime_seconds is inf" in done.err


def test_a_trajectory_that_is_not_there(program, tmp_path, verbs):
    for path in (tmp_path / "nope", tmp_path / "nope.jsonl"):
        done = program("bound", "stop", verbs["stop"][-1], path, "--threshold", ".5")
        assert (done.code, done.out) == (2, "")
        assert done.err == f"steelyard: {path.name}: there is no such file\n"


@pytest.mark.parametrize("text", ["", "\n  \n"])
def test_lines_without_a_case(program, tmp_path, verbs, text):
    (tmp_path / "none.jsonl").write_text(text, encoding="utf-8")
    paths = [verbs["stop"][-1], tmp_path / "none.jsonl"]
    done = program("bound", "stop", *paths, "--threshold", ".5")
    assert (done.code, done.out) == (2, "")
    assert done.err == "steelyard: none.jsonl: there is no case in it\n"


@pytest.mark.parametrize("verb", ["stop", "quality"])
def test_a_name_on_the_terminal_is_escaped(program, tmp_path, verb):
    threshold = ["--threshold", "0.5"] if verb == "stop" else []
    gone = program("bound", verb, tmp_path / f"{ESCAPE}gone", *threshold)
    bad = program("bound", verb, write(tmp_path / f"{ESCAPE}\nbad.json", {ESCAPE: 1}), *threshold)
    assert (gone.code, bad.code) == (2, 1 if verb == "stop" else 2)
    for done in (gone, bad):
        assert "\x1b" not in done.out + done.err
        assert done.err.startswith(r"steelyard: \x1b[31m")
        assert done.err.count("\n") == 1
    assert r"\x1b[31m is not a field of it" in bad.err


def test_a_plan_name_on_the_terminal_is_escaped(program, tmp_path):
    plan = {"goal": "g", "steps": [STEP | {"acceptance_checks": CHECKS}]}
    done = program("bound", "quality", write(tmp_path / f"{ESCAPE}\nplan.json", plan))
    assert done.code == 0
    assert "\x1b" not in done.err
    assert done.err.splitlines()[1].startswith(r"\x1b[31m\nplan: 1.000.")
