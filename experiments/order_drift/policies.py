"""Forty policies of 2 to 12 rules, each with a response that breaks some and keeps others.

Made from one seed, so that everybody has the same forty. A response always keeps at least one rule
and breaks at least one: an evaluator that mixes rules up then has something to mix up.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

SEED = 20261201
SIZES = (2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 5, 5, 5, 5, 5, 6, 6, 6, 7,
         8, 8, 8, 8, 9, 9, 9, 10, 10, 10, 10, 11, 11, 11, 12, 12, 12, 12)  # fmt: skip
"""Rules per policy: up to seven all orders can be tried, beyond that only a sample."""

WORDS = ("approve", "hold", "refund", "escalate", "archive", "notify")
KINDS = ("required_field", "equals", "one_of", "false", "empty_list")


@dataclass(frozen=True)
class Case:
    """One policy with one response to it."""

    case_id: str
    policy: dict[str, Any]
    response: dict[str, Any]
    broken: tuple[str, ...]


def make_cases() -> list[Case]:
    """Return the forty cases, smallest policies first."""
    source = random.Random(SEED)  # noqa: S311 - reproducible, not secret
    return [_case(f"policy-{number:02d}", size, source) for number, size in enumerate(SIZES, 1)]


def _case(case_id: str, size: int, source: random.Random) -> Case:
    rules, response = [], {}
    broken_count = source.randint(1, max(1, size // 2))
    broken_places = set(source.sample(range(size), broken_count))
    broken = []
    for place in range(size):
        rule_id, field = f"r{place + 1:02d}", f"field_{place + 1}"
        rule, right, wrong = _rule(source)
        rules.append({"rule_id": rule_id, "path": f"answer.{field}", **rule})
        if place not in broken_places:
            response[field] = right
        else:
            broken.append(rule_id)
            if rule["kind"] != "required_field":  # broken by a wrong value, not by an absent one
                response[field] = wrong
    policy = {"schema_version": "1.0", "policy_id": case_id, "rules": rules}
    return Case(case_id, policy, {"answer": response}, tuple(broken))


def _rule(source: random.Random) -> tuple[dict[str, Any], Any, Any]:
    """Return a rule without id and path, a value that keeps it, and one that breaks it."""
    kind = source.choice(KINDS)
    chosen = source.sample(WORDS, 3)
    if kind == "equals":
        return {"kind": kind, "value": chosen[0]}, chosen[0], chosen[1]
    if kind == "one_of":
        return {"kind": kind, "values": chosen[:2]}, chosen[1], chosen[2]
    if kind == "false":
        return {"kind": kind}, False, True
    if kind == "empty_list":
        return {"kind": kind}, [], [chosen[0]]
    return {"kind": kind}, chosen[0], None
