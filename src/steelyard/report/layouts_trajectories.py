"""Which columns of the analyses of trajectories are printed, and under which heading."""

from __future__ import annotations

from steelyard.report.tables import column

_ARM = column("arm", "arm", kind="code")
_RATE = (
    column("agree/n", "successes", "total", kind="fraction"),
    column("rate", "estimate", kind="rate"),
    column("95%, trials as independent", "low", "high", kind="rate interval"),
    column("95%, tasks as the unit", "clustered_low", "clustered_high", kind="rate interval"),
)
_TEST = (
    column("tasks", "tasks", kind="count"),
    column("trials", "trials", kind="count"),
    column("difference", "difference", kind="number"),
    column("95%, tasks as the unit", "low", "high", kind="number interval"),
    column("p, within tasks", "p_value", kind="p"),
    column("p, adjusted", "p_adjusted", kind="p"),
    column("family", "family_size", kind="count"),
)

QUESTIONS = (
    column("reading", "reading"),
    column("question", "question"),
    *_RATE,
)

BY_PERTURBATION = (
    column("question", "question"),
    column("perturbation", "perturbation", kind="code"),
    column("reading", "reading"),
    *_RATE,
)

BOUNDS = (
    column("reading", "reading"),
    column("outcome bound (minimum)", "bound", kind="rate"),
    column("where", "worst_perturbation", kind="code"),
    column("tasks as the unit", "clustered_bound", kind="rate"),
    column("as published: limit of the lowest rate", "plumbline_bound", kind="rate"),
    column("target", "target", kind="rate"),
    column("verdict on outcomes", "verdict"),
    column("verdict on paths", "path_verdict"),
    column("published verdict", "plumbline_verdict"),
)

DIVERGENCES = (
    column("kind", "kind"),
    column("step", "step_index", kind="count"),
    column("incumbent \N{RIGHTWARDS ARROW} replacement", "change"),
    column("severity", "severity"),
    column("count", "count", kind="count"),
    column("by perturbation", "perturbations"),
    column("tasks", "tasks"),
)

PUBLISHED_DIVERGENCES = (
    *DIVERGENCES[:4],
    column("published", "published", kind="count"),
    column("recomputed", "count", kind="count"),
    *DIVERGENCES[5:],
)

FAILED_CALLS = (
    _ARM,
    column("tool", "name", kind="code"),
    column("failed/calls", "failed", "calls", kind="fraction"),
    column("trials with one", "trials", "total", kind="fraction"),
    column("different errors", "messages", kind="count"),
    column("most frequent", "example"),
)

STEP_RATES = (
    column("call", "name", kind="code"),
    _ARM,
    column("perturbation", "perturbation", kind="code"),
    column("event", "event"),
    column("n", "count", "total", kind="fraction"),
    column("rate", "estimate", kind="rate"),
    column("95%, tasks as the unit", "clustered_low", "clustered_high", kind="rate interval"),
    column("difference from baseline, points", "difference", kind="points"),
    column("95%, tasks as the unit", "difference_low", "difference_high", kind="points interval"),
    column("p, sign flip over tasks", "p_value", kind="p"),
    column("p, adjusted", "p_adjusted", kind="p"),
)

SIMILARITY = (
    column("pairs of trials", "arms"),
    column("their outcomes", "outcomes"),
    column("tasks", "tasks", kind="count"),
    column("pairs", "pairs", kind="count"),
    column("mean", "mean", kind="rate"),
    column("95%, tasks as the unit", "low", "high", kind="rate interval"),
    column("mean over tasks", "task_mean", kind="rate"),
    column("least", "minimum", kind="rate"),
    column("median", "median", kind="rate"),
)

SIMILARITY_TESTS = (column("contrast", "contrast"), *_TEST)

SHIFT = (
    _ARM,
    column("perturbation", "perturbation", kind="code"),
    column("pairs", "population"),
    column("right under it", "successes", "total", kind="fraction"),
    column("at baseline", "reference_successes", "reference_total", kind="fraction"),
    *_TEST,
)

FIRST_DIVERGENCE = (
    _ARM,
    column("leaves the path by", "operation"),
    column("at", "expected", kind="code"),
    column("with", "got", kind="code"),
    column("step", "step", kind="count"),
    column("failures", "failures", "group_failures", kind="fraction"),
    column("share of failures", "share", kind="rate"),
    column("95%", "share_low", "share_high", kind="rate interval"),
    column("fail/n with it", "count", "total", kind="fraction"),
    column("95%, tasks as the unit", "clustered_low", "clustered_high", kind="rate interval"),
)

CONFORMANCE = (
    _ARM,
    column("rule", "rule", kind="code"),
    column("kept/n", "successes", "total", kind="fraction"),
    *_RATE[1:],
)

CONTROLS = (
    _ARM,
    column("control", "control", kind="code"),
    column("it says", "title"),
    column("deviations/tested", "deviations", "tested", kind="fraction"),
    column("tolerable rate", "tolerable_rate", kind="rate"),
    column("upper limit, one-sided 95%", "upper_limit", kind="rate"),
    column("verdict", "verdict"),
    column("tasks as the unit", "clustered_upper_limit", kind="rate"),
    column("verdict", "clustered_verdict"),
    column("by perturbation", "perturbations"),
)

PATHS = (
    column("task", "task", kind="code"),
    column("path", "path", kind="count"),
    column("trials", "trials", kind="count"),
    column("calls", "steps"),
)
