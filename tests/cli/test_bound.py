"""``steelyard bound``: what it prints where, and that one bad trajectory holds no other up."""

from __future__ import annotations

import json

import pytest

from analysis.stopping_trials import stopping_study, wandering

GATES = {"test_pass_rate": 1, "required_checks_passed": 1, "lint_passed": True}
SCORES = ["--acceptance", "0.9", "--influence", "0.2", "--risk", "0.1", "--cost", "0.2"]
EVALUATE = ["bound", "evaluate", "--action", "a", "--goal", "g", *SCORES]


def trajectory(*steps: dict, name: str = "t") -> dict:
    listed = [{"step_index": index, "signals": step} for index, step in enumerate(steps)]
    return {"task_id": name, "steps": listed, "actual_stop_step": len(steps) - 1}


def test_json_on_standard_output_and_text_on_standard_error(program):
    done = program(*EVALUATE, "--threshold", "0.6")
    assert done.code == 0
    assert done.json["decision"] == "ACCEPT"
    assert "Decision: ACCEPT" in done.err


def test_twice_verbose_says_what_was_compared(program):
    quiet = program(*EVALUATE, "--threshold", "0.6")
    loud = program("bound", "-vv", *EVALUATE[1:], "--threshold", "0.6")
    assert loud.err.startswith("debug: S 0.8")
    assert loud.err.endswith(quiet.err)


def test_options_may_be_shortened_while_they_are_unambiguous(program):
    done = program(*EVALUATE, "--thre=0.6", "--retry-m", "0.3")
    assert done.json["retry_margin"] == 0.3
    ambiguous = program(*EVALUATE, "--threshold", "0.6", "--r", "0.3")
    assert ambiguous.code == 2
    assert not ambiguous.out


@pytest.mark.parametrize(
    "arguments",
    [["--hel"], ["evaluate", "--he"], ["stop", "--h"], ["quality", "--h"], ["replay", "--hel"]],
)
def test_help_may_be_shortened_as_well(program, arguments):
    asked = program("bound", *arguments)
    spelt = program("bound", *arguments[:-1], "--help")
    assert (asked.code, asked.err) == (0, "")
    assert asked.out == spelt.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--action"], "--action: its value is missing"),
        (["--act", "--goal"], "--action: its value is missing, for '--goal' looks like an option"),
        (["--goal", "-\x1b[31m"], r"'-\x1b[31m' looks like an option"),
        (["--lint-passed=true"], "--lint-passed: it takes no value"),
        (["--no-lint=1"], "--no-lint-passed: it takes no value"),
        (["--retry-count", "1.0"], "'1.0' is not a whole number"),
    ],
)
def test_options_without_their_value_are_answered_with_the_usage(program, options, said):
    verb = ["bound", "evaluate-workflow", "--action", "a", "--goal", "g", "--threshold", "0.6"]
    done = program(*verb, "--lint-passed", *options)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: ")
    assert said in done.err


@pytest.mark.parametrize(
    ("options", "influence"),
    [(["-0.5"], -0.5), (["-.5"], -0.5), (["-1e-3"], -0.001), (["-1", "--action", "-x y"], -1.0)],
)
def test_a_negative_number_and_a_text_with_a_blank_are_values(program, options, influence):
    done = program(*EVALUATE, "--threshold", "0.6", "--action=-x", "--influence", *options)
    assert done.json["scores"]["influence"] == influence


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--threshold", "nan"], "BoundCriteria: threshold is nan"),
        (["--threshold", "-1"], "threshold is -1.0"),
        (["--threshold", "0.6", "--weight", "2", "--cost-weight", "2"], "give weights alone"),
        (["--threshold", "0.6", "--risk", "inf"], "EvaluationScores: risk is inf"),
    ],
)
def test_bad_values_are_one_line(program, options, said):
    done = program(*EVALUATE, *options)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_a_workflow_that_reports_no_gate_cannot_be_scored(program):
    done = program(
        "bound", "evaluate-workflow", "--action", "a", "--goal", "g", "--threshold", "0.6"
    )
    assert (done.code, done.out) == (2, "")
    assert "cannot be scored: no evidence of acceptance" in done.err


def test_contract_and_quality(program, tmp_path):
    step = {
        "id": "s",
        "description": "d",
        "goal": "g",
        "acceptance_checks": [{"id": "exit_code_zero", "description": "the program exits with 0"}],
    }
    evidence = {"acceptance": [{"check_id": "exit_code_zero", "passed": True, "source": "run"}]}
    plan = {"goal": "g", "steps": [step]}
    for name, document in {"step": step, "evidence": evidence, "plan": plan}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    files = [tmp_path / "step.json", tmp_path / "evidence.json"]
    decided = program("bound", "contract", *files, "--threshold", "0.9")
    assert decided.json["decision"] == "ACCEPT"
    assert decided.json["provenance"]["acceptance"][0]["source"] == "exit_code_zero"
    judged = program("bound", "quality", tmp_path / "plan.json")
    assert judged.json["aggregate_measurable_ratio"] == 1
    assert "There is no budget." in judged.err
    swapped = program("bound", "contract", *reversed(files), "--threshold", "0.9")
    assert (swapped.code, swapped.out) == (2, "")
    assert "evidence.json: StepContract: id is missing" in swapped.err


