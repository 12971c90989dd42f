"""What a harness costs per trial: a null agent that calls one tool ten times.

    ../steelyard-benchmarks/bin/python experiments/benchmarks/harness.py --rounds 5

Each measurement runs in a process of its own: a small run first, so that nothing is imported or
compiled within the clock, then the timed one. The tools take turns within each round. Every one of
them has to leave on disk what its user would work with afterwards: the trials with their steps.
inspect-ai is asked for its model's next answer before each call; the mock model answers at once.
"""

from __future__ import annotations

import argparse
import asyncio  # noqa: F401 - loaded before the clock runs, for every tool alike
import contextlib
import csv
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

from load import load_now, load_said

HERE = Path(__file__).parent
CALLS, TASKS, VARIANTS = 10, 10, 5
PACKAGES = {
    "steelyard": "steelyard",
    "steelyard, 2 processes": "steelyard",
    "plumbline": "plumbline-harness",
    "inspect-ai": "inspect-ai",
}
TRIALS = {
    "steelyard": 20_000,
    "steelyard, 2 processes": 20_000,
    "plumbline": 20_000,
    "inspect-ai": 100,
}
Run = Callable[[int, Path], int]


def steelyard(workers: int) -> Run:
    """Return a run of ours with so many workers; it returns the number of recorded steps."""
    from copied_study import copy_study

    from steelyard.harness.runner import run_study
    from steelyard.harness.study import load_study
    from steelyard.store.connect import connect

    def run(trials: int, folder: Path) -> int:
        repeats = f"repeats = {trials // (TASKS * VARIANTS)}"
        study = copy_study("null_agent", folder, {"repeats = 40": repeats})
        loaded = load_study(study)
        with timed():
            run_study(loaded, folder / "run.duckdb", workers=workers)
        connection = connect(folder / "run.duckdb")
        return int(connection.execute("SELECT count(*) FROM steps").fetchall()[0][0])

    return run


def plumbline(trials: int, folder: Path) -> int:
    """Run Plumbline's study runner with its default of eight threads."""
    from plumbline import Step, Trajectory
    from plumbline.domains.ap.arms import Arm
    from plumbline.domains.ap.tasks import Task
    from plumbline.perturb.library import Baseline
    from plumbline.runtime.runner import RunConfig, run_study

    class Toolbox:
        def __init__(self, fault_hook: Any = None) -> None:
            self.fault_hook = fault_hook
            self.counts: dict[str, int] = {}

        def call(self, name: str, args: dict[str, Any]) -> dict[str, Any]:
            self.counts[name] = self.counts.get(name, 0) + 1
            if self.fault_hook is not None:
                self.fault_hook(name, args, self.counts[name])
            return {"ok": True, "value": args["value"]}

    class Null(Arm):
        name = "null"

        def run(
            self, *, toolbox: Any, trial_key: str, task_id: str = "", **_rest: Any
        ) -> Trajectory:
            trajectory = Trajectory(trial_id=trial_key, arm="null", task_id=task_id)
            for value in range(CALLS):
                args = {"value": value}
                began = time.perf_counter()
                output = toolbox.call("echo", args)
                elapsed = (time.perf_counter() - began) * 1000
                step = Step("tool_call", "echo", args, output, index=value, latency_ms=elapsed)
                trajectory.steps.append(step)
            return trajectory

    settings = RunConfig(
        toolbox_factory=Toolbox,
        ledger_of=lambda toolbox, *_: {"calls": toolbox.counts["echo"]},
        arms=[Null()],
        tasks=[Task(task_id=f"t{n}", prompt="Call echo ten times.") for n in range(TASKS)],
        perturbations=[Baseline()],
        trials_per_variant=trials // (TASKS * VARIANTS),
        variants_per_perturbation=VARIANTS,
        out_dir=str(folder / "run"),
    )

    class NoModel:
        budget = None

    with timed():
        result = run_study(settings, NoModel(), None)
    return sum(len(trajectory.steps) for trajectory in result.trajectories)


