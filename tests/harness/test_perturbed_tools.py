"""Perturbations of tools: faults, timeouts, decoys, another order, results of another type."""

from __future__ import annotations

import pytest

from harness.perturbed import DOMAIN, EXECUTOR, TARGETS, TASK, generator, perturbed, setup_of
from invoice_domains import suite
from steelyard.harness.perturbations import (
    DecoyTools,
    Latency,
    ReorderedTools,
    ToolFault,
    TypeNoise,
)
from steelyard.harness.protocols import TrialSetup, Variant
from steelyard.harness.tools import Toolbox, ToolError
from steelyard.trials.ids import TrialKey


@pytest.mark.parametrize("index", range(3))
def test_each_trial_has_a_fault_of_its_own(index):
    one = ToolFault(TARGETS)
    variant = one.variants(TASK, 3, generator(1))[index]
    for _ in range(5):
        _, setup = setup_of()
        trial = one.perturb(setup, variant)
        EXECUTOR.run(trial.setup)
        assert trial.applied() is True
        assert setup.toolbox.calls[variant.meta["target"]] == 2


def test_a_shared_fault_reaches_one_trial_only():
    one = ToolFault(TARGETS, shared=True)
    variant = one.variants(TASK, 1, generator(1))[0]
    applied = []
    for _ in range(3):
        _, setup = setup_of()
        trial = one.perturb(setup, variant)
        EXECUTOR.run(trial.setup)
        applied.append(trial.applied())
    assert applied == [True, False, False]


def test_a_fault_whose_target_is_never_called_has_not_taken_effect():
    setup, trial = perturbed(ToolFault(["post_audit_log"]))
    setup.call("fetch_invoice", {"invoice_id": TASK.id})
    assert trial.applied() is False


def test_a_fault_after_the_tool_loses_the_answer_and_not_the_effect():
    world, setup = setup_of()
    one = ToolFault(["schedule_payment"], after=True)
    trial = one.perturb(setup, one.variants(TASK, 1, generator(1))[0])
    payment = {"invoice_id": TASK.id, "amount": 4500.0, "vendor_id": "V-101"}
    with pytest.raises(ToolError, match="503"):
        setup.call("schedule_payment", payment)
    assert trial.applied() is True
    assert world.state()["payment_count"] == 1
    setup.call("schedule_payment", payment)
    assert world.state()["payment_count"] == 2


def test_timeouts_say_when_to_try_again_and_end():
    setup, trial = perturbed(Latency(TARGETS, timeouts=[2], retry_after_s=5))
    for _ in range(2):
        with pytest.raises(ToolError, match="retry after 5 s"):
            setup.call("match_purchase_order", {"invoice_id": TASK.id})
    assert setup.call("match_purchase_order", {"invoice_id": TASK.id})["matched"] is True
    assert trial.applied() is True


def test_decoys_stand_after_the_tools_and_do_not_work():
    setup, trial = perturbed(DecoyTools(suite.DECOYS), 2)
    assert trial.applied() is False
    assert len(setup.toolbox.tools) == 11
    assert trial.applied() is True
    with pytest.raises(ToolError, match="not available"):
        setup.call("lookup_tax_code", {"sku": "RC-88"})


def test_the_tools_come_in_another_order_and_are_the_same():
    setup, trial = perturbed(ReorderedTools())
    before = [tool.name for tool in DOMAIN.world(TASK).tools()]
    assert list(setup.toolbox.names) != before
    assert sorted(tool.name for tool in setup.toolbox.tools) == sorted(before)
    assert trial.applied() is True
    setup, trial = perturbed(ReorderedTools())
    assert trial.applied() is False


def test_two_tools_always_change_places():
    world, _ = setup_of()
    for seed in range(20):
        key = TrialKey("arm", TASK.id, "p", "0", 0)
        setup = TrialSetup(key, TASK, Toolbox(world.tools()[:2]))
        ReorderedTools().perturb(setup, Variant(0, {"order_seed": seed}))
        assert setup.toolbox.names == ("match_purchase_order", "fetch_invoice")


@pytest.mark.parametrize(
    ("index", "total", "billed", "matched"),
    [(0, "4500.0", "300", True), (1, 4500, 300.0, True), (2, 4500.0, 300, "true")],
)
def test_values_come_as_another_type_and_mean_the_same(index, total, billed, matched):
    setup, trial = perturbed(TypeNoise(), index)
    assert trial.applied() is False
    invoice = setup.call("fetch_invoice", {"invoice_id": TASK.id})["invoice"]
    match = setup.call("match_purchase_order", {"invoice_id": TASK.id})
    for got, expected in (
        (invoice["total"], total),
        (invoice["qty_billed"], billed),
        (match["matched"], matched),
    ):
        assert (got, type(got)) == (expected, type(expected))
    assert trial.applied() is True


def test_noise_may_be_confined_to_some_tools():
    setup, trial = perturbed(TypeNoise(tools=["match_purchase_order"]))
    setup.call("fetch_invoice", {"invoice_id": TASK.id})
    assert trial.applied() is False
