"""Hold our own intervals, tests and verdicts against simulated truths, and write the report.

    .venv/bin/python experiments/calibration/calibrate.py --processes 2

The whole takes some minutes; ``--quick`` draws fewer samples of a few cells and prints instead of
writing; ``--only rates tests`` runs some parts; ``--only-report`` writes figures and report again
from the committed tables. Every cell draws from a generator seeded with its own name, so neither
the order of the cells nor the number of processes can show in a result.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import decisions
import exact
import pandas as pd
import procedures
from cells import bootstrap_worlds, edge_worlds, null_worlds, pass_worlds, rate_worlds

from steelyard.report.files import write_files
from steelyard.report.tables import csv_text

ROOT = Path(__file__).resolve().parents[2]
REPORT = ROOT / "reports" / "calibration"
QUICK_SAMPLES = 200
QUICK_EVERY = 12


@dataclass(frozen=True)
class Part:
    """One table: its cells, what is done with each, and how many samples are drawn of it."""

    cells: Callable[[], Sequence[Any]]
    rows: Callable[[Any, int], list[dict[str, Any]]]
    samples: int


PARTS = {
    "rates": Part(rate_worlds, procedures.rate_rows, 4_000),
    "tests": Part(null_worlds, decisions.null_rows, 2_000),
    "equivalence": Part(edge_worlds, decisions.edge_rows, 4_000),
    "families": Part(decisions.families, decisions.family_rows, 10_000),
    "bounds": Part(decisions.bound_worlds, decisions.bound_rows, 4_000),
    "pass_hat_k": Part(pass_worlds, procedures.pass_rows, 4_000),
    "bootstrap": Part(bootstrap_worlds, procedures.bootstrap_rows, 2_000),
}
EXACT = {
    "exact_intervals": exact.interval_rows,
    "exact_bounds": exact.bound_rows,
    "exact_verdicts": exact.verdict_rows,
}


def cell_rows(task: tuple[str, Any, int]) -> list[dict[str, Any]]:
    """Return the rows of one cell of a part; what the other processes run."""
    part, cell, samples = task
    return PARTS[part].rows(cell, samples)


def simulate(names: Sequence[str], processes: int, *, quick: bool) -> dict[str, pd.DataFrame]:
    """Return the table of each part that is named."""
    tables = {name: pd.DataFrame(EXACT[name]()) for name in names if name in EXACT}
    simulated = [name for name in names if name in PARTS]
    tasks = [
        (name, cell, QUICK_SAMPLES if quick else PARTS[name].samples)
        for name in simulated
        for cell in PARTS[name].cells()[:: QUICK_EVERY if quick else 1]
    ]
    if processes > 1:
        with ProcessPoolExecutor(processes) as pool:
            done = list(pool.map(cell_rows, tasks))
    else:
        done = [cell_rows(task) for task in tasks]
    for name in simulated:
        rows = [row for task, of in zip(tasks, done, strict=True) if task[0] == name for row in of]
        tables[name] = pd.DataFrame(rows)
    return tables


def write_tables(tables: dict[str, pd.DataFrame], folder: Path) -> None:
    """Write one CSV file a table."""
    write_files(folder, {f"{name}.csv": csv_text(table).encode() for name, table in tables.items()})


def main() -> None:
    """Read the command line and do what it asks."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    every = [*EXACT, *PARTS]
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=every, default=every, metavar="PART")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only-report", action="store_true")
    asked = parser.parse_args()
    if not asked.only_report:
        tables = simulate(asked.only, asked.processes, quick=asked.quick)
        if asked.quick:
            for name, table in tables.items():
                sys.stdout.write(f"{name}\n{table.to_string(index=False)}\n\n")
            return
        write_tables(tables, REPORT / "tables")
    absent = [name for name in every if not (REPORT / "tables" / f"{name}.csv").is_file()]
    if absent:
        sys.exit(f"no report: these tables have not been made: {', '.join(absent)}")
    from written import report_files

    write_files(REPORT, report_files(REPORT / "tables"), owned=("report.md", "figures/*"))


if __name__ == "__main__":
    main()