def inspect_ai(trials: int, folder: Path) -> int:
    """Run an evaluation of inspect-ai with its mock model, which asks for the ten calls."""
    import tiktoken

    class Words:  # the tokenizer's table would be fetched from the network
        def encode(self, text: str, **_options: Any) -> list[str]:
            return text.split()

        encode_ordinary = encode

    tiktoken.get_encoding = tiktoken.encoding_for_model = lambda _name: Words()
    from inspect_ai import Task
    from inspect_ai import eval as evaluate
    from inspect_ai.dataset import Sample
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def echo():  # type: ignore[no-untyped-def]
        async def execute(value: int) -> str:
            """Return the value.

            Args:
                value: The value.
            """
            return json.dumps({"ok": True, "value": value})

        return execute

    def answers() -> Iterator[ModelOutput]:
        while True:
            for value in range(CALLS):
                yield ModelOutput.for_tool_call("mockllm/model", "echo", {"value": value})
            yield ModelOutput.from_content("mockllm/model", "done")

    task = Task(
        dataset=[Sample(id=f"t{n}", input="Call echo ten times.") for n in range(TASKS)],
        solver=[use_tools(echo()), generate()],
        epochs=trials // TASKS,
    )
    model = get_model("mockllm/model", custom_outputs=answers())
    with timed():
        # One sample at a time: the mock model's answers come in one sequence for all of them.
        # More at once was no quicker.
        (log,) = evaluate(
            task, model=model, display="none", max_samples=1, log_dir=str(folder), score=False
        )
    return sum(
        len(message.tool_calls or ())
        for sample in log.samples
        for message in sample.messages
        if message.role == "assistant"
    )


class Clock:
    """The last timed section: wall and processor seconds, children included."""

    wall = cpu = 0.0


@contextlib.contextmanager
def timed() -> Iterator[None]:
    """Time a section."""
    before, began = _cpu(), time.perf_counter()
    yield
    Clock.wall, Clock.cpu = time.perf_counter() - began, _cpu() - before