def test_one_bad_trajectory_of_a_thousand_is_reported_and_the_others_answered(program, tmp_path):
    lines = [
        json.dumps(trajectory({}, GATES | {"type_check_passed": True}, name=f"t{i}")).replace(
            "{}", json.dumps({"lint_passed": False})
        )
        for i in range(1000)
    ]
    lines[500] = lines[500].replace('"step_index": 1', '"step_index": 0')
    file = tmp_path / "runs.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    done = program("bound", "stop", file, "--threshold", "0.6")
    assert done.code == 1
    assert len(done.json["trajectories"]) == 999
    assert {run["bound_stop_step"] for run in done.json["trajectories"]} == {1}
    assert [fault["name"] for fault in done.json["refused"]] == ["runs.jsonl:501"]
    assert done.err == (
        "steelyard: runs.jsonl:501: steps[1].step_index is 0 after 0; step indexes rise from "
        "state to state\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"task_id": "t", "steps": []}', "steps is empty"),
        ('{"task_id": "t"}', "steps is missing"),
        ('{"task_id": "t", "task_id": "u", "steps": []}', "twice"),
        ('{"task_id": "t", "steps": NaN}', "NaN is not JSON"),
        ("[", "not valid JSON"),
        ("[" * 5000, "deeper"),
    ],
)
def test_bad_trajectory_files(program, tmp_path, text, said):
    file = tmp_path / "run.json"
    file.write_text(text, encoding="utf-8")
    done = program("bound", "stop", file, "--threshold", "0.6")
    assert done.code == 1
    assert done.json["trajectories"] == []
    assert said in done.err


def test_files_that_are_not_there(program, tmp_path):
    assert "no .json file" in program("bound", "quality", tmp_path).err
    gone = program("bound", "quality", tmp_path / "gone.json")
    assert (gone.code, gone.err) == (2, "steelyard: gone.json: there is no such file\n")


class TestReplay:
    @pytest.fixture
    def stopping(self, small_study, tmp_path):
        """A database with one study whose trials have states."""
        tables = stopping_study(small_study, wandering(11, tasks=3, repeats=2))
        file = tmp_path / "stopping.duckdb"
        tables.connection.execute(f"ATTACH '{file}' AS copy")
        tables.connection.execute("COPY FROM DATABASE memory TO copy")
        tables.connection.execute("DETACH copy")
        return file

    @pytest.mark.parametrize(
        ("view", "rows", "column"),
        [
            ("summary", 32, "quantity"),
            ("points", 6, "verdict"),
            ("sweep", 24, "false_stop_rate"),
            ("weights", 21, "stops_moved"),
            ("calibration", 5, "part"),
        ],
    )
    def test_views(self, program, stopping, view, rows, column):
        arguments = ("bound", "replay", "small", "--database", stopping, "--view", view)
        done = program(*arguments, "--json")
        assert done.code == 0, done.err
        assert len(done.json["rows"]) == rows
        assert column in done.json["rows"][0]
        table = program(*arguments)
        assert table.code == 0
        assert max(map(len, table.out.splitlines())) <= 100

    def test_the_policy_is_what_the_options_say(self, program, stopping):
        arguments = ("bound", "replay", "small", "--database", stopping, "--view", "points")
        names = {
            "bound T=0.6": (),
            "bound T=0.5 w_cost=0": ("--threshold", "0.5", "--cost-weight", "0"),
            "bound T=0.6 hard_gates=True consecutive=2": ("--hard-gates", "--consecutive", "2"),
            "bound T=0.6 missing_gates=left_out": ("--missing-gates", "left_out"),
        }
        for name, options in names.items():
            done = program(*arguments, *options, "--json")
            assert {row["policy"] for row in done.json["rows"]} == {name}

    @pytest.mark.parametrize(
        ("options", "said"),
        [
            (("--view", "all"), "accepted: summary, points"),
            (("--threshold", "nan"), "threshold is nan"),
            (("--missing-gates", "maybe"), "missing_gates is 'maybe'"),
            (("--view", "calibration", "--target", "2"), "target is 2.0"),
            (("--task", "t9"), "unknown task 't9'"),
        ],
    )
    def test_bad_input(self, program, stopping, options, said):
        done = program("bound", "replay", "small", "--database", stopping, *options)
        assert (done.code, done.out) == (2, "")
        assert said in done.err
        assert done.err.count("\n") == 1

    def test_a_study_without_signals(self, cli):
        done = cli("bound", "replay", "plumbline_retry")
        assert done.code == 2
        assert "no trial can be replayed" in done.err
