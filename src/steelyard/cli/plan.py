"""``steelyard plan``: what a study would cost and could show."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from steelyard.cli import options
from steelyard.cli.experiments import Folder, experiment_folder
from steelyard.cli.output import Result, check_format, emit, rows, to_json, write

if TYPE_CHECKING:
    from steelyard.harness.design import DesignSummary

_PARTS = ("arms", "perturbations", "comparisons")


def plan(
    study: Folder,
    confidence: options.Confidence = 0.95,
    as_json: options.AsJson = False,
    as_csv: options.AsCsv = False,
) -> None:
    """Show a study's design, its cost in trials and model calls, and what it could show."""
    check_format(as_json, as_csv)
    from steelyard.harness.design import summarise
    from steelyard.harness.study import load_study

    loaded = load_study(experiment_folder(study))
    loaded.check_model()
    summary = summarise(loaded, confidence)
    if as_json:
        parts = {name: rows(getattr(summary, name)) for name in _PARTS}
        totals = {
            "trials": summary.trials,
            "model_calls": summary.model_calls,
            "largest_cost_usd": summary.largest_cost_usd,
        }
        write(to_json({"verb": "plan", "study": summary.study, **totals, **parts}))
        return
    for result in _plan_results(summary, confidence):
        if len(result.frame) and not (as_csv and result.verb != "plan arms"):
            emit(result, as_csv=as_csv)
            if not as_csv:
                write("\n")


def _plan_results(summary: DesignSummary, confidence: float) -> Iterator[Result]:
    from steelyard.report.tables import column

    level = f"{confidence:.0%}"
    yield Result(
        "plan perturbations",
        summary.perturbations,
        [
            column("perturbation", "perturbation"),
            column("preserves", "preserves"),
            column("variants", "variants", kind="count"),
            column("repeats", "repeats", kind="count"),
            column("trials per arm", "trials_per_arm", kind="count"),
        ],
        f"{summary.trials} trials, at most {summary.model_calls} model calls{_cost(summary)}. "
        "Nothing has been run for this.",
        summary.study,
    )
    yield _arms_result(summary, level)
    yield Result(
        "plan comparisons",
        summary.comparisons,
        [
            column("comparison", "comparison"),
            column("rate\nreference", "reference_rate", kind="rate"),
            column("rate\ncandidate", "candidate_rate", kind="rate"),
            column("trials\nper arm", "trials", kind="count"),
            column("power", "power", kind="rate"),
            column("power\nover tasks", "power_of_tasks", kind="rate"),
        ],
        "power: of the exact permutation test at the assumed rates ([run.expected], else the "
        "margin apart near 0.5).\nover tasks: if the trials of a task are all alike; the truth "
        "lies between the two.",
        summary.study,
    )


def _arms_result(summary: DesignSummary, level: str) -> Result:
    from steelyard.report.tables import column

    return Result(
        "plan arms",
        summary.arms,
        [
            column("arm", "arm"),
            column("kind", "kind"),
            column("trials", "trials", kind="count"),
            column("model calls", "model_calls", kind="count"),
            column("best bound", "best_bound", kind="rate"),
            column("best bound\nover tasks", "best_clustered_bound", kind="rate"),
        ],
        f"best bound: the certified bound ({level}) if no trial fails; over tasks: if the trials "
        "of a task are all alike.",
        summary.study,
    )


def _cost(summary: DesignSummary) -> str:
    """Say what the model calls can cost at most."""
    largest = summary.largest_cost_usd
    if not summary.model_calls:
        return ""
    if math.isnan(largest):
        return " of unknown cost (no prices are declared)"
    return f", whose answers cost at most {largest:,.4f} USD"
