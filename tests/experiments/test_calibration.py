"""Calibration: the committed tables come out again, the sums are right, the report is theirs."""

from __future__ import annotations

import importlib
import math
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, stats

from steelyard.report.tables import csv_text

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "experiments" / "calibration"
REPORT = ROOT / "reports" / "calibration"
NAMES = ("calibrate", "cells", "decisions", "exact", "findings", "procedures", "written")


@pytest.fixture(scope="module")
def modules():
    sys.path.insert(0, str(FOLDER))
    try:
        yield {name: importlib.import_module(name) for name in NAMES}
    finally:
        sys.path.remove(str(FOLDER))


def committed_lines(name: str) -> list[str]:
    return (REPORT / "tables" / f"{name}.csv").read_text(encoding="utf-8").splitlines()


AGAIN = (
    ("rates", "rate, some tasks always fail, 8 x 8, 0.98"),
    ("rates", "rate, beta-binomial 0.3, 4 x 4, 0.95"),
    ("rates", "rate, all tasks alike, 4 x unequal, 0.98"),
    ("tests", "null, some tasks always fail, each arm its own, 8 x 8, 0.95, 0.0"),
    ("equivalence", "edge, some tasks always fail, in the candidate only, 8 x 8, 0.995, 0.2"),
    ("families", "family, normal statistics, correlation 0.5, 3"),
    ("families", "family, exact permutation, one reference for all, 0"),
    ("bounds", "one worse by 10 points, some tasks always fail, 8 x 8, 0.85"),
    ("pass_hat_k", "pass^k, some tasks always fail, 8 x 8, 0.95"),
    ("bootstrap", "bootstrap, some tasks always fail, 4 x 8, 0.95"),
)


@pytest.mark.parametrize(("part", "name"), AGAIN)
def test_a_committed_cell_comes_out_again(modules, part: str, name: str) -> None:
    found = modules["calibrate"].PARTS[part]
    cells = found.cells()
    [place] = [i for i, cell in enumerate(cells) if cell.name == name]
    rows = found.rows(cells[place], found.samples)
    header, *lines = csv_text(pd.DataFrame(rows)).splitlines()
    assert committed_lines(part)[0] == header
    start = 1 + place * len(rows)
    assert committed_lines(part)[start : start + len(rows)] == lines


def test_every_cell_has_a_name_and_so_a_seed_of_its_own(modules) -> None:
    cells = [(part, cell.name) for part, found in modules["calibrate"].PARTS.items()
             for cell in found.cells()]  # fmt: skip
    assert len(set(cells)) == len(cells)
    for part, found in modules["calibrate"].PARTS.items():
        rows = len(committed_lines(part)) - 1
        assert rows
        assert rows % len(found.cells()) == 0


def test_the_exact_tables_come_out_again(modules) -> None:
    for name, rows in modules["calibrate"].EXACT.items():
        assert csv_text(pd.DataFrame(rows())).splitlines() == committed_lines(name)


def test_exact_coverage_of_wilson_is_that_of_the_score_test() -> None:
    """Wilson's interval holds p exactly when |x - np| <= z sqrt(np(1 - p)); summed with scipy."""
    table = pd.read_csv(REPORT / "tables" / "exact_intervals.csv")
    wilson = table[table["procedure"] == "Wilson"]
    assert len(wilson) == 5 * 97
    z = stats.norm.ppf(0.975)
    for trials, rate, coverage, above in wilson[
        ["trials", "rate", "coverage", "low_above_rate"]
    ].itertuples(index=False):
        x = np.arange(trials + 1)
        chances = stats.binom.pmf(x, trials, rate)
        spread = z * math.sqrt(trials * rate * (1 - rate))
        assert coverage == pytest.approx(chances[abs(x - trials * rate) <= spread].sum(), abs=1e-9)
        assert above == pytest.approx(chances[x - trials * rate > spread].sum(), abs=1e-9)


def test_clopper_pearson_never_misses_and_no_bound_exceeds_what_is_promised() -> None:
    table = pd.read_csv(REPORT / "tables" / "exact_intervals.csv")
    exact = table[table["procedure"] == "Clopper-Pearson"]
    assert exact["coverage"].min() >= 0.95
    assert exact[["low_above_rate", "high_below_rate"]].to_numpy().max() <= 0.025


def test_verdicts_on_a_target_are_summed_as_they_are_given(modules) -> None:
    """Two groups of 64: every pair of counts judged, instead of group by group."""
    exact = modules["exact"]
    rate, trials, wrong = 0.95, 64, 0.0
    chances = stats.binom.pmf(np.arange(trials + 1), trials, rate)
    for x in range(45, trials + 1):
        for y in range(x, trials + 1):
            if exact._verdict([x, y], trials) == "different":
                wrong += chances[x] * chances[y] * (1 if x == y else 2)
    found = exact._wrong(2, trials, 95, 95, "different")
    assert float(found) == pytest.approx(wrong, abs=1e-6)


@pytest.mark.parametrize("rate", [0.8, 0.95])
def test_the_true_pass_hat_is_the_mean_over_tasks(modules, rate: float) -> None:
    cells = modules["cells"]
    for model, rho in cells.CORRELATIONS.items():
        density = stats.beta(rate * (1 / rho - 1), (1 - rate) * (1 / rho - 1))
        mean, _ = integrate.quad(lambda u, d=density: d.ppf(u) ** 4, 0, 1)
        assert cells.true_pass_hat(model, rate, 4) == pytest.approx(mean, abs=1e-4)
    drawn = cells.task_rates(cells.generator_of("x"), cells.FAILING, rate, (100_000,))
    assert cells.true_pass_hat(cells.FAILING, rate, 1) == pytest.approx(rate)
    assert drawn.mean() == pytest.approx(rate, abs=0.005)


def test_misses_are_counted_on_their_side(modules) -> None:
    misses = modules["procedures"].Misses(0.5)
    for low, high in ((0.4, 0.6), (0.5, 0.5), (0.51, 0.6), (0.1, 0.49), (math.nan, math.nan)):
        misses.add(low, high)
    row = misses.columns()
    assert [row[name] for name in ("samples", "covered", "low_above", "high_below")] == [5, 2, 1, 1]
    assert row["no_interval"] == 1
    assert row["coverage"] == 0.4


def test_successes_are_counted_by_task(modules) -> None:
    cells = modules["cells"]
    sizes = cells.Design(4, 0).sizes
    assert sizes.tolist() == [2, 4, 8, 18]
    drawn = np.zeros((1, 32), dtype=bool)
    drawn[0, [0, 2, 5, 6, 31]] = True
    assert cells.successes(drawn, sizes).tolist() == [[1, 2, 1, 1]]


def test_a_share_is_a_miss_only_beyond_what_chance_explains(modules) -> None:
    promise = modules["findings"].Promise("share", "says", 0.05)
    table = pd.DataFrame({"share": [0.04, 0.06, 0.07], "samples": 2_000})
    assert promise.missed(table).tolist() == [False, False, True]
    assert promise.missed(table[["share"]]).tolist() == [False, True, True]


def test_the_report_is_what_the_tables_give(modules) -> None:
    files = modules["written"].report_files(REPORT / "tables")
    for name, content in files.items():
        assert (REPORT / name).read_bytes() == content, name
    found = {p.relative_to(REPORT).as_posix() for p in REPORT.rglob("*") if p.is_file()}
    simulated = {f"tables/{name}.csv" for name in modules["findings"].PROMISES}
    assert found == simulated | set(files)
