# ruff: noqa: ARG002 - the protocols name the parameters
"""The study's parts as the harness needs them: policies as tasks, evaluators as arms.

A trial is one check of one evaluator on one policy. Every call of the evaluator is a step, so that
the tables hold each order that was run and what came of it.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from order_drift.evaluators import CAUSES, MAKERS, Result, planted_pair
from order_drift.policies import Case, make_cases

from steelyard.analysis.order_drift import OrderDrift, drift_in_sample, drift_over_all_orders
from steelyard.evaluators.contract import check_order, evaluate
from steelyard.harness.protocols import PerturbedTrial, Task, TrialSetup, Variant
from steelyard.harness.tools import Tool
from steelyard.trials.model import Trial

SWAPS_PER_PAIR = 2
"""Orders per pair of rules that a sample tries with the pair exchanged, to attribute drift."""

NO_DRIFT = ("NO_VARIANCE_OBSERVED", "PRESENTATION_ONLY_DRIFT", "NO_DRIFT_IN_SAMPLE")


class Checker:
    """An evaluator under test, as an arm: what is done with it depends on the perturbation.

    Parameters
    ----------
    evaluator : str
        One of `order_drift.evaluators.MAKERS`.
    """

    kind = "cpu"

    def __init__(self, evaluator: str) -> None:
        self.make = MAKERS[evaluator]

    def run(self, setup: TrialSetup) -> None:
        """Check the evaluator, recording each call; the finding is the trial's answer."""
        chance = setup.random()

        def fresh() -> Callable[[Result, Result], Result]:
            return recording(self.make(chance), setup)

        case: Case = setup.task.data["case"]
        setup.final(CHECKS[setup.task.data["schedule"]](case, fresh, setup.seed % 2**31), "report")


def recording(
    evaluator: Callable[[Result, Result], Result], setup: TrialSetup
) -> Callable[[Result, Result], Result]:
    """Let every call of an evaluator be a step: the order asked for, and what came of it."""
    declared = [rule["rule_id"] for rule in setup.task.data["case"].policy["rules"]]

    def call(policy: Result, response: Result) -> Result:
        order = " ".join(rule["rule_id"] for rule in policy["rules"])
        found = evaluator(policy, response)
        rows = {row["rule_id"]: row["passed"] for row in found["rule_results"]}
        marks = "".join(MARKS[rows.get(rule_id)] for rule_id in declared)
        setup.toolbox.record("tool_call", "evaluate", {"order": order}, marks)
        return found

    return call


MARKS = {True: "+", False: "-", None: "."}
"""A rule in a step's output, in declared order: kept, broken, not in the result."""


def declared_order_only(case: Case, fresh: Any, seed: int) -> dict[str, Any]:  # noqa: ARG001
    """Evaluate the declared order three times, as somebody would who trusts the order."""
    evaluator = fresh()
    found = [evaluator(case.policy, case.response) for _ in range(3)]
    stable = all(one == found[0] for one in found)
    return {"status": "STABLE" if stable else "UNSTABLE", "cause": None, "exhaustive": False}


def every_order_in_a_row(case: Case, fresh: Any, seed: int) -> dict[str, Any]:  # noqa: ARG001
    """Try all orders, the three repeats of each one after the other, as the original does."""
    report = check_order(case.policy, case.response, fresh(), on_failure="report")
    return {"status": report["status"], "cause": None, "exhaustive": True}


def every_order(case: Case, fresh: Any, seed: int) -> dict[str, Any]:
    """Try all orders, the repeats interleaved."""
    return finding(drift_over_all_orders(case.policy, case.response, fresh=fresh, seed=seed))


def random_orders(case: Case, fresh: Any, seed: int) -> dict[str, Any]:
    """Try a sample of the orders that is planned for an upper bound of 5 %."""
    found = drift_in_sample(
        case.policy,
        case.response,
        fresh=fresh,
        seed=seed,
        bound=0.05,
        swaps_per_pair=SWAPS_PER_PAIR,
    )
    return finding(found)


CHECKS = {
    "declared": declared_order_only,
    "every_order_in_a_row": every_order_in_a_row,
    "every_order": every_order,
    "random_orders": random_orders,
}


