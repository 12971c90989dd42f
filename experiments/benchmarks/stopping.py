"""What the replay of a stop policy costs per state, against bound 0.3.0 on the same trajectories.

    ../steelyard-benchmarks-bound/bin/python experiments/benchmarks/stopping.py --rounds 3

Everything runs in one process, in turns. The trajectories are made up with a seed: noisy signals
of a coding workflow, one in ten not reported. steelyard reads the table ``signals`` of a database
file that was just opened, and says where every trial stops; making the file is not timed. bound is
given its own trajectory objects; making them is not timed either. Where the two do not stop at the
same steps, nothing is written. bound needs Python 3.12.
"""

from __future__ import annotations

import argparse
import csv
import math
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from importlib import metadata
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from load import load_now, load_said

HERE = Path(__file__).parent
STEPS = 50
SMALL, LARGE = 1_000, 20_000
PART = 2_000
"""Trajectories of the large workload that are replayed one by one."""
THRESHOLD = 0.6
GOAL = 100
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
STUDY = "made_up"
Columns = dict[str, np.ndarray[Any, Any]]


def signals(trials: int, seed: int = 0) -> Columns:
    """Return made-up signals of so many trajectories; NaN is "not reported"."""
    random = np.random.default_rng(seed)
    states = trials * STEPS
    step = np.tile(np.arange(STEPS), trials)
    quality = np.clip(step / STEPS * 1.2 + random.normal(0, 0.25, states), 0, 1)
    columns: Columns = {
        "test_pass_rate": quality.round(3),
        "lint_passed": (random.random(states) < quality).astype(float),
        "type_check_passed": (random.random(states) < quality).astype(float),
        "required_checks_passed": quality.round(1),
        "retry_count": step // 8,
        "tool_call_count": step,
        "token_usage": step * 900,
        "execution_time_seconds": step * 12.5,
        "files_changed": random.integers(0, 12, states),
        "unexpected_files_changed": (random.random(states) < 0.05).astype(int),
        "rollback_available": (random.random(states) < 0.98).astype(float),
        "tests_added": random.integers(0, 3, states),
        "tests_removed": (random.random(states) < 0.02).astype(int),
        "tests_modified": random.integers(0, 6, states),
    }
    kept = {"retry_count", "tool_call_count", "test_pass_rate"}
    for name, column in columns.items():
        absent = (random.random(states) < 0.1) & (name not in kept)
        columns[name] = np.where(absent, np.nan, column)
    return columns


def names(trials: int) -> list[str]:
    """Return the trials' ids."""
    return [f"a/t{trial // 100:03d}/baseline/0/{trial % 100}" for trial in range(trials)]


