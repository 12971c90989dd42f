"""Whole runs: `steelyard run` through the real libraries, then `steelyard replay` offline."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from harness.model_server import KEY, Fault, Reply, counting_mind, served
from harness.models.conftest import KINDS, base_url
from steelyard.cli.main import app
from steelyard.errors import StudyError, UnknownNameError
from steelyard.harness.export import export_run
from steelyard.harness.models.recordings import Recordings
from steelyard.store.connect import connect

PRICES = {"small": {"input": 1.0, "output": 5.0}}
FAULTS = (
    Fault(429, {"retry-after": "0"}),
    Fault(500),
    Fault(cut=True),
    Fault(body='{"choices": [{'),
    Fault(503, {}, "<html>busy</html>"),
    Fault(200, {"content-type": "text/html"}, "<html>"),
)
FREE = {"free": {"entry": "steelyard.harness.models:ToolAgent", "parameters": {"turns": 6}}}


def model(kind: str, server, **parameters) -> dict:
    settings = {
        "model": "small",
        "base_url": base_url(kind, server),
        "api_key_env": "TEST_KEY",
        "first_wait_seconds": 0.001,
        "prices": PRICES,
        **parameters,
    }
    return {
        "entry": f"steelyard.harness.models:{KINDS[kind].__name__}",
        "parameters": settings,
    }


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)


def steelyard(*arguments) -> tuple[int, str, str]:
    """Run the program in this process; `start` in one of its own."""
    ended = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if ended.exception is not None and not isinstance(ended.exception, SystemExit):
        raise ended.exception
    return ended.exit_code, ended.stdout, ended.stderr


def start(*arguments) -> subprocess.Popen:
    command = [sys.executable, "-m", "steelyard", *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.fixture
def unplugged(monkeypatch):
    """Take the network away from here on, when it is called."""

    def connect(*_):
        raise AssertionError("somebody wants to use the network")

    return lambda: monkeypatch.setattr(socket.socket, "connect", connect)


def database(folder: Path, suffix: str = "") -> Path:
    return folder.parents[1] / "build" / "runs" / f"{folder.name}{suffix}.duckdb"


def tables(folder: Path, suffix: str = "") -> dict[str, bytes]:
    target = folder.parents[1] / f"exported{suffix}"
    return {path.name: path.read_bytes() for path in export_run(database(folder, suffix), target)}


def rows(folder: Path, query: str) -> list[tuple]:
    connection = connect(database(folder))
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("kind", KINDS)
def test_a_replay_without_a_network_gives_the_tables_of_the_run(experiment, unplugged, kind):
    with served() as server:
        folder = experiment(arms=FREE, repeats=2, model=model(kind, server))
        server.faults.extend(FAULTS * 2)
        code, out, errors = steelyard("run", folder)
        assert (code, errors) == (0, "")
        assert f"; {len(server.answers)} answers bought. " in out.replace("\n", " ")
        assert len(server.requests) - len(server.answers) == 2 * len(FAULTS)
        # 3 tasks of 0, 1 and 2 to add, 2 perturbations, 2 repeats: nothing is shared.
        recordings = Recordings(folder / "recordings")
        assert len(recordings) == len(server.answers) == 2 * ((1 + 2 + 2) + (1 + 3 + 3))
        assert sorted(path.name for path in (folder / "recordings").iterdir()) == [
            *(".lock", "responses.txt")
        ]
        asked = len(server.requests)
        assert steelyard("run", folder, "--database", folder / "again.duckdb")[0] == 0
        assert len(server.requests) == asked
    unplugged()
    code, replayed, errors = steelyard("replay", folder)
    assert (code, errors) == (0, "")
    assert tables(folder, ".replay") == tables(folder)
    trial = rows(folder, "SELECT model, tokens_in, tokens_out, cost_usd FROM trials LIMIT 1")[0]
    assert trial[0] == "small-2026"
    assert trial[3] == pytest.approx((trial[1] + 5 * trial[2]) / 1e6)
    held = [path.read_bytes() for path in folder.parents[1].rglob("*") if path.is_file()]
    assert not any(KEY.encode() in content for content in held)
    assert KEY not in out + replayed


def test_trials_without_a_recording_stay_missing_and_are_named(experiment):
    with served() as server:
        folder = experiment(arms=FREE, repeats=2, model=model("openai", server))
        assert steelyard("run", folder)[0] == 0
    file = folder / "recordings" / "responses.txt"
    recordings = Recordings(folder / "recordings")
    header, *lines = file.read_bytes().splitlines(keepends=True)
    lost, hurt = "free/t2/baseline/0/1", "free/t1/fault/0/0"
    kept = []
    for line in lines:
        record = recordings.find(line[9:73].decode())
        if (record["trial"], record["turn"]) == (hurt, 1):
            kept.append(line[:90] + b"!" + line[91:])
        elif record["trial"] != lost:
            kept.append(line)
    file.write_bytes(header + b"".join(kept))
    code, out, errors = steelyard("recordings", folder, "--json")
    assert code == 1
    assert [row["answers"] for row in json.loads(out)["rows"]] == [len(lines) - 3]
    assert errors.startswith("damaged: responses.txt:")
    code, out, _ = steelyard("replay", folder, "--json")
    assert code == 1
    missing = {row["trial_id"]: row["reason"] for row in json.loads(out)["missing"]}
    assert set(missing) == {lost, hurt}
    assert "there is no recording of turn 0" in missing[lost]
    assert "there is no recording of turn 1" in missing[hurt]
    assert "1 recordings are damaged, first responses.txt:" in missing[hurt]
    assert json.loads(out)["rows"][0]["failed"] == 0


def test_a_changed_study_is_told_from_a_lost_recording(experiment):
    with served() as server:
        folder = experiment(arms=FREE, model=model("anthropic", server))
        assert steelyard("run", folder)[0] == 0
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace('"turns" = 6', '"turns" = 6, "system" = "x"'))
    code, _, errors = steelyard("replay", folder, "--database", folder / "changed.duckdb")
    assert code == 1
    assert "there is one of another request: the arm, the model or its settings changed" in errors


def test_executors_and_paraphrases_may_ask_the_model_too(experiment):
    def mind(said):
        if "first" in said.prompt:
            return Reply('{"equivalent": true, "same_subject": true}')
        if said.prompt.startswith("Add up to") and "JSON array" in said.system:
            return Reply(json.dumps([f"Please: {said.prompt}", said.prompt.upper(), "Add."]))
        if "JSON object" in said.system:
            return Reply(f'```json\n{{"target": "{said.prompt.rstrip(".").split()[-1]}"}}\n```')
        return counting_mind(said)

    toy = """
