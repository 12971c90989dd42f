"""The report of the decision gate's benchmark."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from load import load_said

TITLES = {
    "ours": "steelyard",
    "ours_published": "steelyard, published behaviour",
    "prismthinker": "prismthinker, threads",
}
MEASURES = ("wall", "processor")
GOAL = 3


@dataclass(frozen=True)
class Workload:
    """A stretch of the contexts."""

    title: str
    start: int
    end: int


@dataclass(frozen=True)
class Figures:
    """Seconds by tool and context, the median over rounds, and the directives."""

    wall: dict[str, list[float]]
    processor: dict[str, list[float]]
    directives: dict[str, list[str]]

    def quantile(self, measure: str, name: str, workload: Workload, twentieths: int) -> float:
        """Return a quantile over a workload's contexts, in milliseconds."""
        seconds = getattr(self, measure)[name][workload.start : workload.end]
        return 1000 * statistics.quantiles(seconds, n=20, method="inclusive")[twentieths - 1]

    def ratio(self, measure: str, name: str, workload: Workload) -> float:
        """Return how many times what a tool takes prismthinker takes, at the median."""
        theirs = self.quantile(measure, "prismthinker", workload, 10)
        return theirs / self.quantile(measure, name, workload, 10)


def report(
    figures: Figures,
    workloads: list[Workload],
    taken: dict[str, Any],
    rounds: int,
    loads: list[dict[str, Any]],
) -> str:
    """Return the report; ``loads`` says how busy the machine was at the start and at the end."""
    head = f"""# What a decision costs

Written by `experiments/benchmarks/decision_gate.py --rounds {rounds}`.

The contexts are validated before the clock runs. Every tool decided each of them {rounds} times, in
turns, in a process of its own; a context's time is the median of its rounds, and the table holds
medians and 95th percentiles over contexts. prismthinker {metadata.version("prismthinker")} runs
with its evaluators in threads, its fastest mode.
{load_said(loads)}
"""
    tables = [table(figures, workload) for workload in workloads]
    return "\n".join([head, *tables, verdict(figures, workloads), batch(taken)])


def table(figures: Figures, workload: Workload) -> str:
    """Return the table of one workload, and what the directives say."""
    head = "| tool | wall p50, ms | wall p95 | processor p50, ms | processor p95 |"
    lines = [
        f"## {workload.end - workload.start} {workload.title}",
        "",
        f"{head} prismthinker / this, wall | processor |",
        "|---|---:|---:|---:|---:|---:|---:|",
    ]
    for name, title in TITLES.items():
        cells = [
            f"{figures.quantile(measure, name, workload, twentieths):.3f}"
            for measure in MEASURES
            for twentieths in (10, 19)
        ]
        cells += [f"{figures.ratio(measure, name, workload):.1f}" for measure in MEASURES]
        lines.append(f"| {title} | {' | '.join(cells)} |")
    part = {name: figures.directives[name][workload.start : workload.end] for name in TITLES}
    theirs = part["prismthinker"]
    failed = [directive for directive in theirs if directive[0].isupper()]
    same = sum(a == b for a, b in zip(part["ours_published"], theirs, strict=True))
    ours, executed = part["ours"].count("execute"), theirs.count("execute")
    lines += [
        "",
        f"With the published behaviour {same} of {len(theirs)} directives are prismthinker's; it",
        f"raises an exception on {len(failed)}. By default the gate executes {ours} of them",
        f"and prismthinker {executed}: few of these contexts hold a permission.",
        "",
    ]
    return "\n".join(lines)


def verdict(figures: Figures, workloads: list[Workload]) -> str:
    """Return whether the goal is reached."""
    ratio = min(
        figures.ratio(measure, "ours", workload) for measure in MEASURES for workload in workloads
    )
    reached = "is reached" if ratio >= GOAL else "is not reached"
    how = f"{ratio:.1f} times by the least of the four figures"
    return f"The goal, {GOAL} times faster at the median, {reached}: {how}.\n"


def batch(taken: dict[str, Any]) -> str:
    """Return the section on the batch."""
    rows, seconds = taken["rows"], taken["seconds"]
    steps = [*seconds.items(), ("together", sum(seconds.values()))]
    lines = [
        "## A batch",
        "",
        f"{rows:,} cases as JSON Lines, the finite reference vectors over and over: read and",
        "validated, decided in one process, and made into a data frame. Processor time.",
        "",
        "| step | seconds | µs per case |",
        "|---|---:|---:|",
        *(f"| {step} | {spent:.2f} | {1e6 * spent / rows:,.0f} |" for step, spent in steps),
        "",
        f"Peak resident memory was {taken['peak_mebibytes']:.0f} MiB, with all cases held at once;",
        "`decision_rows` needs one at a time.",
    ]
    return "\n".join(lines) + "\n"
