"""What runs spend: stated before, shared by runs at the same time, and never beyond the cap."""

from __future__ import annotations

import json

import pytest

from harness.model_server import KEY, served
from harness.models.running import FREE, PRICES, model, rows, start, steelyard
from steelyard.harness.export import export_run
from steelyard.harness.models.recordings import Recordings


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv("TEST_KEY", KEY)


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
