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
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.order_cause import Cause, find_cause
from steelyard.analysis.order_pairs import PairEffect, pair_effects
from steelyard.analysis.order_runs import OrderResults, RunLog
from steelyard.analysis.order_schedule import (
    Design,
    exhaustive_design,
    sampled_design,
    shuffled_places,
)
from steelyard.errors import InputError
from steelyard.evaluators.contract.calls import Evaluator, Subject, admit
from steelyard.evaluators.contract.observations import SEMANTIC, Observations, Order
from steelyard.evaluators.contract.order_check import MOST_RULES
from steelyard.evaluators.contract.witnesses import Witness, swap_path, witnesses
from steelyard.stats.checks import check_count, check_open_unit, check_positive_count
from steelyard.stats.intervals import clopper_pearson_interval
from steelyard.stats.results import Result

if TYPE_CHECKING:
    import pandas as pd

DEFAULT_BOUND = 0.05
"""Bound that a sample is planned for when neither its size nor a bound is given."""

Fresh = Callable[[], Evaluator]


@dataclass(frozen=True)
class OrderDrift(Result):
    """What a check found.

    An order drifts if its result means something else (passes, reasons, reported rules) than that
    of the declared order. An order whose repeats disagree counts as drifting: no bound is then too
    small.

    Attributes
    ----------
    mode : {"exhaustive", "sampled"}
        Whether all orders were evaluated.
    status : str
        Exhaustive: that of `check_order`. Sampled: ``NO_DRIFT_IN_SAMPLE``, ``DRIFT_FOUND`` or
        ``INCOMPLETE_RULE_COVERAGE``. Either: ``INCONCLUSIVE_NONDETERMINISTIC`` (an order whose
        repeats disagree) or ``INCONCLUSIVE_EVALUATOR_FAILURE``.
    cause : str
        See `order_cause.find_cause`.
    policy_id : str
        The policy.
    rule_ids : tuple of str
        Its rules, as declared.
    seed, repeats : int
        Seed of schedule and sample; calls per order.
    confidence : float
        Of the bound, and of the intervals.
    orders_total : int
        n!.
    orders_seen : int
        Distinct orders that were evaluated.
    orders_drawn : int
        Random draws; 0 if exhaustive.
    orders_drifting : int
        Drifting ones among the draws, or among all orders if exhaustive.
    drift_share, drift_low, drift_high : float
        Share of drifting orders among all n!. Sampled: the estimate, 0, and the one-sided exact
        (Clopper-Pearson) upper bound. Exhaustive: the share without and with unstable orders are
        the limits; without unstable ones all three are equal. NaN after a failure.
    variance : dict of str to bool, or None
        Per dimension, whether orders that were seen differ; None if inconclusive.
    unstable_orders : int
        Orders whose repeats disagree.
    evaluator_calls, work_bytes : int
        The cost.
    order_p_value, state_p_value : float or None
        See `order_randomisation`; None where there was nothing to test.
    replay_equal : bool or None
        Whether a fresh evaluator repeated the whole schedule; None if none was made.
    witnesses : list of dict
        As `check_order` gives them; sampled: one swap of neighbours that changes the result.
    failure : dict or None
        How the evaluator failed, and where.
    """

    mode: str
    status: str
    cause: str
    policy_id: str
    rule_ids: tuple[str, ...]
    seed: int
    repeats: int
    confidence: float
    orders_total: int
    orders_seen: int
    orders_drawn: int
    orders_drifting: int
    drift_share: float
    drift_low: float
    drift_high: float
    variance: dict[str, bool] | None
    unstable_orders: int
    evaluator_calls: int
    work_bytes: int
    order_p_value: float | None
    state_p_value: float | None
    replay_equal: bool | None
    witnesses: list[Witness]
    failure: dict[str, Any] | None
    log: RunLog = field(repr=False, compare=False)

    def pair_effects(self) -> list[PairEffect]:
        """Return the effect of every pair of rules; empty after a failure."""
        if self.failure is not None:
            return []
        return pair_effects(
            self.log.design,
            self.log.results(),
            self.rule_ids,
            exhaustive=self.mode == "exhaustive",
            confidence=self.confidence,
        )

    def pairs(self) -> pd.DataFrame:
        """Return `pair_effects` as a table."""
        from steelyard.analysis.order_frames import pairs_frame

        return pairs_frame(self.pair_effects())

    def runs(self) -> pd.DataFrame:
        """Return one row per call; see `order_frames.runs_frame`."""
        from steelyard.analysis.order_frames import runs_frame

        return runs_frame(self.log)

    def rule_runs(self) -> pd.DataFrame:
        """Return one row per call and reported rule; see `order_frames.rule_runs_frame`."""
        from steelyard.analysis.order_frames import rule_runs_frame

        return rule_runs_frame(self.log)

    def to_report(self) -> dict[str, Any]:
        """Return the document that the command line prints; see `order_drift_report.report`."""
        from steelyard.analysis.order_drift_report import report

        return report(self)


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

    Examples
    --------
    >>> planned_sample(0.05), planned_sample(0.01), planned_sample(0.001)
    (59, 299, 2995)
    """
    share = check_open_unit("bound", bound)
    log_alpha = math.log1p(-check_open_unit("confidence", confidence))
    size = max(1, math.floor(log_alpha / math.log1p(-share)))
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
    plan = _Plan("exhaustive", exhaustive_design(len(subject.policy.rules)), seed, repeats)
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
    plan = _Plan("sampled", sampled_design(count, size, swaps, _seed(seed)), seed, repeats)
    return _run(subject, plan, evaluator, fresh, confidence)


@dataclass(frozen=True)
class _Plan:
    mode: str
    design: Design
    seed: int
    repeats: int

    def __post_init__(self) -> None:
        _seed(self.seed)
        if check_count("repeats", self.repeats) < 2:
            raise InputError(f"repeats is {self.repeats}; instability shows from 2 calls per order")


def _seed(seed: int) -> int:
    return check_count("seed", seed)


def _run(
    subject: Subject,
    plan: _Plan,
    evaluator: Evaluator | None,
    fresh: Fresh | None,
    confidence: float,
) -> OrderDrift:
    check_open_unit("confidence", confidence)
    if evaluator is None and fresh is not None:
        evaluator = fresh()
    order_count = len(plan.design.orders)
    schedule = shuffled_places(order_count, plan.repeats, plan.seed)
    schedule.append(0)  # the declared order once more, after everything else
    subject.check_work(len(schedule))
    log = RunLog(subject, evaluator, plan.design)
    if not log.run(schedule):
        return _drift(log, plan, confidence, None)
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
    return _drift(log, plan, confidence, cause if log.failure is None else None)


def _close_in(log: RunLog, results: OrderResults, repeats: int) -> None:
    """Find by halving a swap of neighbours that changes the result, and add both its orders.

    It lies on the path from the declared order to the drifting one that is nearest to it.
    """
    orders = log.design.orders
    nearest = min(sorted(results.drifting), key=lambda index: _inversions(orders[index]))
    path = swap_path(orders[0], orders[nearest])
    low, high = 0, len(path) - 1
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


def _drift(log: RunLog, plan: _Plan, confidence: float, cause: Cause | None) -> OrderDrift:
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


def _figures(log: RunLog, plan: _Plan, confidence: float, results: OrderResults) -> dict[str, Any]:
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
