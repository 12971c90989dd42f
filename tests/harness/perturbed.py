"""Trials of one task under a perturbation, for the tests of perturbations."""

from __future__ import annotations

from random import Random

from invoice_domains import procure_to_pay_arms, procure_to_pay_domain, suite
from steelyard.harness.protocols import TrialSetup, Usage
from steelyard.harness.tools import Toolbox
from steelyard.trials.ids import TrialKey

DOMAIN = procure_to_pay_domain.ProcureToPay()
TASK = DOMAIN.tasks()[0]
TARGETS = suite.FAULT_TARGETS
EXECUTOR = procure_to_pay_arms.Executor(retries=3)
TEMPLATES = ["{invoice_id} of {vendor_name} is in. Process and report, please.", "Invoices!"]


class SilentModel:
    usage = Usage()


def generator(seed):
    return Random(seed)  # noqa: S311 - reproducible, not secret


def setup_of(task=TASK):
    world = DOMAIN.world(task)
    key = TrialKey("arm", task.id, "p", "0", 0)
    return world, TrialSetup(key, task, Toolbox(world.tools()))


def perturbed(one, index=0, count=4):
    _, setup = setup_of()
    variant = one.variants(TASK, count, generator(1))[index]
    return setup, one.perturb(setup, variant)
