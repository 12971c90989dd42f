"""The verbs plan, run and replay."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from steelyard.cli.harness import _drawn_on, note
from steelyard.cli.main import app
from steelyard.cli.progress import progress_bar
from steelyard.errors import SteelyardError
from steelyard.harness.progress import Progress

TOY = Path(__file__).parents[1] / "harness" / "toy.py"
STUDY = """\
[study]
id = "toy"
title = "Adding"
question = "Does it add up?"
origin = "run"
source = "made up for a test"
licence = "MIT"
[data]
source = "toy"
[design]
arms = ["steady", "asks"]
perturbations = ["baseline", "fault"]
[measures]
primary = "reached"
[rules.adds]
severity = "high"
[[comparisons]]
name = "asking"
measure = "reached"
reference = "steady"
candidate = "asks"
margin = 0.1
[run]
domain = { entry = "toy:Counter" }
repeats = 2
[run.model]
entry = "toy:Models"
[run.expected]
steady = 0.9
[run.arms.steady]
entry = "toy:steady"
[run.arms.asks]
entry = "toy:asks"
kind = "model"
model_calls = 5
[run.perturbations.baseline]
entry = "toy:Baseline"
[run.perturbations.fault]
entry = "toy:Fault"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An experiment in a project of its own."""
    experiment = tmp_path / "experiments" / "toy"
    experiment.mkdir(parents=True)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "manifest.toml").write_text("[files]\n")
    (experiment / "study.toml").write_text(STUDY)
    (experiment / "toy.py").write_bytes(TOY.read_bytes())
    return experiment


def call(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_plan_says_what_it_costs_and_what_it_can_show(folder):
    shown = call("plan", folder)
    assert shown.exit_code == 0, shown.output
    assert "24 trials, at most 60 model calls of unknown cost" in shown.output
    assert "power" in shown.output
    assert not (folder.parents[1] / "build").exists()
    document = json.loads(call("plan", folder, "--json").output)
    assert (document["trials"], document["model_calls"]) == (24, 60)
    assert document["comparisons"][0]["candidate_rate"] == 0.8
    table = call("plan", folder / "study.toml", "--csv").output.splitlines()
    assert table[0].startswith("arm,kind,trials,")
    assert len(table) == 3


@pytest.mark.parametrize(
    "model",
    [
        'entry = "toy:Modles"',
        'entry = "toys:Models"',
        'entry = "toy:Models"\nparameters = { tempo = 1 }',
    ],
)
def test_a_plan_is_not_made_of_a_model_that_could_not_be_opened(folder, model):
    text = STUDY.replace('entry = "toy:Models"', model)
    (folder / "study.toml").write_text(text)
    shown = call("plan", folder)
    assert isinstance(shown.exception, SteelyardError)
    assert "study.toml:26: run.model" in str(shown.exception)


def test_run_shows_rows_by_arm_and_names_what_is_missing(folder):
    shown = call("run", folder, "--limit", 3)
    assert shown.exit_code == 0, shown.output
    shown = call("run", folder, "--workers", "2")
    assert shown.exit_code == 1
    assert "Resumed." in shown.output
    assert "missing: asks/t1/baseline/0/0: there is no recording" in shown.output
    assert "USD" in shown.output
    assert (folder.parents[1] / "build" / "runs" / "toy.duckdb").exists()
    document = json.loads(CliRunner().invoke(app, ["run", str(folder), "--json"]).stdout)
    assert [row["missing"] for row in document["rows"]] == [4, 0]
    assert len(document["missing"]) == 4


def test_replay_has_a_database_of_its_own(folder):
    shown = call("replay", folder, "--csv")
    assert shown.exit_code == 1
    assert shown.output.splitlines()[0] == "arm,planned,completed,failed,missing,cost_usd"
    assert (folder.parents[1] / "build" / "runs" / "toy.replay.duckdb").exists()


def test_export_writes_evidence_and_lists_it(folder):
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("toy:asks", "toy:steady"))
    shown = call("run", folder, "--export")
    assert shown.exit_code == 0, shown.output
    assert "wrote data/toy/steps.csv.gz" in shown.output
    manifest = (folder.parents[1] / "data" / "manifest.toml").read_text()
    assert '[files."toy/trials.csv"]' in manifest


def test_a_long_list_of_missing_trials_is_cut(folder):
    file = folder / "study.toml"
    file.write_text(file.read_text().replace("repeats = 2", "repeats = 8"))
    shown = call("run", folder)
    assert shown.output.count("missing: asks") == 10
    assert "missing: and 6 more; --json lists all" in shown.output


def test_a_stopped_run_says_how_to_go_on(folder):
    file = folder / "study.toml"
    text = file.read_text()
    file.write_text(text.replace('"toy:asks"', '"toy:asks"\nparameters = { stop_at = "t0" }'))
    shown = call("run", folder, "--executor", "serial")
    assert shown.exit_code == 1
    assert "stopped: the spend cap is reached. " in shown.output
    assert f"`steelyard run {folder}` goes on where it stopped" in shown.output


def test_a_study_by_its_id_and_one_that_is_not_there():
    shown = call("plan", "plumbline_retry")
    assert "there is no [run] section" in str(shown.exception)
    shown = call("plan", "no/such")
    assert str(shown.exception) == "unknown experiment 'such' in no; there are none"
    shown = call("plan", "retry_baselin")
    assert "did you mean 'retry_baseline'?" in str(shown.exception)


def test_outside_of_a_project_the_database_stands_above_experiments(folder):
    (folder.parents[1] / "data" / "manifest.toml").unlink()
    call("run", folder)
    assert (folder.parents[1] / "build" / "runs" / "toy.duckdb").exists()


def test_the_bar_says_rate_cost_and_failures():
    progress = Progress(10, 3, 1, ran=4, without_result=2, cost_usd=0.25, seconds=2.0)
    assert note(progress) == "2.0/s, 0.2500 USD, 1 failed, 2 without a result"
    progress.stopping = "interrupted"
    assert "Ctrl-C again ends at once" in note(progress)
    assert note(Progress()) == "0.0/s, 0 failed"


def test_on_a_terminal_a_bar_is_shown(folder, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    with progress_bar("toy", remaining=True) as bar:
        _drawn_on(bar)(Progress(4, 1, 1, ran=2, seconds=1.0))
    assert "toy" in screen.getvalue()
    assert "2/4" in screen.getvalue()
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar("toy") as bar:
        assert _drawn_on(bar) is None


def test_the_program_itself(folder):
    command = [sys.executable, "-m", "steelyard", "run", folder, "--workers", "0"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (
        2,
        "steelyard: workers is 0; accepted are 1 to 1024\n",
    )
