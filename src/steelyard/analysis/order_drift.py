"""Whether an evaluator's verdict depends on the order of the rules, how surely, and why.

The exhaustive check of `steelyard.evaluators.contract` answers for up to seven rules. Here the
repeats of the orders are interleaved (see `order_schedule`), so that dependence on the order is
told apart from dependence on the number of the call; drift is attributed to pairs of rules; and
policies of more rules are checked by a sample of their orders, with an exact bound.
"""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from steelyard.analysis.order_cause import find_cause
from steelyard.analysis.order_drift_figures import summarise
from steelyard.analysis.order_drift_result import OrderDrift
from steelyard.analysis.order_runs import OrderResults, RunLog
from steelyard.analysis.order_schedule import (
    CheckPlan,
    exhaustive_design,
    sampled_design,
    shuffled_places,
)
from steelyard.errors import InputError
from steelyard.evaluators.contract.calls import Evaluator, Subject, admit
from steelyard.evaluators.contract.observations import Order
from steelyard.evaluators.contract.order_check import MOST_RULES
from steelyard.evaluators.contract.witnesses import swap_path
from steelyard.stats.checks import (
    LARGEST_EXACT_COUNT,
    check_count,
    check_open_unit,
    check_positive_count,
)

DEFAULT_BOUND = 0.05
"""Bound that a sample is planned for when neither its size nor a bound is given."""

__all__ = ["OrderDrift", "drift_in_sample", "drift_over_all_orders", "planned_sample"]

Fresh = Callable[[], Evaluator]


def planned_sample(bound: float, confidence: float = 0.95) -> int:
    """Return the smallest sample that, without a drifting order in it, has the bound.

    Parameters
    ----------
    bound : float
        On the share of orders that drift, strictly between 0 and 1.
    confidence : float, default 0.95
        One-sided.

    Returns
    -------
    int
        The least N with 1 - (1 - confidence)^(1/N) <= bound.

    Raises
    ------
    InputError
        For a bound or confidence out of its range, or a bound so small that the sample would not
        be a count.

    Examples
    --------
    >>> planned_sample(0.05), planned_sample(0.01), planned_sample(0.001)
    (59, 299, 2995)
    """
    share = check_open_unit("bound", bound)
    log_alpha = math.log1p(-check_open_unit("confidence", confidence))
    quotient = log_alpha / math.log1p(-share)
    if quotient > LARGEST_EXACT_COUNT:
        least = -math.expm1(log_alpha / LARGEST_EXACT_COUNT)
        raise InputError(
            f"bound is {bound}; no sample shows that little; accepted are {least:.1e} and above"
        )
    size = max(1, math.floor(quotient))
    while -math.expm1(log_alpha / size) > share:  # the quotient may be a rounding too small
        size += 1
    return size


def drift_over_all_orders(
    policy: Any,
    response: Any,
    evaluator: Evaluator | None = None,
    *,
    seed: int = 0,
    repeats: int = 3,
    fresh: Fresh | None = None,
    confidence: float = 0.95,
) -> OrderDrift:
    """Evaluate every order of two to seven rules, with the repeats interleaved.

    Parameters
    ----------
    policy : dict or Policy
        Two to seven rules.
    response : dict
        The response.
    evaluator : callable, optional
        The hook (see `steelyard.evaluators.contract.Evaluator`); the built-in evaluator by default.
    seed : int, default 0
        Of the schedule.
    repeats : int, default 3
        Calls per order, 2 or more.
    fresh : callable, optional
        Makes an evaluator with new state. Used in place of ``evaluator`` if that is not given, and
        for a replay if results turn out unstable.
    confidence : float, default 0.95
        Of the tests that name the cause.

    Returns
    -------
    OrderDrift

    Raises
    ------
    OrderCheckError, OrderCheckTooLargeError
        As `check_order`; an evaluator that fails gives a status instead.
    """
    hint = "; with more, draw a sample of the orders"
    subject = admit(policy, response, MOST_RULES, hint)
    plan = CheckPlan("exhaustive", exhaustive_design(len(subject.policy.rules)), seed, repeats)
    return _run(subject, plan, evaluator, fresh, confidence)


