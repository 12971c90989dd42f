"""The committed study: some of its trials, run again, give the committed results."""

from __future__ import annotations

import csv
import json

import pytest

from harness.handoff.scripted import EXPERIMENT
from steelyard.harness.plan import make_variants, plan_trials
from steelyard.harness.study import load_study
from steelyard.harness.trial import run_trial

DATA = EXPERIMENT.parents[1] / "data" / "handoff"


@pytest.mark.parametrize(
    ("arm", "task"),
    [
        ("follows_injection", "import malicious-embedded-instruction"),
        ("transient_write", "import stale-repository"),
        ("wrong_result_for", "export delegation-result-blocked"),
        ("claims_green", "roundtrip codex-to-claude-code"),
    ],
)
def test_a_trial_run_again_is_the_committed_one(arm, task):
    study = load_study(EXPERIMENT)
    (planned,) = (
        trial
        for trial in plan_trials(study, make_variants(study))
        if (trial.key.arm, trial.key.task) == (arm, task)
    )
    finished = run_trial(study, planned)
    assert finished.status == "completed"
    with (DATA / "states.csv").open(encoding="utf-8", newline="") as stream:
        states = {row["trial_id"]: row["state"] for row in csv.DictReader(stream)}
    assert json.loads(finished.state) == json.loads(states[planned.key.trial_id])