def finding(drift: OrderDrift) -> dict[str, Any]:
    """Return what a check found, as JSON values."""
    pairs = sorted(
        drift.pair_effects(), key=lambda pair: (-_known(pair.swap_share), pair.rule_a, pair.rule_b)
    )
    top = pairs[0] if pairs and _known(pairs[0].swap_share) > 0 else None
    return {
        "status": drift.status,
        "cause": drift.cause,
        "exhaustive": drift.mode == "exhaustive",
        "orders_seen": drift.orders_seen,
        "orders_drawn": drift.orders_drawn,
        "orders_drifting": drift.orders_drifting,
        "share": drift.drift_share,
        "upper_bound": drift.drift_high,
        "pair": None if top is None else sorted([top.rule_a, top.rule_b]),
    }


def _known(share: float) -> float:
    return -1.0 if math.isnan(share) else share


class Orders:
    """The rules are evaluated in other orders than the declared one.

    Parameters
    ----------
    schedule : str
        One of `CHECKS`.
    most_rules : int, optional
        Policies of more rules have no variant: their orders cannot all be tried.
    """

    preserves = "the rules, the response, and which rules the response keeps"

    def __init__(self, schedule: str, most_rules: int | None = None) -> None:
        self.name = self.schedule = schedule
        self.most_rules = most_rules

    def variants(self, task: Task, count: int, random: random.Random) -> list[Variant]:
        """Return ``count`` variants, none where there are too many rules."""
        rules = len(task.data["case"].policy["rules"])
        if self.most_rules is not None and rules > self.most_rules:
            return []
        return [Variant(index, {"schedule": self.schedule}) for index in range(count)]

    def perturb(self, setup: TrialSetup, variant: Variant) -> PerturbedTrial:
        """Say which orders to run; it took effect if another order than the declared one ran."""
        data = {**setup.task.data, "schedule": variant.meta["schedule"]}
        setup.task = replace(setup.task, data=data)
        declared = " ".join(rule["rule_id"] for rule in data["case"].policy["rules"])

        def applied() -> bool | None:
            orders = {
                step.arguments["order"] for step in setup.toolbox.steps if step.name == "evaluate"
            }
            return None if self.schedule == "declared" else bool(orders - {declared})

        return PerturbedTrial(setup, applied)


class Policies:
    """Forty policies, each with one response."""

    name = "order_drift"

    def tasks(self) -> Sequence[Task]:
        """Return one task per policy."""
        return [
            Task(case.case_id, f"{len(case.policy['rules'])} rules", {"case": case})
            for case in _cases()
        ]

    def world(self, task: Task) -> Nothing:
        """Return a world without tools: an evaluator is called, it calls nothing."""
        return Nothing()

    def truth(self, task: Task) -> Mapping[str, Any]:
        """Return the rules that the response breaks, and the pair of the hidden priority."""
        case: Case = task.data["case"]
        rows = evaluate(case.policy, case.response)["rule_results"]
        pair = planted_pair({row["rule_id"]: row for row in rows})
        return {"broken": list(case.broken), "pair": sorted(pair)}

    def measures(
        self, trial: Trial, state: Mapping[str, Any], truth: Mapping[str, Any]
    ) -> Mapping[str, float | None]:
        """Judge a check: did it object, did it name the right cause and the right pair of rules?"""
        report = trial.steps[-1].output
        arm = trial.key.arm
        objected = report["status"] not in (*NO_DRIFT, "STABLE")
        found: dict[str, float | None] = {
            "objected": float(objected),
            "evaluator_calls": float(len(trial.steps) - 1),
        }
        if report["cause"] is not None:
            found["cause_named"] = float(report["cause"] in CAUSES[arm])
            found["called_order"] = float(report["cause"].startswith("order"))
        if "pair" in report and arm == "hidden_priority":
            found["pair_named"] = float(report["pair"] == truth["pair"])
        return found

    def violations(self, trial: Trial, task: Task) -> Sequence[Mapping[str, Any]]:
        """Return none: there is no rule that a check could break."""
        return []


class Nothing:
    """A world in which there is nothing to do."""

    def tools(self) -> Sequence[Tool]:
        """Return no tool."""
        return []

    def state(self) -> Mapping[str, Any]:
        """Return no state."""
        return {}


@cache
def _cases() -> list[Case]:
    return make_cases()
