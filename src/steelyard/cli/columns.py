"""Which columns of a result its readable table shows.

Those that answer the question, and the denominators; together they fit into 100 characters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from steelyard.report.tables import Column, column

if TYPE_CHECKING:
    import pandas as pd

DEPARTURES = ("substitute", "skipped", "extra")
"""The events of a consensus that leave the path."""

_DENOMINATORS = (
    column("intended", "intended", kind="count"),
    column("excluded", "excluded", kind="count"),
)


def rates(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of a table of rates."""
    level = _level(frame)
    return [
        *_labels(by),
        column("passed", "successes", "total", kind="fraction"),
        column("rate", "estimate", kind="rate"),
        column(f"{level}\nover trials", "low", "high", kind="rate interval"),
        column(f"{level}\nover tasks", "clustered_low", "clustered_high", kind="rate interval"),
        *_DENOMINATORS,
    ]


def certificates() -> list[Column]:
    """Return the columns of a table of certificates."""
    return [
        column("arm", "arm"),
        column("bound", "bound", kind="rate"),
        column("grade", "grade"),
        column("worst", "worst_perturbation"),
        column("bound\nover tasks", "clustered_bound", kind="rate"),
        column("as Plumbline\nprints", "plumbline_bound", kind="rate"),
        *_DENOMINATORS,
    ]


def manipulation(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of a manipulation check."""
    return [
        *_labels(by),
        column("assigned", "assigned", kind="count"),
        column("recorded", "recorded", kind="count"),
        column("applied", "applied", kind="count"),
        column("rate", "rate", kind="rate"),
        column(_level(frame), "low", "high", kind="rate interval"),
        *_reason(frame),
    ]


def reliability(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of a reliability curve."""
    return [
        *_labels(by),
        column("k", "k", kind="count"),
        column("pass^k", "pass_hat_k", kind="rate"),
        column(_level(frame), "low", "high", kind="rate interval"),
        column("pass@k", "pass_at_k", kind="rate"),
        column("tasks", "tasks_used", "tasks_total", kind="fraction"),
        *_DENOMINATORS,
    ]


def comparison(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of a comparison."""
    level = _level(frame)
    return [
        column("stratum", "stratum"),
        column("reference", "reference_successes", "reference_total", kind="fraction"),
        column("candidate", "candidate_successes", "candidate_total", kind="fraction"),
        column("points", "difference", kind="points"),
        column(f"{level}\nover tasks", "clustered_low", "clustered_high", kind="points interval"),
        column("p within\ntasks", "p_stratified", kind="p"),
        column("adjusted", "p_adjusted", kind="p"),
        column("least\nmargin", "smallest_margin", kind="points"),
        column("verdict", "verdict"),
    ]


def sections(frame: pd.DataFrame) -> list[str]:
    """Return the columns that break the output into tables of their own."""
    return [name for name in ("comparison", "case") if name in frame and len(set(frame[name])) > 1]


def _labels(by: Sequence[str]) -> list[Column]:
    return [column(name, name) for name in by]


def _reason(frame: pd.DataFrame) -> list[Column]:
    return [column("reason", "reason")] if frame["reason"].ne("").any() else []


def _level(frame: pd.DataFrame) -> str:
    return f"{100 * frame['level'].iloc[0]:g}%"


def parity(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of an equivalence check."""
    level = _level(frame)
    return [
        column("question", "question"),
        column("agree", "successes", "total", kind="fraction"),
        column("rate", "estimate", kind="rate"),
        column(f"{level}\nover trials", "low", "high", kind="rate interval"),
        column(f"{level}\nover tasks", "clustered_low", "clustered_high", kind="rate interval"),
    ]


def divergences() -> list[Column]:
    """Return the columns of a list of grouped divergences."""
    return [
        column("kind", "kind"),
        column("severity", "severity"),
        column("step", "step_index", kind="count"),
        column("expected", "expected"),
        column("got", "got"),
        column("trials", "count", kind="count"),
    ]


def attestation() -> list[Column]:
    """Return the columns of control tests."""
    return [
        column("control", "control"),
        column("title", "title"),
        column("deviations", "deviations", "tested", kind="fraction"),
        column("upper\nlimit", "upper_limit", kind="rate"),
        column("over\ntasks", "clustered_upper_limit", kind="rate"),
        column("tolerable", "tolerable_rate", kind="rate"),
        column("needed", "required_sample", kind="count"),
        column("verdict", "verdict"),
    ]


def consensus(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of the departures from a task's usual path."""
    level = _level(frame) if len(frame) else "interval"
    return [
        column("step", "step", kind="count"),
        column("name", "name"),
        *_labels(by),
        column("event", "event"),
        column("instead", "got"),
        column("trials", "count", "total", kind="fraction"),
        column(f"{level} over\nvariants", "clustered_low", "clustered_high", kind="rate interval"),
    ]


def similarity(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of similarities in classes of pairs."""
    return [
        column("arms", "arms"),
        column("outcomes", "outcomes"),
        column("tasks", "tasks", kind="count"),
        column("pairs", "pairs", kind="count"),
        column("mean", "mean", kind="number"),
        column(f"{_level(frame)}\nover tasks", "low", "high", kind="number interval"),
        column("mean of\ntasks", "task_mean", kind="number"),
        column("median", "median", kind="number"),
    ]


def similarity_test(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of the test of similarity and outcome."""
    return [column("contrast", "contrast"), *_shift_columns(frame), column("reason", "reason")]


def behaviour_shift(frame: pd.DataFrame) -> list[Column]:
    """Return the columns of the test whether perturbations move behaviour."""
    return [
        column("perturbation", "perturbation"),
        column("pairs", "population"),
        column("passed", "successes", "total", kind="fraction"),
        *_shift_columns(frame),
    ]


def _shift_columns(frame: pd.DataFrame) -> list[Column]:
    return [
        column("tasks", "tasks", kind="count"),
        column("difference", "difference", kind="number"),
        column(f"{_level(frame)}\nover tasks", "low", "high", kind="number interval"),
        column("p within\ntasks", "p_value", kind="p"),
        column("adjusted", "p_adjusted", kind="p"),
    ]


def first_divergence(frame: pd.DataFrame, by: Sequence[str]) -> list[Column]:
    """Return the columns of failures by their first divergence."""
    return [
        *_labels(by),
        column("step", "step", kind="count"),
        column("first divergence", "operation"),
        column("expected", "expected"),
        column("got", "got"),
        column("of the\nfailures", "failures", "group_failures", kind="fraction"),
        column("failed", "count", "total", kind="fraction"),
        column(
            f"{_level(frame)}\nover tasks", "clustered_low", "clustered_high", kind="rate interval"
        ),
    ]
