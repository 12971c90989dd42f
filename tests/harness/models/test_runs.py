"""Whole runs: `steelyard run` through the real libraries, then `steelyard replay` offline."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest

from harness.model_server import KEY, Fault, Reply, counting_mind, served
from harness.models.conftest import KINDS
from harness.models.running import FREE, model, rows, steelyard, tables
from steelyard.errors import StudyError, UnknownNameError
from steelyard.harness.models.recordings import Recordings

FAULTS = (
    Fault(429, {"retry-after": "0"}),
    Fault(500),
    Fault(cut=True),
    Fault(body='{"choices": [{'),
    Fault(503, {}, "<html>busy</html>"),
    Fault(200, {"content-type": "text/html"}, "<html>"),
)

READING = """
from steelyard.harness.arms import PlanExecute
from steelyard.harness.models import ModelInterpreter


def add(ask, target):
    ask("add", number=int(target))
    return "added"


class Reading(PlanExecute):
    def __init__(self):
        super().__init__(add, ModelInterpreter("Answer with a JSON object.", "target"), "target")
"""


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)


@pytest.fixture
def unplugged(monkeypatch):
    """Take the network away from here on, when it is called."""

    def connect(*_):
        raise AssertionError("somebody wants to use the network")

    return lambda: monkeypatch.setattr(socket.socket, "connect", connect)


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

    with served(mind) as server:
        folder = experiment(
            arms={"reading": {"entry": "reading:Reading"}},
            perturbations={"paraphrase": {"entry": "steelyard.harness.models:Paraphrase"}},
            variants=2,
            model=model("openai", server),
        )
        (folder / "reading.py").write_text(READING)
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
