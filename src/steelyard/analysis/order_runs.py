"""Running a design: every call of an evaluator, kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from steelyard.analysis.order_schedule import Design
from steelyard.evaluators.contract.calls import WORK_BUDGET, Caller, Evaluator, Subject
from steelyard.evaluators.contract.errors import EvaluatorFailure, OrderCheckTooLargeError
from steelyard.evaluators.contract.observations import Observations, Order
from steelyard.evaluators.contract.results import Row, RowNumbers
from steelyard.stats.checks import IntArray


class OrderRun(NamedTuple):
    """One call of the evaluator.

    Attributes
    ----------
    call : int
        Number of the call, from 1.
    order_index : int
        Index of the order in the design.
    repeat : int
        How often this order had been asked before, plus one.
    numbers : tuple of int
        Numbers of the result's rows.
    result_bytes : int
        Canonical size of the result.
    """

    call: int
    order_index: int
    repeat: int
    numbers: RowNumbers
    result_bytes: int


class RunLog:
    """The calls of one evaluator, and what they say about the orders.

    Parameters
    ----------
    subject : Subject
        Policy and response.
    evaluator : callable, optional
        The built-in evaluator by default.
    design : Design
        Its orders are added to when the log asks for more of them.

    Attributes
    ----------
    runs : list of OrderRun
        Every call that returned a result, in sequence.
    failure : dict or None
        ``kind``, ``reason``, ``order`` and ``repeat`` of the call that did not.
    """

    def __init__(self, subject: Subject, evaluator: Evaluator | None, design: Design) -> None:
        self.caller = Caller(subject, evaluator)
        self.design = design
        self.runs: list[OrderRun] = []
        self.failure: dict[str, Any] | None = None
        self._asked: Counter[int] = Counter()

    @property
    def rule_ids(self) -> tuple[str, ...]:
        """Ids of the rules, by declared position."""
        return self.caller.subject.policy.rule_ids

    @property
    def rows(self) -> list[Row]:
        """The distinct rows that were returned, by number."""
        return self.caller.reader.rows

    def run(self, schedule: Iterable[int]) -> bool:
        """Call the evaluator for each order index; return False if it failed, and stop there."""
        return all(self._call(index) for index in schedule)

    def can_afford(self, calls: int) -> bool:
        """Return whether the work budget allows for more calls, as costly as those so far."""
        made = self.caller.calls
        return self.caller.charged * (made + calls) <= WORK_BUDGET * made

    def repeats(self, evaluator: Callable[[], Evaluator], schedule: list[int]) -> bool | None:
        """Return whether a fresh evaluator answers the whole schedule as this one did.

        None if it fails on the way, if the work budget does not allow for it, or if larger
        results spend it. The calls count as work, but are not kept as runs.
        """
        if not self.can_afford(len(schedule)):
            return None
        before = [run.numbers for run in self.runs[: len(schedule)]]
        used, self.caller.evaluator = self.caller.evaluator, evaluator()
        try:
            orders = self.design.orders
            return all(
                self.caller.call(orders[index]) == numbers
                for index, numbers in zip(schedule, before, strict=True)
            )
        except (EvaluatorFailure, OrderCheckTooLargeError):
            return None  # what the schedule gave stands without the replay
        finally:
            self.caller.evaluator = used

    def _call(self, index: int) -> bool:
        order = self.design.orders[index]
        self._asked[index] += 1
        try:
            numbers = self.caller.call(order)
        except EvaluatorFailure as failure:
            ids = [self.rule_ids[position] for position in order]
            self.failure = {
                "kind": failure.kind,
                "reason": failure.reason,
                "order": ids,
                "repeat": self._asked[index],
            }
            return False
        size = self.caller.last_size
        self.runs.append(OrderRun(len(self.runs) + 1, index, self._asked[index], numbers, size))
        return True

    def results(self) -> OrderResults:
        """Return what the calls so far say about each order."""
        return OrderResults(self)


class OrderResults:
    """The result of each order, as far as its repeats agree.

    Parameters
    ----------
    log : RunLog
        At least one call of every order of the design.

    Attributes
    ----------
    unstable : list of int
        Indexes of the orders whose results differ, row order included.
    keys : list of tuple
        Per order its meaning: the sorted rows of its most frequent result (of equally frequent
        ones the first). Equal keys mean equal passes, reasons and participation.
    """

    def __init__(self, log: RunLog) -> None:
        self._log = log
        by_order: list[list[RowNumbers]] = [[] for _ in log.design.orders]
        for run in log.runs:
            by_order[run.order_index].append(run.numbers)
        self._typical = [Counter(results).most_common(1)[0][0] for results in by_order]
        self.unstable = [i for i, results in enumerate(by_order) if len(set(results)) > 1]
        self.keys = [tuple(sorted(numbers)) for numbers in self._typical]

    @cached_property
    def drifting(self) -> frozenset[int]:
        """Orders that mean something else than the declared one, or do not keep to one result."""
        changed = {index for index, key in enumerate(self.keys) if key != self.keys[0]}
        return frozenset(changed | set(self.unstable))

    def observations(self, indexes: Iterable[int] | None = None) -> Observations:
        """Return the orders (all by default) with their results, as the exhaustive check sees."""
        log = self._log
        chosen = range(len(self.keys)) if indexes is None else list(indexes)
        rules = log.caller.subject.policy.rules
        return Observations(
            log.rule_ids,
            tuple((rule.kind, rule.path) for rule in rules),
            [log.design.orders[index] for index in chosen],
            [self._typical[index] for index in chosen],
            log.rows,
        )

    def labels(self, order_count: int, repeats: int) -> tuple[IntArray, IntArray]:
        """Return per order and repeat a number for what came back, and the number of the call.

        Results are told apart by meaning; if that never varies within an order but results do,
        also by how they list the rules compared with what was asked for.
        """
        runs = [run for run in self._log.runs if run.repeat <= repeats]
        runs = [run for run in runs if run.order_index < order_count]
        meanings: dict[int, set[tuple[int, ...]]] = {}
        for run in runs:
            meanings.setdefault(run.order_index, set()).add(tuple(sorted(run.numbers)))
        by_meaning = not self.unstable or any(len(found) > 1 for found in meanings.values())
        label_of: dict[Any, int] = {}
        labels = np.zeros((order_count, repeats), dtype=np.int64)
        calls = np.zeros_like(labels)
        for run in runs:
            meaning = tuple(sorted(run.numbers))
            what = meaning if by_meaning else (meaning, self._listing(run))
            place = run.order_index, run.repeat - 1
            labels[place] = label_of.setdefault(what, len(label_of))
            calls[place] = run.call
        return labels, calls

    def _listing(self, run: OrderRun) -> tuple[int, ...]:
        order: Order = self._log.design.orders[run.order_index]
        return tuple(order.index(self._log.rows[number].position) for number in run.numbers)