from steelyard.harness.arms import PlanExecute
from steelyard.harness.models import ModelInterpreter


def add(ask, target):
    ask("add", number=int(target))
    return "added"


class Reading(PlanExecute):
    def __init__(self):
        super().__init__(add, ModelInterpreter("Answer with a JSON object.", "target"), "target")
"""
    with served(mind) as server:
        folder = experiment(
            arms={"reading": {"entry": "reading:Reading"}},
            perturbations={"paraphrase": {"entry": "steelyard.harness.models:Paraphrase"}},
            variants=2,
            model=model("openai", server),
        )
        (folder / "reading.py").write_text(toy)
        code, _, errors = steelyard("run", folder)
        assert (code, errors) == (0, "")
    assert rows(folder, "SELECT count(*), sum(value) FROM measures WHERE measure = 'reached'") == [
        (6, 6.0)
    ]
    assert steelyard("replay", folder)[0] == 0
    assert tables(folder, ".replay") == tables(folder)
    (folder / "recordings" / "responses.txt").unlink()
    with pytest.raises(StudyError, match=r"study.toml:\d+: .*variants of task t0 .* no recording"):
        steelyard("replay", folder, "--database", folder / "nothing.duckdb")
    assert not (folder / "nothing.duckdb").exists()


def test_two_runs_at_once_stop_at_the_cap_that_they_share(experiment):
    with served() as server:
        server.delay = 0.01
        # An answer costs some 0.0001 USD; one could cost 0.003.
        shared = {"journal": "../spend.journal", "spend_cap_usd": 0.006, "max_tokens": 200}
        folders = [
            experiment(arms=FREE, repeats=10, name=name, model=model("openai", server, **shared))
            for name in ("one", "two")
        ]
        runs = [start("run", folder) for folder in folders]
        for run in runs:
            _, errors = run.communicate(timeout=200)
            assert run.returncode == 1
            assert "stopped: the spend cap of 0.006 USD leaves too little" in errors
        prices = {"prompt_tokens": 1.0, "completion_tokens": 5.0}
        spent = sum(
            prices[name] * answer["usage"][name] / 1e6
            for answer in server.answers
            for name in prices
        )
        assert 0.002 < spent <= 0.006
        for folder in folders:
            assert rows(folder, "SELECT count(*) FROM trials WHERE status = 'failed'") == [(0,)]


def test_two_runs_of_one_study_at_once_buy_every_answer_once(experiment, tmp_path):
    with served() as server:
        server.delay = 0.02
        folder = experiment(arms=FREE, repeats=4, model=model("openai", server))
        databases = [tmp_path / "one.duckdb", tmp_path / "two.duckdb"]
        runs = [start("run", folder, "--database", database) for database in databases]
        assert [run.communicate(timeout=200) and run.returncode for run in runs] == [0, 0]
        assert len(server.answers) == len(Recordings(folder / "recordings"))
    one, two = (
        [path.read_bytes() for path in export_run(database, tmp_path / database.stem)]
        for database in databases
    )
    assert one == two


def test_a_trial_that_the_provider_refuses_fails_and_replays_as_failed(experiment):
    with served() as server:
        folder = experiment(arms=FREE, model=model("openai", server))
        server.faults.append(Fault(400, {}, '{"error": {"message": "maximum context length"}}'))
        assert steelyard("run", folder, "--workers", "1")[0] == 0
    failed = rows(folder, "SELECT trial_id, error FROM trials WHERE status = 'failed'")
    assert len(failed) == 1
    assert "RequestRefusedError: the provider refused the request: HTTP 400" in failed[0][1]
    assert steelyard("replay", folder)[0] == 0
    assert tables(folder, ".replay") == tables(folder)


def test_the_plan_states_calls_and_what_they_can_cost(experiment):
    perturbations = {
        "baseline": {"entry": "toy:Baseline"},
        "paraphrase": {"entry": "steelyard.harness.models:Paraphrase"},
    }
    settings = {"model": "small", "prices": PRICES, "max_tokens": 100, "max_request_bytes": 9_000}

    def model_of(parameters: dict) -> dict:
        return {"entry": "steelyard.harness.models:Anthropic", "parameters": parameters}

    def plan(name: str, **parameters) -> dict:
        declared = model_of({**settings, **parameters})
        folder = experiment(FREE, perturbations, name=name, variants=3, model=declared)
        return json.loads(steelyard("plan", folder, "--json")[1])

    found = plan("open")
    shown = steelyard("plan", experiment(FREE, name="open2", model=model_of(settings)))[1]
    assert "model calls, whose answers cost at most 0." in " ".join(shown.split())
    calls = 3 * 2 * 3 * 6 + 3 * (1 + 3 + 2)
    assert found["model_calls"] == calls
    each = ((9_000 + 1_000) * 1.25 + 100 * 5.0) / 1e6
    assert found["largest_cost_usd"] == pytest.approx(calls * each)
    assert plan("capped", spend_cap_usd=0.5)["largest_cost_usd"] == 0.5
    assert plan("unknown", prices={})["largest_cost_usd"] is None


def test_recordings_are_counted_and_what_killed_runs_left_is_merged(experiment):
    with served() as server:
        folder = experiment(arms=FREE, model=model("openai", server))
        assert steelyard("run", folder)[0] == 0
    file = folder / "recordings" / "responses.txt"
    whole = file.read_bytes()
    file.rename(file.with_name("part-000000000000.txt"))
    code, out, _ = steelyard("recordings", folder, "--merge", "--csv")
    assert (code, file.read_bytes()) == (0, whole)
    header, row = out.splitlines()
    assert header == "asked_by,trials,answers,refused,tokens_in,tokens_out"
    assert row.startswith("free,6,12,0,")
    with pytest.raises(UnknownNameError, match="unknown experiment"):
        steelyard("recordings", folder.parent)


def test_client_libraries_are_imported_by_the_first_request():
    code = """
import sys
import steelyard.harness.models.source
from steelyard.harness.models import Anthropic, OpenAICompatible
for kind in (Anthropic, OpenAICompatible):
    kind(recordings="nowhere", offline=True, model="m").close()
assert not {"openai", "anthropic", "httpx2", "pandas"} & set(sys.modules), sorted(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
