"""Does the order of the rules change the verdict? The exhaustive check, for two to seven rules."""

from __future__ import annotations

import math
from itertools import permutations
from typing import Any, Literal

from steelyard.errors import InputError
from steelyard.evaluators.contract.calls import WORK_BUDGET, Caller, Evaluator, admit
from steelyard.evaluators.contract.errors import EvaluatorFailure, OrderCheckTooLargeError
from steelyard.evaluators.contract.observations import Observations, Order
from steelyard.evaluators.contract.results import RowNumbers
from steelyard.evaluators.contract.values import MAX_BYTES, canonical
from steelyard.evaluators.contract.witnesses import Witness, witnesses

MOST_RULES = 7
"""Rules whose orders are all tried: 7! is 5,040."""

REPEATS = 3
SCHEMA_VERSION = "1.0"

OnFailure = Literal["raise", "report"]


def check_order(
    policy: Any,
    response: Any,
    evaluator: Evaluator | None = None,
    *,
    on_failure: OnFailure = "raise",
) -> dict[str, Any]:
    """Evaluate a response under every order of a policy's rules, three times each.

    Parameters
    ----------
    policy : dict or Policy
        Two to seven rules.
    response : dict
        The response.
    evaluator : callable, optional
        The hook that is checked (see `Evaluator`); the built-in evaluator by default.
    on_failure : {"raise", "report"}, default "raise"
        What becomes of an evaluator that raises or breaks the hook contract: an error, or a
        report with the status ``INCONCLUSIVE_EVALUATOR_FAILURE`` and a member ``failure``.

    Returns
    -------
    dict
        The report: ``status``, ``variance`` per dimension, ``witnesses``, ``coverage`` and more;
        it holds no value of policy or response.

    Raises
    ------
    OrderCheckError
        If the check is impossible, or the evaluator failed (`EvaluatorFailure`).
    OrderCheckTooLargeError
        For more than seven rules, a result or report beyond 1,000,000 bytes, or work beyond
        100,000,000 bytes.

    Notes
    -----
    The three repeats of an order follow each other. An evaluator whose results depend on the
    number of the call can therefore look like one that depends on the order;
    `steelyard.analysis.order_drift` interleaves the repeats and tells the two apart.
    """
    if on_failure not in ("raise", "report"):
        raise InputError(f"on_failure is {on_failure!r}; accepted are 'raise' and 'report'")
    hint = "; with more, draw a sample of the orders"
    subject = admit(policy, response, MOST_RULES, hint)
    subject.check_work(math.factorial(len(subject.policy.rules)) * REPEATS)
    report = _Check(Caller(subject, evaluator)).run(on_failure)
    if len(canonical(report).encode()) > MAX_BYTES:
        raise OrderCheckTooLargeError(f"the report has more than {MAX_BYTES:,} bytes")
    return report


class _Check:
    """One run over the orders, up to the first that cannot be relied on."""

    def __init__(self, caller: Caller) -> None:
        self.caller = caller
        self.policy = caller.subject.policy
        self.orders: list[Order] = []
        self.numbers: list[RowNumbers] = []

    def run(self, on_failure: OnFailure) -> dict[str, Any]:
        for order in permutations(range(len(self.policy.rules))):
            results: list[RowNumbers] = []
            try:
                results.extend(self.caller.call(order) for _ in range(REPEATS))
            except EvaluatorFailure as failure:
                if on_failure == "raise":
                    raise
                return self._failed(order, len(results) + 1, failure)
            if results.count(results[0]) < REPEATS:
                return self._unstable(order, results)
            self.orders.append(order)
            self.numbers.append(results[0])
        return self._complete()

    def _complete(self) -> dict[str, Any]:
        declared = tuple((rule.kind, rule.path) for rule in self.policy.rules)
        rule_ids, rows = self.policy.rule_ids, self.caller.reader.rows
        seen = Observations(rule_ids, declared, self.orders, self.numbers, rows)
        coverage = self._coverage(len(self.orders)) | {
            "rule_results_complete": not seen.incomplete,
            "incomplete_orders": len(seen.incomplete),
        }
        return self._report(seen.status(), coverage, witnesses(seen)) | {
            "conforms_within_coverage": seen.conforms,
            "presentation_follows_requested_order": seen.follows(),
            "variance": seen.variance,
        }

    def _unstable(self, order: Order, results: list[RowNumbers]) -> dict[str, Any]:
        other = next(i for i, numbers in enumerate(results) if numbers != results[0])
        witness = {
            "dimension": "evaluator_result",
            "order": self._ids(order),
            "left_repeat": 1,
            "left_fingerprint": self.caller.reader.fingerprint(results[0]),
            "right_repeat": other + 1,
            "right_fingerprint": self.caller.reader.fingerprint(results[other]),
        }
        coverage = self._coverage(len(self.orders) + 1)
        return self._report("INCONCLUSIVE_NONDETERMINISTIC", coverage, [witness])

    def _failed(self, order: Order, repeat: int, failure: EvaluatorFailure) -> dict[str, Any]:
        coverage = self._coverage(len(self.orders) + 1)
        place = {"order": self._ids(order), "repeat": repeat}
        return self._report("INCONCLUSIVE_EVALUATOR_FAILURE", coverage, []) | {
            "failure": {"kind": failure.kind, "reason": failure.reason, **place}
        }

    def _ids(self, order: Order) -> list[str]:
        return [self.policy.rule_ids[position] for position in order]

    def _report(
        self, status: str, coverage: dict[str, Any], shown: list[Witness]
    ) -> dict[str, Any]:
        return {
            "baseline_repeats": REPEATS,
            "conforms_within_coverage": None,
            "coverage": coverage,
            "evaluation_repeats_per_order": REPEATS,
            "policy_id": self.policy.policy_id,
            "presentation_follows_requested_order": None,
            "report_schema_version": SCHEMA_VERSION,
            "status": status,
            "variance": None,
            "witnesses": shown,
        }

    def _coverage(self, attempted: int) -> dict[str, Any]:
        """Return the counts; some stand under two names, which programs rely on."""
        caller, total = self.caller, math.factorial(len(self.policy.rules))
        planned = total * REPEATS * caller.subject.unit
        return {
            "charged_work_bytes": caller.charged,
            "estimated_input_work_bytes": planned,
            "estimated_work_bytes": planned,
            "evaluations_per_order": REPEATS,
            "evaluations_performed": caller.calls,
            "evaluator_runs": caller.calls,
            "incomplete_orders": None,
            "mode": "exhaustive" if len(self.orders) == total else "incomplete",
            "observed_result_bytes": caller.result_bytes,
            "observed_work_bytes": caller.charged,
            "orders_attempted": attempted,
            "orders_completed": len(self.orders),
            "orders_evaluated": attempted,
            "orders_total": total,
            "report_byte_limit": MAX_BYTES,
            "result_byte_limit": MAX_BYTES,
            "rule_count": len(self.policy.rules),
            "rule_results_complete": None,
            "work_budget_bytes": WORK_BUDGET,
        }
