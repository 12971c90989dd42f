"""The report of a check of order drift, as JSON has it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from steelyard.analysis.order_coverage import ordered_triples
from steelyard.evaluators.contract.calls import WORK_BUDGET

if TYPE_CHECKING:
    from steelyard.analysis.order_drift import OrderDrift

SCHEMA_VERSION = "steelyard-1.0"
PAIRS_SHOWN = 20
"""Pairs of rules in the report; `OrderDrift.pairs` has all."""


def report(drift: OrderDrift) -> dict[str, Any]:
    """Return the report; it holds no value of policy or response.

    Parameters
    ----------
    drift : OrderDrift
        What was found.

    Returns
    -------
    dict
        ``conforms_within_coverage`` is true or false only if the check was of all orders: a sample
        without drift bounds its share. If it happens to hold all orders, ``all_orders_seen`` is
        true; if none of them drifts, the share is 0 and nothing is bounded. If all ordered triples
        were seen (`order_coverage`), drift that three rules decide between them cannot have been
        missed either. ``pairs`` lists those that show an effect, the strongest first. What could
        not be computed is null.
    """
    conclusive = not drift.status.startswith("INCONCLUSIVE")
    conforms: bool | None = None
    if drift.mode == "exhaustive" and conclusive:
        conforms = drift.status in ("PRESENTATION_ONLY_DRIFT", "NO_VARIANCE_OBSERVED")
    return {
        "cause": {
            "name": drift.cause,
            "order_p_value": drift.order_p_value,
            "replay_equal": drift.replay_equal,
            "state_p_value": drift.state_p_value,
        },
        "conforms_within_coverage": conforms,
        "coverage": _coverage(drift),
        "drift": _share(drift),
        "failure": drift.failure,
        "pairs": _pairs(drift),
        "policy_id": drift.policy_id,
        "report_schema_version": SCHEMA_VERSION,
        "status": drift.status,
        "variance": drift.variance,
        "witnesses": drift.witnesses,
    }


def _coverage(drift: OrderDrift) -> dict[str, Any]:
    triples = None if drift.failure else ordered_triples(drift.log.design.places())
    seen, total = triples or (None, None)
    return {
        "all_orders_seen": drift.all_orders_seen,
        "charged_work_bytes": drift.work_bytes,
        "evaluations_per_order": drift.repeats,
        "evaluator_calls": drift.evaluator_calls,
        "mode": drift.mode,
        "ordered_triples_seen": seen,
        "ordered_triples_total": total,
        "orders_drawn": drift.orders_drawn,
        "orders_seen": drift.orders_seen,
        "orders_total": drift.orders_total,
        "rule_count": len(drift.rule_ids),
        "seed": drift.seed,
        "unstable_orders": drift.unstable_orders,
        "work_budget_bytes": WORK_BUDGET,
    }


def _share(drift: OrderDrift) -> dict[str, Any]:
    # A share above 0 is estimated from the draws, even if they hold all orders that there are.
    sampled = drift.mode == "sampled" and not drift.none_can_drift
    return {
        "confidence": drift.confidence if sampled else None,
        "high": 0.0 if drift.none_can_drift else _number(drift.drift_high),
        "low": _number(drift.drift_low),
        "method": "one-sided Clopper-Pearson bound" if sampled else "all orders",
        "orders_drifting": drift.orders_drifting,
        "share": _number(drift.drift_share),
    }


def _pairs(drift: OrderDrift) -> list[dict[str, Any]]:
    shown = []
    for effect in drift.pair_effects():
        if effect.swaps_changing or effect.difference_low > 0 or effect.difference_high < 0:
            row = effect.to_row()
            shown.append({name: _number(value) for name, value in row.items()})
    return shown[:PAIRS_SHOWN]


def _number(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
