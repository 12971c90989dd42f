"""Kill a run at random moments, go on, and compare the final tables with an unbroken run.

    python experiments/benchmarks/reliability.py --kills 50 --trials 2000 --seed 1 \
        --report reports/benchmarks/reliability.md

Every kill is a SIGKILL of the whole process group at a moment drawn uniformly from the duration of
the unbroken run, start of Python included. After every second kill the write-ahead log is cut at a
random byte as well. A run is begun again until it is complete; then its exported tables are
compared byte for byte with those of the unbroken run, and the next run begins. Half of the runs use
two worker processes. The exported tables do not hold wall times: they are measurements, no two runs
share them.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import recorded
from copied_study import copy_study
from killing import killed, run_to_the_end, start, tables

from steelyard.store.connect import connect

SECONDS_PER_TRIAL = 0.002
TASKS, VARIANTS = 10, 5


@dataclass
class Figures:
    """What was found."""

    kills: int = 0
    runs: int = 0
    logs_cut: int = 0
    trials: int = 0
    differing: int = 0
    lost: int = 0
    duplicated: int = 0
    without_database: int = 0
    unbroken_seconds: float = 0.0
    kept: list[int] = field(default_factory=list)


def prepare(folder: Path, trials: int) -> Path:
    """Copy the null agent with as many repeats as give the number of trials."""
    repeats = max(1, trials // (TASKS * VARIANTS))
    arm = f"[run.arms.null]\nparameters = {{ seconds = {SECONDS_PER_TRIAL} }}"
    changes = {"repeats = 40": f"repeats = {repeats}", "[run.arms.null]": arm}
    return copy_study("null_agent", folder, changes)


def finished_trials(database: Path) -> int | None:
    """Return how many trials are in the database of a run that was killed; None without one."""
    if not database.exists():
        return None
    connection = connect(database, read_only=False)  # also replays the log
    try:
        query = "SELECT count(*) FROM trials WHERE status <> 'missing'"
        return int(connection.execute(query).fetchall()[0][0])
    finally:
        connection.close()


def cut_log(database: Path, generator: random.Random) -> bool:
    """Cut the write-ahead log at a random byte; tell whether there was one."""
    log = database.with_name(database.name + ".wal")
    if not log.exists() or log.stat().st_size == 0:
        return False
    with log.open("r+b") as file:
        file.truncate(generator.randrange(log.stat().st_size))
    return True


def compare(database: Path, folder: Path, expected: dict[str, bytes], figures: Figures) -> None:
    """Compare a finished run with the unbroken one."""
    figures.runs += 1
    figures.differing += tables(database, folder) != expected
    connection = connect(database)
    planned, distinct, missing = connection.execute(
        "SELECT count(*), count(DISTINCT trial_id), count(*) FILTER (status = 'missing') "
        "FROM trials"
    ).fetchall()[0]
    steps, distinct_steps = connection.execute(
        "SELECT count(*), count(DISTINCT (trial_id, step_index)) FROM steps"
    ).fetchall()[0]
    connection.close()
    figures.trials = planned
    figures.lost += missing
    figures.duplicated += (planned - distinct) + (steps - distinct_steps)


def measure(kills: int, trials: int, seed: int, folder: Path) -> Figures:
    """Kill runs until the number of kills is reached; finish and compare every run."""
    generator = random.Random(seed)  # noqa: S311 - reproducible, not secret
    study = prepare(folder, trials)
    figures = Figures()
    unbroken = folder / "unbroken.duckdb"
    began = time.monotonic()
    run_to_the_end(start(study, unbroken, 1))
    figures.unbroken_seconds = time.monotonic() - began
    expected = tables(unbroken, folder / "unbroken")
    number = 0
    while figures.kills < kills:
        database = folder / f"run{number}.duckdb"
        workers = 1 + number % 2
        complete = False
        while True:
            process = start(study, database, workers)
            moment = generator.uniform(0, figures.unbroken_seconds)
            if figures.kills >= kills or complete or not killed(process, moment):
                run_to_the_end(process)
                break
            figures.kills += 1
            if figures.kills % 2 == 0:
                figures.logs_cut += cut_log(database, generator)
            kept = finished_trials(database)
            figures.without_database += kept is None
            figures.kept.append(kept or 0)
            complete = kept is not None and kept >= trials
        compare(database, folder / f"run{number}", expected, figures)
        number += 1
    return figures


REPORT = """\
# Reliability of the harness

Written by `experiments/benchmarks/reliability.py --kills {kills} --trials {trials} --seed {seed}
--model-trials {models}`.

A run of {trials} trials (null agent, ten tool calls each) was ended by SIGKILL to its whole process
group at random moments, begun again until it was complete, and its exported tables were compared
byte for byte with those of an unbroken run. Half of the runs used two worker processes. After every
second kill the database's write-ahead log, where there was one, was cut at a random byte.

| figure | value |
|---|---:|
| kills | {kills} |
| runs brought to their end | {runs} |
| kills before there was a database | {without_database} |
| write-ahead logs cut | {logs_cut} |
| finished trials in the database after a kill: least, median, most | {least}, {median}, {most} |
| **runs whose tables differ from the unbroken run's** | **{differing}** |
| **trials lost** | **{lost}** |
| **trials or steps duplicated** | **{duplicated}** |

Wall times are measurements and differ between any two runs; the exported tables leave them out
unless `--times` asks for them, and so does this comparison. Everything else is compared.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--model-trials", type=int, default=200, help="of the recorded runs; 0 leaves them out"
    )
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(options.kills, options.trials, options.seed, Path(folder) / "null")
        bought = recorded.RecordedFigures()
        if options.model_trials:
            place = Path(folder) / "recorded"
            bought = recorded.measure(options.kills, options.model_trials, options.seed, place)
    if options.report is not None:
        kept = sorted(figures.kept)
        spread = {"least": kept[0], "median": kept[len(kept) // 2], "most": kept[-1]}
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(
            REPORT.format(
                **asdict(figures), **spread, seed=options.seed, models=options.model_trials
            )
            + (recorded.report(bought) if options.model_trials else ""),
            encoding="utf-8",
        )
    print(json.dumps(asdict(figures) | {"recorded": asdict(bought)}))
    if figures.differing or figures.lost or figures.duplicated or recorded.faults(bought):
        sys.exit(1)


if __name__ == "__main__":
    main()
