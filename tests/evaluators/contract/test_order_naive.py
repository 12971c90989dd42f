"""The exhaustive check against the specification read word by word, on made-up evaluators."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from contract_policies import numbered
from steelyard.evaluators.contract import check_order

IDS = ["r0", "r1", "r2"]
ORDERS = list(permutations(IDS))

rows = st.tuples(st.booleans(), st.sampled_from(["A", "B"]))
results = st.dictionaries(st.sampled_from(IDS), rows, min_size=1)
# Few orders are changed, so that differences between neighbours and between ends both occur.
changes = st.dictionaries(st.sampled_from(ORDERS), st.tuples(results, st.booleans()), max_size=3)

Answer = list[tuple[str, bool, str]]


def answer(order: tuple[str, ...], changed: dict[Any, Any]) -> Answer:
    """Return the rows for an order: all passed, unless it was changed."""
    given_rows, reverse = changed.get(order, (dict.fromkeys(IDS, (True, "A")), False))
    listed = [(name, *given_rows[name]) for name in order if name in given_rows]
    return listed[::-1] if reverse else listed


def evaluator(changed: dict[Any, Any]) -> Any:
    def evaluate(policy: dict[str, Any], _response: dict[str, Any]) -> dict[str, Any]:
        found = answer(tuple(rule["rule_id"] for rule in policy["rules"]), changed)
        listed = [
            {"rule_id": n, "kind": "false", "path": n, "passed": p, "reason_code": r}
            for n, p, r in found
        ]
        passed = len(found) == 3 and all(p for _, p, _ in found)
        return {"passed": passed, "policy_id": "p", "rule_results": listed}

    return evaluate


def projections(left: Answer, right: Answer) -> dict[str, Any]:
    """Return what of ``left`` is compared with ``right``, per dimension."""
    shared = {name for name, _, _ in left} & {name for name, _, _ in right}
    outcome: dict[str, Any] = {"shared_rule_passes": {n: p for n, p, _ in left if n in shared}}
    if sorted(n for n, _, _ in left) == sorted(n for n, _, _ in right):
        outcome["overall_pass"] = len(left) == 3 and all(p for _, p, _ in left)
    evidence = {n: ["false", n, r] for n, _, r in left if n in shared}
    return {
        "outcome": outcome,
        "reason_evidence": {"shared_rule_evidence": evidence},
        "participation": [{"rule_id": n, "count": 1} for n in sorted(n for n, _, _ in left)],
        "presentation": {"rule_ids": [n for n, _, _ in left]},
    }


def differ(left: Answer, right: Answer, dimension: str) -> bool:
    return projections(left, right)[dimension] != projections(right, left)[dimension]


def status(variance: dict[str, bool], incomplete: bool) -> str:
    drifts = [name for name in ("outcome", "reason_evidence", "participation") if variance[name]]
    if len(drifts) >= 2:
        return "COMPOUND_ORDER_DRIFT"
    if variance["participation"]:
        return "PARTICIPATION_ORDER_DRIFT"
    if variance["outcome"]:
        return "SEMANTIC_ORDER_DRIFT"
    if variance["reason_evidence"]:
        return "EVIDENCE_ORDER_DRIFT"
    if incomplete:
        return "INCOMPLETE_RULE_COVERAGE"
    return "PRESENTATION_ONLY_DRIFT" if variance["presentation"] else "NO_VARIANCE_OBSERVED"


def first_adjacent(answers: dict[Any, Answer], dimension: str) -> tuple[Any, Any, int] | None:
    for left in ORDERS:
        for i in (0, 1):
            right = (left[1], left[0], left[2]) if i == 0 else (left[0], left[2], left[1])
            if differ(answers[left], answers[right], dimension):
                return left, right, i
    return None


def first_contradiction(answers: dict[Any, Answer], member: int) -> tuple[Any, Any, str]:
    for index, right in enumerate(ORDERS):
        for name in IDS:
            now = [row[member] for row in answers[right] if row[0] == name]
            for left in ORDERS[:index]:
                before = [row[member] for row in answers[left] if row[0] == name]
                if now and before:
                    if now != before:
                        return left, right, name
                    break
    raise AssertionError("no contradiction")


@given(changes)
def test_flags_status_and_witnesses(changed):
    answers = {order: answer(order, changed) for order in ORDERS}
    report = check_order(numbered(3), {}, evaluator(changed))
    variance = {
        name: any(differ(answers[a], answers[b], name) for a, b in combinations(ORDERS, 2))
        for name in ("outcome", "reason_evidence", "participation", "presentation")
    }
    incomplete = [order for order in ORDERS if len(answers[order]) < 3]
    assert report["variance"] == variance
    assert report["status"] == status(variance, bool(incomplete))
    assert report["coverage"]["incomplete_orders"] == len(incomplete)
    assert report["presentation_follows_requested_order"] == all(
        [n for n, _, _ in answers[order]]
        == [n for n in order if n in {m for m, _, _ in answers[order]}]
        for order in ORDERS
    )
    shown = {witness["dimension"]: witness for witness in report["witnesses"]}
    assert list(shown) == [n for n in variance if variance[n]] + ["rule_coverage"] * bool(
        incomplete
    )
    for dimension in (name for name in variance if variance[name]):
        check_witness(shown[dimension], dimension, answers)
    if incomplete:
        first = incomplete[0]
        missing = [name for name in first if name not in {n for n, _, _ in answers[first]}]
        expected = {"order": list(first), "missing_rule_ids": missing}
        assert shown["rule_coverage"] == {"dimension": "rule_coverage", **expected}


def check_witness(shown: dict[str, Any], dimension: str, answers: dict[Any, Answer]) -> None:
    adjacent = first_adjacent(answers, dimension)
    if adjacent is None:
        member = {"outcome": 1, "reason_evidence": 2}[dimension]
        left, right, name = first_contradiction(answers, member)
        assert shown["comparison"] == "endpoint_path"
        assert (shown["left_order"], shown["right_order"]) == (list(left), list(right))
        assert shown["left_projection"]["rule_id"] == name
        path = shown["adjacent_swap_path"]
        assert (path[0], path[-1]) == (list(left), list(right))
        for one, other in pairwise(path):
            assert sum(a != b for a, b in zip(one, other, strict=True)) == 2
        return
    left, right, index = adjacent
    assert shown == {
        "comparison": "adjacent_swap",
        "dimension": dimension,
        "left_order": list(left),
        "left_projection": projections(answers[left], answers[right])[dimension],
        "right_order": list(right),
        "right_projection": projections(answers[right], answers[left])[dimension],
        "swap_index": index,
        "swapped_rule_ids": list(left[index : index + 2]),
    }
