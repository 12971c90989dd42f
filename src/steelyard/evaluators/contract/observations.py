"""What was seen per order of the rules, and which of it changes with the order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from steelyard.evaluators.contract.results import Row, RowNumbers

Order = tuple[int, ...]
"""Declared positions of the rules, in the order in which they were handed over."""

SEMANTIC = ("outcome", "reason_evidence", "participation")
"""The dimensions in which a result means something else; ``presentation`` is the fourth."""


@dataclass(frozen=True)
class View:
    """One result, by the declared positions of its rules.

    Attributes
    ----------
    passes : dict of int to bool
        Per rule that was reported.
    reasons : dict of int to str
        Likewise.
    reported : tuple of int
        The rules that were reported, in the order of the result.
    passed : bool
        The overall verdict.
    """

    passes: dict[int, bool]
    reasons: dict[int, str]
    reported: tuple[int, ...]
    passed: bool

    @classmethod
    def of(cls, rows: Sequence[Row], rule_count: int) -> View:
        """Return the view of a result that consists of these rows."""
        passed = len(rows) == rule_count and all(row.passed for row in rows)
        return cls(
            {row.position: row.passed for row in rows},
            {row.position: row.reason_code for row in rows},
            tuple(row.position for row in rows),
            passed,
        )


@dataclass(frozen=True)
class Observations:
    """One stable result per order.

    Attributes
    ----------
    rule_ids : tuple of str
        Ids by declared position.
    declared : tuple of (str, str)
        Kind and path of each rule, likewise.
    orders : list of Order
        In the order of enumeration; no order twice.
    numbers : list of RowNumbers
        The result of each order, as row numbers.
    rows : list of Row
        The rows by number.
    """

    rule_ids: tuple[str, ...]
    declared: tuple[tuple[str, str], ...]
    orders: list[Order]
    numbers: list[RowNumbers]
    rows: list[Row]

    @cached_property
    def views(self) -> list[View]:
        """The result of each order; equal results share one view."""
        views: dict[RowNumbers, View] = {}
        for numbers in self.numbers:
            if numbers not in views:
                rows = [self.rows[number] for number in numbers]
                views[numbers] = View.of(rows, len(self.rule_ids))
        return [views[numbers] for numbers in self.numbers]

    @cached_property
    def distinct_views(self) -> list[View]:
        """The views without repetition."""
        return list({id(view): view for view in self.views}.values())

    @cached_property
    def variance(self) -> dict[str, bool]:
        """Per dimension, whether some two orders differ in it.

        A rule's pass and reason are compared between orders that report it; the overall verdict
        follows from passes and participation.
        """
        views = self.distinct_views
        return {
            "outcome": _varies([view.passes for view in views]),
            "reason_evidence": _varies([view.reasons for view in views]),
            "participation": len({frozenset(view.reported) for view in views}) > 1,
            "presentation": len({view.reported for view in views}) > 1,
        }

    @cached_property
    def incomplete(self) -> list[int]:
        """Indexes of the orders whose result lacks a rule."""
        count = len(self.rule_ids)
        return [i for i, view in enumerate(self.views) if len(view.reported) < count]

    @property
    def conforms(self) -> bool:
        """Whether every order reported every rule, with one meaning throughout."""
        return not self.incomplete and not any(self.variance[name] for name in SEMANTIC)

    def follows(self) -> bool:
        """Return whether every result lists its rules in the order that was asked for."""
        pairs = zip(self.orders, self.views, strict=True)
        return all(view.reported == _kept(order, view) for order, view in pairs)

    def status(self) -> str:
        """Return the status of a complete check."""
        varies = self.variance
        drifting = [name for name in SEMANTIC if varies[name]]
        if len(drifting) > 1:
            return "COMPOUND_ORDER_DRIFT"
        if drifting:
            return _STATUS[drifting[0]]
        if self.incomplete:
            return "INCOMPLETE_RULE_COVERAGE"
        return "PRESENTATION_ONLY_DRIFT" if varies["presentation"] else "NO_VARIANCE_OBSERVED"

    def ids(self, positions: Sequence[int]) -> list[str]:
        """Return the ids of rules given by position."""
        return [self.rule_ids[position] for position in positions]


_STATUS = {
    "outcome": "SEMANTIC_ORDER_DRIFT",
    "reason_evidence": "EVIDENCE_ORDER_DRIFT",
    "participation": "PARTICIPATION_ORDER_DRIFT",
}


def _varies(maps: Sequence[dict[int, Any]]) -> bool:
    seen: dict[int, Any] = {}
    return any(seen.setdefault(rule, value) != value for one in maps for rule, value in one.items())


def _kept(order: Order, view: View) -> tuple[int, ...]:
    return tuple(position for position in order if position in view.passes)
