"""The evaluators that are put to the test: ours, and six with one planted fault each.

Each is made new for a trial. What is wrong with it is stated in its class, so that what a check
finds can be compared with what is there.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from steelyard.evaluators.contract import evaluate

Result = dict[str, Any]


def clean(policy: Result, response: Result) -> Result:
    """Evaluate as steelyard does: every rule by itself, in the order of the policy."""
    return evaluate(policy, response)


class HiddenPriority:
    """One broken rule, if it comes before one certain kept rule, drags that one down with it.

    The pair is the first broken and the first kept rule by id, so exactly one pair of rules decides
    the result.
    """

    def __call__(self, policy: Result, response: Result) -> Result:
        found = evaluate(policy, response)
        rows = {row["rule_id"]: row for row in found["rule_results"]}
        first, second = planted_pair(rows)
        order = [row["rule_id"] for row in found["rule_results"]]
        if order.index(first) < order.index(second):
            rows[second].update(passed=False, reason_code="SUPERSEDED")
        return found


class DeepPriority:
    """The first kept rule by id is broken where four rules stand in one certain sequence.

    The second, fourth, first and third rule by id (fewer where there are fewer): with four or more
    rules that is one order in 24, and neither the declared nor the reversed one.
    """

    sequence = (1, 3, 0, 2)

    def __call__(self, policy: Result, response: Result) -> Result:
        found = evaluate(policy, response)
        order = [row["rule_id"] for row in found["rule_results"]]
        ids = sorted(order)
        places = [order.index(ids[number]) for number in self.sequence if number < len(ids)]
        if places == sorted(places):
            rows = {row["rule_id"]: row for row in found["rule_results"]}
            rows[planted_pair(rows)[1]].update(passed=False, reason_code="SUPERSEDED")
        return found


class ShortCircuit:
    """Stops at the first broken rule; the rules after it are not in the result."""

    def __call__(self, policy: Result, response: Result) -> Result:
        found = evaluate(policy, response)
        kept = []
        for row in found["rule_results"]:
            kept.append(row)
            if not row["passed"]:
                break
        return {**found, "rule_results": kept}


class PositionCache:
    """Remembers the first result by place and not by rule, and answers from that ever after."""

    def __init__(self) -> None:
        self.remembered: list[tuple[bool, str]] = []

    def __call__(self, policy: Result, response: Result) -> Result:
        found = evaluate(policy, response)
        rows = found["rule_results"]
        if not self.remembered:
            self.remembered = [(row["passed"], row["reason_code"]) for row in rows]
        for row, (passed, reason) in zip(rows, self.remembered, strict=True):
            row.update(passed=passed, reason_code=reason)
        return {**found, "passed": all(row["passed"] for row in rows)}


class CallCounter:
    """Reports the first rule by id the wrong way round in every fourth call."""

    every = 4

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, policy: Result, response: Result) -> Result:
        self.calls += 1
        found = evaluate(policy, response)
        return flipped(found) if self.calls % self.every == 0 else found


class Flaky:
    """Reports the first rule by id the wrong way round in one call of fifty, by chance."""

    share = 0.02

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def __call__(self, policy: Result, response: Result) -> Result:
        found = evaluate(policy, response)
        return flipped(found) if self.chance.random() < self.share else found


def planted_pair(rows: dict[str, Result]) -> tuple[str, str]:
    """Return the first broken and the first kept rule, by id."""
    broken = min(rule for rule, row in rows.items() if not row["passed"])
    kept = min(rule for rule, row in rows.items() if row["passed"])
    return broken, kept


def flipped(found: Result) -> Result:
    """Turn the verdict on the first rule by id round."""
    row = min(found["rule_results"], key=lambda one: one["rule_id"])
    passed = not row["passed"]
    row.update(passed=passed, reason_code="RULE_SATISFIED" if passed else "VALUE_NOT_EQUAL")
    return {**found, "passed": all(one["passed"] for one in found["rule_results"])}


Make = Callable[[random.Random], Callable[[Result, Result], Result]]

MAKERS: dict[str, Make] = {
    "steelyard": lambda _: clean,
    "hidden_priority": lambda _: HiddenPriority(),
    "deep_priority": lambda _: DeepPriority(),
    "short_circuit": lambda _: ShortCircuit(),
    "cached": lambda _: PositionCache(),
    "stateful": lambda _: CallCounter(),
    "nondeterministic": Flaky,
}
"""By arm: what makes an evaluator with new state. Chance comes from the trial's own generator."""

CAUSES = {
    "steelyard": ("none",),
    "hidden_priority": ("order",),
    "deep_priority": ("order",),
    "short_circuit": ("order",),
    "cached": ("order",),
    "stateful": ("call_state",),
    "nondeterministic": ("chance",),
}
"""By arm: what a check should name as the cause."""
