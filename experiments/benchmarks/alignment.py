"""Time the aligners against each other and write ``reports/benchmarks``.

All aligners run in one go, in turn: one timing each, then the next round, so that whatever else
the machine does falls on all of them. See README.md for the command.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import platform
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

from alignment_report import write_report
from tools import ALIGNERS, FEWEST_EDITS
from workloads import NAMES, ROOT

HERE = Path(__file__).resolve().parent
REPORT = ROOT / "reports" / "benchmarks"

# What is measured: form of the input, score of a gap.
CONDITIONS = (("prepared", FEWEST_EDITS), ("names", FEWEST_EDITS), ("prepared", -3))


@dataclass
class Measurement:
    """Timings of one aligner on one workload under one condition."""

    workload: str
    form: str
    gap: int
    aligner: str
    version: str
    score: float
    peak_mebibytes: float
    processor: list[float] = field(default_factory=list)  # seconds of each run
    clock: list[float] = field(default_factory=list)

    def to_row(self) -> dict[str, Any]:
        """Return one row of the table."""
        return {
            "workload": self.workload,
            "form": self.form,
            "gap": self.gap,
            "aligner": self.aligner,
            "version": self.version,
            "runs": len(self.processor),
            "median_seconds": round(statistics.median(self.processor), 5),
            "least_seconds": round(min(self.processor), 5),
            "median_clock_seconds": round(statistics.median(self.clock), 5),
            "least_clock_seconds": round(min(self.clock), 5),
            "peak_mebibytes": round(self.peak_mebibytes, 1),
            "total_score": self.score,
        }


class Worker:
    """An aligner's process."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.process = subprocess.Popen(  # noqa: S603 (our own program)
            [sys.executable, str(HERE / "worker.py"), name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version: str = self._read()["version"]

    def _read(self) -> dict[str, Any]:
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the process of {self.name} ended")
        return json.loads(line)

    def ask(self, **request: Any) -> dict[str, Any]:
        """Send a request and wait for its answer."""
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return self._read()


def measure(workers: list[Worker], workload: str, rounds: int) -> list[Measurement]:
    """Check every aligner once, then time all of them in turn."""
    found: list[tuple[Worker, Measurement]] = []
    for form, gap in CONDITIONS:
        for worker in workers:
            answer = worker.ask(ask="check", workload=workload, form=form, gap=gap)
            if "skipped" in answer:
                continue
            result = Measurement(workload, form, gap, worker.name, worker.version, **answer)
            found.append((worker, result))
            print(f"{workload} {form} {gap} {worker.name}: score {result.score}", flush=True)
        scores = {m.score for _, m in found if (m.form, m.gap) == (form, gap)}
        if len(scores) > 1:
            raise RuntimeError(f"{workload}: the aligners disagree on the best score: {scores}")
    for number in range(rounds):
        for worker, result in found:
            answer = worker.ask(ask="time", workload=workload, form=result.form, gap=result.gap)
            result.processor.append(answer["processor"])
            result.clock.append(answer["clock"])
        print(f"{workload}: round {number + 1} of {rounds}", flush=True)
    return [result for _, result in found]


def main() -> None:
    """Measure, and write table and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="timings of each aligner (7)")
    parser.add_argument("--workloads", nargs="+", choices=NAMES, default=list(NAMES))
    parser.add_argument("--only-report", action="store_true", help="from the table, without timing")
    arguments = parser.parse_args()
    tables = REPORT / "tables"
    if not arguments.only_report:
        tables.mkdir(parents=True, exist_ok=True)
        workers = [Worker(name) for name in ALIGNERS]
        load = os.getloadavg()[0]
        rows = [
            result.to_row()
            for workload in arguments.workloads
            for result in measure(workers, workload, arguments.rounds)
        ]
        if len(arguments.workloads) < len(NAMES):
            print(*rows, sep="\n")
            return
        write_table(tables / "alignment.csv", rows)
        write_table(tables / "machine.csv", describe_machine(load))
    write_report(REPORT)


def describe_machine(load: float) -> list[dict[str, Any]]:
    """Return what a reader needs to judge the timings."""
    cpu = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = next(line for line in cpu.splitlines() if line.startswith("model name"))
    facts = {
        "processor": model.split(":")[1].strip(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "numpy": metadata.version("numpy"),
        "load average before": round(load, 2),
        "load average after": round(os.getloadavg()[0], 2),
    }
    return [{"what": what, "value": value} for what, value in facts.items()]


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write rows as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
