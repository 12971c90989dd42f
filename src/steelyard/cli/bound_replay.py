"""``steelyard bound replay STUDY``: stop policies over the recorded trials of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from steelyard.cli import bound_options, options
from steelyard.cli.output import Result, check_format, emit

if TYPE_CHECKING:
    import pandas as pd

    from steelyard.report.tables import Column

VIEWS = ("summary", "points", "sweep", "weights", "calibration")

View = Annotated[
    str,
    typer.Option(
        metavar="WHAT",
        help="summary: totals and rates. points: every trial. sweep: many thresholds. weights: one "
        "weight at a time. calibration: a threshold chosen without the task it is judged on.",
    ),
]
MissingGates = Annotated[
    str,
    typer.Option(
        metavar="RULE", help="What an unreported gate does. failed: fail. left_out: nothing."
    ),
]


def replay(
    study: options.StudyName,
    view: View = "summary",
    threshold: bound_options.Threshold = 0.6,
    acceptance_weight: bound_options.AcceptanceWeight = 1.0,
    influence_weight: bound_options.InfluenceWeight = 1.0,
    risk_weight: bound_options.RiskWeight = 1.0,
    cost_weight: bound_options.CostWeight = 1.0,
    retry_margin: bound_options.RetryMargin = 0.1,
    rollback_risk_threshold: bound_options.RollbackRisk = 0.8,
    missing_gates: MissingGates = "failed",
    hard_gates: Annotated[
        bool, typer.Option("--hard-gates", help="Accept only where every reported gate is full.")
    ] = False,
    consecutive: Annotated[
        int, typer.Option(metavar="COUNT", help="Stop at so many accepted states in a row.")
    ] = 1,
    target: Annotated[
        float, typer.Option(metavar="RATE", help="Calibration: largest false-stop rate.")
    ] = 0.05,
    by: options.By = None,
    confidence: options.Confidence = 0.95,
    arm: options.Arm = None,
    perturbation: options.Perturbation = None,
    task: options.Task = None,
    variant: options.Variant = None,
    repeat: options.Repeat = None,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
    database: options.Database = None,
    root: options.Root = None,
) -> None:
    """Tell where the policy would have stopped a study's trials, and what that is worth."""
    given = dict(locals())
    check_format(as_json, as_csv)
    from steelyard import open as open_study
    from steelyard.errors import InputError

    if view not in VIEWS:
        raise InputError(f"--view is {view!r}; accepted: {', '.join(VIEWS)}")
    opened = open_study(study, root=root, database=database)
    filters = options.chosen(
        arm=arm, perturbation=perturbation, task=task, variant=variant, repeat=repeat
    )
    groups = options.groups(by, ())
    policy = _policy(given)
    ask: dict[str, Any] = {
        "summary": lambda: opened.stopping_summary(
            policy, by=groups, confidence=confidence, **filters
        ),
        "points": lambda: opened.stop_points(policy, **filters),
        "sweep": lambda: opened.stopping_sweep(policy, by=groups, confidence=confidence, **filters),
        "weights": lambda: opened.weight_sensitivity(policy, confidence=confidence, **filters),
        "calibration": lambda: opened.calibrated_threshold(
            policy, target=target, confidence=confidence, **filters
        ),
    }
    frame = ask[view]()
    shown = _columns(view, frame, groups)
    result = Result("bound replay", frame, shown, _CAPTIONS[view], study)
    emit(result, as_json=as_json, as_csv=as_csv)


def _policy(given: dict[str, Any]) -> dict[str, Any]:
    """Return the policy that the options state; what has its default is not said."""
    weights = {
        name: given[f"{name}_weight"]
        for name in ("acceptance", "influence", "risk", "cost")
        if given[f"{name}_weight"] != 1.0
    }
    names = (
        "threshold",
        "retry_margin",
        "rollback_risk_threshold",
        "missing_gates",
        "hard_gates",
        "consecutive",
    )
    policy = {name: given[name] for name in names}
    return {"rule": "bound", **policy} | ({"weights": weights} if weights else {})


_CAPTIONS = {
    "summary": (
        "Rates: over all replayed trials, those that stop, or those that can be solved; limits "
        "with the task as cluster.\n"
        "false_stop: stopped at a state that does not satisfy the task while a later one does. "
        "missed_stop: no stop, or only after the satisfied states."
    ),
    "points": "One row per trial. Why a trial could not be replayed: column problem.",
    "sweep": (
        "False, missed and correct stops: of the trials that some state solves. Saved: share of "
        "the agents' own steps. Limits pointwise, task as cluster; bands: --json or --csv."
    ),
    "weights": "Each weight times the factor, the others as they are. Changes: paired by task.",
    "calibration": (
        "Threshold chosen on the other tasks, judged on this one. held_out: all tasks so judged. "
        "apparent: chosen and judged on the same tasks, too good for new ones."
    ),
}


def _columns(view: str, frame: pd.DataFrame, by: tuple[str, ...]) -> list[Column]:
    from steelyard.report.tables import column

    labels = [column(name, name) for name in by]
    level = f"{100 * frame['level'].iloc[0]:g}%" if "level" in frame else ""
    shown = {
        "summary": [
            *labels,
            column("quantity", "quantity"),
            column("kind", "kind"),
            column("n", "n", kind="count"),
            column("estimate", "estimate", kind="number"),
            column(level, "low", "high", kind="number interval"),
        ],
        "points": [
            column("trial", "trial_id"),
            column("states", "states", kind="count"),
            column("own\nstop", "actual_stop", kind="count"),
            column("stop", "stop_step", kind="count"),
            column("first\nsatisfied", "first_satisfied", kind="count"),
            column("verdict", "verdict"),
        ],
        "sweep": [
            *labels,
            column("policy", "policy"),
            column("false\nstops", "false_stop_rate", kind="rate"),
            column(level, "false_stop_low", "false_stop_high", kind="rate interval"),
            column("missed", "missed_stop_rate", kind="rate"),
            column("saved", "steps_share", kind="rate"),
            column(level, "steps_low", "steps_high", kind="rate interval"),
            column("success", "success_rate", kind="rate"),
        ],
        "weights": [
            column("dimension", "dimension"),
            column("weight", "weight", kind="number"),
            column("stops\nmoved", "stops_moved", "trials", kind="fraction"),
            column("false\nstops", "false_stop", kind="rate"),
            column("change", "false_stop_change", kind="number"),
            column("saved", "steps_share", kind="rate"),
            column("change", "steps_share_change", kind="number"),
        ],
        "calibration": [
            column("part", "part"),
            column("task", "task"),
            column("threshold", "threshold", kind="number"),
            column("false\nstops", "false_stops", "solvable", kind="fraction"),
            column(level, "low", "high", kind="rate interval"),
            column("saved", "steps_share", kind="rate"),
        ],
    }
    return shown[view]