def drift_in_sample(
    policy: Any,
    response: Any,
    evaluator: Evaluator | None = None,
    *,
    sample: int | None = None,
    bound: float | None = None,
    seed: int = 0,
    repeats: int = 3,
    fresh: Fresh | None = None,
    confidence: float = 0.95,
    swaps_per_pair: int = 0,
) -> OrderDrift:
    """Evaluate a random sample of the orders of any number of rules, and a few designed orders.

    Parameters
    ----------
    policy, response, evaluator, seed, repeats, fresh
        As in `drift_over_all_orders`; two rules or more.
    sample : int, optional
        Random orders.
    bound : float, optional
        Plan the sample for this bound (see `planned_sample`) instead; default `DEFAULT_BOUND`.
    confidence : float, default 0.95
        Of the bound and the intervals; above 0.5.
    swaps_per_pair : int, default 0
        Random orders per pair of rules that are evaluated with the pair exchanged as well, to
        attribute drift.

    Returns
    -------
    OrderDrift
        Its bound holds for the share of drifting orders among all n!, whatever n is. The declared
        order, the reversed one and the swaps of neighbours are evaluated too, but do not enter it.

    Raises
    ------
    OrderCheckError, OrderCheckTooLargeError
        If the check is impossible, or its work exceeds the budget.
    """
    if sample is not None and bound is not None:
        raise InputError("give the size of the sample or the bound to plan it for, not both")
    if check_open_unit("confidence", confidence) <= 0.5:
        raise InputError(f"confidence is {confidence}; a one-sided bound needs more than 0.5")
    if sample is None:
        sample = planned_sample(DEFAULT_BOUND if bound is None else bound, confidence)
    size = check_positive_count("sample", sample)
    swaps = check_count("swaps_per_pair", swaps_per_pair)
    subject = admit(policy, response)
    count = len(subject.policy.rules)
    # Before the orders are drawn: a sample of billions would not fit into memory.
    subject.check_work(size)
    subject.check_work(swaps * count * (count - 1))
    plan = CheckPlan(
        "sampled", sampled_design(count, size, swaps, check_count("seed", seed)), seed, repeats
    )
    return _run(subject, plan, evaluator, fresh, confidence)


def _run(
    subject: Subject,
    plan: CheckPlan,
    evaluator: Evaluator | None,
    fresh: Fresh | None,
    confidence: float,
) -> OrderDrift:
    check_open_unit("confidence", confidence)
    if evaluator is None and fresh is not None:
        evaluator = fresh()
    order_count = len(plan.design.orders)
    subject.check_work(order_count * plan.repeats + 1)  # before the schedule takes memory
    schedule = shuffled_places(order_count, plan.repeats, plan.seed)
    schedule.append(0)  # the declared order once more, after everything else
    log = RunLog(subject, evaluator, plan.design)
    if not log.run(schedule):
        return summarise(log, plan, confidence, None)
    results = log.results()
    replayed = log.repeats(fresh, schedule) if fresh is not None and results.unstable else None
    labels, calls = results.labels(order_count, plan.repeats)
    cause = find_cause(
        labels,
        calls,
        unstable=bool(results.unstable),
        replay_equal=replayed,
        alpha=1.0 - confidence,
        seed=plan.seed,
    )
    if plan.mode == "sampled" and results.drifting and not results.unstable:
        _close_in(log, results, plan.repeats)
        if log.failure is None and log.results().unstable:  # only now, after the schedule
            cause = replace(cause, name="order_and_unstable")
    return summarise(log, plan, confidence, cause if log.failure is None else None)


def _close_in(log: RunLog, results: OrderResults, repeats: int) -> None:
    """Find by halving a swap of neighbours that changes the result, and add both its orders.

    It lies on the path from the declared order to the drifting one that is nearest to it.
    """
    orders = log.design.orders
    nearest = min(sorted(results.drifting), key=lambda index: _inversions(orders[index]))
    path = swap_path(orders[0], orders[nearest])
    low, high = 0, len(path) - 1
    if not log.can_afford(repeats * high.bit_length()):
        return
    while high - low > 1:
        middle = (low + high) // 2
        index = log.design.add(path[middle], "bisection")
        if not log.run([index] * repeats):
            return
        changed = log.results()
        if changed.keys[index] == changed.keys[log.design.index(path[low])]:
            low = middle
        else:
            high = middle


def _inversions(order: Order) -> int:
    """Return how many swaps of neighbours lead from the declared order to this one."""
    seen: list[int] = []
    count = 0
    for rule in order:
        place = bisect(seen, rule)
        count += len(seen) - place
        seen.insert(place, rule)
    return count
