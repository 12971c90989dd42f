"""The simulated agent: right without slips, wrong in the declared way with them, reproducible."""

from __future__ import annotations

import pytest

from invoice_domains import procure_to_pay_domain, simulated_agent, suite
from steelyard.errors import InputError
from steelyard.harness.perturbations.faults import Fault
from steelyard.harness.protocols import TrialSetup
from steelyard.harness.tools import Toolbox
from steelyard.trials.ids import TrialKey
from steelyard.trials.model import Trial

DOMAIN = procure_to_pay_domain.ProcureToPay()
TASKS = {task.id: task for task in DOMAIN.tasks()}


def played(arm, task_id, seed=1, prepare=lambda _setup: None):
    task = TASKS[task_id]
    world = DOMAIN.world(task)
    key = TrialKey("simulated", task_id, "baseline", "0", 0)
    setup = TrialSetup(key, task, Toolbox(world.tools()), seed=seed)
    prepare(setup)
    arm.run(setup)
    trial = Trial(key, steps=setup.toolbox.steps)
    broken = {row["rule"] for row in DOMAIN.violations(trial, task)}
    return DOMAIN.measures(trial, world.state(), DOMAIN.truth(task)), broken, setup


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("task_id", TASKS)
def test_without_slips_it_does_every_task_right(task_id, guarded):
    measures, broken, _ = played(simulated_agent.SimulatedArm(guarded=guarded), task_id)
    assert measures["outcome_correct"] == 1.0
    assert broken == set()


@pytest.mark.parametrize(
    ("slip", "task_id", "rule"),
    [
        ("skip_check", "INV-7002", "must_call:check_duplicate"),
        ("overlook", "INV-7003", "must_not_call:schedule_payment"),
        ("wrong_amount", "INV-7002", "arg_equals:schedule_payment.amount"),
        ("skip_approval", "INV-7009", "must_call:request_approval"),
        ("skip_log", "INV-7002", "must_call:post_audit_log"),
    ],
)
def test_each_slip_breaks_its_rule(slip, task_id, rule):
    _, broken, _ = played(simulated_agent.SimulatedArm(**{slip: 1.0}), task_id)
    assert rule in broken


@pytest.mark.parametrize(("give_up", "calls", "correct"), [(0.0, 2, 1.0), (1.0, 1, 0.0)])
def test_a_transient_error_is_retried_unless_it_gives_up(give_up, calls, correct):
    measures, _, setup = played(
        simulated_agent.SimulatedArm(give_up=give_up),
        "INV-7002",
        prepare=lambda setup: Fault(setup, "check_duplicate", "503"),
    )
    assert setup.toolbox.calls["check_duplicate"] == calls
    assert measures["outcome_correct"] == correct


@pytest.mark.parametrize(("rate", "tried"), [(0.0, 0), (1.0, 1)])
def test_a_decoy_is_tried_where_one_is_offered(rate, tried):
    def offer(setup):
        setup.toolbox.add(suite.DECOY_TOOLS.decoys["estimate_freight"])

    arm = simulated_agent.SimulatedArm(try_decoy=rate)
    measures, _, setup = played(arm, "INV-7002", prepare=offer)
    assert setup.toolbox.calls.get("estimate_freight", 0) == tried
    assert measures["outcome_correct"] == 1.0


def test_the_guard_keeps_a_careless_agent_from_paying():
    arm = simulated_agent.SimulatedArm(guarded=True, overlook=1.0)
    measures, broken, _ = played(arm, "INV-7003")
    assert "must_not_call:schedule_payment" not in broken
    assert measures["outcome_correct"] == 0.0


def test_slips_follow_from_the_seed_alone():
    arm = simulated_agent.SimulatedArm(skip_check=0.5, overlook=0.5, skip_log=0.5)

    def path(seed):
        return tuple(step.name for step in played(arm, "INV-7006", seed)[2].toolbox.steps)

    assert [path(seed) for seed in range(20)] == [path(seed) for seed in range(20)]
    assert len({path(seed) for seed in range(20)}) > 3


def test_slips_come_at_their_rate():
    arm = simulated_agent.SimulatedArm(skip_log=0.25)
    logged = [
        "post_audit_log" in played(arm, "INV-7002", seed)[2].toolbox.calls for seed in range(400)
    ]
    # 4 standard deviations of a binomial count of 400 draws
    assert abs(sum(logged) - 300) < 4 * (400 * 0.25 * 0.75) ** 0.5


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan"), "0.5", True])
def test_a_rate_is_a_probability(rate):
    with pytest.raises(InputError, match="overlook"):
        simulated_agent.SimulatedArm(overlook=rate)


def test_an_unknown_rate_names_those_there_are():
    with pytest.raises(InputError, match=r"no rate 'sleepy'; accepted are skip_check"):
        simulated_agent.SimulatedArm(sleepy=0.1)
