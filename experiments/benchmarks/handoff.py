"""What measuring handoff trials costs: a snapshot of a large tree, and the whole scripted matrix.

    .venv/bin/python experiments/benchmarks/handoff.py --rounds 5 --report FILE

The tree has 20,000 files in 100 folders. The snapshot is timed in turns with a plain walk that
reads every file and hashes it, all in one process. The matrix is the faithful scripted agent in
fourteen imports, six exports and the four routes of three roundtrips, one after the other.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from steelyard.evaluators.handoff.scenario_documents import (
    parse_export_scenario,
    parse_import_scenario,
)
from steelyard.evaluators.handoff.scenarios import load_scenarios
from steelyard.evaluators.handoff.snapshot import take_snapshot
from steelyard.harness.handoff.export_trials import run_export_scenario
from steelyard.harness.handoff.import_trials import AgentCommand, run_import_scenario
from steelyard.harness.handoff.roundtrips import Side, run_roundtrip

FOLDERS, FILES = 100, 200
BYTES = 3_000
SOURCE = Path(__file__).resolve().parents[1] / "handoff"
ROUTES = (("codex", "claude-code"), ("codex", "codex"), ("claude-code", "claude-code"))


def make_tree(root: Path) -> None:
    """Write 20,000 files of about three kilobytes."""
    source = random.Random(0)  # noqa: S311 - made-up content
    for folder in range(FOLDERS):
        place = root / f"folder{folder:03d}"
        place.mkdir()
        for number in range(FILES):
            size = source.randrange(2 * BYTES)
            (place / f"file{number:03d}.txt").write_bytes(source.randbytes(size))


def plain_walk(root: Path) -> dict[str, str]:
    """Hash every file, and nothing else."""
    found = {}
    for folder, _, files in os.walk(root):
        for name in files:
            path = Path(folder, name)
            found[path.relative_to(root).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def timed(call: Callable[[], object]) -> float:
    """Return how long a call takes, in ms."""
    began = time.perf_counter()
    call()
    return 1e3 * (time.perf_counter() - began)


def snapshot_lines(rounds: int) -> list[str]:
    """Time snapshot and plain walk in turns."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        make_tree(root)
        calls = {"snapshot": lambda: take_snapshot(root), "plain walk": lambda: plain_walk(root)}
        times: dict[str, list[float]] = {name: [] for name in calls}
        for call in calls.values():
            call()  # the first look fills the system's cache
        for _ in range(rounds):
            for name, call in calls.items():
                times[name].append(timed(call))
    ratio = statistics.median(times["snapshot"]) / statistics.median(times["plain walk"])
    lines = [
        f"| {name}, {FOLDERS * FILES:,} files | {min(took):.0f} | {statistics.median(took):.0f} |"
        for name, took in times.items()
    ]
    return [*lines, f"| ratio of the medians | | {ratio:.2f} |"]


def run_matrix() -> int:
    """Run the faithful agent everywhere; return how many trials and routes passed."""
    command = AgentCommand((sys.executable, str(SOURCE / "agents/scripted_agent.py")), 60.0)
    conformance = SOURCE / "conformance"
    exports = load_scenarios(conformance / "export-scenarios", parse_export_scenario)
    passed = [
        run_import_scenario(scenario, SOURCE, command).result.passed
        for scenario in load_scenarios(conformance / "scenarios", parse_import_scenario)
    ]
    passed += [
        run_export_scenario(scenario, "codex", command).result.passed for scenario in exports
    ]
    (session,) = (scenario for scenario in exports if scenario.id == "ordinary-unfinished")
    for left, right in ROUTES:
        sides = (Side(name, command, command) for name in (left, right))
        passed += [route.passed for route in run_roundtrip(session, *sides)]
    return sum(passed)


def matrix_line() -> str:
    """Time the whole matrix, and count the processor's time of everything it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    own = time.process_time()
    began = time.perf_counter()
    passed = run_matrix()
    wall = time.perf_counter() - began
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    children = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    processor = time.process_time() - own + children
    return (
        f"The scripted matrix, 14 imports, 6 exports and 4 routes: {passed} of 24 passed, "
        f"{wall:.1f} s, of which {processor:.1f} s on a processor. Goal: under 60 s."
    )


def report(lines: list[str], matrix: str, rounds: int) -> str:
    """Return the report."""
    header = (
        f"Written by `experiments/benchmarks/handoff.py --rounds {rounds}`: Python "
        f"{platform.python_version()}, {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} processors. Recorded measurements: they differ from run to run, and "
        f"the load was {os.getloadavg()[0]:.1f} at the end, the benchmark itself included."
    )
    note = (
        "The plain walk reads and hashes files. The snapshot also records folders, links, modes "
        "and sizes."
    )
    table = ["| what | fastest, ms | median, ms |", "|---|---:|---:|", *lines]
    return "\n".join(
        ["# Speed of handoff trials", "", header, "", *table, "", note, "", matrix, ""]
    )


def main() -> None:
    """Run both, print the result, and write it where that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--report", type=Path)
    arguments = parser.parse_args()
    lines = snapshot_lines(arguments.rounds)
    print("\n".join(lines), flush=True)
    matrix = matrix_line()
    print(matrix)
    if arguments.report:
        arguments.report.write_text(report(lines, matrix, arguments.rounds), encoding="utf-8")


if __name__ == "__main__":
    main()
