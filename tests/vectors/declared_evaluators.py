"""Evaluators that are declared as data: the language of the vectors' README, section by section.

A declared evaluator starts from the built-in result for the order that was asked for and changes
it. It is also the planted fault of the tests of order drift.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from steelyard.evaluators import contract
from vectors.declared_values import object_of, text_of

ERRORS = {
    kind.code: kind
    for kind in (
        contract.ContractError,
        contract.CommandError,
        contract.InvalidJsonError,
        contract.OrderCheckError,
        contract.OrderCheckTooLargeError,
        contract.OutputError,
        contract.PlaygroundUnavailableError,
        contract.PolicyError,
        contract.ResponseError,
        contract.SynthesisError,
    )
}


class _ReturnedError(Exception):
    """Carries the value that is returned at once."""


class DeclaredEvaluator:
    """An evaluator hook with the memory of its calls."""

    def __init__(self, declaration: Mapping[str, Any]) -> None:
        self.steps = declaration["steps"]
        self.keeps_passed = declaration.get("aggregate") == "keep"
        self.calls = 0
        self.calls_on: Counter[tuple[str, ...]] = Counter()

    def __call__(self, policy: dict[str, Any], response: dict[str, Any]) -> Any:
        self.order = [rule["rule_id"] for rule in policy["rules"]]
        self.calls += 1
        self.calls_on[tuple(self.order)] += 1
        result = contract.evaluate(policy, response)
        try:
            for step in self.steps:
                if "when" not in step or self.holds(step["when"]):
                    for action in step["do"]:
                        self.act(result, action)
        except _ReturnedError as returned:
            return returned.args[0]
        if not self.keeps_passed:
            rows = result["rule_results"]
            complete = {row["rule_id"] for row in rows} >= set(self.order)
            result["passed"] = complete and all(row["passed"] for row in rows)
        return result

    def holds(self, condition: Mapping[str, Any]) -> bool:
        ((word, value),) = condition.items()
        order, at = self.order, self.order.index
        tests = {
            "first": lambda: order[0] == value,
            "last": lambda: order[-1] == value,
            "precedes": lambda: at(value[0]) < at(value[1]),
            "order_in": lambda: order in value,
            "position": lambda: at(value["rule"]) == value["index"],
            "call_on_order": lambda: self.calls_on[tuple(order)] == value,
            "call_modulo": lambda: self.calls % value["modulus"] == value["remainder"],
            "call_at_least": lambda: self.calls >= value,
            "not": lambda: not self.holds(value),
            "all": lambda: all(map(self.holds, value)),
            "any": lambda: any(map(self.holds, value)),
        }
        return tests[word]()

    def act(self, result: dict[str, Any], action: Mapping[str, Any]) -> None:
        ((word, value),) = action.items()
        rows = result.get("rule_results")
        if word in _RESULT_ACTIONS:
            _RESULT_ACTIONS[word](result, value)
        elif word in _LIST_ACTIONS:
            rows[:] = _LIST_ACTIONS[word](rows, value)
        elif word == "raise":
            raise ERRORS.get(value, ValueError)("declared")
        elif word == "return":
            raise _ReturnedError(object_of(value["value"]))
        else:
            name = value if isinstance(value, str) else value["row"]
            for row in _chosen(rows, name):
                self.change(rows, row, word, value)

    def change(self, rows: list[Any], row: dict[str, Any], word: str, value: Any) -> None:
        index = next(i for i, other in enumerate(rows) if other is row)
        if word == "set_passed":
            row["passed"] = object_of(value["value"])
        elif word == "flip_passed":
            row["passed"] = not row["passed"]
        elif word == "set_reason":
            row["reason_code"] = self.reason(value["value"])
        elif word == "drop":
            del rows[index]
        elif word == "set_row_field":
            row[value["field"]] = object_of(value["value"])
        elif word == "remove_row_field":
            row.pop(value["field"], None)
        elif word == "append_copy_of_row":
            rows.append(dict(row))
        elif word == "replace_row":
            rows[index] = object_of(value["value"])
        else:
            raise KeyError(word)

    def reason(self, declared: Any) -> Any:
        """Return a reason code: a text, which may be long or name the ends of the order."""
        found = object_of(declared)
        if isinstance(found, Mapping) and found.keys() & {"concat", "repeat"}:
            found = text_of(found)
        if not isinstance(found, str):
            return found
        return found.replace("{first}", self.order[0]).replace("{last}", self.order[-1])


def _chosen(rows: list[Any], name: str) -> list[Any]:
    if name in ("@first_row", "@last_row"):
        return rows[:1] if name == "@first_row" else rows[-1:]
    if name == "@all":
        return list(rows)
    return [row for row in rows if isinstance(row, dict) and row.get("rule_id") == name]


def _until_first_failure(rows: list[Any], _: Any) -> list[Any]:
    failed = [index for index, row in enumerate(rows) if not row["passed"]]
    return rows[: failed[0] + 1] if failed else rows


_LIST_ACTIONS = {
    "keep_only": lambda rows, ids: [row for row in rows if row["rule_id"] in ids],
    "truncate_after_first_failure": _until_first_failure,
    "clear_rows": lambda _rows, _: [],
    "sort_rows_by_rule_id": lambda rows, _: sorted(rows, key=lambda row: row["rule_id"]),
    "reverse_rows": lambda rows, _: rows[::-1],
}
_RESULT_ACTIONS = {
    "set_top": lambda result, value: result.__setitem__(value["field"], object_of(value["value"])),
    "remove_top": lambda result, name: result.pop(name, None),
}
