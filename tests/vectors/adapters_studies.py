"""Adapter of whole studies to Plumbline's vectors: executors, the suite, the certificate.

The studies run here one trial after the other, as the vectors' did (one worker), because a fault
that all trials of a variant share fires in the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from invoice_domains import procure_to_pay, procure_to_pay_arms, suite
from steelyard.analysis.published_certificate import PublishedCertificate, published_certificate
from steelyard.evaluators.invariants import Policy
from steelyard.harness.perturbations.published import published_variants
from steelyard.harness.protocols import Perturbation, Task, TrialSetup, Variant
from steelyard.harness.tools import Toolbox
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Trial
from vectors.adapters_arms import RETRIES
from vectors.adapters_domains import DOMAINS
from vectors.adapters_perturbations import perturbation
from vectors.adapters_trajectories import share, shares

SHARED = {"shared_per_variant": True, "per_trial": False}
DOMAIN = DOMAINS["ap"]
POLICY = Policy(procure_to_pay.RULES, compatibility="plumbline")


def suite_of(case: Mapping[str, Any]) -> list[Perturbation]:
    given = {
        "tool_fault": {"shared": SHARED[case["fault_state"]]},
        "paraphrase": {"templates": suite.PROCURE_TO_PAY_PARAPHRASES},
    }
    return [perturbation(name, **given.get(name, {})) for name in case["suite"]]


def conditions(case: Mapping[str, Any]) -> Iterator[tuple[Task, Perturbation, Variant]]:
    suite = suite_of(case)
    for task in DOMAIN.tasks():
        drawn = published_variants(suite, task, case["variants"], case["seed"])
        for one in suite:
            for variant in drawn[one.name]:
                yield task, one, variant


def run(key: TrialKey, task: Task, one: Perturbation, variant: Variant) -> Trial:
    world = DOMAIN.world(task)
    trial = one.perturb(TrialSetup(key, task, Toolbox(world.tools())), variant)
    procure_to_pay_arms.Executor(RETRIES[key.arm], "plumbline").run(trial.setup)
    return Trial(key, steps=trial.setup.toolbox.steps, state=world.ledger(task.id))


def run_arms(case: Mapping[str, Any]) -> dict[str, list[Trial]]:
    """Run the arms one after the other on the very same conditions."""
    planned = list(conditions(case))
    trials: dict[str, list[Trial]] = {}
    for arm in case["arms"]:
        trials[arm] = [
            run(TrialKey(arm, task.id, one.name, str(variant.index), repeat), task, one, variant)
            for task, one, variant in planned
            for repeat in range(case["trials"])
        ]
    return trials


def certificate(trials: Sequence[Trial]) -> PublishedCertificate:
    ordered = sorted(trials, key=lambda trial: trial.key.trial_id)
    return published_certificate(
        ordered,
        POLICY,
        procure_to_pay.CONTEXTS,
        procure_to_pay.ARGUMENT_SCHEMAS,
        procure_to_pay.EXPECTED_STATES,
    )


def per_perturbation(name: str, trials: Sequence[Trial]) -> dict[str, int]:
    chosen = [trial for trial in trials if trial.key.perturbation == name]
    result = certificate(chosen)
    return {
        "n": result.conformance.scored,
        "outcome_ok": result.outcome.successes,
        "critical_ok": shares(result.conformance.by_perturbation)[name]["successes"],
        "trials_with_failed_step": sum(any(s.failed for s in trial.steps) for trial in chosen),
    }


def arm_result(case: Mapping[str, Any], trials: Sequence[Trial]) -> dict[str, Any]:
    result = certificate(trials)
    return {
        "per_perturbation": {name: per_perturbation(name, trials) for name in case["suite"]},
        "certified_bound": result.bound,
        "grade": result.grade,
        "outcome": share(result.outcome),
        "critical": share(result.conformance.critical),
        "overall": share(result.conformance.overall),
        "structural": share(result.consistency.structural),
        "argument": share(result.consistency.argument),
        "n_runs": result.conformance.scored,
    }


def study(case: Mapping[str, Any]) -> dict[str, Any]:
    return {arm: arm_result(case, trials) for arm, trials in run_arms(case).items()}


ADAPTERS: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("plumbline", "run_study"): study,
}
