"""Which columns of an analysis frame are printed, and under which heading.

The CSV files hold every column; a printed table holds those that a reader needs side by side.
"""

from __future__ import annotations

from steelyard.report.tables import Column, column

_ARM = column("arm", "arm", kind="code")
_COUNTS = (
    column("intended", "intended", kind="count"),
    column("scored", "scored", kind="count"),
    column("excluded", "excluded", kind="count"),
)
_RATE = (
    column("passed/n", "successes", "total", kind="fraction"),
    column("rate", "estimate", kind="rate"),
    column("95%, trials as independent", "low", "high", kind="rate interval"),
    column("95%, tasks as the unit", "clustered_low", "clustered_high", kind="rate interval"),
)

TRIALS = (
    _ARM,
    column("intended", "intended", kind="count"),
    column("scored", "scored", kind="count"),
    column("failed", "failed", kind="count"),
    column("never ran", "missing", kind="count"),
    column("unmeasured", "unmeasured", kind="count"),
    column("tasks scored", "n_clusters", kind="count"),
)

POLICIES = (
    _ARM,
    column("a trial without a score", "missing_policy"),
    column("case", "case"),
    column("intended", "intended", kind="count"),
    column("scored", "scored", kind="count"),
    column("counted without a score", "imputed", kind="count"),
    column("excluded", "excluded", kind="count"),
    *_RATE,
)

MANIPULATION = (
    _ARM,
    column("perturbation", "perturbation", kind="code"),
    column("assigned", "assigned", kind="count"),
    column("recorded", "recorded", kind="count"),
    column("applied", "applied", kind="count"),
    column("applied/recorded", "rate", kind="rate"),
    column("95% interval", "low", "high", kind="rate interval"),
)

APPLIED = (
    column("perturbation", "perturbation", kind="code"),
    _ARM,
    column("population", "population"),
    *_COUNTS,
    *_RATE,
)

DIFFERENCES = (
    column("comparison", "comparison"),
    column("stratum", "stratum", kind="code"),
    column("reference", "reference_successes", "reference_total", kind="fraction"),
    column("candidate", "candidate_successes", "candidate_total", kind="fraction"),
    column("difference, points", "difference", kind="points"),
    column("95%, trials as independent", "newcombe_low", "newcombe_high", kind="points interval"),
    column("95%, tasks as the unit", "clustered_low", "clustered_high", kind="points interval"),
)

TESTS = (
    column("comparison", "comparison"),
    column("stratum", "stratum", kind="code"),
    column("p, tasks ignored", "p_exact", kind="p"),
    column("p, within tasks", "p_stratified", kind="p"),
    column("p, adjusted", "p_adjusted", kind="p"),
    column("family", "family_size", kind="count"),
    column("p, sign flip over tasks", "p_sign_flip", kind="p"),
    column("margin, points", "margin", kind="size"),
    column("smallest margin, points", "smallest_margin", kind="size"),
    column("verdict", "verdict"),
)

READINGS = (
    column("comparison", "comparison"),
    column("stratum", "stratum", kind="code"),
    column("a trial without a score", "missing_policy"),
    column("case", "case"),
    column("population", "population"),
    column("reference", "reference_successes", "reference_total", kind="fraction"),
    column("candidate", "candidate_successes", "candidate_total", kind="fraction"),
    column("difference, points", "difference", kind="points"),
    column("95%, trials as independent", "newcombe_low", "newcombe_high", kind="points interval"),
    column("95%, tasks as the unit", "clustered_low", "clustered_high", kind="points interval"),
    column("p, within tasks", "p_stratified", kind="p"),
    column("verdict", "verdict"),
)

CERTIFICATES = (
    _ARM,
    column("measure", "measure", kind="code"),
    column("a trial without a score", "missing_policy"),
    column("bound (minimum)", "bound", kind="rate"),
    column("worst perturbation", "worst_perturbation", kind="code"),
    column("grade", "grade"),
    column("as published: limit of the lowest rate", "plumbline_bound", kind="rate"),
    column("its perturbation", "plumbline_worst", kind="code"),
    column("its grade", "plumbline_grade"),
    column("bound, tasks as the unit", "clustered_bound", kind="rate"),
)

RELIABILITY = (
    _ARM,
    column("k", "k", kind="count"),
    column("pass^k", "pass_hat_k", kind="rate"),
    column("95%, tasks as the unit", "low", "high", kind="rate interval"),
    column("pass@k", "pass_at_k", kind="rate"),
    column("tasks with k trials", "tasks_used", kind="count"),
    column("tasks", "tasks_total", kind="count"),
)

REPEATS = (
    _ARM,
    column("repeated cells", "cells", kind="count"),
    column("trials in them", "trials", kind="count"),
    column("same outcome", "outcome_identical", "outcome_known", kind="fraction"),
    column("same end state", "state_identical", "state_known", kind="fraction"),
    column("same steps", "steps_identical", "steps_known", kind="fraction"),
    column("different results", "distinct_results", kind="count"),
)

SPREAD = (
    column("group", "group"),
    column("scored", "scored", kind="count"),
    column("mean", "mean_over_tasks", kind="rate"),
    column("± over repeats, points", "standard_error_over_repeats", kind="size"),
    column("repeats", "n_repeats", kind="count"),
    column("± over tasks, points", "standard_error_over_tasks", kind="size"),
    column("tasks", "n_tasks", kind="count"),
    column("tasks whose repeats agree", "tasks_agreeing", kind="count"),
)

AUDIT = (
    column("check", "check", kind="code"),
    column("subject", "subject"),
    column("verdict", "verdict"),
    column("evidence", "evidence"),
)

DISPUTED = (
    column("number", "id", kind="code"),
    column("printed", "printed"),
    column("the evidence gives", "computed"),
)


def rates_columns(by: tuple[str, ...]) -> tuple[Column, ...]:
    """Return the printed columns of a table of rates grouped by ``by``."""
    labels = tuple(column(name, name, kind="code") for name in by)
    return (
        *labels, *_COUNTS, *_RATE, column("tasks", "n_clusters", kind="count"),
        column("design effect", "design_effect", kind="number"),
    )  # fmt: skip


def unpublished(columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns without those "as published", for a study of which nothing was."""
    return tuple(
        column
        for column in columns
        if not any(source.startswith("plumbline_") for source in column.sources)
    )