def database(path: Path, columns: Columns, *, shuffled: bool = False) -> None:
    """Write the trajectories into a database file, sorted as the loader does, or in no order."""
    from steelyard.store.connect import create
    from steelyard.store.declaration import Declaration
    from steelyard.store.rows import add_rows, add_study

    connection = create(path)
    ids = names(len(columns["retry_count"]) // STEPS)
    add_study(
        connection,
        Declaration.of(
            study={"id": STUDY, "title": "t", "question": "q", "origin": "run"}
            | {"source": "made up", "licence": "MIT"},
            data={"source": STUDY},
            design={"arms": ["a"], "perturbations": ["baseline"]},
            measures={"primary": "outcome"},
        ),
    )
    parts = [
        dict(zip(("arm", "task", "perturbation"), name.split("/"), strict=False)) for name in ids
    ]
    rows = [
        part | {"study": STUDY, "variant": "0", "repeat": place % 100, "status": "completed"}
        for place, part in enumerate(parts)
    ]
    add_rows(connection, "trials", rows)
    states = {
        "study": pa.array([STUDY] * len(columns["retry_count"])),
        "trial_id": pa.array(np.repeat(ids, STEPS)),
        "step_index": pa.array(np.tile(np.arange(STEPS), len(ids))),
        **{name: pa.array(column, from_pandas=True) for name, column in columns.items()},
    }
    connection.register("made", pa.table(states))
    order = "hash(trial_id, step_index)" if shuffled else "trial_id, step_index"
    types = "lint_passed", "type_check_passed", "rollback_available"
    casts = ", ".join(f"CAST({name} AS BOOLEAN) AS {name}" for name in types)
    connection.execute(
        f"INSERT INTO signals BY NAME SELECT * REPLACE ({casts}) FROM made ORDER BY {order}"
    )
    connection.close()


def trajectories(columns: Columns) -> Iterator[dict[str, Any]]:
    """Yield each trajectory as the data that both schemas read."""
    flags = {"lint_passed", "type_check_passed", "rollback_available"}
    shares = {"test_pass_rate", "required_checks_passed", "execution_time_seconds"}
    for place, name in enumerate(names(len(columns["retry_count"]) // STEPS)):
        steps = []
        for state in range(place * STEPS, (place + 1) * STEPS):
            reported: dict[str, Any] = {}
            for signal, column in columns.items():
                value = float(column[state])
                if value == value:  # noqa: PLR0124 - not NaN
                    kind = bool if signal in flags else float if signal in shares else int
                    reported[signal] = kind(value)
            steps.append({"step_index": state - place * STEPS, "signals": reported})
        yield {"task_id": name, "steps": steps, "actual_stop_step": STEPS - 1}


class Clock:
    """Adds up the wall time and processor time of what runs within it."""

    def __init__(self) -> None:
        self.wall = self.cpu = 0.0

    def __enter__(self) -> Clock:
        self._began = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.wall += time.perf_counter() - self._began[0]
        self.cpu += time.process_time() - self._began[1]


def from_table(path: Path) -> tuple[Clock, list[int | None]]:
    """Read a database that was just opened, and return where each trial stops."""
    from steelyard.analysis.stopping import stop_points
    from steelyard.store.connect import connect
    from steelyard.store.tables import StudyTables

    connection = connect(path)
    tables = StudyTables(connection, STUDY)
    with Clock() as clock:
        points = stop_points(tables, {"threshold": THRESHOLD}, truth="none")
    connection.close()
    stops = dict(zip(points["trial_id"], points["stop_step"], strict=True))
    return clock, [None if pd.isna(stops[name]) else int(stops[name]) for name in names(len(stops))]


def sweep(path: Path) -> Clock:
    """Read a database and replay it at 21 thresholds and beside two reference rules."""
    from steelyard.analysis.stopping import stopping_sweep
    from steelyard.store.connect import connect
    from steelyard.store.tables import StudyTables

    connection = connect(path)
    tables = StudyTables(connection, STUDY)
    with Clock() as clock:
        stopping_sweep(tables, {"rule": "bound"}, references=["never", "green"], truth="none")
    connection.close()
    return clock


def state_by_state(
    read: Callable[[Mapping[str, Any]], Any], run: Callable[[Any], Any], columns: Columns
) -> tuple[Clock, list[int | None]]:
    """Replay the first :data:`PART` trajectories one by one; only the replay is timed."""
    clock, stops = Clock(), []
    for data in islice(trajectories(columns), PART):
        trajectory = read(data)
        with clock:
            result = run(trajectory)
        stops.append(result.bound_stop_step)
    return clock, stops


def published(columns: Columns) -> tuple[Clock, list[int | None]]:
    """Replay with bound."""
    from bound.experiment import run_experiment
    from bound.models import AgentTrajectory, BoundCriteria

    criteria = BoundCriteria(threshold=THRESHOLD)
    return state_by_state(
        AgentTrajectory.model_validate, lambda one: run_experiment(one, criteria), columns
    )


def twin(columns: Columns) -> tuple[Clock, list[int | None]]:
    """Replay with steelyard's readable replay of one trajectory."""
    from steelyard.evaluators.bound import AgentTrajectory, BoundCriteria, run_experiment

    criteria = BoundCriteria(threshold=THRESHOLD)
    return state_by_state(AgentTrajectory.read, lambda one: run_experiment(one, criteria), columns)


def compare(rounds: int) -> list[dict[str, Any]]:
    """Measure everything in turn."""
    rows: list[dict[str, Any]] = []

    def note(number: int, workload: int, tool: str, clock: Clock, trials: int) -> None:
        package = "bound-policy" if tool == "bound" else "steelyard"
        rows.append(
            {"round": number, "workload": workload * STEPS, "tool": tool}
            | {"version": metadata.version(package), "python": PYTHON, "steps": trials * STEPS}
            | {"wall_s": clock.wall, "cpu_s": clock.cpu, **load_now()}
        )
        print(rows[-1], file=sys.stderr)

    with tempfile.TemporaryDirectory() as folder:
        for trials in (SMALL, LARGE):
            columns = signals(trials)
            sorted_file, mixed = (Path(folder) / f"{trials}_{kind}.duckdb" for kind in ("s", "m"))
            database(sorted_file, columns)
            database(mixed, columns, shuffled=True)
            from_table(sorted_file)  # so that nothing is imported within the clock
            for number in range(rounds):
                clock, ours = from_table(sorted_file)
                note(number, trials, "steelyard, from the table", clock, trials)
                clock, again = from_table(mixed)
                note(number, trials, "steelyard, rows in no order", clock, trials)
                note(number, trials, "steelyard, 23 policies", sweep(sorted_file), trials)
                for tool, replay in (("bound", published), ("steelyard, one by one", twin)):
                    clock, others = replay(columns)
                    note(number, trials, tool, clock, len(others))
                    if ours != again or ours[: len(others)] != others:
                        sys.exit(f"{trials} trials: {tool} stops elsewhere")
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({k: f"{v:.4f}" if isinstance(v, float) else v for k, v in row.items()})


def report(folder: Path) -> str:
    """Return the report, from the table."""
    with (folder / "tables" / "stopping.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def median(tool: str, workload: int, kind: str) -> float:
        chosen = [r for r in rows if r["tool"] == tool and int(r["workload"]) == workload]
        return statistics.median(float(row[f"{kind}_s"]) / int(row["steps"]) for row in chosen)

    lines, goals = [], []
    for workload in sorted({int(row["workload"]) for row in rows}):
        theirs = {kind: median("bound", workload, kind) for kind in KINDS}
        chosen = {r["tool"]: int(r["steps"]) for r in rows if int(r["workload"]) == workload}
        for tool, steps in chosen.items():
            policies = 23 if "23" in tool else 1
            ours = {kind: median(tool, workload, kind) / policies for kind in KINDS}
            times = [f"{theirs[kind] / ours[kind]:,.3g}" for kind in KINDS]
            if tool == "steelyard, from the table":
                ratios = {kind: theirs[kind] / ours[kind] for kind in KINDS}
                goals.append(verdict(workload, ratios))
            lines.append(
                f"| {workload:,} | {tool} | {steps:,} | {ours['wall'] * 1e6:,.3g} "
                f"| {ours['cpu'] * 1e6:,.3g} | {times[0]} | {times[1]} |"
            )
    return REPORT.format(
        table="\n".join(lines), goal="\n".join(goals), rounds=len({row["round"] for row in rows}),
        machine=machine(rows), load=load_said(rows), least=GOAL,
        small=SMALL, large=LARGE, steps=STEPS, part=PART,
    )  # fmt: skip


def verdict(workload: int, ratios: Mapping[str, float]) -> str:
    """Say of one workload whether the goal is reached."""
    said = {
        # Rounded down: what is just missed does not read as met.
        kind: f"{'reached' if ratio >= GOAL else 'not reached'}, with {math.floor(ratio)}"
        for kind, ratio in ratios.items()
    }
    return f"- {workload:,} steps: in processor time {said['cpu']}; in wall time {said['wall']}."


KINDS = ("wall", "cpu")


def machine(rows: list[dict[str, Any]]) -> str:
    """Say what ran."""
    tools = {row["tool"].partition(",")[0]: row["version"] for row in rows}
    said = ", ".join(f"{tool} {version}" for tool, version in sorted(tools.items()))
    return f"{said}, Python {rows[0]['python']}"


REPORT = """\
# What the replay of a stop policy costs

Written by `experiments/benchmarks/stopping.py`, from `tables/stopping.csv`. Made-up trajectories of
{steps} steps each, {small:,} and {large:,} of them, replayed under the default policy. steelyard
reads the table `signals` of a database file that was just opened and makes one row per trial; that
is all within the clock. bound replays trajectory objects that were made before; making them is not
timed; of the large workload it is given the first {part:,} trajectories. All tools ran in turns in
one process and stopped every trajectory at the same step. Medians of {rounds} rounds.
{machine}.
{load}

"One by one" is steelyard's own readable replay, to which a test holds the fast one. "Rows in no
order" has the table's rows shuffled, where the loader would have sorted them. "23 policies" is a
whole sweep: 21 thresholds and two reference rules, with 10,000 resamples of the tasks; its times
and ratios are per policy.

| workload | tool | timed | wall, µs/step | processor, µs/step | bound/this: wall | processor |
|---:|---|---:|---:|---:|---:|---:|
{table}

The goal is {least} times bound's speed per step, the read from the database included and its rows
sorted as the loader sorts them:

{goal}
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only-report", action="store_true")
    options = parser.parse_args()
    folder = HERE.parents[1] / "reports" / "benchmarks"
    if not options.only_report:
        write(folder / "tables" / "stopping.csv", compare(options.rounds))
    (folder / "stopping.md").write_text(report(folder), encoding="utf-8")


if __name__ == "__main__":
    main()
