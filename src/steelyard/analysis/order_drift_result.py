"""What a check of order drift found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from steelyard.analysis.order_pairs import PairEffect, pair_effects
from steelyard.analysis.order_runs import RunLog
from steelyard.evaluators.contract.witnesses import Witness
from steelyard.stats.results import Result

if TYPE_CHECKING:
    import pandas as pd


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
        (Clopper-Pearson) upper bound, from the draws alone (but see `none_can_drift`). Exhaustive:
        the share without and with unstable orders are the limits; without unstable ones all three
        are equal. NaN after a failure.
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

    @property
    def all_orders_seen(self) -> bool:
        """Whether every order was evaluated: by design, or because a sample of few holds all."""
        return self.orders_seen == self.orders_total

    @property
    def none_can_drift(self) -> bool:
        """Whether a sample happens to hold all orders and none drifts: then no bound is needed."""
        return self.all_orders_seen and self.status == "NO_DRIFT_IN_SAMPLE"

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
