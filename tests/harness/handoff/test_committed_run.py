"""The committed study: some of its trials, run again, give the committed results."""

from __future__ import annotations

import csv
import gzip
import json

import pytest

from harness.handoff.scripted import EXPERIMENT
from steelyard.harness.plan import make_variants, plan_trials
from steelyard.harness.study import load_study
from steelyard.harness.trial import run_trial

DATA = EXPERIMENT.parents[1] / "data" / "handoff"


@pytest.fixture(scope="module")
def planned():
    study = load_study(EXPERIMENT)
    trials = plan_trials(study, make_variants(study))
    return {(trial.key.arm, trial.key.task, trial.key.repeat): (study, trial) for trial in trials}


@pytest.fixture(scope="module")
def states():
    with (DATA / "states.csv").open(encoding="utf-8", newline="") as stream:
        return {row["trial_id"]: row["state"] for row in csv.DictReader(stream)}


@pytest.fixture(scope="module")
def measures():
    found = {}
    with gzip.open(DATA / "measures.csv.gz", "rt", encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            value = None if row["value"] == "" else float(row["value"])
            found.setdefault(row["trial_id"], []).append((row["measure"], value))
    return found


@pytest.mark.parametrize(
    ("arm", "task"),
    [
        ("faithful_claude_code", "export delegation-request"),
        ("follows_injection", "import malicious-embedded-instruction"),
        ("transient_write", "import stale-repository"),
        ("transient_write", "export ordinary-unfinished"),
        ("wrong_result_for", "export delegation-result-blocked"),
        ("git_write", "export ordinary-unfinished"),
        ("unsafe_bundle", "export ordinary-unfinished"),
        ("cannot_start", "import failed-test"),
        ("claims_green", "roundtrip codex-to-claude-code"),
    ],
)
def test_a_trial_run_again_is_the_committed_one(planned, states, measures, arm, task):
    finished = run_trial(*planned[arm, task, 1])
    assert finished.status == "completed"
    trial_id = finished.key.trial_id
    assert json.loads(finished.state) == json.loads(states[trial_id])
    assert finished.measures == measures[trial_id]


def test_a_blocked_trial_is_missing_and_a_false_excuse_is_not(planned):
    blocked = run_trial(*planned["sandbox_fails", "roundtrip codex-to-codex", 0])
    assert (blocked.status, blocked.error) == ("missing", "the agent's sandbox could not start")
    excused = run_trial(*planned["false_excuse", "export ordinary-unfinished", 0])
    assert excused.status == "completed"
    assert dict(excused.measures)["passed"] == 0.0


def test_every_gate_is_tried_by_a_scripted_fault(measures):
    """A gate that no agent ever fails is not shown to work."""
    failed = {name for rows in measures.values() for name, value in rows if value == 0.0}
    gates = {name for rows in measures.values() for name, _ in rows} - {"passed", "committed"}
    assert gates - failed == set()
