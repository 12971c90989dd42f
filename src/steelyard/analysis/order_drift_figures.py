"""From the calls of a check to its status, shares and witnesses."""

from __future__ import annotations

import math
from typing import Any

from steelyard.analysis.order_cause import Cause
from steelyard.analysis.order_drift_result import OrderDrift
from steelyard.analysis.order_runs import OrderResults, RunLog
from steelyard.analysis.order_schedule import CheckPlan
from steelyard.evaluators.contract.observations import SEMANTIC, Observations
from steelyard.evaluators.contract.witnesses import witnesses
from steelyard.stats.intervals import clopper_pearson_interval


def summarise(log: RunLog, plan: CheckPlan, confidence: float, cause: Cause | None) -> OrderDrift:
    """Return what a log of calls says.

    Parameters
    ----------
    log : RunLog
        Every order of the design was called, or the evaluator failed.
    plan : CheckPlan
        The design and how it was run.
    confidence : float
        Of the bound and the intervals.
    cause : Cause or None
        None after a failure.
    """
    results = None if log.failure is not None else log.results()
    figures = _failed() if results is None else _figures(log, plan, confidence, results)
    rules = len(log.rule_ids)
    return OrderDrift(
        mode=plan.mode,
        cause="unknown" if cause is None else cause.name,
        policy_id=log.caller.subject.policy.policy_id,
        rule_ids=log.rule_ids,
        seed=plan.seed,
        repeats=plan.repeats,
        confidence=confidence,
        orders_total=math.factorial(rules),
        orders_seen=len({run.order_index for run in log.runs}),
        orders_drawn=len(plan.design.draws),
        evaluator_calls=log.caller.calls,
        work_bytes=log.caller.charged,
        order_p_value=None if cause is None else cause.order_p_value,
        state_p_value=None if cause is None else cause.state_p_value,
        replay_equal=None if cause is None else cause.replay_equal,
        failure=log.failure,
        log=log,
        **figures,
    )


def _failed() -> dict[str, Any]:
    return {
        "status": "INCONCLUSIVE_EVALUATOR_FAILURE",
        "orders_drifting": 0,
        "drift_share": math.nan,
        "drift_low": math.nan,
        "drift_high": math.nan,
        "variance": None,
        "unstable_orders": 0,
        "witnesses": [],
    }


def _figures(
    log: RunLog, plan: CheckPlan, confidence: float, results: OrderResults
) -> dict[str, Any]:
    shares = _exhaustive_share(log, results)
    if plan.mode == "sampled":
        shares = _sampled_share(log, results, confidence)
    unstable = {"unstable_orders": len(results.unstable)}
    if results.unstable:
        status = "INCONCLUSIVE_NONDETERMINISTIC"
        return shares | unstable | {"status": status, "variance": None, "witnesses": []}
    seen = results.observations()
    exhaustive = plan.mode == "exhaustive"
    return {
        **shares,
        **unstable,
        "status": seen.status() if exhaustive else _sampled_status(seen),
        "variance": seen.variance,
        "witnesses": witnesses(seen, all_orders=exhaustive),
    }


def _sampled_status(seen: Observations) -> str:
    if any(seen.variance[name] for name in SEMANTIC):
        return "DRIFT_FOUND"
    return "INCOMPLETE_RULE_COVERAGE" if seen.incomplete else "NO_DRIFT_IN_SAMPLE"


def _exhaustive_share(log: RunLog, results: OrderResults) -> dict[str, Any]:
    total, drifting = len(log.design.orders), len(results.drifting)
    return {
        "orders_drifting": drifting,
        "drift_share": drifting / total,
        "drift_low": (drifting - len(results.unstable)) / total,
        "drift_high": drifting / total,
    }


def _sampled_share(log: RunLog, results: OrderResults, confidence: float) -> dict[str, Any]:
    draws = log.design.draws
    drifting = sum(index in results.drifting for index in draws)
    # Of the two-sided interval at 1 - 2a the upper limit alone holds with 1 - a.
    found = clopper_pearson_interval(drifting, len(draws), 1.0 - 2.0 * (1.0 - confidence))
    return {
        "orders_drifting": drifting,
        "drift_share": found.estimate,
        "drift_low": 0.0,
        "drift_high": found.high,
    }
