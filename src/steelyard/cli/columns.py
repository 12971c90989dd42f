"""Which columns of a result its readable table shows.

Those that answer the question, and the denominators; together they fit into 100 characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.report.tables import Column, column

if TYPE_CHECKING:
    import pandas as pd

_DENOMINATORS = (
    column("intended", "intended", kind="count"),
    column("excluded", "excluded", kind="count"),
)


def rates(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of a table of rates."""
    level = _level(frame)
    return [
        *_labels(frame, by),
        column("passed", "successes", "total", kind="fraction"),
        column("rate", "estimate", kind="rate"),
        column(f"{level} over trials", "low", "high", kind="rate interval"),
        column(f"{level} over tasks", "clustered_low", "clustered_high", kind="rate interval"),
        *_DENOMINATORS,
    ]


def certificates(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of a table of certificates."""
    shown = [
        column("arm", "arm"),
        column("bound", "bound", kind="rate"),
        column("grade", "grade"),
        column("worst", "worst_perturbation"),
        column("bound over tasks", "clustered_bound", kind="rate"),
        column("as Plumbline prints", "plumbline_bound", kind="rate"),
        *_DENOMINATORS,
    ]
    return [*shown, *_reason(frame)]


def manipulation(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of a manipulation check."""
    return [
        *_labels(frame, by),
        column("assigned", "assigned", kind="count"),
        column("recorded", "recorded", kind="count"),
        column("applied", "applied", kind="count"),
        column("rate", "rate", kind="rate"),
        column(_level(frame), "low", "high", kind="rate interval"),
        *_reason(frame),
    ]


def reliability(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of a reliability curve."""
    level = _level(frame)
    return [
        *_labels(frame, by),
        column("k", "k", kind="count"),
        column("pass^k", "pass_hat_k", kind="rate"),
        column(level, "low", "high", kind="rate interval"),
        column("pass@k", "pass_at_k", kind="rate"),
        column(level, "pass_at_low", "pass_at_high", kind="rate interval"),
        column("tasks", "tasks_used", "tasks_total", kind="fraction"),
        *_DENOMINATORS,
    ]


def comparison(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of a comparison."""
    level = _level(frame)
    return [
        *_given(frame, "comparison"),
        column("stratum", "stratum"),
        *_case(frame),
        column("reference", "reference_successes", "reference_total", kind="fraction"),
        column("candidate", "candidate_successes", "candidate_total", kind="fraction"),
        column("points", "difference", kind="points"),
        column(f"{level} over tasks", "clustered_low", "clustered_high", kind="points interval"),
        column("p within tasks", "p_stratified", kind="p"),
        column("adjusted", "p_adjusted", kind="p"),
        column("smallest margin", "smallest_margin", kind="points"),
        column("verdict", "verdict"),
    ]


def audit(*, queries: bool) -> list[Column]:
    """Return the columns of an audit, with the queries on request."""
    shown = [
        column("check", "check"),
        column("subject", "subject"),
        column("verdict", "verdict"),
        column("evidence", "evidence"),
    ]
    return [*shown, column("query", "query")] if queries else shown


def _labels(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    return [*(column(name, name) for name in by), *_case(frame)]


def _case(frame: pd.DataFrame) -> list[Column]:
    """Show the case where there is more than the observed one."""
    bounded = "case" in frame and frame["case"].ne("observed").any()
    return [column("case", "case")] if bounded else []


def _reason(frame: pd.DataFrame) -> list[Column]:
    return [column("reason", "reason")] if frame["reason"].ne("").any() else []


def _given(frame: pd.DataFrame, name: str) -> list[Column]:
    return [column(name, name)] if name in frame else []


def _level(frame: pd.DataFrame) -> str:
    return f"{100 * frame['level'].iloc[0]:g}%"
