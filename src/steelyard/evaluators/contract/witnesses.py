"""Witnesses: two orders that show a difference, as near to each other as there are.

Where two orders that differ by one swap of neighbours disagree, that pair is shown. Passes and
reasons can also differ only between orders further apart, when the rule is not reported in
between; then the two ends are shown with a path of swaps that leads from one to the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from steelyard.evaluators.contract.observations import Observations, Order, View

Witness = dict[str, Any]


def witnesses(seen: Observations, *, all_orders: bool = True) -> list[Witness]:
    """Return at most one witness per dimension that varies, and one of missing rules.

    Parameters
    ----------
    seen : Observations
        The orders of the rules.
    all_orders : bool, default True
        Whether these are all of them. If not, two orders far apart are shown without the path
        between them: the orders on it were not all evaluated, and there may be thousands.

    Returns
    -------
    list of dict
        In the order outcome, reason_evidence, participation, presentation, rule_coverage.
    """
    found = [
        _adjacent(seen, dimension) or _endpoints(seen, dimension, with_path=all_orders)
        for dimension in _PROJECTIONS
        if seen.variance[dimension]
    ]
    if seen.incomplete:
        index = seen.incomplete[0]
        missing = [p for p in seen.orders[index] if p not in seen.views[index].passes]
        found.append(
            {
                "dimension": "rule_coverage",
                "order": seen.ids(seen.orders[index]),
                "missing_rule_ids": seen.ids(missing),
            }
        )
    return found


def swapped(order: Order, index: int) -> Order:
    """Return the order with the rules at ``index`` and ``index + 1`` exchanged."""
    return (*order[:index], order[index + 1], order[index], *order[index + 2 :])


def swap_path(left: Order, right: Order) -> list[Order]:
    """Return orders from ``left`` to ``right``, each one swap of neighbours from the last.

    Position after position, the rule that belongs there is moved to the left, step by step.
    """
    path = [left]
    for target, rule in enumerate(right):
        for index in range(path[-1].index(rule), target, -1):
            path.append(swapped(path[-1], index - 1))
    return path


def neighbours(seen: Observations) -> Iterator[tuple[int, int, int]]:
    """Yield (left, right, swap index) for every two observed orders one swap apart, by index."""
    index_of = {order: index for index, order in enumerate(seen.orders)}
    for left, order in enumerate(seen.orders):
        for index in range(len(order) - 1):
            right = index_of.get(swapped(order, index))
            if right is not None:
                yield left, right, index


def _adjacent(seen: Observations, dimension: str) -> Witness | None:
    project = _PROJECTIONS[dimension]
    for left, right, index in neighbours(seen):
        ours, theirs = seen.views[left], seen.views[right]
        if ours is theirs:
            continue
        left_projection, right_projection = project(seen, ours, theirs), project(seen, theirs, ours)
        if left_projection != right_projection:
            order = seen.orders[left]
            return {
                "comparison": "adjacent_swap",
                "dimension": dimension,
                "left_order": seen.ids(order),
                "left_projection": left_projection,
                "right_order": seen.ids(seen.orders[right]),
                "right_projection": right_projection,
                "swap_index": index,
                "swapped_rule_ids": seen.ids(order[index : index + 2]),
            }
    return None


def _endpoints(seen: Observations, dimension: str, *, with_path: bool) -> Witness:
    left, right, what = _contradiction(seen, dimension)
    witness = {
        "comparison": "endpoint_path" if with_path else "endpoints",
        "dimension": dimension,
        "left_order": seen.ids(seen.orders[left]),
        "right_order": seen.ids(seen.orders[right]),
        **what,
    }
    if with_path:
        path = swap_path(seen.orders[left], seen.orders[right])
        witness["adjacent_swap_path"] = [seen.ids(order) for order in path]
    return witness


def _contradiction(seen: Observations, dimension: str) -> tuple[int, int, Witness]:
    """Return the first two orders that contradict each other, and what they say."""
    if dimension not in _ENDS:  # in a sample: participation or presentation
        project = _PROJECTIONS[dimension]
        first = seen.views[0]
        right = next(
            index
            for index, view in enumerate(seen.views)
            if project(seen, view, first) != project(seen, first, view)
        )
        shown = project(seen, first, first), project(seen, seen.views[right], first)
        return 0, right, {"reason": dimension} | _projections(*shown)
    read, reason, show = _ENDS[dimension]
    by_id = sorted(range(len(seen.rule_ids)), key=lambda position: seen.rule_ids[position])
    earliest: dict[int, int] = {}  # rule to the index of the first order that reports it
    for right, view in enumerate(seen.views):
        for rule in (rule for rule in by_id if rule in view.passes):
            left = earliest.setdefault(rule, right)
            if read(seen.views[left])[rule] != read(view)[rule]:
                shown = show(seen, seen.views[left], rule), show(seen, view, rule)
                return left, right, {"reason": reason} | _projections(*shown)
    raise AssertionError(f"{dimension} was said to vary and does not")


def _projections(left: Any, right: Any) -> Witness:
    return {"left_projection": left, "right_projection": right}


def _show_pass(seen: Observations, view: View, rule: int) -> dict[str, Any]:
    return {"passed": view.passes[rule], "rule_id": seen.rule_ids[rule]}


def _show_evidence(seen: Observations, view: View, rule: int) -> dict[str, Any]:
    kind, path, reason = _evidence(seen, view, rule)
    return {"kind": kind, "path": path, "reason_code": reason, "rule_id": seen.rule_ids[rule]}


def _evidence(seen: Observations, view: View, rule: int) -> list[str]:
    kind, path = seen.declared[rule]
    return [kind, path, view.reasons[rule]]


def _shared(view: View, other: View) -> list[int]:
    return sorted(view.passes.keys() & other.passes.keys())


def _outcome(seen: Observations, view: View, other: View) -> dict[str, Any]:
    passes = {seen.rule_ids[rule]: view.passes[rule] for rule in _shared(view, other)}
    projection: dict[str, Any] = {"shared_rule_passes": passes}
    if view.passes.keys() == other.passes.keys():
        projection["overall_pass"] = view.passed
    return projection


def _reason_evidence(seen: Observations, view: View, other: View) -> dict[str, Any]:
    rules = _shared(view, other)
    evidence = {seen.rule_ids[rule]: _evidence(seen, view, rule) for rule in rules}
    return {"shared_rule_evidence": evidence}


def _participation(seen: Observations, view: View, _other: View) -> list[dict[str, Any]]:
    return [{"rule_id": rule_id, "count": 1} for rule_id in sorted(seen.ids(view.reported))]


def _presentation(seen: Observations, view: View, _other: View) -> dict[str, Any]:
    return {"rule_ids": seen.ids(view.reported)}


_PROJECTIONS: dict[str, Callable[[Observations, View, View], Any]] = {
    "outcome": _outcome,
    "reason_evidence": _reason_evidence,
    "participation": _participation,
    "presentation": _presentation,
}

_ENDS: dict[str, tuple[Callable[[View], dict[int, Any]], str, Callable[..., dict[str, Any]]]] = {
    "outcome": (lambda view: view.passes, "shared_rule_pass", _show_pass),
    "reason_evidence": (lambda view: view.reasons, "shared_rule_evidence", _show_evidence),
}
