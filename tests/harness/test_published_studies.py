"""Plumbline's published studies, run again: with the fault its trials shared, and with one each.

The vectors of the shared fault are tagged as a defect and not replayed with the others. Here they
are, since the redone study has to show what it replaces.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from invoice_domains import procure_to_pay_arms
from steelyard.harness.protocols import TrialSetup
from steelyard.harness.tools import Toolbox
from steelyard.trials.ids import TrialKey
from vectors.adapters_arms import RETRIES
from vectors.adapters_domains import DOMAINS
from vectors.adapters_studies import conditions, study
from vectors.compare import first_difference

VECTORS = Path(__file__).parents[1] / "vectors" / "plumbline" / "e2e_study.json"
CASES = {case["id"]: case for case in json.loads(VECTORS.read_text(encoding="utf-8"))["cases"]}
SHARED = [name for name, case in CASES.items() if case["input"]["fault_state"] != "per_trial"]
PUBLISHED = "study-plan_execute_naive+plan_execute-v4-k2-shared"


@pytest.mark.parametrize("name", SHARED)
def test_the_shared_fault_gives_the_published_figures(name):
    case = CASES[name]
    assert first_difference(case["expected"], study(case["input"]), 1e-9) is None


def faults_fired(case):
    """Return for each arm in how many trials the fault fired, and how many were assigned to it."""
    planned = [row for row in conditions(case) if row[1].name == "tool_fault"]
    counts = {}
    for arm in case["arms"]:
        fired = []
        for task, fault, variant in planned:
            for repeat in range(case["trials"]):
                key = TrialKey(arm, task.id, fault.name, str(variant.index), repeat)
                toolbox = Toolbox(DOMAINS["ap"].world(task).tools())
                trial = fault.perturb(TrialSetup(key, task, toolbox), variant)
                procure_to_pay_arms.Executor(RETRIES[arm]).run(trial.setup)
                fired.append(trial.applied())
        counts[arm] = (sum(fired), len(fired))
    return counts


def test_manipulation_check_of_the_published_and_the_redone_study():
    published = CASES[PUBLISHED]["input"]
    assert faults_fired(published) == {"plan_execute_naive": (32, 64), "plan_execute": (0, 64)}
    redone = {**published, "fault_state": "per_trial"}
    assert faults_fired(redone) == {"plan_execute_naive": (64, 64), "plan_execute": (64, 64)}