def _cpu() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def measure(tool: str, trials: int) -> None:
    """Run one tool in this process and print what it took as JSON."""
    if tool.startswith("steelyard"):
        run = steelyard(2 if "2 processes" in tool else 1)
    else:
        run = {"plumbline": plumbline, "inspect-ai": inspect_ai}[tool]
    with tempfile.TemporaryDirectory() as folder:
        run(TASKS * VARIANTS, Path(folder) / "small")
        steps = run(trials, Path(folder) / "timed")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak = max(peak, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
    if steps != trials * CALLS:
        sys.exit(f"{tool} recorded {steps} steps instead of {trials * CALLS}")
    print(json.dumps({"wall": Clock.wall, "cpu": Clock.cpu, "peak_mib": peak / 1024}))


def ask(tool: str, trials: int) -> dict[str, float]:
    """Measure one tool in a process of its own."""
    command = [sys.executable, __file__, "--measure", tool, "--trials", str(trials)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        sys.exit(f"{tool}: {done.stderr[-2000:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def compare(rounds: int) -> list[dict[str, Any]]:
    """Measure every tool in turn, several times."""
    rows = []
    for number in range(rounds):
        for tool, trials in TRIALS.items():
            busy = load_now()
            found = ask(tool, trials)
            row = {"round": number, "tool": tool, "version": metadata.version(PACKAGES[tool])}
            row |= {"trials": trials}
            row |= {f"{kind}_us_per_trial": found[kind] / trials * 1e6 for kind in ("wall", "cpu")}
            row |= busy
            print(row, file=sys.stderr)
            rows.append(row)
    return rows


def memory() -> list[dict[str, Any]]:
    """Measure the peak memory of runs of growing size."""
    rows = []
    for trials in (1_000, 5_000, 10_000, 50_000):
        found = ask("steelyard", trials)
        rows.append({"trials": trials, "peak_mib": found["peak_mib"]})
        print(rows[-1], file=sys.stderr)
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.1f}" if isinstance(v, float) else v for k, v in row.items()})


def report(folder: Path) -> str:
    """Return the report, from the tables."""
    with (folder / "tables" / "harness.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    with (folder / "tables" / "harness_memory.csv").open(newline="", encoding="utf-8") as file:
        sizes = list(csv.DictReader(file))

    def median(tool: str, kind: str) -> float:
        values = [float(row[f"{kind}_us_per_trial"]) for row in rows if row["tool"] == tool]
        return statistics.median(values)

    versions = {row["tool"]: row["version"] for row in rows}
    best = {kind: min(median(t, kind) for t in ("plumbline", "inspect-ai")) for kind in KINDS}
    lines = [
        f"| {tool} {versions[tool]} | {median(tool, 'wall'):,.0f} | {median(tool, 'cpu'):,.0f} "
        f"| {best['wall'] / median(tool, 'wall'):.2g} | {best['cpu'] / median(tool, 'cpu'):.2g} |"
        for tool in TRIALS
    ]
    memory_lines = [f"| {int(r['trials']):,} | {float(r['peak_mib']):.0f} |" for r in sizes]
    rounds = len({row["round"] for row in rows})
    ours, theirs = median("steelyard", "cpu"), best["cpu"]
    by_round = [
        min(float(r["cpu_us_per_trial"]) for r in one if r["tool"] in ("plumbline", "inspect-ai"))
        / next(float(r["cpu_us_per_trial"]) for r in one if r["tool"] == "steelyard")
        for one in (
            [r for r in rows if r["round"] == n] for n in sorted({r["round"] for r in rows})
        )
    ]
    goal = "reached in the median" if theirs / ours >= GOAL else "not reached in the median"
    goal += f" (single rounds: {', '.join(f'{ratio:.1f}' for ratio in by_round)})"
    return REPORT.format(
        rounds="1 round" if rounds == 1 else f"{rounds} rounds",
        table="\n".join(lines),
        memory="\n".join(memory_lines),
        calls=CALLS,
        goal=goal,
        load=load_said(rows),
    )


KINDS = ("wall", "cpu")
GOAL = 5  # times the better of the others
REPORT = """\
# What the harness costs

Written by `experiments/benchmarks/harness.py`, from `tables/harness.csv` and
`tables/harness_memory.csv`. A null agent calls one tool {calls} times per trial; the tool returns
its argument. All that is measured is the harness: planning, the toolbox, judging, and what it
leaves on disk. Medians of {rounds} in which the tools took turns. The last two columns say how many
times what this tool takes the better of plumbline and inspect-ai takes.
{load}

| tool | wall, µs per trial | processor, µs per trial | others / this, wall | processor |
|---|---:|---:|---:|---:|
{table}

The tools do not leave the same behind. steelyard has the trials, steps, states and measures in
database tables, in transactions, while the run goes on, so that a run that is killed keeps what it
had; plumbline writes JSON files once, when all trials are done; inspect-ai keeps a log of
every message and event, and asks a mock model for each of the calls, which steelyard and plumbline
here do not need: its figure is a whole model loop.

The goal is five times the better of the two. By processor time it is {goal}.
Of steelyard's time about half goes into the trials, most of that into the ten calls and the JSON of
their arguments and outputs; about a third goes into the database, partly waiting for the disk, and
the rest into planning and reading the plan. Two processes do not help an agent this quick: starting
them and sending their results costs more than the trials.

## Memory

Peak resident memory of a run in one process. Fifty times the trials take a quarter more; the growth
is DuckDB's buffers, which are bounded.

| trials | MiB |
|---:|---:|
{memory}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", choices=list(TRIALS))
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--only-report", action="store_true")
    options = parser.parse_args()
    if options.measure:
        measure(options.measure, options.trials)
        return
    folder = HERE.parents[1] / "reports" / "benchmarks"
    if not options.only_report:
        write(folder / "tables" / "harness.csv", compare(options.rounds))
        write(folder / "tables" / "harness_memory.csv", memory())
    (folder / "harness.md").write_text(report(folder), encoding="utf-8")


if __name__ == "__main__":
    main()
